//! The flows of one pair of ranks: they share one rate, so one clock of work serves them all.
//!
//! The clock shows the work that each of the flows would have got had it been there from the start: ∫ rate dt.
//! A flow of S bytes that starts when it shows V ends when it shows V + S, its *goal*. The goals do not
//! change when the rate does; only the first of them matters for the next event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::sharing::FRACTION_BITS;
use crate::events::MessageId;
use crate::units::Bytes;

const PICOS_PER_SECOND: u128 = 1_000_000_000_000;

/// The work of moving `size`, in the units of [`FRACTION_BITS`].
pub(super) fn work(size: Bytes) -> u128 {
    (u128::from(size.0) * PICOS_PER_SECOND) << FRACTION_BITS
}

/// A flow under way; ordered by goal, then by start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Flow {
    pub(super) goal: u128,
    /// Number among all flows.
    pub(super) number: u64,
    message: u32,
}

impl Flow {
    pub(super) fn new(goal: u128, number: u64, message: MessageId) -> Self {
        Self { goal, number, message: message.index() }
    }

    pub(super) fn message(self) -> MessageId {
        MessageId::new(self.message)
    }
}

/// Flows under way between two ranks.
#[derive(Default)]
pub(super) struct Stream {
    pub(super) pair: u32,
    first: Option<Flow>,
    /// Most pairs have one flow at a time.
    rest: BinaryHeap<Reverse<Flow>>,
}

impl Stream {
    pub(super) fn len(&self) -> u32 {
        // As many as messages, which are numbered by 32 bits.
        self.rest.len() as u32 + u32::from(self.first.is_some())
    }

    /// The flow that ends first.
    pub(super) fn first(&self) -> Option<Flow> {
        self.first
    }

    /// Adds a flow; true if it is now the first.
    pub(super) fn join(&mut self, flow: Flow) -> bool {
        let is_first = self.first.is_none_or(|first| flow < first);
        let later = if is_first { self.first.replace(flow) } else { Some(flow) };
        self.rest.extend(later.map(Reverse));
        is_first
    }

    /// Takes the first flow.
    pub(super) fn pop(&mut self) -> Option<Flow> {
        std::mem::replace(&mut self.first, self.rest.pop().map(|Reverse(flow)| flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_leave_by_goal_and_of_equal_goals_the_earlier_first() {
        let flow = |goal, number| Flow::new(goal, number, MessageId::new(number as u32));
        let mut stream = Stream::default();
        let firsts =
            [(7, 0), (9, 1), (7, 2), (3, 3), (3, 4)].map(|(goal, number)| stream.join(flow(goal, number)));
        assert_eq!((firsts, stream.len()), ([true, false, false, true, false], 5));
        let order: Vec<u64> = std::iter::from_fn(|| stream.pop()).map(|flow| flow.number).collect();
        assert_eq!((order, stream.len()), (vec![3, 4, 0, 2, 1], 0));
    }
}
