//! Workloads: traces of whole training or inference steps, in which collectives are single nodes.
//!
//! A [`Workload`] holds, for each rank, the compact [`RankGraph`] of its nodes with what a simulator of
//! workloads needs beside: on which communicator group a collective runs, on which stream of which processor a
//! node computes, what it is called. It is read from files, or built in Rust with a [`WorkloadBuilder`].
//!
//! **What a node means.** A [`Op::Coll`](crate::graph::Op::Coll) is one rank's part in a collective of its
//! group; `comm_size` counts bytes as ASTRA-sim reads them: of an all-gather and a gather the input of one rank, of
//! all other collectives the buffer of one rank (of a scatter, the root's). A [`Op::Send`](crate::graph::Op::Send) or
//! [`Op::Recv`](crate::graph::Op::Recv) names a rank of the whole workload. A [`Op::Comp`](crate::graph::Op::Comp)
//! runs on a stream of the CPU or the GPU.
//!
//! ```
//! use chakra_et::workload::{CollectiveKind, Cost, WorkloadBuilder};
//!
//! // Two ranks: each multiplies, adds up the gradients of both, and updates.
//! let mut step = WorkloadBuilder::new(2);
//! for rank in 0..2 {
//!     let product = step.compute(rank, "backward", Cost::micros(100), &[])?;
//!     let sum = step.collective(rank, "gradients", CollectiveKind::AllReduce, 1 << 20, 0, &[product])?;
//!     step.compute(rank, "update", Cost::micros(10), &[sum])?;
//! }
//! let workload = step.finish();
//! assert_eq!(workload.rank_count(), 2);
//! assert_eq!(workload.rank(0).graph().deps(1), [0]);
//! assert_eq!(workload.rank(0).name(1), "gradients");
//! # Ok::<(), chakra_et::workload::BuildError>(())
//! ```

mod builder;
mod check;
mod collectives;
mod costs;
mod joined;
mod kind;
mod matching;
mod membership;
mod messages;
mod order;
mod rank_file;
mod read;
mod replicate;
mod stated;
mod summary;
mod write;

pub use builder::{BuildError, Cost, NodeId, WorkloadBuilder};
pub use check::{Finding, check};
pub use collectives::{Collective, Collectives, Disagreement, JoinError};
pub use kind::CollectiveKind;
pub use order::Cyclic;
pub use read::{GroupProblem, LoadError, Loaded, ReadOptions, from_bytes, load, load_bytes, read};
pub use replicate::{GroupRule, ReplicateError, Replication, replicate};
pub use summary::{GroupSummary, Summary};
pub use write::WriteError;

use crate::graph::RankGraph;

/// The nodes of all ranks, and the groups in which they communicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    pub(crate) ranks: Vec<RankWorkload>,
    pub(crate) groups: Vec<Group>,
}

/// A communicator group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name (`pg_name`); empty for the group of all ranks.
    pub name: String,
    /// Its ranks; their places in this list are their positions in the group's collectives.
    pub members: Vec<u32>,
}

/// The nodes of one rank.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RankWorkload {
    pub(crate) graph: RankGraph,
    /// By node.
    pub(crate) traits: Vec<NodeTraits>,
    /// All names in one text, and by node where its name ends.
    pub(crate) names: String,
    pub(crate) name_ends: Vec<u32>,
}

/// What a workload states of a node beside its operation: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NodeTraits {
    /// Of a collective, the index of its group in [`Workload::groups`]; else 0.
    pub group: u32,
    /// Of a collective with a root, the root's position in the group; else 0.
    pub root: u32,
    /// Of a computation, its stream (GPU) or thread (CPU).
    pub stream: u32,
    /// Whether a computation runs on the CPU (`is_cpu_op`).
    pub on_cpu: bool,
    /// Whether a load or store goes to remote memory (`tensor_loc` is 2, as schema 0.0.1 numbered it).
    pub remote: bool,
}

impl Workload {
    /// Number of ranks.
    #[must_use]
    pub fn rank_count(&self) -> usize {
        self.ranks.len()
    }

    /// The nodes of a rank.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[must_use]
    pub fn rank(&self, rank: usize) -> &RankWorkload {
        &self.ranks[rank]
    }

    /// The nodes of all ranks.
    #[must_use]
    pub fn ranks(&self) -> &[RankWorkload] {
        &self.ranks
    }

    /// The groups; the first is that of all ranks.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Number of nodes of all ranks together.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.ranks.iter().map(RankWorkload::len).sum()
    }
}

impl Group {
    /// The position of a rank in the group.
    #[must_use]
    pub fn position(&self, rank: u32) -> Option<usize> {
        self.members.iter().position(|member| *member == rank)
    }

    /// How messages name it: `the group of all ranks`, or `group "5"`.
    #[must_use]
    pub fn label(&self) -> String {
        if self.name.is_empty() {
            "the group of all ranks".to_owned()
        } else {
            format!("group {:?}", self.name)
        }
    }
}

impl RankWorkload {
    /// The nodes with their dependences.
    #[must_use]
    pub fn graph(&self) -> &RankGraph {
        &self.graph
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// What is stated of a node beside its operation.
    ///
    /// # Panics
    ///
    /// If there is no such node; so do the other functions that take one.
    #[must_use]
    pub fn traits(&self, node: u32) -> NodeTraits {
        self.traits[node as usize]
    }

    /// The name of a node.
    #[must_use]
    pub fn name(&self, node: u32) -> &str {
        let begin = if node == 0 { 0 } else { self.name_ends[node as usize - 1] };
        &self.names[begin as usize..self.name_ends[node as usize] as usize]
    }
}

/// Sorts the names of groups: numbers by their value, then others.
fn name_order(name: &str) -> (bool, usize, &str) {
    let number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    (!number, if number { name.len() } else { 0 }, name)
}
