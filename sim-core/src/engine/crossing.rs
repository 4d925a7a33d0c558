//! What blocks of ranks tell each other: messages that go on or end in another block.
//!
//! A message between ranks of two blocks ends in both at the same time, with the same key: the SEND finishes in
//! one, and the message lands in the other. Neither needs to see the other at that moment. Which RECV the
//! message is for is known by counting: it is the k-th message of its connection for the k-th RECV.

use std::collections::VecDeque;

use super::Overflow;
use super::block::Block;
use super::connection::CROSSING;
use crate::error::SimError;
use crate::events::{Event, Message};
use crate::model::network::Network;
use crate::units::{Bytes, Picos};

/// Something for another block.
pub(super) struct Parcel {
    at: Picos,
    message: Message,
    what: What,
}

/// What happens to the message there.
enum What {
    /// It is at the end of a hop.
    Arrives,
    /// It is at its destination.
    Lands,
    /// Its SEND finishes.
    Finishes,
}

/// Where the other blocks are, and what goes there.
#[derive(Default)]
pub(super) struct Exchange {
    /// The number of this block.
    here: usize,
    /// By block, its first rank and its first crossing.
    starts: Vec<(u32, u32)>,
    /// By block.
    outbox: Vec<Vec<Parcel>>,
    /// When the first of what was sent away since the last look is there.
    earliest: Option<Picos>,
}

impl Exchange {
    pub(super) fn new(here: usize, starts: Vec<(u32, u32)>) -> Self {
        let outbox = starts.iter().map(|_| Vec::new()).collect();
        Self { here, starts, outbox, earliest: None }
    }

    pub(super) fn outbox(&mut self) -> &mut [Vec<Parcel>] {
        &mut self.outbox
    }

    pub(super) fn take_earliest(&mut self) -> Option<Picos> {
        self.earliest.take()
    }

    fn block_of_rank(&self, rank: u32) -> usize {
        self.starts.partition_point(|(first, _)| *first <= rank) - 1
    }

    fn block_of_crossing(&self, number: u32) -> usize {
        self.starts.partition_point(|(_, first)| *first <= number) - 1
    }

    fn send(&mut self, block: usize, parcel: Parcel) {
        self.earliest = Some(self.earliest.map_or(parcel.at, |earliest| earliest.min(parcel.at)));
        self.outbox[block].push(parcel);
    }
}

/// A connection from another block, seen from its receiver.
pub(super) struct Crossing {
    dst: u32,
    /// Number of RECVs issued.
    issued: u32,
    /// The number of the first of `ends`.
    first: u32,
    /// By number, what is still without its other end.
    ends: VecDeque<End>,
}

#[derive(Clone, Copy)]
enum End {
    /// Neither RECV nor message is there.
    Open,
    /// The RECV.
    Waiting(u32),
    /// The SEND of the message that is there, and its size.
    Landed(u32, Bytes),
    Met,
}

impl Crossing {
    pub(super) fn new(dst: u32) -> Self {
        Self { dst, issued: 0, first: 0, ends: VecDeque::new() }
    }

    /// Issues a RECV: the SEND and the size of its message, if that is there.
    fn issue(&mut self, recv: u32) -> Option<(u32, Bytes)> {
        let number = self.issued;
        self.issued += 1;
        match self.end(number) {
            End::Landed(send, bytes) => {
                self.meet(number);
                Some((send, bytes))
            }
            _ => {
                self.set(number, End::Waiting(recv));
                None
            }
        }
    }

    /// A message is there: its RECV, if that was issued.
    fn land(&mut self, number: u32, send: u32, bytes: Bytes) -> Option<u32> {
        match self.end(number) {
            End::Waiting(recv) => {
                self.meet(number);
                Some(recv)
            }
            _ => {
                self.set(number, End::Landed(send, bytes));
                None
            }
        }
    }

    fn end(&self, number: u32) -> End {
        self.ends.get((number - self.first) as usize).copied().unwrap_or(End::Open)
    }

    fn set(&mut self, number: u32, end: End) {
        let at = (number - self.first) as usize;
        if self.ends.len() <= at {
            self.ends.resize(at + 1, End::Open);
        }
        self.ends[at] = end;
    }

    fn meet(&mut self, number: u32) {
        self.set(number, End::Met);
        while let Some(End::Met) = self.ends.front() {
            self.ends.pop_front();
            self.first += 1;
        }
    }
}

impl<N: Network> Block<'_, N> {
    /// Sends on what departed in the event that has run.
    #[cold]
    pub(super) fn dispatch(&mut self) -> Result<(), Overflow> {
        while let Some((at, id)) = self.queue.next_departure() {
            let next = self.network.next_block(&self.messages[id]).map(|block| block as usize);
            let message = self.messages.remove(id);
            let home = self.exchange.block_of_rank(message.rank);
            if let Some(block) = next {
                self.hand_over(block, Parcel { at, message, what: What::Arrives })?;
            } else if message.connection & CROSSING == 0 {
                self.hand_over(home, Parcel { at, message, what: What::Arrives })?;
            } else {
                let away = self.exchange.block_of_crossing(message.connection & !CROSSING);
                self.hand_over(home, Parcel { at, message, what: What::Finishes })?;
                self.hand_over(away, Parcel { at, message, what: What::Lands })?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, block: usize, parcel: Parcel) -> Result<(), Overflow> {
        if block == self.exchange.here {
            return self.receive_parcel(parcel);
        }
        self.exchange.send(block, parcel);
        Ok(())
    }

    /// Takes what comes from another block, for a time that is not over.
    pub(super) fn receive_parcel(&mut self, Parcel { at, message, what }: Parcel) -> Result<(), Overflow> {
        let event = match what {
            What::Arrives => Event::Arrival,
            What::Lands => Event::Landed,
            What::Finishes => {
                let span = Picos(at.0 - self.queue.now().0);
                let Message { rank, node, .. } = message;
                return self.queue.schedule(span, Event::Received { rank, node });
            }
        };
        let id = self.messages.insert(message)?;
        self.queue.schedule_message(at, id, &self.messages, event(id))
    }

    /// A message of another block is at its destination.
    pub(super) fn land(&mut self, message: Message) -> Result<(), SimError> {
        self.count(message.bytes)?;
        let number = (message.connection & !CROSSING) - self.first_crossing;
        let crossing = &mut self.crossings[number as usize];
        let dst = crossing.dst;
        match crossing.land(message.sequence, message.node, message.bytes) {
            Some(recv) => {
                self.met(message.rank, message.node, message.bytes, dst, recv)?;
                self.receive_delivered(dst, recv)
            }
            None => Ok(()),
        }
    }

    /// Issues a RECV whose SEND belongs to another block.
    #[cold]
    pub(super) fn issue_crossing_recv(
        &mut self,
        rank: u32,
        node: u32,
        src: u32,
        number: u32,
    ) -> Result<(), SimError> {
        let crossing = &mut self.crossings[(number - self.first_crossing) as usize];
        match crossing.issue(node) {
            Some((send, bytes)) => {
                self.met(src, send, bytes, rank, node)?;
                self.receive(rank, node)
            }
            None => Ok(()),
        }
    }

    /// A message of another block and its RECV belong together.
    fn met(&mut self, src: u32, send: u32, sent: Bytes, dst: u32, recv: u32) -> Result<(), SimError> {
        if let Some(record) = &mut self.record {
            record.received(src, send, dst, recv);
        }
        self.check_sizes(src, send, sent, dst, recv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_receives_meet_by_number_in_any_order() {
        let mut crossing = Crossing::new(7);
        let size = Bytes(8);
        // The third message overtakes the others, the RECVs are issued as 10, 11, 12.
        assert_eq!(crossing.land(2, 102, size), None);
        assert_eq!(crossing.issue(10), None);
        assert_eq!(crossing.land(1, 101, size), None);
        assert_eq!(crossing.issue(11), Some((101, size)));
        assert_eq!(crossing.issue(12), Some((102, size)));
        assert_eq!(crossing.ends.len(), 3, "the first is still awaited");
        assert_eq!(crossing.land(0, 100, size), Some(10));
        assert_eq!((crossing.ends.len(), crossing.first), (0, 3));
        assert_eq!(crossing.land(3, 103, size), None);
        assert_eq!(crossing.issue(13), Some((103, size)));
    }
}
