//! The state of each node of a rank, and who waits for it.

use std::ops::Range;

use chakra_et::graph::RankGraph;

use super::Overflow;
use crate::events::MOST_NODES;

/// No node, no connection.
pub(super) const NONE: u32 = u32::MAX;

/// How far a node has come. Kept in 32 bits: the number of dependences that it waits for, or one of
/// the codes at the top of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase(u32);

impl Phase {
    /// Issued and at work; of a SEND: its RECV is not issued yet.
    pub(super) const ISSUED: Self = Self(u32::MAX);
    /// A SEND under way whose RECV waits for it.
    pub(super) const MATCHED: Self = Self(u32::MAX - 1);
    /// A SEND that finished before its RECV was issued.
    pub(super) const EARLY: Self = Self(u32::MAX - 2);
    /// Finished.
    pub(super) const FINISHED: Self = Self(u32::MAX - 3);
    /// Of models with processors, a SEND that has finished while its message is under way: its RECV is not
    /// issued yet, or is.
    pub(super) const LEFT: Self = Self(u32::MAX - 4);
    pub(super) const LEFT_MATCHED: Self = Self(u32::MAX - 5);
    const LOWEST_CODE: Self = Self::LEFT_MATCHED;

    fn waiting(dependences: usize) -> Result<Self, Overflow> {
        let count = u32::try_from(dependences).ok().filter(|count| *count < Self::LOWEST_CODE.0);
        count.map(Self).ok_or(Overflow::DEPENDENCES)
    }

    /// Whether the node still waits for dependences.
    pub(super) fn is_blocked(self) -> bool {
        self.0 < Self::LOWEST_CODE.0
    }

    /// One dependence less; true if that was the last.
    #[inline]
    fn unblock(&mut self) -> bool {
        self.0 -= 1;
        self.0 == 0
    }
}

/// What the engine keeps of a node: 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeState {
    pub(super) phase: Phase,
    /// The node's successors end here and begin where those of the node before end.
    successors_end: u32,
    /// Of a SEND or RECV.
    pub(super) connection: u32,
    /// The next node in the same list (see [`super::connection`] and [`super::compute`]), or of a
    /// matched SEND its RECV.
    pub(super) link: u32,
}

/// Neighbouring ranks.
pub(super) struct Ranks {
    first: u32,
    states: Vec<RankState>,
}

impl Ranks {
    /// `states` of the ranks from the first on.
    pub(super) fn new(first: u32, states: Vec<RankState>) -> Self {
        Self { first, states }
    }

    /// The numbers of the ranks.
    pub(super) fn numbers(&self) -> Range<u32> {
        self.first..self.first + self.states.len() as u32
    }

    pub(super) fn states(&self) -> &[RankState] {
        &self.states
    }

    /// The place of a rank among these.
    #[inline]
    pub(super) fn index(&self, rank: u32) -> usize {
        (rank - self.first) as usize
    }

    #[inline]
    pub(super) fn rank(&mut self, rank: u32) -> &mut RankState {
        let at = self.index(rank);
        &mut self.states[at]
    }

    #[inline]
    pub(super) fn node(&mut self, rank: u32, node: u32) -> &mut NodeState {
        &mut self.rank(rank).nodes[node as usize]
    }
}

/// The nodes of one rank.
pub(super) struct RankState {
    pub(super) nodes: Vec<NodeState>,
    successors: Vec<u32>,
}

impl RankState {
    /// The state before the start; the graph's dependences must exist.
    pub(super) fn new(graph: &RankGraph) -> Result<Self, Overflow> {
        let count = u32::try_from(graph.len()).ok().filter(|count| *count < MOST_NODES as u32);
        let count = count.ok_or(Overflow::DEPENDENCES)?;
        let mut nodes = Vec::with_capacity(graph.len());
        let mut dependences = 0;
        for node in 0..count {
            let deps = graph.deps(node).len();
            dependences += deps;
            nodes.push(NodeState {
                phase: Phase::waiting(deps)?,
                successors_end: 0,
                connection: NONE,
                link: NONE,
            });
        }
        u32::try_from(dependences).map_err(|_| Overflow::DEPENDENCES)?;
        // Counting sort by dependence; afterwards successors_end is where it says, and each list ascends.
        for node in 0..count {
            graph.deps(node).iter().for_each(|dep| nodes[*dep as usize].successors_end += 1);
        }
        let mut begin = 0;
        for node in &mut nodes {
            begin += std::mem::replace(&mut node.successors_end, begin);
        }
        let mut successors = vec![0; dependences];
        for node in 0..count {
            for dep in graph.deps(node) {
                let end = &mut nodes[*dep as usize].successors_end;
                successors[*end as usize] = node;
                *end += 1;
            }
        }
        Ok(Self { nodes, successors })
    }

    /// Tells the successors of a node that it has finished; `ready` hears of those that wait for nothing more.
    #[inline]
    pub(super) fn release(&mut self, node: u32, mut ready: impl FnMut(u32)) {
        let node = node as usize;
        let begin = if node == 0 { 0 } else { self.nodes[node - 1].successors_end };
        for at in begin..self.nodes[node].successors_end {
            let successor = self.successors[at as usize];
            if self.nodes[successor as usize].phase.unblock() {
                ready(successor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chakra_et::graph::{Op, Origin};

    use super::*;

    #[test]
    fn successors_ascend_and_double_dependences_do_no_harm() {
        let mut graph = RankGraph::builder();
        let op = Op::Comp { micros: 0, ops: 0, bytes: 0 };
        for deps in [&[3][..], &[0, 0], &[0, 1], &[]] {
            graph.push(op, deps.iter().copied(), Origin::default()).unwrap();
        }
        let mut state = RankState::new(&graph.finish()).unwrap();
        let mut order = vec![3];
        for at in 0..4 {
            state.release(order[at], |ready| order.push(ready));
        }
        assert_eq!(order, [3, 0, 1, 2]);
    }
}
