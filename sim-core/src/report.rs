//! What a simulation says.

mod critical_path;
mod messages;
mod recording;

use crate::model::{Conventions, Model};
use crate::topology::LinkId;
use crate::units::{Bytes, Picos};

pub use critical_path::{CriticalPath, LineShare, PathStep, Shares, StepKind};
pub use messages::MessageTime;
pub use recording::{Crossing, NodeTime, Recording};

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// When the last rank finished.
    pub makespan: Picos,
    /// When each rank finished its last node; 0 for a rank without nodes.
    pub finish: Vec<Picos>,
    /// Number of SEND nodes delivered.
    pub messages: u64,
    /// Sum of the sizes of the messages, each once, however many hops it took.
    pub bytes: Bytes,
    /// The model.
    pub model: Model,
    /// The conventions.
    pub conventions: Conventions,
    /// What to know when reading the figures, one sentence each.
    pub notes: Vec<String>,
    /// What each link carried that is on the route of some message, in the order of the ids; None if
    /// the model knows no links.
    pub links: Option<Vec<LinkLoad>>,
    /// Whether one rank was simulated for all, because all do the same at the same times.
    pub folded: bool,
    /// When each message was on its way, by source rank and SEND, if it was asked for by
    /// [`Simulation::message_times`](crate::Simulation::message_times).
    pub message_times: Option<Vec<MessageTime>>,
    /// What determines the makespan, if it was asked for by
    /// [`Simulation::critical_path`](crate::Simulation::critical_path).
    pub critical_path: Option<CriticalPath>,
    /// What happened when, if it was asked for by [`Simulation::recording`](crate::Simulation::recording).
    pub recording: Option<Recording>,
}

/// What a link carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkLoad {
    /// The link.
    pub link: LinkId,
    /// Sum of the sizes of the messages that crossed it.
    pub bytes: Bytes,
    /// How long it was occupied: by one message after the other, under `fluid` by one or more at once, if only at
    /// a part of its bandwidth.
    pub busy: Picos,
}

/// The algorithm bandwidth of nccl-tests in 10^9 bytes per second: `size` / `time`. None at time 0.
///
/// ```
/// use sim_core::report::algbw_gb_per_s;
/// use sim_core::units::{Bytes, Picos};
///
/// assert_eq!(algbw_gb_per_s(Bytes(1_000_000), Picos(20_000_000)), Some(50.0));
/// assert_eq!(algbw_gb_per_s(Bytes(1_000_000), Picos(0)), None);
/// ```
#[must_use]
pub fn algbw_gb_per_s(size: Bytes, time: Picos) -> Option<f64> {
    // 1 byte per picosecond is 10^12 bytes per second.
    (time > Picos::ZERO).then(|| size.0 as f64 / time.0 as f64 * 1000.0)
}

/// The factor from algorithm to bus bandwidth in nccl-tests, for a collective among `ranks` ranks.
///
/// 2(n−1)/n for all_reduce; (n−1)/n for all_gather, reduce_scatter, all_to_all, gather and scatter;
/// 1 for broadcast, reduce and send_recv. None for barrier, for other names, and for 0 ranks. Names
/// are in snake case as in [`chakra_et::graph::CollectiveInfo::collective`]; dashes do as well.
///
/// ```
/// use sim_core::report::busbw_factor;
///
/// assert_eq!(busbw_factor("all_reduce", 8), Some(1.75));
/// assert_eq!(busbw_factor("all-reduce", 1), Some(0.0));
/// assert_eq!(busbw_factor("custom", 8), None);
/// ```
#[must_use]
pub fn busbw_factor(collective: &str, ranks: u32) -> Option<f64> {
    let n = f64::from(ranks);
    let factor = match collective.replace('-', "_").as_str() {
        "all_reduce" => 2.0 * (n - 1.0) / n,
        "all_gather" | "reduce_scatter" | "all_to_all" | "gather" | "scatter" => (n - 1.0) / n,
        "broadcast" | "reduce" | "send_recv" => 1.0,
        _ => return None,
    };
    (ranks > 0).then_some(factor)
}

/// The bus bandwidth of nccl-tests in 10^9 bytes per second: [`algbw_gb_per_s`] × [`busbw_factor`].
/// None where one of them is.
#[must_use]
pub fn busbw_gb_per_s(collective: &str, ranks: u32, size: Bytes, time: Picos) -> Option<f64> {
    Some(algbw_gb_per_s(size, time)? * busbw_factor(collective, ranks)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidth_figures_follow_nccl_tests() {
        let (size, time) = (Bytes(8_000_000), Picos(1_000_000_000));
        assert_eq!(algbw_gb_per_s(size, time), Some(8.0));
        for (collective, busbw) in [
            ("all_reduce", Some(14.0)),
            ("all_gather", Some(7.0)),
            ("reduce-scatter", Some(7.0)),
            ("all_to_all", Some(7.0)),
            ("gather", Some(7.0)),
            ("scatter", Some(7.0)),
            ("broadcast", Some(8.0)),
            ("reduce", Some(8.0)),
            ("send_recv", Some(8.0)),
            ("barrier", None),
            ("custom", None),
        ] {
            assert_eq!(busbw_gb_per_s(collective, 8, size, time), busbw, "{collective}");
        }
        assert_eq!(busbw_gb_per_s("all_reduce", 8, size, Picos::ZERO), None);
        assert_eq!(busbw_factor("all_reduce", 0), None);
    }
}
