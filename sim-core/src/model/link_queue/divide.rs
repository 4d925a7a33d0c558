//! Divides the links among blocks of ranks.
//!
//! A message needs no time to the first link of its route, and at least the passage of the smallest message
//! to whatever comes behind a link: the next one, or the ranks at both ends of the route, of which
//! the sender learns of the delivery at once. So a first link belongs to the block of its sender; links that nobody
//! begins at are divided as suits: those of the second half of a route to the receiver.

use super::{CROSSES, LAST_HOP, LINK, LinkQueue};
use crate::model::division::{Divisible, Division, Ties, Wanted, block_of};
use crate::units::Picos;

/// No block yet.
const NOWHERE: u32 = u32::MAX;

impl Divisible for LinkQueue {
    fn divide(self, wanted: &Wanted<'_>) -> Result<Division<Self>, Self> {
        let passages = self.costs.iter().map(|cost| cost.timing.passage(wanted.least));
        let Some(passages) = passages.collect::<Option<Vec<Picos>>>() else { return Err(self) };
        let Some(mut ties) = self.ties(wanted, &passages) else { return Err(self) };
        let starts = ties.starts(wanted.weights, wanted.blocks);
        if starts.len() < 2 {
            return Err(self);
        }
        let blocks = self.blocks_of_links(wanted, &mut ties, &starts);
        Ok(self.divided(wanted, starts, &blocks, &passages))
    }
}

impl LinkQueue {
    /// The hops of a pair's route.
    fn route(&self, pair: usize) -> &[u32] {
        let first = self.first_hop[pair] as usize;
        let end = self.first_hop.get(pair + 1).map_or(self.hops.len(), |end| *end as usize);
        &self.hops[first..end]
    }

    fn ties(&self, wanted: &Wanted<'_>, passages: &[Picos]) -> Option<Ties> {
        let mut ties = Ties::new(wanted.weights.len(), self.links.len())?;
        let at_once = |link: u32| passages[self.classes[link as usize] as usize] == Picos::ZERO;
        for (number, pair) in wanted.pairs.iter().enumerate() {
            let (src, dst) = (ties.rank(pair.src), ties.rank(pair.dst));
            let mut before = src;
            let mut tied = true;
            for hop in self.route(number) {
                let link = ties.link(hop & LINK);
                if tied {
                    ties.tie(before, link);
                }
                (before, tied) = (link, at_once(hop & LINK));
            }
            if tied {
                ties.tie(before, src);
                ties.tie(before, dst);
            }
        }
        Some(ties)
    }

    /// By link.
    fn blocks_of_links(&self, wanted: &Wanted<'_>, ties: &mut Ties, starts: &[u32]) -> Vec<u32> {
        let ranks = wanted.weights.len() as u32;
        // By first of a set of links without ranks.
        let mut of_sets = vec![NOWHERE; self.links.len()];
        for (number, pair) in wanted.pairs.iter().enumerate() {
            let route = self.route(number);
            for (at, hop) in route.iter().enumerate() {
                let link = ties.link(hop & LINK);
                if let Some(set) = ties.first(link).checked_sub(ranks)
                    && of_sets[set as usize] == NOWHERE
                {
                    let near = if 2 * at < route.len() { pair.src } else { pair.dst };
                    of_sets[set as usize] = block_of(starts, near) as u32;
                }
            }
        }
        let block = |link: u32| {
            let link = ties.link(link);
            match ties.first(link) {
                rank if rank < ranks => block_of(starts, rank) as u32,
                link => of_sets[(link - ranks) as usize],
            }
        };
        (0..self.links.len() as u32).map(block).collect()
    }

    /// `blocks` by link.
    fn divided(
        self,
        wanted: &Wanted<'_>,
        starts: Vec<u32>,
        blocks: &[u32],
        passages: &[Picos],
    ) -> Division<Self> {
        // The links of a block get neighbouring numbers.
        let mut first_links = vec![0; starts.len()];
        blocks.iter().for_each(|block| first_links[*block as usize] += 1);
        let mut begin = 0;
        first_links.iter_mut().for_each(|count| begin += std::mem::replace(count, begin));
        let mut next = first_links.clone();
        let number = |block: &u32| {
            next[*block as usize] += 1;
            next[*block as usize] - 1
        };
        let numbers: Vec<u32> = blocks.iter().map(number).collect();

        let (mut hops, mut lookahead) = (Vec::with_capacity(self.hops.len()), Picos(u64::MAX));
        for (at, pair) in wanted.pairs.iter().enumerate() {
            let [src, dst] = [pair.src, pair.dst].map(|rank| block_of(&starts, rank) as u32);
            let route = self.route(at);
            for (at, hop) in route.iter().enumerate() {
                let link = (hop & LINK) as usize;
                let crosses = match route.get(at + 1) {
                    Some(next) => blocks[(next & LINK) as usize] != blocks[link],
                    None => [src, dst] != [blocks[link]; 2],
                };
                if crosses {
                    lookahead = lookahead.min(passages[self.classes[link] as usize]);
                }
                hops.push(numbers[link] | hop & LAST_HOP | if crosses { CROSSES } else { 0 });
            }
        }
        let mut classes = vec![0; self.classes.len()];
        let mut links: Vec<Vec<_>> = starts.iter().map(|_| Vec::new()).collect();
        for (old, link) in self.links.into_iter().enumerate() {
            classes[numbers[old] as usize] = self.classes[old];
            links[blocks[old] as usize].push(link);
        }
        let (hops, classes) = (hops.into(), classes.into());
        let whole = Self { links: Vec::new(), blocks: first_links.clone().into(), hops, classes, ..self };
        let networks = first_links.into_iter().zip(links);
        let networks = networks.map(|(first_link, links)| whole.part(first_link, links));
        Division { starts, networks: networks.collect(), lookahead }
    }

    fn part(&self, first_link: u32, links: Vec<super::LinkState>) -> Self {
        Self {
            links,
            first_link,
            blocks: self.blocks.clone(),
            costs: self.costs.clone(),
            hops: self.hops.clone(),
            first_hop: self.first_hop.clone(),
            classes: self.classes.clone(),
            passed: self.passed.as_ref().map(|_| Vec::new()),
        }
    }
}
