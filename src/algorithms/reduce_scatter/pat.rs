use crate::algorithms::all_gather::pat::{choices, cost};
use crate::algorithms::catalogue::{Algorithm, Network, Placement};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_scatter_pat::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices,
    cost,
};

/// Reduce-scatter along a binomial tree to each rank, the farthest hop last, with the hops of one distance in one message.
///
/// It is `allgather_pat` backwards: what went from a parent to a child there comes back here as a sum, and the rounds come in
/// reverse order. The tree of a rank reaches the ranks s behind it, the parent of s being s without its lowest set bit; every
/// node of the tree adds what its children have added up. So the long hops carry the least. A message has no more than
/// `aggregation` sums, as that is what the buffers between the ranks hold. Sums replace the input.
///
/// Choose it for small sizes, and for large numbers of ranks, where the ring has too many rounds and distance costs. Less
/// aggregation is for buffers that cannot hold more.
///
/// Any number of ranks; `aggregation` is a power of two, and n/2 or more is all there is to aggregate. S is the input of a rank.
/// Rounds: with the power of two P, n ≤ P < 2n, and A = min(`aggregation`, P/2): log2 A + min(P/A, n) − 1. That is ⌈log2 n⌉
/// at full aggregation, and n−1 without. Bytes sent by each rank: S·(n−1)/n, the least possible. Time between equally distant
/// ranks: rounds·α + S·(n−1)/(n·B).
///
/// Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025
/// (arXiv 2506.20252); NCCL 2.23.
///
/// ```text
///   0 ◀──── 1     2 ◀──── 3   4 ◀──── 5     6 ◀──── 7    round 0: four sums
///   0 ◀────────── 2           4 ◀────────── 6            round 1: two
///   0 ◀────────────────────── 4                          round 2: one
///   (the tree of rank 0 of 8; all ranks do the same)
/// ```
#[collective(reduce_scatter, in_place, defaults(aggregation = 65536), build(ranks = [7, 8]), build(ranks = 8, aggregation = 1))]
pub fn reduce_scatter_pat(p: &Program, ranks: usize, aggregation: usize) {
    if !p.require(aggregation.is_power_of_two(), "`aggregation` must be a power of two") {
        return;
    }
    /// The hops (parent, distance) of the tree below a node, depth first, the far ones first.
    // Stands in `all_gather` too: what is evaluated at build time is this function alone.
    fn hops_below(parent: usize, farthest: usize, hops: &mut Vec<(usize, usize)>) {
        let mut distance = farthest;
        while distance > 0 {
            hops.push((parent, distance));
            hops_below(parent + distance, distance / 2, hops);
            distance /= 2;
        }
    }
    // Every rank gives its sums over one distance to their parents: the sums for the ranks to which it is a child.
    let send = |distance: usize, parents: Vec<usize>| {
        let parents: Vec<usize> = parents.into_iter().filter(|parent| parent + distance < ranks).collect();
        if parents.is_empty() {
            return;
        }
        for rank in 0..ranks {
            for (place, parent) in parents.iter().enumerate() {
                let root = (rank + 2 * ranks - distance - parent) % ranks;
                p.chunk(rank, Input, root).copy_to(rank, Scratch("outgoing"), place);
            }
        }
        for rank in 0..ranks {
            let to = (rank + ranks - distance) % ranks;
            let outgoing = p.chunks(rank, Scratch("outgoing"), 0, parents.len());
            outgoing.copy_to(to, Scratch("incoming"), 0);
            for (place, parent) in parents.iter().enumerate() {
                let root = (to + ranks - parent) % ranks;
                p.chunk(to, Input, root).reduce(p.chunk(to, Scratch("incoming"), place));
            }
        }
    };

    let width = ranks.next_power_of_two();
    let parts = aggregation.min((width / 2).max(1));
    let spacing = width / parts;
    let mut hops = Vec::new();
    hops_below(0, spacing / 2, &mut hops);
    for (parent, distance) in hops.into_iter().rev() {
        send(distance, (parent..ranks).step_by(spacing).collect());
    }
    let mut distance = spacing;
    while distance < width {
        send(distance, (0..ranks).step_by(2 * distance).collect());
        distance *= 2;
    }
    for rank in 0..ranks {
        p.chunk(rank, Input, rank).copy_to(rank, Output, 0);
    }
}
