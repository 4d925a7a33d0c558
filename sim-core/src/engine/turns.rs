//! ASTRA-sim's limit on what a rank does at once when it executes a workload: one SEND and one COMP.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chakra_et::graph::{Op, RankGraph};

/// The nodes of a rank that are ready but have to wait for their turn.
#[derive(Default)]
pub(super) struct Turns {
    sends: Turn,
    comps: Turn,
}

#[derive(Default)]
struct Turn {
    taken: bool,
    waiting: BinaryHeap<Reverse<u32>>,
}

impl Turn {
    /// The lowest of those that wait, if it may start; it then has the turn.
    fn take(&mut self) -> Option<u32> {
        if self.taken {
            return None;
        }
        let Reverse(node) = self.waiting.pop()?;
        self.taken = true;
        Some(node)
    }
}

impl Turns {
    /// Of the nodes that have become ready, and those that wait, takes those that may start, in ascending
    /// order.
    pub(super) fn start(
        &mut self,
        graph: &RankGraph,
        ready: impl Iterator<Item = u32>,
        start: &mut Vec<u32>,
    ) {
        for node in ready {
            match self.turn(graph.op(node)) {
                Some(turn) => turn.waiting.push(Reverse(node)),
                None => start.push(node),
            }
        }
        start.extend(self.sends.take());
        start.extend(self.comps.take());
        start.sort_unstable();
    }

    /// A node has finished.
    pub(super) fn finish(&mut self, op: Op) {
        if let Some(turn) = self.turn(op) {
            turn.taken = false;
        }
    }

    fn turn(&mut self, op: Op) -> Option<&mut Turn> {
        match op {
            Op::Send { .. } => Some(&mut self.sends),
            Op::Comp { .. } => Some(&mut self.comps),
            _ => None,
        }
    }
}
