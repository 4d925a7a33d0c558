//! Divides ranks and links into blocks that cannot reach each other at once.
//!
//! A block has neighbouring ranks and some of the links. What happens at a moment in one block reaches another at
//! the earliest some time later, the *lookahead*, so all blocks may run that time without hearing of each other. Ranks and
//! links between which something takes no time are tied together and stay in one block.

use super::network::{Network, Pair};
use crate::topology::Topology;
use crate::units::{Bytes, Picos};

/// A network in parts.
pub(crate) struct Division<N> {
    /// The first rank of each block; the first is 0.
    pub(crate) starts: Vec<u32>,
    /// By block.
    pub(crate) networks: Vec<N>,
    /// What an event takes at least to cause one in another block.
    pub(crate) lookahead: Picos,
}

/// What there is to divide by.
pub(crate) struct Wanted<'a> {
    pub(crate) topology: &'a Topology,
    /// The pairs of ranks that the network was made for.
    pub(crate) pairs: &'a [Pair],
    /// By rank, how much there is to do.
    pub(crate) weights: &'a [u64],
    /// Number of blocks.
    pub(crate) blocks: usize,
    /// The size of the smallest message.
    pub(crate) least: Bytes,
}

/// A model whose network can be divided.
pub(crate) trait Divisible: Network + Sized {
    /// Parts of the network; the whole again if everything is tied together.
    fn divide(self, wanted: &Wanted<'_>) -> Result<Division<Self>, Self>;
}

/// Which ranks and links have to stay together.
pub(super) struct Ties {
    ranks: u32,
    /// By rank, then by link: another one of the same set, the first of it for itself.
    parents: Vec<u32>,
}

impl Ties {
    /// None if they are too many.
    pub(super) fn new(ranks: usize, links: usize) -> Option<Self> {
        let count = u32::try_from(ranks.checked_add(links)?).ok()?;
        Some(Self { ranks: ranks as u32, parents: (0..count).collect() })
    }

    pub(super) fn rank(&self, rank: u32) -> u32 {
        rank
    }

    pub(super) fn link(&self, link: u32) -> u32 {
        self.ranks + link
    }

    /// The first of a set: a rank, if there is one in it.
    pub(super) fn first(&mut self, mut at: u32) -> u32 {
        while self.parents[at as usize] != at {
            let above = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = above;
            at = above;
        }
        at
    }

    pub(super) fn tie(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// The first ranks of blocks of about equal weight: as many as asked for, or as the ties allow.
    pub(super) fn starts(&mut self, weights: &[u64], blocks: usize) -> Vec<u32> {
        // How far the sets that began so far reach.
        let mut reach: Vec<u32> = (0..self.ranks).collect();
        for rank in 0..self.ranks {
            let first = self.first(rank);
            reach[first as usize] = rank;
        }
        let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        let (mut starts, mut before, mut farthest) = (vec![0], 0u128, 0);
        for rank in 0..self.ranks {
            let wanted = total * starts.len() as u128 / blocks as u128;
            let weight = u128::from(weights[rank as usize]);
            // Here, or behind this rank, whichever is nearer.
            if rank > farthest && starts.len() < blocks && before + weight / 2 >= wanted {
                starts.push(rank);
            }
            farthest = farthest.max(reach[rank as usize]);
            before += weight;
        }
        starts
    }
}

/// The block of a rank.
pub(super) fn block_of(starts: &[u32], rank: u32) -> usize {
    starts.partition_point(|start| *start <= rank) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_of_equal_weight_and_do_not_cut_ties() {
        let starts = |ties: &[(u32, u32)], weights: &[u64], blocks| {
            let mut all = Ties::new(weights.len(), 2).unwrap();
            ties.iter().for_each(|(a, b)| all.tie(*a, *b));
            all.starts(weights, blocks)
        };
        assert_eq!(starts(&[], &[1; 6], 2), [0, 3]);
        assert_eq!(starts(&[], &[1; 6], 3), [0, 2, 4]);
        assert_eq!(starts(&[], &[9, 1, 1, 1], 2), [0, 1]);
        assert_eq!(starts(&[], &[1; 2], 8), [0, 1]);
        assert_eq!(starts(&[], &[2, 0, 0, 0, 4], 2), [0, 4]);
        assert_eq!(starts(&[(2, 3)], &[1; 6], 2), [0, 4]);
        // Ranks 1 and 4 are tied by links 6 and 7.
        assert_eq!(starts(&[(1, 6), (7, 4), (6, 7)], &[1; 6], 2), [0, 5]);
        assert_eq!(starts(&[(0, 5)], &[1; 6], 2), [0]);
        assert_eq!(starts(&[], &[], 2), [0]);
    }

    #[test]
    fn the_first_of_a_set_is_its_lowest_rank() {
        let mut ties = Ties::new(3, 3).unwrap();
        let links = [0, 1, 2].map(|link| ties.link(link));
        ties.tie(links[2], links[1]);
        assert_eq!(ties.first(links[2]), links[1]);
        let rank = ties.rank(2);
        ties.tie(links[2], rank);
        assert_eq!(links.map(|link| ties.first(link)), [3, 2, 2]);
    }
}
