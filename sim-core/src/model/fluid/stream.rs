//! The flows of one pair of ranks: they share one rate, so one clock of work serves them all.
//!
//! `served` is the work that each of the flows would have got had it been there from the start: ∫ rate dt.
//! A flow of S bytes that starts when `served` is V ends when it is V + S, its *goal*. The goals do not
//! change when the rate does; only the first of them matters for the next event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::sharing::FRACTION_BITS;
use crate::error::Overflow;
use crate::events::MessageId;
use crate::units::{Bytes, Picos};

const PICOS_PER_SECOND: u128 = 1_000_000_000_000;

/// The work of moving `size`, in the units of [`FRACTION_BITS`].
pub(super) fn work(size: Bytes) -> u128 {
    (u128::from(size.0) * PICOS_PER_SECOND) << FRACTION_BITS
}

/// Flows under way between two ranks.
#[derive(Default)]
pub(super) struct Stream {
    pub(super) pair: u32,
    /// The set of streams whose next end is waited for together.
    pub(super) group: u32,
    rate: u128,
    served: u128,
    /// The time for which `served` holds.
    since: Picos,
    /// How long the first flow takes from `since` on, in picoseconds: near enough to tell which stream is first.
    estimate: f64,
    /// When the first flow ends, where [`next_end`] found that it may be the first of its group.
    pub(super) due: Option<Picos>,
    /// By goal, then by arrival.
    flows: BinaryHeap<Reverse<(u128, u64, u32)>>,
}

impl Stream {
    /// Begins anew without flows, keeping the memory.
    pub(super) fn reset(&mut self, pair: u32, group: u32, now: Picos) {
        debug_assert!(self.flows.is_empty());
        (self.pair, self.group, self.rate, self.served, self.since) = (pair, group, 0, 0, now);
    }

    pub(super) fn len(&self) -> u32 {
        // As many as messages, which are numbered by 32 bits.
        self.flows.len() as u32
    }

    /// Brings the clock of work up to the current time.
    ///
    /// It stays below 2^128: it is at most the sum of the work of all flows so far, whose bytes are below
    /// 2^64 together, and half a picosecond of work.
    pub(super) fn advance(&mut self, now: Picos) {
        self.served += self.rate * u128::from(now.0 - self.since.0);
        self.since = now;
    }

    /// A flow that has `left` before it; the clock must be up to date. `number` counts all flows.
    pub(super) fn join(&mut self, left: u128, number: u64, message: MessageId) {
        self.flows.push(Reverse((self.served + left, number, message.index())));
    }

    /// Takes a flow that has ended; the clock must be up to date.
    ///
    /// A flow ends at the nearest picosecond, half up: when less than half a picosecond of work is left.
    pub(super) fn pop_ended(&mut self) -> Option<MessageId> {
        let Reverse((goal, _, message)) = self.flows.peek().copied()?;
        let ended = goal.saturating_sub(self.served) * 2 < self.rate.max(1);
        ended.then(|| {
            self.flows.pop();
            MessageId::new(message)
        })
    }

    /// Sets the rate, at least 1, from now on; the clock must be up to date.
    pub(super) fn set_rate(&mut self, rate: u128) {
        self.rate = rate;
        self.due = None;
        self.estimate = self.left() as f64 / rate as f64;
    }

    /// The work before the first flow at the time of the clock.
    fn left(&self) -> u128 {
        self.flows.peek().map_or(0, |Reverse((goal, ..))| goal.saturating_sub(self.served))
    }

    /// When the first flow ends: the nearest picosecond, half up.
    fn find_due(&mut self) -> Result<Picos, Overflow> {
        let left = self.left();
        let span = left / self.rate;
        let rest = left - span * self.rate;
        let span = u64::try_from(span + u128::from(rest >= self.rate - rest)).map_err(|_| Overflow::TIME)?;
        let due = self.since.checked_add(Picos(span)).ok_or(Overflow::TIME)?;
        self.due = Some(due);
        Ok(due)
    }
}

/// The first end among streams whose clocks stand at the same time; only those that end then are certain to be due.
///
/// A division of 128 bits takes longer than all the rest, so it is done only for streams that may be first. The
/// estimates are off by less than 10^−15 of their value; the result is exact.
pub(super) fn next_end(streams: &mut [Stream], classes: &[u32]) -> Result<Picos, Overflow> {
    let estimates = classes.iter().map(|class| streams[*class as usize].estimate);
    let bound = estimates.fold(f64::INFINITY, f64::min) * (1.0 + 1e-9) + 1.0;
    let mut first = Picos(u64::MAX);
    for class in classes {
        let stream = &mut streams[*class as usize];
        if stream.estimate <= bound {
            first = first.min(stream.find_due()?);
        }
    }
    Ok(first)
}
