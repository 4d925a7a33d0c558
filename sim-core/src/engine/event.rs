//! The event queue: ordered by time, and within one time by the order of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{MessageId, Overflow};
use crate::units::Picos;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A message is at the end of a hop.
    Arrival(MessageId),
    /// A link with a queue falls free.
    LinkFree(u32),
    /// A COMP has ended, or the first of several that end together.
    Computed { rank: u32, node: u32 },
    /// A RECV finds its message already there.
    Received { rank: u32, node: u32 },
}

/// A place in the order of scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Ticket(u64);

pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<Entry>>,
    now: Picos,
    /// The ticket of the event that is running.
    running: Ticket,
    next: Ticket,
}

/// 24 bytes; the derived order never gets beyond the ticket, because no two entries share one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Picos,
    /// Ticket, and in the lowest two bits the kind of event.
    ticket_and_kind: u64,
    first: u32,
    second: u32,
}

impl EventQueue {
    pub(crate) fn new() -> Self {
        // Ticket 0 lies before everything and ticket 1 is the start of the simulation.
        Self { heap: BinaryHeap::new(), now: Picos::ZERO, running: Ticket(1), next: Ticket(2) }
    }

    /// The current time.
    pub(crate) fn now(&self) -> Picos {
        self.now
    }

    /// Schedules an event after the given span, behind all that are already scheduled for that time.
    #[inline]
    pub(crate) fn schedule(&mut self, span: Picos, event: Event) -> Result<(), Overflow> {
        let at = self.now.checked_add(span).ok_or(Overflow::TIME)?;
        let ticket = self.reserve();
        self.schedule_reserved(at, ticket, event);
        Ok(())
    }

    /// Takes a place in the order for an event that may be scheduled later.
    #[inline]
    pub(crate) fn reserve(&mut self) -> Ticket {
        let ticket = self.next;
        // 2^62 tickets do not run out: at 10^9 a second they last for a century.
        self.next = Ticket(ticket.0 + 1);
        ticket
    }

    /// Schedules an event at the place that was taken for it and has not passed.
    #[inline]
    pub(crate) fn schedule_reserved(&mut self, at: Picos, ticket: Ticket, event: Event) {
        let (kind, first, second) = match event {
            Event::Arrival(message) => (0, message.index(), 0),
            Event::LinkFree(link) => (1, link, 0),
            Event::Computed { rank, node } => (2, rank, node),
            Event::Received { rank, node } => (3, rank, node),
        };
        self.heap.push(Reverse(Entry { at, ticket_and_kind: ticket.0 << 2 | kind, first, second }));
    }

    /// Whether an event at this time and place would lie before the one that is running.
    #[inline]
    pub(crate) fn has_passed(&self, at: Picos, ticket: Ticket) -> bool {
        (at, ticket) < (self.now, self.running)
    }

    /// The next event, which becomes the running one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.at;
        self.running = Ticket(entry.ticket_and_kind >> 2);
        Some(match entry.ticket_and_kind & 3 {
            0 => Event::Arrival(MessageId::new(entry.first)),
            1 => Event::LinkFree(entry.first),
            2 => Event::Computed { rank: entry.first, node: entry.second },
            _ => Event::Received { rank: entry.first, node: entry.second },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_run_in_the_order_of_scheduling_and_reserved_places_are_kept() {
        let mut queue = EventQueue::new();
        queue.schedule(Picos(5), Event::LinkFree(0)).unwrap();
        let reserved = queue.reserve();
        queue.schedule(Picos(5), Event::LinkFree(2)).unwrap();
        queue.schedule(Picos(4), Event::Computed { rank: 7, node: 9 }).unwrap();
        queue.schedule_reserved(Picos(5), reserved, Event::LinkFree(1));
        assert_eq!(queue.pop(), Some(Event::Computed { rank: 7, node: 9 }));
        assert!(!queue.has_passed(Picos(5), reserved));
        queue.schedule(Picos(1), Event::Received { rank: 1, node: 2 }).unwrap();
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        let free = Event::LinkFree;
        assert_eq!(order, [free(0), free(1), free(2), Event::Received { rank: 1, node: 2 }]);
        assert!(queue.has_passed(Picos(5), reserved));
        assert_eq!(queue.now(), Picos(5));
        assert_eq!(queue.schedule(Picos(u64::MAX), free(0)), Err(Overflow::TIME));
    }

    #[test]
    fn an_entry_is_small() {
        assert_eq!(size_of::<Entry>(), 24);
    }
}
