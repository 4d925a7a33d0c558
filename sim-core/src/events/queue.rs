//! The event queue: ordered by time, and within one time by one of two orders.
//!
//! * [`Order::Scheduling`]: as scheduled, which is ASTRA-sim's. An event for the current time comes behind all
//!   that are already scheduled for it.
//! * [`Order::Key`]: in rounds. What was scheduled before a time runs in its first round, what is scheduled in one round for
//!   the current time in the next. Within a round the order is that of the events' keys: links that fall free by
//!   their number, then whatever belongs to a node by rank and node, a message being its SEND's. So the order
//!   depends on what happens, and not on who learns of it first: parts of a network that cannot reach each other
//!   within some time may run that time apart.
//!
//! Collectives run in step, so many events share a time. Events of one time form lists in ascending
//! order, and only the lists are in a heap: an event that joins a list costs no
//! comparison of times. A small cache finds the list of a time; a list that fell out of it, or that an event of a lower key
//! cannot join, is followed by another one of the same time, and they are joined when their time comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::event::{Event, KIND_BITS, node_key};
use super::{MessageId, Messages};
use crate::error::Overflow;
use crate::units::Picos;

/// What comes first of several events of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Scheduling,
    Key,
}

/// A place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Ticket(u64);

pub(crate) struct EventQueue {
    order: Order,
    /// Lists of the future by time, each named by its first slot.
    lists: BinaryHeap<Reverse<(Picos, u32)>>,
    slots: Vec<Slot>,
    /// The first of the unused slots, which form a list.
    unused: u32,
    /// By a hash of the time, a list of that time to which events can be appended.
    open: [OpenList; OPEN_LISTS],
    now: Picos,
    /// What is left of the current time, or of its current round.
    current: Round,
    /// By key: what comes at the end of the round, and the next round of the current time.
    last: Option<Event>,
    following: Round,
    /// The ticket of the event that is running.
    running: Ticket,
    next: Ticket,
    /// Messages that leave for another queue, and when they are there.
    departures: Vec<(Picos, MessageId)>,
}

/// Events of one time: a list, and those whose place is within it.
struct Round {
    head: u32,
    tail: u32,
    within: BinaryHeap<Reverse<(u64, u32)>>,
}

/// An event in a list: 24 bytes.
#[derive(Clone, Copy)]
struct Slot {
    /// Ticket or key, and in the lowest bits the kind of event.
    place: u64,
    first: u32,
    second: u32,
    next: u32,
}

#[derive(Clone, Copy)]
struct OpenList {
    at: Picos,
    tail: u32,
}

/// No slot.
const END: u32 = u32::MAX;
const OPEN_LISTS: usize = 64;

impl Round {
    fn new() -> Self {
        Self { head: END, tail: END, within: BinaryHeap::new() }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.head == END && self.within.is_empty()
    }

    /// Puts an event at its place: mostly the end.
    #[inline]
    fn add(&mut self, slots: &mut [Slot], slot: u32) {
        let place = slots[slot as usize].place;
        if self.head == END {
            (self.head, self.tail) = (slot, slot);
        } else if slots[self.tail as usize].place < place {
            slots[self.tail as usize].next = slot;
            self.tail = slot;
        } else {
            self.within.push(Reverse((place, slot)));
        }
    }

    /// Takes the next event, of which there is one.
    #[inline]
    fn take(&mut self, slots: &[Slot]) -> u32 {
        let head = self.head;
        if let Some(&Reverse((place, slot))) = self.within.peek()
            && (head == END || place < slots[head as usize].place)
        {
            self.within.pop();
            return slot;
        }
        self.head = slots[head as usize].next;
        head
    }
}

impl EventQueue {
    pub(crate) fn new(order: Order) -> Self {
        Self {
            order,
            lists: BinaryHeap::new(),
            slots: Vec::new(),
            unused: END,
            // Nothing is ever appended to a list of time 0, because that is the current time.
            open: [OpenList { at: Picos::ZERO, tail: END }; OPEN_LISTS],
            now: Picos::ZERO,
            current: Round::new(),
            last: None,
            following: Round::new(),
            // Ticket 0 lies before everything and ticket 1 is the start of the simulation.
            running: Ticket(1),
            next: Ticket(2),
            departures: Vec::new(),
        }
    }

    /// The current time.
    #[inline]
    pub(crate) fn now(&self) -> Picos {
        self.now
    }

    /// Schedules an event without a message after the given span.
    #[inline]
    pub(crate) fn schedule(&mut self, span: Picos, event: Event) -> Result<(), Overflow> {
        debug_assert!(!matches!(event, Event::Arrival(_) | Event::Landed(_)));
        let at = self.now.checked_add(span).ok_or(Overflow::TIME)?;
        let place = match self.order {
            Order::Scheduling => self.reserve().0 << KIND_BITS,
            Order::Key => event.key(),
        };
        self.add(at, place, event)
    }

    /// Schedules the arrival of a message after the given span.
    #[inline]
    pub(crate) fn schedule_arrival(
        &mut self,
        span: Picos,
        message: MessageId,
        messages: &Messages,
    ) -> Result<(), Overflow> {
        let at = self.now.checked_add(span).ok_or(Overflow::TIME)?;
        self.schedule_message(at, message, messages, Event::Arrival(message))
    }

    /// Schedules what happens to a message at a time that is not over.
    #[inline]
    pub(crate) fn schedule_message(
        &mut self,
        at: Picos,
        message: MessageId,
        messages: &Messages,
        event: Event,
    ) -> Result<(), Overflow> {
        let place = match self.order {
            Order::Scheduling => self.reserve().0 << KIND_BITS,
            Order::Key => node_key(messages[message].rank, messages[message].node),
        };
        self.add(at, place, event)
    }

    /// Schedules an event behind all that are to run at the current time, as far as that is known: by key, behind the current
    /// round. There is one such event at a time.
    pub(crate) fn schedule_last(&mut self, event: Event) -> Result<(), Overflow> {
        match self.order {
            Order::Scheduling => self.schedule(Picos::ZERO, event),
            Order::Key => {
                self.last = Some(event);
                Ok(())
            }
        }
    }

    /// Sends a message away, to arrive after the given span where its route goes on or ends.
    pub(crate) fn depart(&mut self, span: Picos, message: MessageId) -> Result<(), Overflow> {
        let at = self.now.checked_add(span).ok_or(Overflow::TIME)?;
        self.departures.push((at, message));
        Ok(())
    }

    #[inline]
    pub(crate) fn has_departures(&self) -> bool {
        !self.departures.is_empty()
    }

    pub(crate) fn next_departure(&mut self) -> Option<(Picos, MessageId)> {
        self.departures.pop()
    }

    /// Takes a place in the order for an event that may be scheduled later; by key it has its place anyway.
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
        let place = match self.order {
            Order::Scheduling => ticket.0 << KIND_BITS,
            Order::Key => event.key(),
        };
        self.add(at, place, event)
    }

    /// Whether an event at this time and place would lie before the one that is running; by key, links fall
    /// free before anything else happens.
    #[inline]
    pub(crate) fn has_passed(&self, at: Picos, ticket: Ticket) -> bool {
        match self.order {
            Order::Scheduling => (at, ticket) < (self.now, self.running),
            Order::Key => at <= self.now,
        }
    }

    #[inline]
    fn add(&mut self, at: Picos, place: u64, event: Event) -> Result<(), Overflow> {
        let (kind, first, second) = event.pack();
        let place = place | kind;
        let slot = self.insert(Slot { place, first, second, next: END })?;
        if at == self.now {
            let round = match self.order {
                Order::Scheduling => &mut self.current,
                Order::Key => &mut self.following,
            };
            round.add(&mut self.slots, slot);
            return Ok(());
        }
        let open = &mut self.open[hash(at)];
        if open.at == at {
            if self.slots[open.tail as usize].place < place {
                self.slots[open.tail as usize].next = slot;
                open.tail = slot;
                return Ok(());
            }
            if self.order == Order::Key {
                open.tail = slot;
            }
        } else {
            *open = OpenList { at, tail: slot };
        }
        self.lists.push(Reverse((at, slot)));
        Ok(())
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

    /// When the next event is; None at the end.
    pub(crate) fn next_time(&self) -> Option<Picos> {
        let is_over = self.current.is_empty() && self.last.is_none() && self.following.is_empty();
        if is_over { self.next_list() } else { Some(self.now) }
    }

    /// The time of the next list.
    fn next_list(&self) -> Option<Picos> {
        self.lists.peek().map(|Reverse((at, _))| *at)
    }

    /// The next event up to a time, which becomes the running one.
    #[inline]
    pub(crate) fn pop(&mut self, until: Picos) -> Option<Event> {
        if self.current.is_empty() {
            if let Some(last) = self.last.take() {
                return Some(last);
            }
            if self.following.is_empty() {
                self.advance(until)?;
            } else {
                std::mem::swap(&mut self.current, &mut self.following);
            }
        }
        let at = self.current.take(&self.slots);
        let slot = self.slots[at as usize];
        self.slots[at as usize].next = self.unused;
        self.unused = at;
        self.running = Ticket(slot.place >> KIND_BITS);
        Some(Event::unpack(slot.place, slot.first, slot.second))
    }

    /// Goes on to the next time at which something happens; None if there is none.
    fn advance(&mut self, until: Picos) -> Option<()> {
        let Reverse((at, head)) = *self.lists.peek()?;
        if at > until {
            return None;
        }
        self.lists.pop();
        self.now = at;
        if self.next_list() == Some(at) {
            self.join(at, head);
            return Some(());
        }
        let open = self.open[hash(at)];
        let tail = if open.at == at { open.tail } else { self.last_of(head) };
        (self.current.head, self.current.tail) = (head, tail);
        Some(())
    }

    fn last_of(&self, mut slot: u32) -> u32 {
        while self.slots[slot as usize].next != END {
            slot = self.slots[slot as usize].next;
        }
        slot
    }

    /// Makes one round of all lists of the time: short ones are put within a long one, several long ones are sorted.
    #[cold]
    fn join(&mut self, at: Picos, first: u32) {
        let mut long = Vec::new();
        let mut list = Some(first);
        while let Some(head) = list {
            if self.is_short(head) {
                self.put_within(head);
            } else {
                long.push(head);
            }
            let more = self.next_list() == Some(at);
            list = if more { self.lists.pop().map(|Reverse((_, head))| head) } else { None };
        }
        self.current.head = match long[..] {
            [] => END,
            [head] => head,
            _ => self.sorted(long),
        };
        self.current.tail = if self.current.head == END { END } else { self.last_of(self.current.head) };
    }

    fn is_short(&self, mut slot: u32) -> bool {
        const SHORT: usize = 8;
        for _ in 0..SHORT {
            if slot == END {
                return true;
            }
            slot = self.slots[slot as usize].next;
        }
        false
    }

    fn put_within(&mut self, mut slot: u32) {
        while slot != END {
            let Slot { place, next, .. } = self.slots[slot as usize];
            self.current.within.push(Reverse((place, slot)));
            slot = next;
        }
    }

    /// One list of several.
    fn sorted(&mut self, lists: Vec<u32>) -> u32 {
        let mut all = Vec::new();
        for mut slot in lists {
            while slot != END {
                let Slot { place, next, .. } = self.slots[slot as usize];
                all.push((place, slot));
                slot = next;
            }
        }
        // A stable sort sees that these are ascending runs.
        all.sort();
        let mut next = END;
        for (_, slot) in all.into_iter().rev() {
            self.slots[slot as usize].next = next;
            next = slot;
        }
        next
    }
}

#[inline]
fn hash(at: Picos) -> usize {
    // The multiplier spreads times that are multiples of a common step.
    (at.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
}

#[cfg(test)]
mod tests;
