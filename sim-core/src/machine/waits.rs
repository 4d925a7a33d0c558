//! Finds out who waits for whom when no thread block can go on.

use chakra_et::graph::{Graph, Symmetry};

use super::engine::Engine;
use super::program::{NONE, Step};
use super::state::Phase;
use crate::stuck::{StuckReport, WaitCycle, WaitKind, WaitReason, WaitStep, WaitingReceive};
use crate::units::{Bytes, Picos};

impl Engine<'_> {
    /// Whether some thread block has not come to its end.
    pub(super) fn is_stuck(&self) -> bool {
        self.blocks.iter().any(|block| block.phase != Phase::Over)
    }

    /// Where the first rank stands for all, by a symmetry, what it waits for is said of each; but no circle is followed.
    pub(super) fn diagnose(&self, graph: &Graph, symmetry: Option<&Symmetry>) -> StuckReport {
        let program = self.program;
        let unfinished = |step: &usize| self.done[*step] < self.rounds.count;
        let left = (0..program.steps.len()).filter(unfinished).map(|step| program.steps[step].nodes as usize);
        let waiting = self.blocks.iter().zip(&program.blocks).filter(|(state, _)| state.phase == Phase::Data);
        let receives = waiting.filter_map(|(state, block)| {
            let step = &program.steps[state.step as usize];
            let connection = program.connections.get(step.receive as usize)?;
            let (rank, node) = (block.rank, step.first_node);
            let source = graph.source(rank as usize, node);
            Some(WaitingReceive {
                rank,
                node: graph.rank(rank as usize).id(node),
                peer: program.peer(graph, step),
                tag: connection.tag,
                bytes: Bytes(step.bytes),
                step: Some(program.place(step).1),
                source: source.map(|(file, line)| (file.to_owned(), line)),
                reason: match self.next_send(step.receive) {
                    Some(send) => WaitReason::SendNotIssued { node: send_id(graph, connection.src, send) },
                    None => WaitReason::NoSend,
                },
            })
        });
        let time = self.times.absolute(self.queue.now()).unwrap_or(Picos(u64::MAX));
        let Some(symmetry) = symmetry else {
            return StuckReport {
                time,
                unfinished: left.sum(),
                nodes: graph.node_count(),
                deadlock: self.circle(graph),
                cycles: Vec::new(),
                receives: receives.collect(),
            };
        };
        let (of_first, ranks) = (receives.collect::<Vec<_>>(), program.ranks as usize);
        let on = |rank| {
            let moved = move |receive: &WaitingReceive| WaitingReceive {
                rank,
                peer: symmetry.moved(receive.peer, rank),
                ..receive.clone()
            };
            of_first.iter().map(moved)
        };
        StuckReport {
            time,
            unfinished: left.sum::<usize>().saturating_mul(ranks),
            nodes: graph.rank(0).len().saturating_mul(ranks),
            deadlock: None,
            cycles: Vec::new(),
            receives: (0..program.ranks).flat_map(on).collect(),
        }
    }

    /// The step of the sender that sends next over a connection, in this round or a later one.
    fn next_send(&self, connection: u32) -> Option<&Step> {
        let sender = self.program.connections[connection as usize].sender;
        let state = self.blocks.get(sender as usize)?;
        let block = &self.program.blocks[sender as usize];
        let steps = |range: std::ops::Range<u32>| {
            let steps = &self.program.steps[range.start as usize..range.end as usize];
            steps.iter().find(|step| step.send == connection)
        };
        let more = state.round + 1 < self.rounds.count;
        let later = steps(state.step..block.end_step);
        later
            .filter(|_| state.phase != Phase::Over)
            .or_else(|| steps(block.first_step..state.step).filter(|_| more))
    }

    /// The block that a block waits for.
    fn awaited(&self, number: u32) -> Option<u32> {
        let state = &self.blocks[number as usize];
        let step = &self.program.steps[state.step as usize];
        let connection = |number: u32| &self.program.connections[number as usize];
        match state.phase {
            Phase::Begin => {
                let (first, end) = step.waits;
                let waits = &self.program.waits[first as usize..end as usize];
                let missing = waits.iter().find(|on| self.done[**on as usize] <= state.round)?;
                Some(self.program.steps[*missing as usize].block)
            }
            Phase::Data => self.next_send(step.receive).map(|send| send.block),
            Phase::Slot => Some(connection(step.send).receiver).filter(|block| *block != NONE),
            _ => None,
        }
    }

    /// A circle of blocks that wait for each other, from the first block that leads to one.
    fn circle(&self, graph: &Graph) -> Option<WaitCycle> {
        let mut seen = vec![NONE; self.blocks.len()];
        for start in 0..self.blocks.len() as u32 {
            let mut at = start;
            let mut way = Vec::new();
            while seen[at as usize] == NONE {
                seen[at as usize] = start;
                way.push(at);
                match self.awaited(at) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            let first = way.iter().position(|block| *block == at);
            if let Some(first) = first.filter(|_| self.awaited(at).is_some() && seen[at as usize] == start) {
                let steps = way[first..].iter().map(|block| self.wait_step(graph, *block));
                return Some(WaitCycle { steps: steps.collect() });
            }
        }
        None
    }

    fn wait_step(&self, graph: &Graph, number: u32) -> WaitStep {
        let state = &self.blocks[number as usize];
        let step = &self.program.steps[state.step as usize];
        let rank = self.program.blocks[number as usize].rank;
        let connection = |number: u32| &self.program.connections[number as usize];
        let (node, kind) = match state.phase {
            Phase::Data => (step.first_node, WaitKind::Receive { src: connection(step.receive).src }),
            Phase::Slot => {
                let node = step.first_node + step.nodes - 1;
                (node, WaitKind::FullSend { dst: connection(step.send).dst })
            }
            _ if step.receive == NONE && step.send != NONE => {
                (step.first_node, WaitKind::Send { dst: connection(step.send).dst })
            }
            _ => (step.first_node, WaitKind::Other),
        };
        WaitStep { rank, node: graph.rank(rank as usize).id(node), kind }
    }
}

/// The SEND of a step, by its id.
fn send_id(graph: &Graph, rank: u32, step: &Step) -> u64 {
    let nodes = graph.rank(rank as usize);
    let mut of_step = step.first_node..step.first_node + step.nodes;
    let send = of_step.find(|node| nodes.op(*node).is_send());
    nodes.id(send.unwrap_or(step.first_node))
}
