//! Finds the critical path: backwards from the node that finished last.

use chakra_et::graph::Op;
use chakra_et::workload::CollectiveKind;

use super::program::NONE;
use super::run::Engine;
use crate::model::network::Network;
use crate::units::Picos;
use crate::workload::path::{PathKind, PathNode, WorkloadPath};

impl<N: Network> Engine<'_, '_, N> {
    pub(super) fn critical_path(&self) -> WorkloadPath {
        let mut steps = Vec::new();
        let last = self.last();
        let mut next =
            last.map(|(rank, node)| (rank, node, self.via(rank, node), self.finish_of(rank, node)));
        while let Some((rank, node, (from, of), finish)) = next {
            let begin = &self.ranks[from as usize];
            let start = begin.start[of as usize];
            steps.push(self.step(from, of, rank, node, start, finish));
            let cause = begin.cause[of as usize];
            next = (cause != NONE).then(|| {
                // Of a collective that still ran, only what led to the chunk counts.
                let whole = self.finish_of(from, cause) <= start;
                let chunk = begin.chunk_via.get(&of).copied().filter(|_| !whole);
                (from, cause, chunk.unwrap_or_else(|| self.via(from, cause)), start)
            });
            if next.is_none() && start > Picos::ZERO {
                let late = self.step(from, of, from, of, Picos::ZERO, start);
                steps.push(PathNode { kind: PathKind::LateStart, ..late });
            }
        }
        steps.reverse();
        WorkloadPath { steps }
    }

    /// The rank and node whose start determined when a node finished.
    fn via(&self, rank: u32, node: u32) -> (u32, u32) {
        match self.ranks[rank as usize].via[node as usize] {
            (NONE, _) => (rank, node),
            via => via,
        }
    }

    fn finish_of(&self, rank: u32, node: u32) -> Picos {
        self.ranks[rank as usize].finish_of[node as usize]
    }

    /// The node that finished last: of several, that of the lowest rank and number.
    fn last(&self) -> Option<(u32, u32)> {
        let last = (0..).zip(&self.ranks).filter(|(_, state)| !state.finish_of.is_empty());
        let (rank, state) = last.max_by_key(|(rank, state)| (state.finish, std::cmp::Reverse(*rank)))?;
        // Of nodes that finish at once, one that took time says more than one that did not.
        let node = (0..state.finish_of.len()).filter(|node| state.finish_of[*node] == state.finish);
        let node =
            node.max_by_key(|node| (state.finish.0 - state.start[*node].0, std::cmp::Reverse(*node)))?;
        Some((rank, node as u32))
    }

    /// What begins with a node of a rank and ends with one of another rank, or the same.
    fn step(&self, from: u32, of: u32, to: u32, node: u32, start: Picos, finish: Picos) -> PathNode {
        let trace = &self.plan.traces[to as usize];
        let kind = match trace.program.ops[node as usize] {
            Op::Comp { .. } => PathKind::Compute,
            Op::Mem { .. } => PathKind::Memory,
            Op::Send { .. } | Op::Recv { .. } => PathKind::Message,
            Op::Coll { kind, .. } => {
                let group = self.plan.workload.rank(to as usize).traits(trace.number(node)).group;
                PathKind::Collective {
                    kind: CollectiveKind::from_wire(kind).unwrap_or(CollectiveKind::Barrier),
                    group: self.plan.workload.groups()[group as usize].name.clone(),
                }
            }
            _ => PathKind::Other,
        };
        let number = self.plan.traces[from as usize].number(of);
        let nodes = self.plan.workload.rank(from as usize);
        let (id, name) = (nodes.graph().id(number), nodes.name(number).to_owned());
        PathNode { kind, rank: from, node: id, name, to, start, finish }
    }
}
