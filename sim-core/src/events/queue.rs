//! The event queue: ordered by time, and within one time by the order of scheduling.
//!
//! Collectives run in step, so many events share a time. Events of one time form lists in ascending
//! order of their tickets, and only the lists are in a heap: an event that joins a list costs no
//! comparison of times. A small cache finds the list of a time; a list that fell out of it is followed
//! by a second one of the same time, and the two are merged when their time comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::MessageId;
use crate::error::Overflow;
use crate::units::Picos;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A message is at the end of a hop.
    Arrival(MessageId),
    /// A link with a queue falls free, or what else the model has a number for.
    LinkFree(u32),
    /// A COMP has ended, or the first of several that end together.
    Computed { rank: u32, node: u32 },
    /// A RECV has its message.
    Received { rank: u32, node: u32 },
    /// A rank that is late begins.
    Start { rank: u32 },
    /// The overhead of a SEND is over.
    Inject { rank: u32, node: u32 },
}

/// A place in the order of scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Ticket(u64);

pub(crate) struct EventQueue {
    /// Lists of the future by time, each named by its first slot.
    lists: BinaryHeap<Reverse<(Picos, u32)>>,
    slots: Vec<Slot>,
    /// The first of the unused slots, which form a list.
    unused: u32,
    /// By a hash of the time, a list of that time to which events can be appended.
    open: [OpenList; OPEN_LISTS],
    now: Picos,
    /// What is left of the current time: a list, and by ticket those whose place is within it.
    current: List,
    within: BinaryHeap<Reverse<(u64, u32)>>,
    /// The ticket of the event that is running.
    running: Ticket,
    next: Ticket,
}

/// An event in a list: 24 bytes.
#[derive(Clone, Copy)]
struct Slot {
    /// Ticket, and in the lowest bits the kind of event.
    ticket_and_kind: u64,
    first: u32,
    second: u32,
    next: u32,
}

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

#[derive(Clone, Copy)]
struct OpenList {
    at: Picos,
    tail: u32,
}

/// No slot.
const END: u32 = u32::MAX;
const OPEN_LISTS: usize = 64;
const KIND_BITS: u32 = 3;

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self {
            lists: BinaryHeap::new(),
            slots: Vec::new(),
            unused: END,
            // Nothing is ever appended to a list of time 0, because that is the current time.
            open: [OpenList { at: Picos::ZERO, tail: END }; OPEN_LISTS],
            now: Picos::ZERO,
            current: List { head: END, tail: END },
            within: BinaryHeap::new(),
            // Ticket 0 lies before everything and ticket 1 is the start of the simulation.
            running: Ticket(1),
            next: Ticket(2),
        }
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
        self.schedule_reserved(at, ticket, event)
    }

    /// Takes a place in the order for an event that may be scheduled later.
    #[inline]
    pub(crate) fn reserve(&mut self) -> Ticket {
        let ticket = self.next;
        // 2^61 tickets do not run out: at 10^9 a second they last for half a century.
        self.next = Ticket(ticket.0 + 1);
        ticket
    }

    /// Schedules an event at the place that was taken for it and has not passed.
    #[inline]
    pub(crate) fn schedule_reserved(
        &mut self,
        at: Picos,
        ticket: Ticket,
        event: Event,
    ) -> Result<(), Overflow> {
        let (kind, first, second) = match event {
            Event::Arrival(message) => (0, message.index(), 0),
            Event::LinkFree(link) => (1, link, 0),
            Event::Computed { rank, node } => (2, rank, node),
            Event::Received { rank, node } => (3, rank, node),
            Event::Start { rank } => (4, rank, 0),
            Event::Inject { rank, node } => (5, rank, node),
        };
        let slot =
            self.insert(Slot { ticket_and_kind: ticket.0 << KIND_BITS | kind, first, second, next: END })?;
        if at == self.now {
            self.add_to_current(slot);
            return Ok(());
        }
        // The multiplier spreads times that are multiples of a common step.
        let hash = (at.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize;
        let open = &mut self.open[hash];
        if open.at == at && self.slots[open.tail as usize].ticket_and_kind < ticket.0 << KIND_BITS {
            self.slots[open.tail as usize].next = slot;
            open.tail = slot;
            return Ok(());
        }
        if open.at != at {
            *open = OpenList { at, tail: slot };
        }
        self.lists.push(Reverse((at, slot)));
        Ok(())
    }

    /// Whether an event at this time and place would lie before the one that is running.
    #[inline]
    pub(crate) fn has_passed(&self, at: Picos, ticket: Ticket) -> bool {
        (at, ticket) < (self.now, self.running)
    }

    /// The next event, which becomes the running one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        if self.current.head == END && self.within.is_empty() {
            self.advance()?;
        }
        let at = self.next_of_current();
        let slot = self.slots[at as usize];
        self.slots[at as usize].next = self.unused;
        self.unused = at;
        self.running = Ticket(slot.ticket_and_kind >> KIND_BITS);
        Some(match slot.ticket_and_kind & ((1 << KIND_BITS) - 1) {
            0 => Event::Arrival(MessageId::new(slot.first)),
            1 => Event::LinkFree(slot.first),
            2 => Event::Computed { rank: slot.first, node: slot.second },
            3 => Event::Received { rank: slot.first, node: slot.second },
            4 => Event::Start { rank: slot.first },
            _ => Event::Inject { rank: slot.first, node: slot.second },
        })
    }

    fn insert(&mut self, slot: Slot) -> Result<u32, Overflow> {
        let at = self.unused;
        if at != END {
            self.unused = std::mem::replace(&mut self.slots[at as usize], slot).next;
            return Ok(at);
        }
        let at = u32::try_from(self.slots.len()).ok().filter(|at| *at != END).ok_or(Overflow::MESSAGES)?;
        self.slots.push(slot);
        Ok(at)
    }

    /// Puts an event of the current time at the place of its ticket: mostly the end.
    fn add_to_current(&mut self, slot: u32) {
        let ticket = self.slots[slot as usize].ticket_and_kind;
        let List { head, tail } = self.current;
        if head == END {
            self.current = List { head: slot, tail: slot };
        } else if self.slots[tail as usize].ticket_and_kind < ticket {
            self.slots[tail as usize].next = slot;
            self.current.tail = slot;
        } else {
            self.within.push(Reverse((ticket, slot)));
        }
    }

    /// Takes the slot of the next event of the current time, of which there is one.
    #[inline]
    fn next_of_current(&mut self) -> u32 {
        let head = self.current.head;
        if let Some(&Reverse((ticket, slot))) = self.within.peek()
            && (head == END || ticket < self.slots[head as usize].ticket_and_kind)
        {
            self.within.pop();
            return slot;
        }
        self.current.head = self.slots[head as usize].next;
        head
    }

    /// Goes on to the next time at which something happens; None at the end.
    fn advance(&mut self) -> Option<()> {
        let Reverse((at, head)) = self.lists.pop()?;
        self.now = at;
        if self.lists.peek().is_none_or(|Reverse((next, _))| *next != at) {
            let open = self.open.iter().find(|open| open.at == at);
            let tail = open.map_or_else(|| self.last_of(head), |open| open.tail);
            self.current = List { head, tail };
            return Some(());
        }
        self.merge(at, head);
        Some(())
    }

    fn last_of(&self, mut slot: u32) -> u32 {
        while self.slots[slot as usize].next != END {
            slot = self.slots[slot as usize].next;
        }
        slot
    }

    /// Makes one list of all lists of the time.
    #[cold]
    fn merge(&mut self, at: Picos, head: u32) {
        let mut slots = Vec::new();
        let mut list = Some(head);
        while let Some(mut slot) = list {
            while slot != END {
                slots.push(slot);
                slot = self.slots[slot as usize].next;
            }
            let same_time = self.lists.peek().is_some_and(|Reverse((next, _))| *next == at);
            list = if same_time { self.lists.pop().map(|Reverse((_, head))| head) } else { None };
        }
        slots.sort_unstable_by_key(|slot| self.slots[*slot as usize].ticket_and_kind);
        let mut next = END;
        self.current.tail = slots.last().copied().unwrap_or(END);
        for slot in slots.into_iter().rev() {
            self.slots[slot as usize].next = next;
            next = slot;
        }
        self.current.head = next;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_times_run_in_the_order_of_scheduling_and_reserved_places_are_kept() {
        let mut queue = EventQueue::new();
        queue.schedule(Picos(5), Event::LinkFree(0)).unwrap();
        let reserved = queue.reserve();
        queue.schedule(Picos(5), Event::LinkFree(2)).unwrap();
        queue.schedule(Picos(4), Event::Computed { rank: 7, node: 9 }).unwrap();
        queue.schedule_reserved(Picos(5), reserved, Event::LinkFree(1)).unwrap();
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
    fn a_slot_is_small() {
        assert_eq!(size_of::<Slot>(), 24);
    }

    proptest! {
        /// Against a sorted map of (time, ticket), with more times than lists stay open.
        #[test]
        fn any_schedule_runs_in_order(steps in prop::collection::vec((0..300u64, 0..4u8), 1..600)) {
            let (mut queue, mut expected) = (EventQueue::new(), BTreeMap::new());
            let mut reserved = Vec::new();
            for (number, (span, what)) in (0..).zip(steps) {
                let event = Event::LinkFree(number);
                let at = Picos(queue.now().0 + span);
                match what {
                    0 => reserved.push((at, queue.reserve(), event)),
                    1 => {
                        if let Some(((at, ticket), event)) = expected.pop_first() {
                            prop_assert_eq!(queue.pop(), Some(event));
                            prop_assert_eq!((queue.now(), queue.running), (at, ticket));
                        }
                        reserved.retain(|(at, ticket, _)| !queue.has_passed(*at, *ticket));
                        if let Some((at, ticket, event)) = reserved.pop() {
                            queue.schedule_reserved(at, ticket, event).unwrap();
                            expected.insert((at, ticket), event);
                        }
                    }
                    _ => {
                        expected.insert((at, queue.next), event);
                        queue.schedule(Picos(span), event).unwrap();
                    }
                }
            }
            let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            prop_assert_eq!(order, expected.into_values().collect::<Vec<_>>());
        }
    }
}
