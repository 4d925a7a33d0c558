//! Workloads built in Rust.

use thiserror::Error;

use super::{CollectiveKind, Group, NodeTraits, RankWorkload, Workload};
use crate::graph::{Op, Origin, RankGraphBuilder, TooLarge};

/// Builds a [`Workload`], node by node; see there for an example.
///
/// A node depends on nodes of its rank that were added before it, so a built workload has no cycles.
#[derive(Debug)]
pub struct WorkloadBuilder {
    ranks: Vec<Rank>,
    groups: Vec<Group>,
}

#[derive(Debug, Default)]
struct Rank {
    graph: RankGraphBuilder,
    traits: Vec<NodeTraits>,
    names: String,
    name_ends: Vec<u32>,
}

/// A node of a rank: its number there.
pub type NodeId = u32;

/// What a computation costs.
///
/// A stated duration counts by itself; else the time follows from operations and bytes by the speed of the
/// processor and its memory (a roofline).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Cost {
    /// Duration in whole microseconds, the unit of the format; 0 if it is not stated.
    pub micros: u64,
    /// Operations (`num_ops`).
    pub ops: u64,
    /// Bytes read and written (`tensor_size`).
    pub bytes: u64,
}

impl Cost {
    /// A stated duration.
    #[must_use]
    pub fn micros(micros: u64) -> Self {
        Self { micros, ..Self::default() }
    }

    /// Operations on memory of so many bytes.
    #[must_use]
    pub fn operations(ops: u64, bytes: u64) -> Self {
        Self { ops, bytes, ..Self::default() }
    }
}

/// Why a node or a group cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A rank that there is not.
    #[error("there is no rank {rank}: the workload has {ranks}")]
    Rank {
        /// The rank.
        rank: u32,
        /// How many there are.
        ranks: usize,
    },
    /// A dependence on a node that was not added before.
    #[error("rank {rank}, node {node} {name:?} depends on node {dep}, which is not there yet")]
    Dependence {
        /// The rank.
        rank: u32,
        /// The node that was to be added.
        node: u32,
        /// Its name.
        name: String,
        /// What it depends on.
        dep: u32,
    },
    /// A group that there is not, or in which the rank is not.
    #[error("rank {rank}, node {node} {name:?} is on group {group}, {why}")]
    Group {
        /// The rank.
        rank: u32,
        /// The node that was to be added.
        node: u32,
        /// Its name.
        name: String,
        /// The index of the group.
        group: u32,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A group that cannot be.
    #[error("group {name:?} {why}")]
    Members {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// More nodes, dependences or names than fit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl WorkloadBuilder {
    /// A workload of so many ranks, with the group of all ranks, whose index is 0.
    #[must_use]
    pub fn new(ranks: u32) -> Self {
        let all = Group { name: String::new(), members: (0..ranks).collect() };
        Self { ranks: (0..ranks).map(|_| Rank::default()).collect(), groups: vec![all] }
    }

    /// Adds a group of ranks; gives its index.
    ///
    /// # Errors
    ///
    /// The name is empty or taken, or a member is no rank or named twice, or there is none.
    pub fn group(
        &mut self,
        name: impl Into<String>,
        members: impl IntoIterator<Item = u32>,
    ) -> Result<u32, BuildError> {
        let (name, members) = (name.into(), members.into_iter().collect::<Vec<_>>());
        let mut sorted = members.clone();
        sorted.sort_unstable();
        let why = if name.is_empty() {
            "has no name"
        } else if self.groups.iter().any(|group| group.name == name) {
            "is there already"
        } else if members.is_empty() {
            "has no members"
        } else if sorted.windows(2).any(|two| two[0] == two[1]) {
            "names a rank twice"
        } else if sorted.last().is_some_and(|rank| *rank as usize >= self.ranks.len()) {
            "names a rank that there is not"
        } else {
            self.groups.push(Group { name, members });
            return Ok(self.groups.len() as u32 - 1);
        };
        Err(BuildError::Members { name, why })
    }

    /// Adds a computation on the first stream of the GPU.
    ///
    /// # Errors
    ///
    /// A rank or dependence is not there; so for all nodes.
    pub fn compute(
        &mut self,
        rank: u32,
        name: impl Into<String>,
        cost: Cost,
        deps: &[NodeId],
    ) -> Result<NodeId, BuildError> {
        self.compute_on(rank, name, cost, false, 0, deps)
    }

    /// Adds a computation on a stream of the GPU, or on a thread of the CPU.
    ///
    /// # Errors
    ///
    /// As [`Self::compute`].
    pub fn compute_on(
        &mut self,
        rank: u32,
        name: impl Into<String>,
        cost: Cost,
        on_cpu: bool,
        stream: u32,
        deps: &[NodeId],
    ) -> Result<NodeId, BuildError> {
        let Cost { micros, ops, bytes } = cost;
        let traits = NodeTraits { stream, on_cpu, ..NodeTraits::default() };
        self.node(rank, name.into(), Op::Comp { micros, ops, bytes }, traits, deps)
    }

    /// Adds a rank's part in a collective of `comm_size` bytes on the group of an index.
    ///
    /// # Errors
    ///
    /// As [`Self::compute`], or the rank is not in the group.
    pub fn collective(
        &mut self,
        rank: u32,
        name: impl Into<String>,
        kind: CollectiveKind,
        comm_size: u64,
        group: u32,
        deps: &[NodeId],
    ) -> Result<NodeId, BuildError> {
        self.rooted(rank, name, kind, comm_size, group, 0, deps)
    }

    /// The same with the root at a position of the group.
    ///
    /// # Errors
    ///
    /// As [`Self::collective`], or the group has no such position, or collectives of this kind have no root.
    #[expect(clippy::too_many_arguments, reason = "a node of the format has that many attributes")]
    pub fn rooted(
        &mut self,
        rank: u32,
        name: impl Into<String>,
        kind: CollectiveKind,
        comm_size: u64,
        group: u32,
        root: u32,
        deps: &[NodeId],
    ) -> Result<NodeId, BuildError> {
        let name = name.into();
        let why = match self.groups.get(group as usize) {
            None => "which is not there",
            Some(of) if of.position(rank).is_none() => "in which the rank is not",
            Some(of) if root as usize >= of.members.len() => "which has no such root",
            Some(_) if root != 0 && !kind.has_root() => "with a root, which a collective of its kind has not",
            Some(_) => {
                let op = Op::Coll { kind: kind.wire(), bytes: comm_size };
                let traits = NodeTraits { group, root, ..NodeTraits::default() };
                return self.node(rank, name, op, traits, deps);
            }
        };
        let node = self.ranks.get(rank as usize).map_or(0, |rank| rank.traits.len() as u32);
        Err(BuildError::Group { rank, node, name, group, why })
    }

    /// Adds a SEND to a rank.
    ///
    /// # Errors
    ///
    /// As [`Self::compute`].
    pub fn send(
        &mut self,
        rank: u32,
        name: impl Into<String>,
        dst: u32,
        tag: u32,
        bytes: u64,
        deps: &[NodeId],
    ) -> Result<NodeId, BuildError> {
        self.node(rank, name.into(), Op::Send { dst, tag, bytes }, NodeTraits::default(), deps)
    }

    /// Adds a RECV from a rank.
    ///
    /// # Errors
    ///
    /// As [`Self::compute`].
    pub fn recv(
        &mut self,
        rank: u32,
        name: impl Into<String>,
        src: u32,
        tag: u32,
        bytes: u64,
        deps: &[NodeId],
    ) -> Result<NodeId, BuildError> {
        self.node(rank, name.into(), Op::Recv { src, tag, bytes }, NodeTraits::default(), deps)
    }

    /// Adds a load from memory or a store to it.
    ///
    /// # Errors
    ///
    /// As [`Self::compute`].
    pub fn memory(
        &mut self,
        rank: u32,
        name: impl Into<String>,
        store: bool,
        remote: bool,
        bytes: u64,
        deps: &[NodeId],
    ) -> Result<NodeId, BuildError> {
        let traits = NodeTraits { remote, ..NodeTraits::default() };
        self.node(rank, name.into(), Op::Mem { store, bytes }, traits, deps)
    }

    fn node(
        &mut self,
        rank: u32,
        name: String,
        op: Op,
        traits: NodeTraits,
        deps: &[NodeId],
    ) -> Result<NodeId, BuildError> {
        let ranks = self.ranks.len();
        let of_rank = self.ranks.get_mut(rank as usize).ok_or(BuildError::Rank { rank, ranks })?;
        let node = of_rank.traits.len() as u32;
        if let Some(dep) = deps.iter().copied().find(|dep| *dep >= node) {
            return Err(BuildError::Dependence { rank, node, name, dep });
        }
        of_rank.push(&name, op, traits, deps)?;
        Ok(node)
    }

    /// The workload.
    #[must_use]
    pub fn finish(self) -> Workload {
        Workload { ranks: self.ranks.into_iter().map(Rank::finish).collect(), groups: self.groups }
    }
}

impl Rank {
    fn push(&mut self, name: &str, op: Op, traits: NodeTraits, deps: &[u32]) -> Result<(), TooLarge> {
        let mut deps = deps.to_vec();
        deps.sort_unstable();
        deps.dedup();
        let end = u32::try_from(self.names.len() + name.len()).map_err(|_| TooLarge)?;
        self.graph.push(op, deps, Origin::default())?;
        self.names.push_str(name);
        self.name_ends.push(end);
        self.traits.push(traits);
        Ok(())
    }

    fn finish(self) -> RankWorkload {
        let Self { graph, traits, names, name_ends } = self;
        RankWorkload { graph: graph.finish(), traits, names, name_ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        let mut builder = WorkloadBuilder::new(3);
        let group = builder.group("5", [2, 0]).unwrap();
        let error = |result: Result<u32, BuildError>| result.unwrap_err().to_string();
        assert_eq!(error(builder.group("5", [1])), "group \"5\" is there already");
        assert_eq!(error(builder.group("", [1])), "group \"\" has no name");
        assert_eq!(error(builder.group("6", [])), "group \"6\" has no members");
        assert_eq!(error(builder.group("6", [1, 1])), "group \"6\" names a rank twice");
        assert_eq!(error(builder.group("6", [3])), "group \"6\" names a rank that there is not");
        assert_eq!(
            error(builder.compute(3, "x", Cost::default(), &[])),
            "there is no rank 3: the workload has 3"
        );
        assert_eq!(
            error(builder.compute(0, "x", Cost::default(), &[0])),
            "rank 0, node 0 \"x\" depends on node 0, which is not there yet"
        );
        let kind = CollectiveKind::Broadcast;
        let mut on = |rank, group, root| error(builder.rooted(rank, "x", kind, 1, group, root, &[]));
        assert_eq!(on(1, group, 0), "rank 1, node 0 \"x\" is on group 1, in which the rank is not");
        assert_eq!(on(1, 7, 0), "rank 1, node 0 \"x\" is on group 7, which is not there");
        assert_eq!(on(2, group, 2), "rank 2, node 0 \"x\" is on group 1, which has no such root");
        assert_eq!(
            error(builder.rooted(2, "x", CollectiveKind::Barrier, 0, group, 1, &[])),
            "rank 2, node 0 \"x\" is on group 1, with a root, which a collective of its kind has not"
        );
    }
}
