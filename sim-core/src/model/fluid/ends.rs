//! When flows end: for each bottleneck the first of its classes, and events at the first of them.
//!
//! The classes at home at a link have its level for their rate, so one clock serves them all
//! ([`Sharing::clock`]), and the order in which they end does not change when the level does. Links whose level
//! changed at one moment wait for the first end among them by one event, some dozens at a time: a *group*. A link
//! that changes again leaves its group for a new one, whose event comes in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::sharing::Sharing;
use crate::error::Overflow;
use crate::units::Picos;

/// The most links that wait for one event; each time it comes, all are looked at.
const GROUP: usize = 64;

/// No group.
const NONE: u32 = u32::MAX;

pub(super) struct Ends {
    /// By link.
    queues: Vec<Queue>,
    /// By class: the number of the only entry that holds.
    entries: Vec<u32>,
    groups: Vec<Vec<u32>>,
    unused: Vec<u32>,
}

/// The classes at home at a link.
struct Queue {
    classes: BinaryHeap<Reverse<End>>,
    group: u32,
    /// How long the first takes from the time on at which the group was made, in picoseconds: near enough to tell which link of
    /// a group is first.
    estimate: f64,
    /// When the first ends, where it was found that this may be the first end of its group.
    due: Option<Picos>,
}

/// A class whose first flow ends when the clock of the link shows `at`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: u128,
    class: u32,
    entry: u32,
}

impl Queue {
    /// The first of the classes that are still here.
    fn first(&mut self, entries: &[u32]) -> Option<End> {
        while let Some(&Reverse(end)) = self.classes.peek() {
            if entries[end.class as usize] == end.entry {
                return Some(end);
            }
            self.classes.pop();
        }
        None
    }

    /// When the first class ends, at which the clock of the link shows `left` less: the nearest picosecond, half up.
    fn find_due(&mut self, now: Picos, left: u128, level: u128) -> Result<Picos, Overflow> {
        if let Some(due) = self.due {
            return Ok(due);
        }
        let span = left / level;
        let rest = left - span * level;
        let end = u128::from(now.0) + span + u128::from(rest >= level - rest);
        let due = match u64::try_from(end) {
            Ok(end) => Picos(end),
            // It may become faster until then.
            Err(_) if now < Picos(u64::MAX) => Picos(u64::MAX),
            Err(_) => return Err(Overflow::TIME),
        };
        self.due = Some(due);
        Ok(due)
    }
}

impl Ends {
    pub(super) fn new(links: usize) -> Self {
        let queue = || Queue { classes: BinaryHeap::new(), group: NONE, estimate: 0.0, due: None };
        Self {
            queues: (0..links).map(|_| queue()).collect(),
            entries: Vec::new(),
            groups: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// The first flow of a class ends when the clock of its home shows `at`; what was said before of the class is void.
    pub(super) fn set(&mut self, class: u32, home: u32, at: u128) {
        let entry = self.forget(class);
        let classes = &mut self.queues[home as usize].classes;
        if classes.len() == classes.capacity() {
            let entries = &self.entries;
            classes.retain(|Reverse(end)| entries[end.class as usize] == end.entry);
        }
        classes.push(Reverse(End { at, class, entry }));
    }

    /// The class has no flows any more, or another first one; the number of its next entry.
    pub(super) fn forget(&mut self, class: u32) -> u32 {
        if self.entries.len() <= class as usize {
            self.entries.resize(class as usize + 1, 0);
        }
        let entry = &mut self.entries[class as usize];
        // Entries are thrown away long before the numbers come round.
        *entry = entry.wrapping_add(1);
        *entry
    }

    /// The class at home at the link whose first flow ends now: when less than half a picosecond of work is left.
    pub(super) fn ended(&mut self, link: u32, sharing: &mut Sharing, now: Picos) -> Option<u32> {
        let End { at, class, .. } = self.queues[link as usize].first(&self.entries)?;
        let ended = at.saturating_sub(sharing.clock(link, now)) < sharing.level(link)?.div_ceil(2);
        ended.then_some(class)
    }

    /// Makes groups of the links that have changed, and calls `schedule` with the number of each and its first end.
    pub(super) fn regroup(
        &mut self,
        sharing: &mut Sharing,
        now: Picos,
        mut schedule: impl FnMut(u32, Picos) -> Result<(), Overflow>,
    ) -> Result<(), Overflow> {
        let mut number = NONE;
        while let Some(link) = sharing.pop_touched() {
            let queue = &mut self.queues[link as usize];
            queue.group = NONE;
            let (Some(first), Some(level)) = (queue.first(&self.entries), sharing.level(link)) else {
                continue;
            };
            let left = first.at.saturating_sub(sharing.clock(link, now));
            if number == NONE {
                number = self.unused.pop().unwrap_or(self.groups.len() as u32);
                if number as usize == self.groups.len() {
                    self.groups.push(Vec::new());
                }
            }
            (queue.group, queue.estimate, queue.due) = (number, float(left) / float(level), None);
            self.groups[number as usize].push(link);
            if self.groups[number as usize].len() == GROUP {
                self.next_end(number, sharing, now, &mut schedule)?;
                number = NONE;
            }
        }
        if number == NONE { Ok(()) } else { self.next_end(number, sharing, now, &mut schedule) }
    }

    /// Calls `schedule` with the first end in a group that has still links; else its number is free.
    pub(super) fn next_end(
        &mut self,
        number: u32,
        sharing: &mut Sharing,
        now: Picos,
        schedule: &mut impl FnMut(u32, Picos) -> Result<(), Overflow>,
    ) -> Result<(), Overflow> {
        let queues = &mut self.queues;
        let links = &mut self.groups[number as usize];
        links.retain(|link| queues[*link as usize].group == number);
        // A division of 128 bits takes longer than all the rest, so it is done only for links that may be first. The
        // estimates are off by less than 10^−15 of their value; the result is exact.
        let estimates = links.iter().map(|link| queues[*link as usize].estimate);
        let bound = estimates.fold(f64::INFINITY, f64::min) * (1.0 + 1e-9) + 1.0;
        let mut next = None;
        for &link in links.iter() {
            let queue = &mut queues[link as usize];
            if queue.estimate > bound {
                continue;
            }
            if let (Some(first), Some(level)) = (queue.first(&self.entries), sharing.level(link)) {
                let due = queue.find_due(now, first.at.saturating_sub(sharing.clock(link, now)), level)?;
                next = Some(next.map_or(due, |next: Picos| next.min(due)));
            }
        }
        match next {
            Some(due) => schedule(number, due),
            None => {
                self.unused.push(number);
                Ok(())
            }
        }
    }

    /// The links of a group whose first flow ends now.
    pub(super) fn due(&self, number: u32, now: Picos) -> impl Iterator<Item = u32> + '_ {
        let links = self.groups[number as usize].iter().copied();
        links.filter(move |link| {
            let queue = &self.queues[*link as usize];
            queue.group == number && queue.due == Some(now)
        })
    }
}

/// Near enough; faster than the conversion of 128 bits.
fn float(value: u128) -> f64 {
    const HALF: f64 = 18_446_744_073_709_551_616.0;
    (value >> 64) as u64 as f64 * HALF + value as u64 as f64
}
