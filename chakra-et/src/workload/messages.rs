//! Which SEND meets which RECV.

use super::Workload;
use crate::graph::Op;

/// An end of a message. Sorted, the ends of one key are together: the sends in the order of their launches, then the
/// receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) tag: u32,
    pub(super) receives: bool,
    /// Place in the order of launches of its rank.
    place: u32,
    pub(super) node: u32,
    pub(super) bytes: u64,
}

impl End {
    /// The rank that it is on.
    pub(super) fn rank(&self) -> u32 {
        if self.receives { self.dst } else { self.src }
    }

    /// The rank of the other end.
    pub(super) fn peer(&self) -> u32 {
        if self.receives { self.src } else { self.dst }
    }
}

/// The messages of a workload: of each source, destination and tag, the k-th SEND meets the k-th RECV.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) met: Vec<(End, End)>,
    /// Ends without another.
    pub(super) alone: Vec<End>,
}

impl Messages {
    pub(super) fn of(workload: &Workload, launches: &[Vec<u32>]) -> Self {
        let mut ends = Vec::new();
        for (own, (rank, launches)) in (0..).zip(workload.ranks.iter().zip(launches)) {
            for (place, &node) in (0..).zip(launches) {
                match rank.graph.op(node) {
                    Op::Send { dst, tag, bytes } => {
                        ends.push(End { src: own, dst, tag, receives: false, place, node, bytes });
                    }
                    Op::Recv { src, tag, bytes } => {
                        ends.push(End { src, dst: own, tag, receives: true, place, node, bytes });
                    }
                    _ => {}
                }
            }
        }
        ends.sort_unstable();
        let mut messages = Self::default();
        for of_key in ends.chunk_by(|a, b| (a.src, a.dst, a.tag) == (b.src, b.dst, b.tag)) {
            let (sends, recvs) = of_key.split_at(of_key.partition_point(|end| !end.receives));
            let common = sends.len().min(recvs.len());
            messages.met.extend(sends.iter().copied().zip(recvs.iter().copied()));
            messages.alone.extend(sends[common..].iter().chain(&recvs[common..]));
        }
        messages
    }
}
