//! Max-min fair rates, recomputed only where something changed.
//!
//! The flows of one pair of ranks take one route and so have one rate: they form a *class*. Classes and
//! links form a graph, and a change on some links can only reach the classes that are connected with them
//! through shared links: their *component*. Its rates come from progressive filling:
//!
//! 1. The share of a link is ⌊what is left of its capacity / number of its flows without a rate⌋.
//! 2. The links with the smallest share are the next bottlenecks, all that have it at once. Every flow
//!    across one of them gets that share, and every link that it crosses has that much less left.
//! 3. Again, until every flow has a rate.
//!
//! Shares never fall from one round to the next, so a share that was computed earlier is a lower bound, and
//! a heap of such bounds gives the smallest. Because links of equal shares go together, the rates
//! depend on neither the order nor the numbers of links and flows. A share is rounded down, so no link carries
//! more than it can.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Bits behind the point of a rate.
///
/// Work, rate · time, is counted in 2^−24 · 10^−12 bytes: 2^64 bytes are 2^127.9 units and fit 128 bits. The share of
/// a flow among 2^24 on a link of 1 byte per second is still one unit.
pub(super) const FRACTION_BITS: u32 = 24;

/// One unit a picosecond is 2^−24 bytes a second.
pub(super) fn rate_of(bytes_per_s: u64) -> u128 {
    u128::from(bytes_per_s) << FRACTION_BITS
}

pub(super) struct Sharing {
    links: Vec<Line>,
    /// The routes one after the other: indices into `links`.
    hops: Vec<u32>,
    /// By hop, while a class is on the route: its place among the crossings of the link.
    places: Vec<u32>,
    classes: Vec<Class>,
    /// Classes that are on no route, to be used again.
    unused: Vec<u32>,
    /// Links whose flows changed since the last recomputation.
    dirty: Vec<u32>,
    /// Number of the current recomputation: what carries it has been visited.
    epoch: u64,
    bounds: BinaryHeap<Reverse<(u128, u32)>>,
    bottlenecks: Vec<u32>,
    component: Component,
}

/// What is connected: the links and the classes that cross them.
#[derive(Default)]
struct Component {
    links: Vec<u32>,
    classes: Vec<u32>,
}

struct Line {
    capacity: u128,
    crossings: Vec<Crossing>,
    visited: u64,
    /// During filling: what is left of the capacity, and for how many flows.
    left: u128,
    flows: u128,
}

#[derive(Clone, Copy)]
struct Crossing {
    class: u32,
    hop: u32,
}

struct Class {
    first_hop: u32,
    end_hop: u32,
    flows: u32,
    rate: u128,
    visited: u64,
    filled: u64,
}

impl Class {
    fn hops(&self) -> Range<usize> {
        self.first_hop as usize..self.end_hop as usize
    }
}

impl Sharing {
    /// For links of the given capacities in bytes per second, and routes over them.
    pub(super) fn new(bytes_per_s: impl Iterator<Item = u64>, hops: Vec<u32>) -> Self {
        let links = bytes_per_s.map(|bytes_per_s| Line {
            capacity: rate_of(bytes_per_s),
            crossings: Vec::new(),
            visited: 0,
            left: 0,
            flows: 0,
        });
        Self {
            links: links.collect(),
            places: vec![0; hops.len()],
            hops,
            classes: Vec::new(),
            unused: Vec::new(),
            dirty: Vec::new(),
            epoch: 0,
            bounds: BinaryHeap::new(),
            bottlenecks: Vec::new(),
            component: Component::default(),
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
        let new =
            Class { first_hop: hops.start, end_hop: hops.end, flows: 0, rate: 0, visited: 0, filled: 0 };
        let class = match self.unused.pop() {
            Some(class) => {
                self.classes[class as usize] = new;
                class
            }
            None => {
                self.classes.push(new);
                // There are no more classes than pairs of ranks, which are numbered by 32 bits.
                self.classes.len() as u32 - 1
            }
        };
        for hop in hops {
            let link = &mut self.links[self.hops[hop as usize] as usize];
            self.places[hop as usize] = link.crossings.len() as u32;
            link.crossings.push(Crossing { class, hop });
        }
        class
    }

    /// Takes a class from its route.
    pub(super) fn detach(&mut self, class: u32) {
        for hop in self.classes[class as usize].hops() {
            let crossings = &mut self.links[self.hops[hop] as usize].crossings;
            let place = self.places[hop] as usize;
            crossings.swap_remove(place);
            if let Some(moved) = crossings.get(place) {
                self.places[moved.hop as usize] = place as u32;
            }
        }
        self.unused.push(class);
    }

    /// Sets the number of flows of a class; the rates around it hold no longer.
    pub(super) fn set_flows(&mut self, class: u32, flows: u32) {
        self.classes[class as usize].flows = flows;
        let hops = self.classes[class as usize].hops();
        self.dirty.extend_from_slice(&self.hops[hops]);
    }

    /// Whether a class crosses the link.
    pub(super) fn is_shared(&self, link: u32) -> bool {
        !self.links[link as usize].crossings.is_empty()
    }

    /// What each flow of the class gets.
    pub(super) fn rate(&self, class: u32) -> u128 {
        self.classes[class as usize].rate
    }

    /// Recomputes the rates around the links that changed, and calls `done` with the classes of each component.
    pub(super) fn recompute<E>(
        &mut self,
        mut done: impl FnMut(&mut Self, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.epoch += 1;
        let mut dirty = std::mem::take(&mut self.dirty);
        let mut component = std::mem::take(&mut self.component);
        for link in dirty.drain(..) {
            if self.links[link as usize].visited == self.epoch {
                continue;
            }
            self.collect(link, &mut component);
            if !component.classes.is_empty() {
                self.fill(&component.links);
                done(self, &component.classes)?;
            }
        }
        (self.dirty, self.component) = (dirty, component);
        Ok(())
    }

    /// What is connected with a link.
    fn collect(&mut self, link: u32, component: &mut Component) {
        component.links.clear();
        component.classes.clear();
        component.links.push(link);
        self.links[link as usize].visited = self.epoch;
        let mut at = 0;
        while let Some(&link) = component.links.get(at) {
            at += 1;
            // The list is not changed meanwhile; taking it avoids a second look at each of its items.
            let crossings = std::mem::take(&mut self.links[link as usize].crossings);
            for crossing in &crossings {
                let class = &mut self.classes[crossing.class as usize];
                if class.visited == self.epoch {
                    continue;
                }
                class.visited = self.epoch;
                component.classes.push(crossing.class);
                for hop in class.hops() {
                    let next = self.hops[hop];
                    let line = &mut self.links[next as usize];
                    if line.visited != self.epoch {
                        line.visited = self.epoch;
                        component.links.push(next);
                    }
                }
            }
            self.links[link as usize].crossings = crossings;
        }
    }

    /// Progressive filling.
    fn fill(&mut self, links: &[u32]) {
        self.bounds.clear();
        for &link in links {
            let line = &mut self.links[link as usize];
            let classes = line.crossings.iter().map(|crossing| &self.classes[crossing.class as usize]);
            line.flows = classes.map(|class| u128::from(class.flows)).sum();
            line.left = line.capacity;
            if let Some(share) = line.left.checked_div(line.flows) {
                self.bounds.push(Reverse((share, link)));
            }
        }
        while let Some(Reverse((smallest, link))) = self.bounds.pop() {
            self.bottlenecks.clear();
            self.judge(smallest, link);
            while let Some(Reverse((bound, link))) = self.bounds.peek().copied() {
                if bound > smallest {
                    break;
                }
                self.bounds.pop();
                self.judge(smallest, link);
            }
            for at in 0..self.bottlenecks.len() {
                self.freeze(self.bottlenecks[at], smallest);
            }
        }
    }

    /// A link whose share is at least `smallest`: a bottleneck if it is that, else it waits for its turn.
    fn judge(&mut self, smallest: u128, link: u32) {
        let line = &self.links[link as usize];
        match line.left.checked_div(line.flows) {
            Some(share) if share > smallest => self.bounds.push(Reverse((share, link))),
            Some(_) => self.bottlenecks.push(link),
            None => {}
        }
    }

    /// Gives its share to the flows across a bottleneck that have no rate yet.
    fn freeze(&mut self, link: u32, share: u128) {
        // A flow that nothing is left for would never end.
        let share = share.max(1);
        for at in 0..self.links[link as usize].crossings.len() {
            let crossing = self.links[link as usize].crossings[at];
            let class = &mut self.classes[crossing.class as usize];
            if class.filled == self.epoch {
                continue;
            }
            (class.filled, class.rate) = (self.epoch, share);
            let flows = u128::from(class.flows);
            for hop in class.hops() {
                let line = &mut self.links[self.hops[hop] as usize];
                line.left = line.left.saturating_sub(share * flows);
                line.flows -= flows;
            }
        }
    }
}

#[cfg(test)]
mod tests;
