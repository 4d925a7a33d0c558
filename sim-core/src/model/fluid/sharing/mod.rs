//! Max-min fair rates, kept up to date by looking only at links whose flows changed.
//!
//! The flows of one pair of ranks take one route and so have one rate: they form a *class*. The rates are those of
//! progressive filling:
//!
//! 1. The share of a link is ⌊what is left of its capacity / number of its flows without a rate⌋.
//! 2. The links with the smallest share are the next bottlenecks, all that have it at once. Every flow
//!    across one of them gets that share, and every link that it crosses has that much less left.
//! 3. Again, until every flow has a rate.
//!
//! Because links of equal shares go together, the rates depend on neither the order nor the numbers of links and flows.
//! A share is rounded down, so no link carries more than it can.
//!
//! Filling all links anew at every change would touch each flow. Instead each class has a *home*, one of the
//! links at which its rate was settled, and each link a *level*, the rate of its classes at home. A set of rates is that of
//! progressive filling if and only if it is so at every link alone: with what its other classes get from elsewhere,
//! the link fills up at its level (`settle.rs`). So after a change the links whose flows
//! changed are looked at, and where that changes a level, those that its flows cross, until nothing changes any more. The
//! levels below the change stay as they are (the bottleneck structure of Ros-Giralt et al., SIGMETRICS 2019).
//!
//! A look costs the classes at home there times their hops. A change costs as many looks as there are links
//! whose level it alters, or little more, since links are looked at from the lowest level upwards.
//! Should that take more than a filling of everything would, everything is filled (`fill.rs`).

mod fill;
mod line;
mod settle;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use self::line::{Line, Load, UNLIMITED};
use self::settle::Doubt;
use crate::units::Picos;

/// Bits behind the point of a rate.
///
/// Work, rate · time, is counted in 2^−24 · 10^−12 bytes: 2^64 bytes are 2^127.9 units and fit 128 bits. The share of
/// a flow among 2^24 on a link of 1 byte per second is still one unit.
pub(super) const FRACTION_BITS: u32 = 24;

/// No home.
const NONE: u32 = u32::MAX;

/// When everything that is connected with a change is filled: where hops times `changes` have changed as there are,
/// because looks would then be dearer, and where each hop has been looked at `looks` times.
#[derive(Clone, Copy)]
struct Patience {
    changes: usize,
    looks: usize,
}

const PATIENCE: Patience = Patience { changes: 8, looks: 8 };

/// One unit a picosecond is 2^−24 bytes a second.
pub(super) fn rate_of(bytes_per_s: u64) -> u128 {
    u128::from(bytes_per_s) << FRACTION_BITS
}

pub(super) struct Sharing {
    /// By link.
    loads: Vec<Load>,
    lines: Vec<Line>,
    /// The routes one after the other: numbers of links.
    hops: Vec<u32>,
    /// By hop, while a class is on the route: its place among the crossings of the link.
    places: Vec<u32>,
    classes: Vec<Class>,
    /// By class: the work that each of its flows would have got had it been there from the start, less the clock of the home.
    ahead: Vec<u128>,
    /// Classes that are on no route, to be used again.
    unused: Vec<u32>,
    /// Classes without a home.
    fresh: Vec<u32>,
    /// Links to be looked at, by their level as it seemed.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// The time of the last recomputation.
    now: Picos,
    /// What the caller has not asked for yet: links whose level or classes at home changed, classes with another home.
    touched: Vec<u32>,
    moved: Vec<u32>,
    /// Hops of the classes under way, and hops of those that changed since the last recomputation.
    crossings: usize,
    changes: usize,
    patience: Patience,
    /// Of a look at a link: the classes in doubt.
    rivals: Vec<Doubt>,
    limits: Vec<Doubt>,
}

#[derive(Clone, Copy)]
struct Crossing {
    class: u32,
    hop: u32,
}

/// The flows on a route; they have the rate of their home, but none before the first look at it.
#[derive(Clone, Copy)]
struct Class {
    first_hop: u32,
    end_hop: u32,
    flows: u32,
    /// The link at which the rate was settled.
    home: u32,
    /// It has a home but not yet its rate.
    fresh: bool,
}

impl Class {
    fn hops(&self) -> Range<usize> {
        self.first_hop as usize..self.end_hop as usize
    }
}

impl Sharing {
    /// For links of the given capacities in bytes per second, and routes over them.
    pub(super) fn new(bytes_per_s: impl Iterator<Item = u64>, hops: Vec<u32>) -> Self {
        let loads: Vec<Load> = bytes_per_s.map(|bytes_per_s| Load::new(rate_of(bytes_per_s))).collect();
        Self {
            lines: loads.iter().map(|_| Line::default()).collect(),
            loads,
            places: vec![0; hops.len()],
            hops,
            classes: Vec::new(),
            ahead: Vec::new(),
            unused: Vec::new(),
            fresh: Vec::new(),
            queue: BinaryHeap::new(),
            now: Picos::ZERO,
            touched: Vec::new(),
            moved: Vec::new(),
            crossings: 0,
            changes: 0,
            patience: PATIENCE,
            rivals: Vec::new(),
            limits: Vec::new(),
        }
    }

    pub(super) fn hops(&self) -> &[u32] {
        &self.hops
    }

    /// The links that a class crosses.
    pub(super) fn route(&self, class: u32) -> &[u32] {
        &self.hops[self.classes[class as usize].hops()]
    }

    /// A class without flows on the route of these hops; a route has one class at most.
    pub(super) fn attach(&mut self, hops: Range<u32>) -> u32 {
        let new = Class { first_hop: hops.start, end_hop: hops.end, flows: 0, home: NONE, fresh: true };
        let class = match self.unused.pop() {
            Some(class) => {
                (self.classes[class as usize], self.ahead[class as usize]) = (new, 0);
                class
            }
            None => {
                self.classes.push(new);
                self.ahead.push(0);
                // There are no more classes than pairs of ranks, which are numbered by 32 bits.
                self.classes.len() as u32 - 1
            }
        };
        self.crossings += hops.len();
        self.fresh.push(class);
        for hop in hops {
            let crossings = &mut self.lines[self.hops[hop as usize] as usize].crossings;
            self.places[hop as usize] = crossings.len() as u32;
            crossings.push(Crossing { class, hop });
        }
        class
    }

    /// Takes a class without flows from its route.
    pub(super) fn detach(&mut self, class: u32) {
        let Class { home, .. } = self.classes[class as usize];
        let hops = self.classes[class as usize].hops();
        self.crossings -= hops.len();
        for hop in hops {
            let link = self.hops[hop];
            if home == link {
                self.leave_home(link, hop);
            }
            let crossings = &mut self.lines[link as usize].crossings;
            let place = self.places[hop] as usize;
            crossings.swap_remove(place);
            if let Some(moved) = crossings.get(place) {
                self.places[moved.hop as usize] = place as u32;
            }
        }
        self.classes[class as usize].home = NONE;
        self.unused.push(class);
    }

    /// Sets the number of flows of a class; the rates around it hold no longer.
    pub(super) fn set_flows(&mut self, class: u32, flows: u32) {
        let rate = self.rate(class);
        let state = &mut self.classes[class as usize];
        let more = i64::from(flows) - i64::from(state.flows);
        state.flows = flows;
        let (home, hops) = (state.home, state.hops());
        self.changes += hops.len();
        for hop in hops {
            let link = self.hops[hop];
            let load = &mut self.loads[link as usize];
            load.flows = load.flows.wrapping_add_signed(more);
            if link == home {
                load.home_flows = load.home_flows.wrapping_add_signed(more);
            } else {
                load.others = load.others.wrapping_add(rate.wrapping_mul(i128::from(more) as u128));
            }
            if load.may_be_full() {
                self.enqueue(link);
            }
        }
    }

    /// Whether a class crosses the link.
    pub(super) fn is_shared(&self, link: u32) -> bool {
        !self.lines[link as usize].crossings.is_empty()
    }

    /// What each flow of the class gets; 0 before the first recomputation.
    pub(super) fn rate(&self, class: u32) -> u128 {
        let Class { home, fresh, .. } = self.classes[class as usize];
        if fresh { 0 } else { self.loads[home as usize].level }
    }

    /// The bottleneck of a class; None before the first recomputation.
    pub(super) fn home(&self, class: u32) -> Option<u32> {
        let home = self.classes[class as usize].home;
        (home != NONE).then_some(home)
    }

    /// The rate of the classes at home at a link; None if there are none.
    pub(super) fn level(&self, link: u32) -> Option<u128> {
        let level = self.loads[link as usize].level;
        (level != UNLIMITED).then_some(level)
    }

    /// The clock of a link: the work that a flow would have got that was at home there from the beginning.
    pub(super) fn clock(&mut self, link: u32, now: Picos) -> u128 {
        self.lines[link as usize].advance(now, self.loads[link as usize].level)
    }

    /// The clock of a class: the work that each of its flows would have got had it been there from the start.
    pub(super) fn clock_of_class(&mut self, class: u32, now: Picos) -> u128 {
        let ahead = self.ahead[class as usize];
        self.home(class).map_or(ahead, |home| self.clock(home, now).wrapping_add(ahead))
    }

    /// What the clock of its home shows when the clock of a class shows `goal`.
    pub(super) fn at_home(&self, class: u32, goal: u128) -> u128 {
        goal.wrapping_sub(self.ahead[class as usize])
    }

    /// The next of the links whose level or classes at home changed.
    pub(super) fn pop_touched(&mut self) -> Option<u32> {
        let link = self.touched.pop()?;
        self.lines[link as usize].touched = false;
        Some(link)
    }

    /// The next of the classes that have another home; one may come twice.
    pub(super) fn pop_moved(&mut self) -> Option<u32> {
        self.moved.pop()
    }

    /// Something has changed at a link of which the caller has to know.
    pub(super) fn touch(&mut self, link: u32) {
        let line = &mut self.lines[link as usize];
        if !line.touched {
            line.touched = true;
            self.touched.push(link);
        }
    }

    /// Brings the rates up to date with the flows.
    pub(super) fn recompute(&mut self, now: Picos) {
        self.now = now;
        let many = std::mem::take(&mut self.changes).saturating_mul(self.patience.changes) >= self.crossings;
        if many {
            self.enqueue_fresh();
        } else {
            self.find_homes();
        }
        if many || !self.settle() {
            self.fill();
        }
    }

    /// Has a link looked at.
    fn enqueue(&mut self, link: u32) {
        let load = &mut self.loads[link as usize];
        if !load.queued {
            load.queued = true;
            self.queue.push(Reverse((key(load.tightness()), link)));
        }
    }

    /// Makes a link of its route the home of a class that keeps its rate.
    fn settle_at(&mut self, class: u32, home: u32, rate: u128) {
        let clock = self.clock_of_class(class, self.now);
        let Class { home: before, flows, .. } = self.classes[class as usize];
        let (flows, work) = (u64::from(flows), rate * u128::from(flows));
        for hop in self.classes[class as usize].hops() {
            let link = self.hops[hop];
            if link == before {
                let load = &mut self.loads[link as usize];
                load.home_flows -= flows;
                load.others += work;
                load.top = load.top.max(rate);
                self.leave_home(link, hop);
                self.touch(link);
            } else if link == home {
                let load = &mut self.loads[link as usize];
                load.home_flows += flows;
                load.others -= work;
                let to = self.lines[link as usize].homes;
                self.lines[link as usize].homes += 1;
                self.swap(link, self.places[hop], to);
                self.touch(link);
            }
        }
        self.classes[class as usize].home = home;
        self.ahead[class as usize] = clock.wrapping_sub(self.clock(home, self.now));
        self.moved.push(class);
    }

    /// The class of a hop is no longer at home at the link.
    fn leave_home(&mut self, link: u32, hop: usize) {
        let line = &mut self.lines[link as usize];
        line.homes -= 1;
        let to = line.homes;
        self.swap(link, self.places[hop], to);
    }

    /// Swaps two crossings of a link.
    fn swap(&mut self, link: u32, a: u32, b: u32) {
        let crossings = &mut self.lines[link as usize].crossings;
        crossings.swap(a as usize, b as usize);
        for place in [a, b] {
            self.places[crossings[place as usize].hop as usize] = place;
        }
    }
}

/// The order in which links are looked at: by their levels, near enough. A rate is below 2^84.
fn key(level: u128) -> u64 {
    (level >> 20) as u64
}

#[cfg(test)]
mod tests;
