//! Progressive filling of everything that is connected with the links in the queue.
//!
//! Shares never fall from one round to the next, so a share that was computed earlier is a lower bound, and a heap of such
//! bounds gives the smallest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::line::UNLIMITED;
use super::{Class, Crossing, NONE, Sharing};

impl Sharing {
    /// Gives all classes across links in the queue their rates, and all that are connected with them.
    pub(super) fn fill(&mut self) {
        let links = self.take_queue();
        let mut bounds = BinaryHeap::new();
        for &link in &links {
            let load = &mut self.loads[link as usize];
            (load.level, load.others, load.top) = (UNLIMITED, 0, 0);
            self.lines[link as usize].homes = 0;
            // During filling: the flows without a rate.
            load.home_flows = load.flows;
            if load.flows > 0 {
                bounds.push(Reverse((load.share(), link)));
            }
        }
        let mut bottlenecks = Vec::new();
        while let Some(&Reverse((smallest, _))) = bounds.peek() {
            while let Some(&Reverse((bound, link))) = bounds.peek()
                && bound == smallest
            {
                bounds.pop();
                let load = &self.loads[link as usize];
                match load.home_flows {
                    0 => {}
                    _ if load.share() > smallest => bounds.push(Reverse((load.share(), link))),
                    _ => bottlenecks.push(link),
                }
            }
            for link in bottlenecks.drain(..) {
                self.freeze(link, smallest);
            }
        }
        for &link in &links {
            self.finish(link);
        }
    }

    /// Puts all links into the queue that new classes cross.
    pub(super) fn enqueue_fresh(&mut self) {
        while let Some(class) = self.fresh.pop() {
            for hop in self.classes[class as usize].hops() {
                self.enqueue(self.hops[hop]);
            }
        }
    }

    /// The links in the queue and all that are connected with them; their classes have no homes any more.
    fn take_queue(&mut self) -> Vec<u32> {
        let mut links: Vec<u32> = self.queue.drain().map(|Reverse((_, link))| link).collect();
        // What is queued is in the list. A class without a home has been met, or is new and has all its links in the list.
        let mut at = 0;
        while let Some(&link) = links.get(at) {
            at += 1;
            self.clock(link, self.now);
            for place in 0..self.lines[link as usize].crossings.len() {
                let Crossing { class, .. } = self.lines[link as usize].crossings[place];
                if self.classes[class as usize].home == NONE {
                    continue;
                }
                self.ahead[class as usize] = self.clock_of_class(class, self.now);
                self.classes[class as usize].home = NONE;
                for &next in &self.hops[self.classes[class as usize].hops()] {
                    if !std::mem::replace(&mut self.loads[next as usize].queued, true) {
                        links.push(next);
                    }
                }
            }
        }
        links
    }

    /// Gives its share to the classes across a bottleneck that have no rate yet.
    fn freeze(&mut self, link: u32, share: u128) {
        for &Crossing { class, .. } in &self.lines[link as usize].crossings {
            let state = &mut self.classes[class as usize];
            if state.home != NONE {
                continue;
            }
            (state.home, state.fresh) = (link, false);
            for &link in &self.hops[state.hops()] {
                let load = &mut self.loads[link as usize];
                load.others += share * u128::from(state.flows);
                load.home_flows -= u64::from(state.flows);
            }
            self.loads[link as usize].level = share;
        }
    }

    /// Separates the classes at home at a link from the others.
    fn finish(&mut self, link: u32) {
        let clock = self.clock(link, self.now);
        for at in 0..self.lines[link as usize].crossings.len() as u32 {
            let Crossing { class, .. } = self.lines[link as usize].crossings[at as usize];
            let Class { home, flows, .. } = self.classes[class as usize];
            let rate = self.rate(class);
            let load = &mut self.loads[link as usize];
            if home != link {
                load.top = load.top.max(rate);
                continue;
            }
            load.home_flows += u64::from(flows);
            load.others -= rate * u128::from(flows);
            let to = self.lines[link as usize].homes;
            self.lines[link as usize].homes += 1;
            self.swap(link, at, to);
            let ahead = &mut self.ahead[class as usize];
            *ahead = ahead.wrapping_sub(clock);
            self.moved.push(class);
        }
        let load = &mut self.loads[link as usize];
        (load.queued, load.fresh) = (false, false);
        self.touch(link);
    }
}
