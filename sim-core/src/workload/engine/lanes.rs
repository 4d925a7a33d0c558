//! What a rank does one after the other: the streams of its processors, and the collectives of each group.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chakra_et::graph::Op;
use chakra_et::workload::NodeTraits;

use super::program::NONE;
use crate::compat::Compat;

/// A resource of a rank that serves one node at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum LaneKind {
    /// A thread of the CPU.
    Cpu(u32),
    /// A stream of the GPU.
    Gpu(u32),
    /// Loads and stores.
    Memory,
    /// The collectives of a group, in their order.
    Group(u32),
    /// ASTRA-sim's: one SEND, collective, load or store.
    Communication,
}

impl LaneKind {
    /// The lane of a node; None if it is served at once.
    pub(super) fn of(op: Op, traits: NodeTraits, compat: Option<Compat>) -> Option<Self> {
        match (op, compat) {
            (Op::Recv { .. } | Op::Other { .. }, _) => None,
            (_, Some(Compat::AstraSim)) if traits.on_cpu => Some(Self::Cpu(0)),
            // Whatever is neither a computation nor a RECV.
            (Op::Coll { .. } | Op::Send { .. } | Op::Mem { .. }, Some(Compat::AstraSim)) => {
                Some(Self::Communication)
            }
            (_, Some(Compat::AstraSim)) => Some(Self::Gpu(0)),
            (Op::Send { .. }, None) => None,
            (Op::Coll { .. }, None) => Some(Self::Group(traits.group)),
            (Op::Mem { .. }, None) => Some(Self::Memory),
            (_, None) if traits.on_cpu => Some(Self::Cpu(traits.stream)),
            (_, None) => Some(Self::Gpu(traits.stream)),
        }
    }
}

/// A lane at work.
#[derive(Debug)]
pub(super) struct Lane {
    /// The node that is served, or NONE.
    pub(super) serves: u32,
    /// The node that was served last, or NONE.
    pub(super) last: u32,
    /// Nodes that are ready, by their place in the order: the number of the node, of a collective its own.
    waiting: BinaryHeap<Reverse<(u32, u32)>>,
    /// Where a fixed order is kept, the place of the next; else NONE.
    pub(super) next: u32,
}

impl Lane {
    /// A lane that takes whatever is ready, the lowest first; or, from a first place on, only the next.
    pub(super) fn new(first: Option<u32>) -> Self {
        Self { serves: NONE, last: NONE, waiting: BinaryHeap::new(), next: first.unwrap_or(NONE) }
    }

    /// A node is ready.
    pub(super) fn add(&mut self, place: u32, node: u32) {
        self.waiting.push(Reverse((place, node)));
    }

    /// The node that may start now, which then is served.
    pub(super) fn take(&mut self) -> Option<u32> {
        let Reverse((place, node)) = *self.waiting.peek()?;
        if self.serves != NONE || (self.next != NONE && place != self.next) {
            return None;
        }
        self.waiting.pop();
        self.serves = node;
        if self.next != NONE {
            self.next += 1;
        }
        Some(node)
    }

    /// The node that was served has finished.
    pub(super) fn leave(&mut self) {
        self.last = std::mem::replace(&mut self.serves, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_lane_serves_the_lowest_and_an_ordered_one_the_next() {
        let mut free = Lane::new(None);
        free.add(7, 7);
        free.add(3, 3);
        assert_eq!((free.take(), free.take()), (Some(3), None));
        free.leave();
        assert_eq!((free.take(), free.last), (Some(7), 3));

        let mut ordered = Lane::new(Some(4));
        ordered.add(5, 1);
        assert_eq!(ordered.take(), None, "5 comes after 4");
        ordered.add(4, 9);
        assert_eq!(ordered.take(), Some(9));
        ordered.leave();
        assert_eq!(ordered.take(), Some(1));
    }
}
