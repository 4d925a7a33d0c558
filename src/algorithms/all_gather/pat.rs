use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allgather_pat::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices,
    cost,
};

/// Full aggregation, half of it, and none.
pub(in crate::algorithms) fn choices(ranks: usize) -> Vec<Vec<usize>> {
    let full = (ranks.next_power_of_two() / 2).max(1);
    let mut least = vec![full / 2, 1];
    least.retain(|aggregation| (1..full).contains(aggregation));
    least.dedup();
    [1 << 16].into_iter().chain(least).map(|aggregation| vec![ranks, aggregation]).collect()
}

/// The rounds that PAT's trees need, down or up.
///
/// The ranks at the distances s from a rank, s < n, are the nodes of its tree. Of `trees` nodes at equal distances the parts
/// below them are served together.
pub(in crate::algorithms) fn cost(values: &[usize]) -> Cost {
    let (ranks, aggregation) = (values[0], values[1]);
    let width = ranks.next_power_of_two();
    let trees = aggregation.min((width / 2).max(1));
    let spacing = width / trees;
    // Messages over a distance d go from the multiples of 2d, as far as the child is less than n.
    let top = (0..trees.ilog2()).map(|round| width >> (round + 1));
    let top = top.map(|distance| (ranks - distance).div_ceil(2 * distance));
    let below = (1..spacing.min(ranks)).map(|position| (ranks - position).div_ceil(spacing));
    Cost::rounds_of(top.chain(below).map(|chunks| (1, share(chunks, ranks))))
}

/// All-gather along a binomial tree from each rank, the farthest hop first, with the hops of one distance in one message.
///
/// The tree of a rank reaches the ranks s behind it: the parent of s is s without its lowest set bit. So the long hops carry
/// the least, and the short ones most: the reverse of `allgather_bruck`. Hops of the same distance in the trees of
/// different ranks go in one message, of no more than `aggregation` chunks, as that is what the buffers between the ranks hold.
/// With fewer the trees are divided into as many equal parts as a message may have chunks; after the top of the tree, which
/// connects these parts, each of the parts is walked through depth first, all at once.
///
/// Choose it for small sizes, and for large numbers of ranks, where the ring has too many rounds and distance costs. Less
/// aggregation is for buffers that cannot hold more.
///
/// Any number of ranks; `aggregation` is a power of two, and n/2 or more is all there is to aggregate. S is the gathered size.
/// Rounds: with the power of two P, n ≤ P < 2n, and A = min(`aggregation`, P/2): log2 A + min(P/A, n) − 1. That is ⌈log2 n⌉
/// at full aggregation, and n−1 without. Bytes sent by each rank: S·(n−1)/n, the least possible. Time between equally distant
/// ranks: rounds·α + S·(n−1)/(n·B).
///
/// Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025
/// (arXiv 2506.20252); NCCL 2.23.
///
/// ```text
///   0 ──────────────────────▶ 4                          round 0: one chunk
///   0 ──────────▶ 2           4 ──────────▶ 6            round 1: two
///   0 ────▶ 1     2 ────▶ 3   4 ────▶ 5     6 ────▶ 7    round 2: four
///   (the tree of rank 0 of 8; all ranks do the same)
/// ```
#[collective(all_gather, in_place, defaults(aggregation = 65536), build(ranks = [7, 8]), build(ranks = 8, aggregation = 1))]
pub fn allgather_pat(p: &Program, ranks: usize, aggregation: usize) {
    if !p.require(aggregation.is_power_of_two(), "`aggregation` must be a power of two") {
        return;
    }
    /// The hops (parent, distance) of the tree below a node, depth first, the far ones first.
    // Stands in `reduce_scatter` too: what is evaluated at build time is this function alone.
    fn hops_below(parent: usize, farthest: usize, hops: &mut Vec<(usize, usize)>) {
        let mut distance = farthest;
        while distance > 0 {
            hops.push((parent, distance));
            hops_below(parent + distance, distance / 2, hops);
            distance /= 2;
        }
    }
    // Every rank sends over one distance: the data of the ranks to which it is one of the parents.
    let send = |distance: usize, parents: Vec<usize>| {
        let parents: Vec<usize> = parents.into_iter().filter(|parent| parent + distance < ranks).collect();
        if parents.is_empty() {
            return;
        }
        for rank in 0..ranks {
            for (place, parent) in parents.iter().enumerate() {
                let root = (rank + ranks - parent) % ranks;
                p.chunk(rank, Output, root).copy_to(rank, Scratch("outgoing"), place);
            }
        }
        for rank in 0..ranks {
            let child = (rank + distance) % ranks;
            let outgoing = p.chunks(rank, Scratch("outgoing"), 0, parents.len());
            outgoing.copy_to(child, Scratch("incoming"), 0);
            for (place, parent) in parents.iter().enumerate() {
                let root = (rank + ranks - parent) % ranks;
                p.chunk(child, Scratch("incoming"), place).copy_to(child, Output, root);
            }
        }
    };

    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
    }
    let width = ranks.next_power_of_two();
    let parts = aggregation.min((width / 2).max(1));
    let spacing = width / parts;
    let mut distance = width / 2;
    while distance >= spacing {
        send(distance, (0..ranks).step_by(2 * distance).collect());
        distance /= 2;
    }
    let mut hops = Vec::new();
    hops_below(0, spacing / 2, &mut hops);
    for (parent, distance) in hops {
        send(distance, (parent..ranks).step_by(spacing).collect());
    }
}
