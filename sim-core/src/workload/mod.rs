//! Workloads: training steps in which every collective is carried out by an algorithm, message by message, while the
//! ranks compute.
//!
//! A [`WorkloadSimulation`] takes a [`Workload`](chakra_et::workload::Workload), a topology and a model, and somebody who
//! supplies [`Algorithms`]; it gives a [`WorkloadReport`], or says as a [`WorkloadError`] who waits for whom.
//!
//! **What a rank does at once.** Each stream of the GPU and each thread of the CPU runs one computation at a time, of those
//! that are ready the one with the lowest id. Loads and stores run one at a time. The collectives of one group run one after
//! the other, on every rank in the same order; those of different groups run at the same time, and so do messages
//! outside collectives. A rank begins its share in a collective when its node is ready, and does not wait for others to come: only their
//! messages hold it up. The node is over when the rank's share is.
//!
//! **As ASTRA-sim** ([`Compat::AstraSim`](crate::Compat::AstraSim)): a rank has one computation of the GPU, one of the CPU, and one SEND,
//! collective, load or store at a time, whatever the group; RECVs are unlimited. After every end the nodes that are ready are tried in
//! ascending order, and the collectives of a group are joined in the order in which each rank comes to them. So two ranks that come to two
//! groups in opposite order wait for each other for good, which under the own rules only happens where dependences ask for it.
//!
//! What ASTRA-sim cannot do is done here all the same: it aborts on a METADATA node, on most kinds of collectives and on one of 0
//! bytes, waits for ever for one in a group of one rank, and takes a broadcast for a pause of the node's duration. Here metadata is over at
//! once, and all collectives have their algorithm.

mod algorithm;
mod costs;
mod engine;
mod error;
mod path;
mod report;
mod simulation;
mod stuck;
#[cfg(test)]
mod tests;
mod timeline;

pub use algorithm::{Algorithm, Algorithms, Choice, Chunks, Use};
pub use costs::{Memory, PeakError, Roofline};
pub use error::WorkloadError;
pub use path::{PathKind, PathNode, WorkloadPath};
pub use report::{CollectiveTimes, MessageTotals, RankTimes, WorkloadReport};
pub use simulation::WorkloadSimulation;
pub use stuck::{StuckWorkload, Wait};
pub use timeline::{Span, Step, Timeline, Track, What};
