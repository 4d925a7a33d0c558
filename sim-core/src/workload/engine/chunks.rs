//! Computations that wait for single chunks of a collective, or make them.

use super::algorithms::Prepared;
use super::part::{FINISHED, Part};
use super::program::NONE;
use super::run::Engine;
use crate::model::network::Network;

impl<'a, N: Network> Engine<'a, '_, N> {
    /// Prepares a share in a collective: counts what makes each chunk that somebody waits for, and holds up the nodes that
    /// read chunks which are not made yet. Gives the chunks that are there from the beginning.
    pub(super) fn gate(&self, part: &mut Part<'a>, rank: u32, node: u32, prepared: &Prepared) -> Vec<u32> {
        let trace = &self.plan.traces[rank as usize];
        if trace.tiles.is_empty() {
            return Vec::new();
        }
        let position = part.position as usize;
        for (chunk, tile) in trace.feeders.get(&node).into_iter().flatten() {
            if self.parts[rank as usize].states[*tile as usize].phase != FINISHED {
                let readers = &prepared.algorithm.inputs()[position][*chunk as usize];
                readers.iter().for_each(|reader| part.states[*reader as usize].phase += 1);
            }
        }
        if !trace.waiters.contains_key(&node) {
            return Vec::new();
        }
        part.gates = prepared.algorithm.outputs()[position].iter().map(|nodes| nodes.len() as u32).collect();
        let open = (0..).zip(&part.gates).filter(|(_, count)| **count == 0);
        open.map(|(chunk, _)| chunk).collect()
    }

    /// A node of an algorithm has finished: the chunks that it was the last to make are there.
    pub(super) fn pass_gates(&mut self, part: u32, node: u32) {
        let Part { rank, instance, position, node: of, .. } = self.parts[part as usize];
        let Some(instance) = &self.instances[instance as usize] else { return };
        let used = self.plan.uses[instance.collective as usize];
        let plan = self.plan;
        let origin = self.parts[part as usize].states[node as usize].origin;
        let first = &self.parts[instance.parts[origin as usize] as usize];
        let via = (first.rank, first.node);
        for chunk in plan.algorithms[used.algorithm as usize].makes(position, node) {
            let gate = &mut self.parts[part as usize].gates[chunk as usize];
            *gate -= 1;
            if *gate == 0 {
                self.release_chunk(rank, of, chunk, via);
            }
        }
    }

    /// Those that wait for a chunk of a collective need not any longer; `via` is the node whose start determined when.
    pub(super) fn release_chunk(&mut self, rank: u32, node: u32, chunk: u32, via: (u32, u32)) {
        let Some(waiters) = self.plan.traces[rank as usize].waiters.get(&node) else { return };
        let from = waiters.partition_point(|waiter| waiter.0 < chunk);
        for (_, tile) in waiters[from..].iter().take_while(|waiter| waiter.0 == chunk) {
            let state = &mut self.parts[rank as usize].states[*tile as usize];
            state.phase -= 1;
            if state.phase == 0 {
                state.origin = node;
                self.ranks[rank as usize].chunk_via.insert(*tile, via);
                self.ready.push_back((rank, *tile));
            }
        }
    }

    /// A computation has finished: if it made a chunk for a collective that runs, the nodes that read it may go on.
    pub(super) fn feed(&mut self, rank: u32, node: u32) {
        let plan = self.plan;
        let Some(tile) = plan.traces[rank as usize].tiles.get(&node).filter(|tile| tile.feeds != NONE) else {
            return;
        };
        let Some(&part) = self.ranks[rank as usize].share_of.get(&tile.feeds) else { return };
        let of = &mut self.parts[part as usize];
        let Some(instance) = &self.instances[of.instance as usize] else { return };
        let used = plan.uses[instance.collective as usize];
        let inputs = plan.algorithms[used.algorithm as usize].algorithm.inputs();
        for reader in &inputs[of.position as usize][tile.chunk as usize] {
            let state = &mut of.states[*reader as usize];
            state.phase -= 1;
            if state.phase == 0 {
                state.origin = of.position;
                self.ready.push_back((part, *reader));
            }
        }
    }
}
