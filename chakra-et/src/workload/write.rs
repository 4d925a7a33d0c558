//! Writes workloads as files.

use std::path::Path;

use thiserror::Error;

use super::rank_file::label;
use super::stated::{LOCAL_MEMORY, REMOTE_MEMORY};
use super::{Group, RankWorkload, Workload};
use crate::attr::{self, AttrError};
use crate::graph::{Op, Origin};
use crate::groups::Groups;
use crate::write::{EncodeError, RankWriter};
use crate::{metadata, view, write_trace};

/// A workload cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The name of a group is none that ASTRA-sim reads.
    #[error(
        "group {name:?} cannot be written: ASTRA-sim takes only decimal numbers from 1 to {} as names, without \
         leading zeros",
        i32::MAX
    )]
    GroupName {
        /// The name.
        name: String,
    },
    /// The members of a group do not ascend.
    #[error(
        "{group} cannot be written: its members {members:?} do not ascend, and ASTRA-sim then takes one for another; \
         `normalized` gives the workload with ascending members, which changes their positions"
    )]
    GroupOrder {
        /// The group.
        group: String,
        /// Its members.
        members: Vec<u32>,
    },
    /// A rank has no nodes.
    #[error("rank {rank} has no nodes, which ASTRA-sim refuses: give it a computation of 0 microseconds")]
    NoNodes {
        /// The rank.
        rank: usize,
    },
    /// A figure of a node does not fit the format.
    #[error("rank {rank}, {node}: {error}")]
    Node {
        /// The rank.
        rank: usize,
        /// The node: its id and name.
        node: String,
        /// What does not fit.
        error: AttrError,
    },
    /// The bytes of a rank cannot be made.
    #[error("rank {rank}: {error}")]
    Encode {
        /// The rank.
        rank: usize,
        /// Why.
        error: EncodeError,
    },
    /// The files cannot be written.
    #[error(transparent)]
    Files(#[from] crate::WriteError),
}

impl Workload {
    /// Writes the files `PREFIX.0.et` to `PREFIX.(ranks-1).et`, all or none, as [`write_trace`] does. The groups are not
    /// in them: [`Workload::groups_json`] is what ASTRA-sim and [`super::read`] need beside.
    ///
    /// The attributes are those that ASTRA-sim reads, and three that it ignores: `stream` or `tid` of a computation that
    /// is not on the first, `tensor_loc` of loads and stores, and `root` of a collective whose root is not the first of
    /// its group.
    ///
    /// # Errors
    /// What ASTRA-sim cannot read is not written: groups whose names are no positive decimal numbers or whose members do
    /// not ascend, ranks without nodes, sizes beyond 63 bits and peers and tags beyond 31. Or the system refuses.
    pub fn write(&self, prefix: impl AsRef<Path>) -> Result<(), WriteError> {
        self.check_writable()?;
        Ok(write_trace(prefix, self.rank_count(), |rank| self.rank_bytes(rank))?)
    }

    /// The contents of the files, by rank.
    ///
    /// # Errors
    /// As [`Workload::write`].
    pub fn to_bytes(&self) -> Result<Vec<Vec<u8>>, WriteError> {
        self.check_writable()?;
        (0..self.rank_count()).map(|rank| self.rank_bytes(rank)).collect()
    }

    /// ASTRA-sim's group file: a JSON object of all groups but that of all ranks.
    ///
    /// ```
    /// use chakra_et::workload::WorkloadBuilder;
    ///
    /// let mut builder = WorkloadBuilder::new(4);
    /// builder.group("1", [0, 2])?;
    /// builder.group("2", [1, 3])?;
    /// assert_eq!(builder.finish().groups_json()?, "{\"1\": [0, 2], \"2\": [1, 3]}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A name is no positive decimal number, or members do not ascend.
    pub fn groups_json(&self) -> Result<String, WriteError> {
        self.check_groups()?;
        let entry = |group: &Group| format!("\"{}\": {:?}", group.name, group.members);
        let entries: Vec<String> = self.groups.iter().skip(1).map(entry).collect();
        Ok(format!("{{{}}}\n", entries.join(", ")))
    }

    /// All groups but that of all ranks, as [`super::read`] takes them.
    #[must_use]
    pub fn communicators(&self) -> Groups {
        let named = |group: &Group| {
            (group.name.clone(), group.members.iter().map(|&rank| rank.into()).collect::<Vec<u64>>())
        };
        Groups::new(self.groups.iter().skip(1).map(named))
    }

    /// The same workload with its groups in the order of their names (numbers by their value) and with ascending
    /// members: as it comes back when it was written and read. The root of a collective stays the same rank; the
    /// positions of other ranks change where the members did not ascend.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        let mut order: Vec<usize> = (1..self.groups.len()).collect();
        order.sort_by(|&a, &b| {
            super::name_order(&self.groups[a].name).cmp(&super::name_order(&self.groups[b].name))
        });
        let mut numbers = vec![0_u32; self.groups.len()];
        for (to, &from) in (1..).zip(&order) {
            numbers[from] = to;
        }
        let before = std::mem::take(&mut self.groups);
        // By old position the new one.
        let mut moved: Vec<Vec<u32>> = Vec::with_capacity(before.len());
        let mut sorted: Vec<Group> = Vec::with_capacity(before.len());
        for group in &before {
            let mut members = group.members.clone();
            members.sort_unstable();
            let place = |rank: &u32| members.binary_search(rank).unwrap_or(0) as u32;
            moved.push(group.members.iter().map(place).collect());
            sorted.push(Group { name: group.name.clone(), members });
        }
        for rank in &mut self.ranks {
            for (op, traits) in rank.graph.ops().iter().zip(&mut rank.traits) {
                if let Op::Coll { .. } = op {
                    let group = traits.group as usize;
                    traits.root = moved[group].get(traits.root as usize).copied().unwrap_or(traits.root);
                    traits.group = numbers[group];
                }
            }
        }
        self.groups = std::iter::once(0).chain(order).map(|from| sorted[from].clone()).collect();
        self
    }

    fn check_writable(&self) -> Result<(), WriteError> {
        self.check_groups()?;
        match self.ranks.iter().position(RankWorkload::is_empty) {
            Some(rank) => Err(WriteError::NoNodes { rank }),
            None => Ok(()),
        }
    }

    fn check_groups(&self) -> Result<(), WriteError> {
        for group in self.groups.iter().skip(1) {
            if !is_writable_name(&group.name) {
                return Err(WriteError::GroupName { name: group.name.clone() });
            }
            if !group.members.is_sorted() {
                let members = group.members.clone();
                return Err(WriteError::GroupOrder { group: group.label(), members });
            }
        }
        Ok(())
    }

    fn rank_bytes(&self, rank: usize) -> Result<Vec<u8>, WriteError> {
        let encode = |error| WriteError::Encode { rank, error };
        let of_rank = &self.ranks[rank];
        let misfit = |node, error| WriteError::Node { rank, node: label(of_rank, node), error };
        let metadata = metadata::write(None, &[]).map_err(|error| misfit(0, error))?;
        let mut writer = RankWriter::new(&metadata).map_err(encode)?;
        for node in 0..of_rank.len() as u32 {
            let node = self.node(of_rank, node).map_err(|error| misfit(node, error))?;
            writer.node(&node).map_err(encode)?;
        }
        Ok(writer.finish())
    }

    fn node(&self, of_rank: &RankWorkload, node: u32) -> Result<crate::proto::Node, AttrError> {
        let (graph, traits, op) = (&of_rank.graph, of_rank.traits(node), of_rank.graph.op(node));
        let deps = graph.deps(node).iter().map(|&dep| graph.id(dep)).collect();
        let mut written = view::node(graph.id(node), of_rank.name(node), op, deps, Origin::default())?;
        let attrs = &mut written.attr;
        match op {
            Op::Coll { .. } => {
                if traits.group != 0 {
                    attrs.push(attr::string("pg_name", &self.groups[traits.group as usize].name));
                }
                if traits.root != 0 {
                    attrs.push(attr::int32_from("root", traits.root)?);
                }
            }
            Op::Comp { .. } => {
                attrs.push(attr::bool("is_cpu_op", traits.on_cpu));
                if traits.stream != 0 {
                    let name = if traits.on_cpu { "tid" } else { "stream" };
                    attrs.push(attr::int64(name, traits.stream.into()));
                }
            }
            Op::Mem { .. } => {
                let place = if traits.remote { REMOTE_MEMORY } else { LOCAL_MEMORY };
                attrs.push(attr::uint32("tensor_loc", place));
                attrs.push(attr::bool("is_cpu_op", false));
            }
            Op::Send { .. } | Op::Recv { .. } => attrs.push(attr::bool("is_cpu_op", false)),
            Op::Other { .. } => {}
        }
        Ok(written)
    }
}

/// Whether ASTRA-sim reads the name of a group as this number and no other.
fn is_writable_name(name: &str) -> bool {
    name.parse::<i32>().is_ok_and(|number| number > 0 && number.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::super::{CollectiveKind, Cost, WorkloadBuilder};

    #[test]
    fn what_astra_sim_could_not_read_is_not_written() {
        let with_group = |name: &str, members: &[u32]| {
            let mut builder = WorkloadBuilder::new(2);
            builder.group(name, members.iter().copied()).unwrap();
            for rank in 0..2 {
                builder.compute(rank, "c", Cost::default(), &[]).unwrap();
            }
            builder.finish()
        };
        for name in ["0", "tp", "05", "-1", "+1", "2147483648", "1 "] {
            let error = with_group(name, &[0, 1]).to_bytes().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("group {name:?} cannot be written: ASTRA-sim takes")),
                "{error}"
            );
            assert!(with_group(name, &[0]).groups_json().is_err());
        }
        assert!(with_group("2147483647", &[0, 1]).to_bytes().is_ok());
        let error = with_group("5", &[1, 0]).to_bytes().unwrap_err().to_string();
        assert!(
            error.starts_with("group \"5\" cannot be written: its members [1, 0] do not ascend"),
            "{error}"
        );
        let mut builder = WorkloadBuilder::new(2);
        builder.send(0, "s", 1 << 31, 0, 8, &[]).unwrap();
        assert_eq!(
            builder.finish().to_bytes().unwrap_err().to_string(),
            "rank 1 has no nodes, which ASTRA-sim refuses: give it a computation of 0 microseconds"
        );
        let mut builder = WorkloadBuilder::new(1);
        builder.send(0, "far", 1 << 31, 0, 8, &[]).unwrap();
        assert_eq!(
            builder.finish().to_bytes().unwrap_err().to_string(),
            "rank 0, node 0 \"far\": attribute comm_dst (int32_val) is 2147483648; a value below 2^31 is expected"
        );
    }

    #[test]
    fn a_normalized_workload_has_the_same_ranks_as_roots() {
        let mut builder = WorkloadBuilder::new(3);
        let ten = builder.group("10", [2, 0]).unwrap();
        let nine = builder.group("9", [1]).unwrap();
        let kind = CollectiveKind::Broadcast;
        builder.rooted(0, "b", kind, 8, ten, 0, &[]).unwrap();
        builder.rooted(2, "b", kind, 8, ten, 1, &[]).unwrap();
        builder.rooted(1, "b", kind, 8, nine, 0, &[]).unwrap();
        let workload = builder.finish().normalized();
        let groups: Vec<_> =
            workload.groups().iter().map(|group| (group.name.as_str(), &group.members[..])).collect();
        assert_eq!(groups, [("", &[0, 1, 2][..]), ("9", &[1]), ("10", &[0, 2])]);
        let of = |rank: usize| (workload.rank(rank).traits(0).group, workload.rank(rank).traits(0).root);
        // Position 0 was rank 2, position 1 rank 0.
        assert_eq!([of(0), of(2), of(1)], [(2, 1), (2, 0), (1, 0)]);
    }
}
