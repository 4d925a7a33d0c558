//! What the simulation of a workload says.

use chakra_et::workload::CollectiveKind;

use super::path::WorkloadPath;
use crate::model::{Conventions, Model};
use crate::report::LinkLoad;
use crate::units::{Bytes, Picos};

/// The result of the simulation of a workload.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkloadReport {
    /// When the last rank finished: the iteration time.
    pub makespan: Picos,
    /// By rank, how it spent that time.
    pub ranks: Vec<RankTimes>,
    /// By group and kind, what its collectives took.
    pub collectives: Vec<CollectiveTimes>,
    /// What messages outside collectives took.
    pub messages: MessageTotals,
    /// Messages delivered, those of collectives included.
    pub delivered: u64,
    /// Sum of their sizes, each once, however many hops it took.
    pub bytes: Bytes,
    /// What each link carried that is on the route of some message, in the order of the ids; None if the model knows
    /// no links.
    pub links: Option<Vec<LinkLoad>>,
    /// What determines the makespan.
    pub critical_path: WorkloadPath,
    /// The most nodes of algorithms that were under way at once.
    pub most_in_flight: usize,
    /// The model.
    pub model: Model,
    /// The conventions.
    pub conventions: Conventions,
    /// What to know when reading the figures, one sentence each.
    pub notes: Vec<String>,
    /// What was asked for and has no effect, one sentence each.
    pub warnings: Vec<String>,
}

/// How a rank spent the makespan: the first three and `idle` are all of it.
///
/// A rank *communicates* while one of its collectives runs, waiting for late ranks included, or a message outside collectives
/// is under way from or to it. It *computes* while a computation runs on its GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RankTimes {
    /// When it finished its last node.
    pub finish: Picos,
    /// Computing, without communication.
    pub compute: Picos,
    /// Computing and communicating at once: overlapped communication.
    pub overlapped: Picos,
    /// Communicating only: exposed communication.
    pub exposed: Picos,
    /// Neither, up to the makespan.
    pub idle: Picos,
    /// Of all communication in collectives, how long the rank waited for ranks that had not come to them yet.
    pub waited: Picos,
    /// Computing on the CPU, whatever else happened.
    pub cpu: Picos,
}

impl RankTimes {
    /// The share of the makespan in which the GPU computed; None at time 0.
    #[must_use]
    pub fn utilisation(&self, makespan: Picos) -> Option<f64> {
        let busy = self.compute.0 + self.overlapped.0;
        (makespan > Picos::ZERO).then(|| busy as f64 / makespan.0 as f64)
    }
}

/// What the collectives of a kind took in a group. Times are sums over its ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectiveTimes {
    /// The group's name; empty for the group of all ranks.
    pub group: String,
    /// Its number of ranks.
    pub ranks: u32,
    /// The kind.
    pub kind: CollectiveKind,
    /// The algorithms that carried them out, by name.
    pub algorithms: Vec<String>,
    /// How many.
    pub count: u64,
    /// Sum of their `comm_size`.
    pub bytes: Bytes,
    /// From the start to the end on each rank.
    pub time: Picos,
    /// Of `time`, while the rank did not compute.
    pub exposed: Picos,
    /// Of `time`, before the last rank had come.
    pub waited: Picos,
    /// From the first start to the last end, summed over the collectives.
    pub span: Picos,
}

/// What messages outside collectives took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MessageTotals {
    /// How many.
    pub count: u64,
    /// Sum of their sizes.
    pub bytes: Bytes,
    /// Sum of the times from the start of the SEND to the delivery.
    pub time: Picos,
}
