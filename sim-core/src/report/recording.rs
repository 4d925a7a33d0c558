//! What happened when, of a whole run.

use chakra_et::graph::{Graph, Op};
use rustc_hash::FxHashMap;

use crate::topology::LinkId;
use crate::units::{Bytes, Picos};
use crate::workload::{Span, Step, Timeline, Track, What};

/// When each node of the graph was under way, and what crossed each link when.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Recording {
    /// By rank, then by number of the node.
    pub nodes: Vec<Vec<NodeTime>>,
    /// By link, then in the order in which they began; none if the model knows no routes.
    pub crossings: Vec<Crossing>,
}

/// When a node was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NodeTime {
    /// When it was issued.
    pub start: Picos,
    /// When it finished: a SEND when its message was delivered, or under `loggp` when it left the processor.
    pub finish: Picos,
}

/// A message on a link.
///
/// Under `link-queue` a message occupies one link of its route after the other, and a link carries one at a time. Under
/// the other models it flows over all of them from when it enters the network until it is delivered, and a link may carry several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Crossing {
    /// The link.
    pub link: LinkId,
    /// The sending rank.
    pub src: u32,
    /// The receiving rank.
    pub dst: u32,
    /// The number of the SEND on the sending rank.
    pub send: u32,
    /// The size.
    pub bytes: Bytes,
    /// Since when the link carries it.
    pub start: Picos,
    /// Until when.
    pub finish: Picos,
}

impl Recording {
    /// Tells a timeline what happened, in the order in which it ended. `graph` is the one that was run.
    pub fn tell(&self, graph: &Graph, timeline: &mut dyn Timeline) {
        let flows = self.flows(graph);
        let mut spans = Vec::new();
        for (rank, (nodes, times)) in (0..).zip(graph.ranks().iter().zip(&self.nodes)) {
            for (node, (op, time)) in (0..).zip(nodes.ops().iter().zip(times)) {
                let (step, bytes) = match *op {
                    Op::Send { dst, bytes, .. } => (Step::Send(dst), bytes),
                    Op::Recv { src, bytes, .. } => (Step::Receive(src), bytes),
                    Op::Comp { bytes, .. } => (Step::Compute, bytes),
                    _ => continue,
                };
                let thread_block = nodes.origin(node).step.map_or(0, |step| step.thread_block);
                let flow = flows.get(&(rank, node)).copied();
                let what = What::Step { id: nodes.id(node), collective: "", step, bytes: Bytes(bytes), flow };
                let track = Track::ThreadBlock { rank, group: "", thread_block };
                spans.push(Span { track, what, start: time.start, finish: time.finish });
            }
        }
        spans.extend(self.crossings.iter().map(|crossing| {
            let Crossing { link, src, dst, bytes, start, finish, .. } = *crossing;
            Span { track: Track::Link { link }, what: What::Crossing { src, dst, bytes }, start, finish }
        }));
        // Stable: of what ends together, in the order of ranks and nodes, then of links.
        spans.sort_by_key(|span| (span.finish, span.start));
        spans.iter().for_each(|span| timeline.span(span));
    }
    /// By rank and node of the SENDs and RECVs: the number of their message. They met in the order in which they were issued.
    fn flows(&self, graph: &Graph) -> FxHashMap<(u32, u32), u64> {
        // Of one stream of messages: when it was issued, and where. The sizes of two that meet are the same.
        let mut sends = Vec::new();
        let mut receives = Vec::new();
        for (rank, (nodes, times)) in (0..).zip(graph.ranks().iter().zip(&self.nodes)) {
            for (node, (op, time)) in (0..).zip(nodes.ops().iter().zip(times)) {
                match *op {
                    Op::Send { dst, tag, bytes } => sends.push((rank, dst, tag, bytes, time.start, node)),
                    Op::Recv { src, tag, bytes } => receives.push((src, rank, tag, bytes, time.start, node)),
                    _ => {}
                }
            }
        }
        sends.sort_unstable();
        receives.sort_unstable();
        let mut flows = FxHashMap::default();
        let mut waiting = receives.into_iter().peekable();
        for (number, (src, dst, tag, bytes, _, send)) in (0..).zip(sends) {
            let stream = (src, dst, tag, bytes);
            while waiting.next_if(|&(src, dst, tag, bytes, ..)| (src, dst, tag, bytes) < stream).is_some() {}
            if let Some((.., receive)) =
                waiting.next_if(|&(src, dst, tag, bytes, ..)| (src, dst, tag, bytes) == stream)
            {
                flows.insert((src, send), number);
                flows.insert((dst, receive), number);
            }
        }
        flows
    }
}
