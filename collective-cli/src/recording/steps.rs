//! What thread blocks did.

use std::collections::HashSet;

use chakra_et::graph::{Graph, Op};
use collective::sim::report::{CriticalPath, Recording};
use collective::sim::units::{Bytes, Picos};

/// A step of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) rank: u32,
    /// 0 where the graph does not say.
    pub(crate) thread_block: u32,
    /// The node's id in the trace.
    pub(crate) node: u64,
    /// Which step of its thread block it is, where known.
    pub(crate) number: Option<u32>,
    pub(crate) kind: Kind,
    /// The size of its message, or what it computes on.
    pub(crate) bytes: Bytes,
    /// Index of the file, and the line.
    pub(crate) source: Option<(u16, u32)>,
    pub(crate) start: Picos,
    pub(crate) finish: Picos,
    /// Whether it lies on the critical path.
    pub(crate) is_critical: bool,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Send { peer: u32, tag: u32 },
    Receive { peer: u32, tag: u32 },
    Reduce,
    Copy,
}

/// The steps of a run, in order.
pub(super) fn of(graph: &Graph, recording: &Recording, path: &CriticalPath) -> Vec<Step> {
    // Only looked up.
    let critical: HashSet<(u32, u64)> = path.steps.iter().map(|step| (step.rank, step.node)).collect();
    let mut steps = Vec::new();
    for (rank, (nodes, times)) in (0..).zip(graph.ranks().iter().zip(&recording.nodes)) {
        for (number, (op, time)) in (0..).zip(nodes.ops().iter().zip(times)) {
            let (kind, bytes) = match *op {
                Op::Send { dst, tag, bytes } => (Kind::Send { peer: dst, tag }, bytes),
                Op::Recv { src, tag, bytes } => (Kind::Receive { peer: src, tag }, bytes),
                Op::Comp { ops: 0, bytes, .. } => (Kind::Copy, bytes),
                Op::Comp { bytes, .. } => (Kind::Reduce, bytes),
                _ => continue,
            };
            let (origin, node) = (nodes.origin(number), nodes.id(number));
            steps.push(Step {
                rank,
                thread_block: origin.step.map_or(0, |step| step.thread_block),
                node,
                number: origin.step.map(|step| step.step),
                kind,
                bytes: Bytes(bytes),
                source: origin.source.map(|source| (source.file, source.line)),
                start: time.start,
                finish: time.finish,
                is_critical: critical.contains(&(rank, node)),
            });
        }
    }
    // Stable, and nodes come in the order of their numbers.
    steps.sort_by_key(|step| (step.rank, step.thread_block, step.start));
    steps
}
