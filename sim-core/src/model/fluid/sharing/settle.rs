//! Looks at links until all of them agree.
//!
//! What a link gives its flows follows from what their other links leave them. Take the classes across it with the rate
//! that the rest of their route allows: for a class that is at home elsewhere its rate, for one at home here the lowest level of
//! its other links. Beginning with all of them open, those that are allowed less than the share of the open ones are
//! frozen at what they are allowed, which can only raise the share; when no more can be frozen, the share is the level of
//! the link. This is progressive filling as the link sees it, with its rounding: a class that is allowed just the
//! share is open.
//!
//! **Why the result is that of filling everything.** Let all links agree. The lowest level of all is the smallest share
//! ⌊capacity / flows⌋, because a link gives each flow at least this, and a link that has it freezes nobody before; the
//! links that have it are the first bottlenecks of the filling and the only ones on which flows have that rate. With
//! these flows frozen the same holds of the rest, level after level.
//!
//! **Why it ends.** By the same steps: once the links of the lowest levels have their final level they are not looked at again,
//! and from then on those of the next level get it whenever they are looked at.

use std::cmp::Reverse;

use super::line::{Load, UNLIMITED, share};
use super::{Class, Crossing, NONE, Sharing, key};

/// A class of which it is not clear whether a link is its bottleneck.
pub(super) struct Doubt {
    class: u32,
    flows: u32,
    /// What the other links allow, and the one that allows no more.
    allowed: u128,
    by: u32,
    frozen: bool,
}

/// What a link has left for the classes that are open.
struct Filling {
    left: u128,
    open: u64,
}

impl Filling {
    fn freeze(&mut self, allowed: u128, flows: u32) {
        self.left = self.left.saturating_sub(allowed * u128::from(flows));
        self.open -= u64::from(flows);
    }
}

impl Sharing {
    /// Looks at links until none is left, from the lowest level upwards; false if that takes too long.
    pub(super) fn settle(&mut self) -> bool {
        let mut patience = self.patience.looks.saturating_mul(self.crossings + 64);
        while let Some(Reverse((_, link))) = self.queue.pop() {
            let load = &self.loads[link as usize];
            if load.home_flows > 0 {
                let level = key(load.share());
                if self.queue.peek().is_some_and(|Reverse((next, _))| *next < level) {
                    self.queue.push(Reverse((level, link)));
                    continue;
                }
            }
            let Some(rest) = patience.checked_sub(self.lines[link as usize].crossings.len() + 8) else {
                self.queue.push(Reverse((0, link)));
                return false;
            };
            patience = rest;
            self.look(link);
        }
        true
    }

    /// New classes begin at the link of their route that seems to be the tightest, without a rate.
    pub(super) fn find_homes(&mut self) {
        let mut fresh = std::mem::take(&mut self.fresh);
        for &class in &fresh {
            let Class { home, flows, .. } = self.classes[class as usize];
            if home != NONE || flows == 0 {
                continue;
            }
            let tightest =
                self.route(class).iter().copied().min_by_key(|link| self.loads[*link as usize].tightness());
            // Every route has a link, because a message to oneself is refused.
            let Some(tightest) = tightest else { continue };
            self.loads[tightest as usize].fresh = true;
            self.enqueue(tightest);
            self.settle_at(class, tightest, 0);
        }
        fresh.clear();
        self.fresh = fresh;
    }

    /// Gives a link the level that it has by what the other links allow.
    fn look(&mut self, link: u32) {
        let load = &self.loads[link as usize];
        let (before, fresh) = (load.level, load.fresh);
        let mut filling = Filling { left: load.capacity.saturating_sub(load.others), open: load.home_flows };
        // Within one unit a flow the rounding may decide.
        let in_doubt = match load.home_flows {
            0 => load.others + u128::from(load.flows) > load.capacity,
            _ => load.share() < load.top + u128::from(load.flows),
        };
        let mut rivals = std::mem::take(&mut self.rivals);
        let mut limits = std::mem::take(&mut self.limits);
        if in_doubt {
            self.find_rivals(link, &mut rivals);
            for rival in &rivals {
                filling.left += rival.allowed * u128::from(rival.flows);
                filling.open += u64::from(rival.flows);
            }
            let load = &self.loads[link as usize];
            filling.left = filling.left.saturating_sub(load.others.saturating_sub(load.capacity));
        }
        let level = loop {
            if filling.open == 0 {
                break UNLIMITED;
            }
            let (level, open) = (share(filling.left, filling.open), filling.open);
            for rival in rivals.iter_mut().filter(|rival| !rival.frozen && rival.allowed < level) {
                rival.frozen = true;
                filling.freeze(rival.allowed, rival.flows);
            }
            // A level that falls stays below those of the other links.
            if fresh || level > before {
                self.find_limits(link, level, &mut limits);
                for limit in limits.iter_mut().filter(|limit| !limit.frozen) {
                    limit.frozen = true;
                    filling.freeze(limit.allowed, limit.flows);
                }
            }
            if filling.open == open {
                break level;
            }
        };
        // What changes at this link from here on is known.
        self.loads[link as usize].queued = true;
        for limit in &limits {
            let rate = self.rate(limit.class);
            self.settle_at(limit.class, limit.by, rate);
            self.classes[limit.class as usize].fresh = false;
            self.shift(limit.class, rate, limit.allowed);
            self.enqueue(limit.by);
        }
        self.set_level(link, level);
        for rival in rivals.iter().filter(|rival| !rival.frozen && rival.allowed > level) {
            let home = self.classes[rival.class as usize].home;
            self.settle_at(rival.class, link, rival.allowed);
            self.shift(rival.class, rival.allowed, level);
            self.enqueue(home);
        }
        let load = &mut self.loads[link as usize];
        (load.queued, load.fresh) = (false, false);
        rivals.clear();
        limits.clear();
        (self.rivals, self.limits) = (rivals, limits);
    }

    /// The classes at home elsewhere that this link may have to slow down.
    ///
    /// Let n flows cross the link. If a class is not frozen at its rate r, then with all the others frozen as well less than n
    /// units more than r are left for each flow at home here, and without such flows the highest rate is less than n above r.
    fn find_rivals(&mut self, link: u32, rivals: &mut Vec<Doubt>) {
        let (load, line) = (&self.loads[link as usize], &self.lines[link as usize]);
        let elsewhere = &line.crossings[line.homes as usize..];
        let top = elsewhere.iter().map(|crossing| self.rate(crossing.class)).max().unwrap_or(0);
        let bound = match load.home_flows {
            _ if load.others > load.capacity => 0,
            0 => top,
            _ => load.share(),
        };
        let bound = bound.saturating_sub(u128::from(load.flows));
        if top >= bound {
            for &Crossing { class, .. } in elsewhere {
                let (allowed, flows) = (self.rate(class), self.classes[class as usize].flows);
                if allowed >= bound {
                    rivals.push(Doubt { class, flows, allowed, by: NONE, frozen: false });
                }
            }
        }
        self.loads[link as usize].top = top;
    }

    /// The classes at home here that another link allows less than `level`, and that are not among the `limits` yet.
    fn find_limits(&self, link: u32, level: u128, limits: &mut Vec<Doubt>) {
        let (line, known) = (&self.lines[link as usize], limits.len());
        for &Crossing { class, .. } in &line.crossings[..line.homes as usize] {
            let state = &self.classes[class as usize];
            let (mut allowed, mut by) = (level, NONE);
            for &other in &self.hops[state.hops()] {
                let level = self.loads[other as usize].level;
                if level < allowed && other != link {
                    (allowed, by) = (level, other);
                }
            }
            if by != NONE && limits[..known].iter().all(|limit| limit.class != class) {
                limits.push(Doubt { class, flows: state.flows, allowed, by, frozen: false });
            }
        }
    }

    /// Sets the rate of the classes at home at a link.
    fn set_level(&mut self, link: u32, level: u128) {
        let Load { level: before, fresh, .. } = self.loads[link as usize];
        if level == before && !fresh {
            return;
        }
        let crossings = std::mem::take(&mut self.lines[link as usize].crossings);
        for crossing in &crossings[..self.lines[link as usize].homes as usize] {
            let new = fresh && std::mem::take(&mut self.classes[crossing.class as usize].fresh);
            self.shift(crossing.class, if new { 0 } else { before }, level);
        }
        self.lines[link as usize].crossings = crossings;
        self.clock(link, self.now);
        self.loads[link as usize].level = level;
        self.touch(link);
    }

    /// The rate of a class has changed: has the links looked at for which that means something.
    #[inline]
    fn shift(&mut self, class: u32, before: u128, rate: u128) {
        let Class { flows, home, .. } = self.classes[class as usize];
        let more = rate.wrapping_sub(before).wrapping_mul(u128::from(flows));
        for &link in &self.hops[self.classes[class as usize].hops()] {
            if link == home {
                continue;
            }
            let load = &mut self.loads[link as usize];
            load.others = load.others.wrapping_add(more);
            load.top = load.top.max(rate);
            if !load.queued && load.may_be_full() {
                load.queued = true;
                self.queue.push(Reverse((key(load.tightness()), link)));
            }
        }
    }
}
