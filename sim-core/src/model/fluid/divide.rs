//! Divides flows among blocks of ranks.
//!
//! A flow changes the rates of those with which it shares links, at once. So all links of a route belong to the block of
//! the sender, and with them all routes that use one of them. What crosses is the delivery, Σ latency after the flow has
//! ended.

use super::Fluid;
use crate::error::Overflow;
use crate::model::division::{Divisible, Division, Ties, Wanted, block_of};
use crate::units::Picos;

impl Divisible for Fluid {
    fn divide(self, wanted: &Wanted<'_>) -> Result<Division<Self>, Self> {
        let Some(mut ties) = self.ties(wanted) else { return Err(self) };
        let starts = ties.starts(wanted.weights, wanted.blocks);
        if starts.len() < 2 {
            return Err(self);
        }
        let first_pair = |start: &u32| wanted.pairs.partition_point(|pair| pair.src < *start);
        let mut bounds: Vec<usize> = starts.iter().map(first_pair).collect();
        bounds.push(wanted.pairs.len());
        let networks = bounds.windows(2).map(|range| Self::part(wanted, range[0], range[1], &starts));
        let Ok(networks) = networks.collect::<Result<Vec<_>, Overflow>>() else { return Err(self) };
        let crossing = networks.iter().flat_map(|network: &Self| &network.routes);
        let lookahead = crossing.filter(|route| route.crosses).map(|route| route.latency).min();
        Ok(Division { starts, networks, lookahead: lookahead.unwrap_or(Picos(u64::MAX)) })
    }
}

impl Fluid {
    fn ties(&self, wanted: &Wanted<'_>) -> Option<Ties> {
        let mut ties = Ties::new(wanted.weights.len(), self.links.len())?;
        for (pair, route) in wanted.pairs.iter().zip(&self.routes) {
            let src = ties.rank(pair.src);
            for hop in route.first_hop..route.end_hop {
                let link = ties.link(self.sharing.hops()[hop as usize]);
                ties.tie(src, link);
            }
            if route.latency == Picos::ZERO {
                let dst = ties.rank(pair.dst);
                ties.tie(src, dst);
            }
        }
        Some(ties)
    }

    /// For the pairs from one to before another, which are sorted by sender.
    fn part(wanted: &Wanted<'_>, from: usize, to: usize, starts: &[u32]) -> Result<Self, Overflow> {
        let pairs = &wanted.pairs[from..to];
        let mut part = Self::new(wanted.topology, pairs)?;
        part.first_pair = from as u32;
        for (pair, route) in pairs.iter().zip(&mut part.routes) {
            route.crosses = block_of(starts, pair.src) != block_of(starts, pair.dst);
        }
        Ok(part)
    }
}
