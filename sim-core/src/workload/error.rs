//! Why a workload is not simulated to its end.

use chakra_et::workload::JoinError;
use thiserror::Error;

use super::stuck::StuckWorkload;
use crate::error::{Overflow, SimError};

/// Why the simulation of a workload gives no result. Nodes are named by their ids in the trace.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The setup does not fit, a figure does not fit its integer, or the observer ended the run.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The ranks do not agree on their collectives.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// There is no algorithm for a collective, or one that cannot be executed.
    #[error("{collective}: {source}")]
    Algorithm {
        /// The collective: kind, size, group, and the node of its first member.
        collective: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A node that cannot be executed.
    #[error("rank {rank}, node {node} {name:?} {what}")]
    Node {
        /// The rank.
        rank: u32,
        /// The node.
        node: u64,
        /// Its name.
        name: String,
        /// What is wrong with it.
        what: String,
    },
    /// A rank issues another collective than the others, in the order in which it comes to them.
    #[error(
        "{group}: rank {rank} comes to node {node} {name:?} where rank {other} has come to node {other_node} \
         {other_name:?}: these are different collectives. With one SEND or collective of a rank at a time, members may come to \
         a group's collectives in different orders; ASTRA-sim then waits for good, while the own rules keep one order for each group"
    )]
    OtherCollective {
        /// The group.
        group: String,
        /// The rank.
        rank: u32,
        /// Its node.
        node: u64,
        /// The node's name.
        name: String,
        /// The first rank that came.
        other: u32,
        /// Its node.
        other_node: u64,
        /// That node's name.
        other_name: String,
    },
    /// Nodes are left that can never run.
    #[error("{0}")]
    Stuck(Box<StuckWorkload>),
}

impl From<Overflow> for WorkloadError {
    fn from(overflow: Overflow) -> Self {
        Self::Simulation(overflow.into())
    }
}
