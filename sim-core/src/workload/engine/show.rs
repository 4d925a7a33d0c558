//! Tells a timeline what has ended.

use chakra_et::graph::Op;
use chakra_et::workload::CollectiveKind;

use super::lanes::LaneKind;
use super::part::EARLY;
use super::program::NONE;
use super::run::Engine;
use crate::events::MessageId;
use crate::model::Model;
use crate::model::network::{Network, Pair};
use crate::units::{Bytes, Picos};
use crate::workload::timeline::{Span, Step, Track, What};

impl<N: Network> Engine<'_, '_, N> {
    /// A node of a trace has finished.
    pub(super) fn show_node(&mut self, rank: u32, node: u32) {
        if self.timeline.is_none() {
            return;
        }
        let flow = self.flow_of(rank, node);
        let Some(timeline) = &mut self.timeline else { return };
        let trace = &self.plan.traces[rank as usize];
        let number = trace.number(node);
        let nodes = self.plan.workload.rank(rank as usize);
        let (id, name) = (nodes.graph().id(number), nodes.name(number));
        let track = match trace.lanes[node as usize] {
            NONE => Track::Messages { rank },
            lane => match trace.kinds[lane as usize] {
                LaneKind::Cpu(thread) => Track::Cpu { rank, thread },
                LaneKind::Gpu(stream) => Track::Gpu { rank, stream },
                LaneKind::Memory => Track::Memory { rank },
                LaneKind::Group(_) | LaneKind::Communication => Track::Messages { rank },
            },
        };
        let (track, what) = match trace.program.ops[node as usize] {
            Op::Send { dst, bytes, .. } => {
                (track, What::Message { id, name, sends: true, peer: dst, bytes: Bytes(bytes), flow })
            }
            Op::Recv { src, bytes, .. } => {
                (track, What::Message { id, name, sends: false, peer: src, bytes: Bytes(bytes), flow })
            }
            Op::Coll { kind, bytes } => {
                let group = &self.plan.workload.groups()[nodes.traits(number).group as usize].name;
                let used = self.plan.uses[trace.program.attached[node as usize] as usize];
                let algorithm = self.plan.algorithms[used.algorithm as usize].algorithm.name();
                let kind = CollectiveKind::from_wire(kind).unwrap_or(CollectiveKind::Barrier);
                (
                    Track::Group { rank, group },
                    What::Collective { id, name, kind, bytes: Bytes(bytes), algorithm },
                )
            }
            Op::Comp { .. } | Op::Mem { .. } => {
                let part = trace.tiles.get(&node).map(|tile| (tile.index, tile.of));
                (track, What::Node { id, name, part })
            }
            _ => return,
        };
        let state = &self.ranks[rank as usize];
        let (start, finish) = (state.start[node as usize], state.finish_of[node as usize]);
        timeline.span(&Span { track, what, start, finish });
    }

    /// A node of an algorithm has finished.
    pub(super) fn show_step(&mut self, part: u32, node: u32) {
        if self.timeline.is_none() {
            return;
        }
        let flow = self.flow_of(part, node);
        let Some(timeline) = &mut self.timeline else { return };
        let of = &self.parts[part as usize];
        let Some(instance) = &self.instances[of.instance as usize] else { return };
        let collective = &self.plan.collectives[instance.collective as usize];
        let group = &self.plan.workload.groups()[collective.group as usize];
        let used = self.plan.uses[instance.collective as usize];
        let graph =
            self.plan.algorithms[used.algorithm as usize].algorithm.graph().rank(of.position as usize);
        let thread_block = graph.origin(node).step.map_or(0, |step| step.thread_block);
        let rank_at = |position: u32| group.members[position as usize];
        let (step, bytes) = match of.program.ops[node as usize] {
            Op::Send { dst, bytes, .. } => (Step::Send(rank_at(dst)), bytes),
            Op::Recv { src, bytes, .. } => (Step::Receive(rank_at(src)), bytes),
            Op::Comp { bytes, .. } => (Step::Compute, bytes),
            _ => return,
        };
        let track = Track::ThreadBlock { rank: of.rank, group: &group.name, thread_block };
        let carried = collective.nodes.get(of.position as usize);
        let name = carried.map_or("", |at| self.plan.workload.rank(of.rank as usize).name(*at));
        let what = What::Step { id: graph.id(node), collective: name, step, bytes: Bytes(bytes), flow };
        let (start, finish) = (of.starts[node as usize], self.queue.now());
        timeline.span(&Span { track, what, start, finish });
    }

    /// The number of the message of a SEND or RECV that has ended.
    fn flow_of(&mut self, part: u32, node: u32) -> Option<u64> {
        let of = &self.parts[part as usize];
        // A SEND whose RECV comes later is asked once more, by that.
        let waits = matches!(of.program.ops[node as usize], Op::Send { .. })
            && of.states[node as usize].phase == EARLY;
        if waits { self.flows.get(&(part, node)).copied() } else { self.flows.remove(&(part, node)) }
    }

    /// A message is at the end of a hop, in a model in which it occupies one link after the other.
    pub(super) fn show_crossing(&mut self, message: MessageId) {
        let message = self.messages[message];
        let now = self.queue.now();
        let Some((link, start, finish)) = self.network.crossed(&message, now) else { return };
        let (_, _, pair) = self.ends_of(message.rank, message.connection);
        let Some(timeline) = &mut self.timeline else { return };
        let Pair { src, dst } = self.plan.pairs[pair as usize];
        let what = What::Crossing { src, dst, bytes: message.bytes };
        timeline.span(&Span { track: Track::Link { link }, what, start, finish });
    }

    /// A message of a SEND is delivered, in a model in which it flows over all links of its route at once.
    pub(super) fn show_route(&mut self, part: u32, send: u32, pair: u32, bytes: Bytes) {
        let finish = self.queue.now();
        if self.model == Model::LinkQueue {
            return;
        }
        let Some(timeline) = &mut self.timeline else { return };
        let of = &self.parts[part as usize];
        let start = match of.starts.get(send as usize) {
            Some(start) => *start,
            None => self.ranks[of.rank as usize].start[send as usize],
        };
        // It enters the network when the sender's overhead is over.
        let start = Picos(start.0.saturating_add(self.settings.options.send_overhead.0));
        let Pair { src, dst } = self.plan.pairs[pair as usize];
        let mut route = Vec::new();
        self.topology.route(src, dst, &mut route);
        for link in route {
            let what = What::Crossing { src, dst, bytes };
            timeline.span(&Span { track: Track::Link { link }, what, start, finish });
        }
    }
}
