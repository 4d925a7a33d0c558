use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::algorithms::rooted::choices;
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_by_scatter_gather::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices,
    cost: |values| {
        let ranks = values[0];
        let rounds = ranks.ilog2();
        let extra = (usize::from(!ranks.is_power_of_two()), one_of(1));
        let halves = (1..=rounds).map(|round| (2, one_of(1 << round)));
        let full = 1 << rounds;
        // By the rank that gives half of the sums to the root in the last round.
        let sent = share(full - 1, full) + share(usize::from(full > 1), 2);
        Cost::rounds_of([extra].into_iter().chain(halves)).with_sent(sent)
    },
};

/// Reduce in two halves: the ranks add up one part of the data each, and the root gathers the parts.
///
/// First a reduce-scatter by recursive halving: in every round a rank exchanges half of what it still works on with another
/// and adds, until each holds one chunk of the sum. Then a gather up the same binomial tree backwards: the chunks come
/// to the root in blocks that double.
///
/// Choose it for large sizes with many ranks: it takes few rounds, and the root receives the data less than twice, if the
/// number of ranks is a power of two.
///
/// Any number of ranks. Those beyond the largest power of two first give their data to others, one each: a round more, of
/// all the data. Rounds: 2·⌊log2 n⌋, one more for that. With m, the largest power of two in n: Bytes sent by a rank: up to
/// S·(m−1)/m + S/2. Time with links of latency α and bandwidth B between any two: 2·log2(m)·α + 2·S·(m−1)/(m·B), and
/// α + S/B more if n is no power of two. Then a rank may receive from two at once, for which it needs two links.
///
/// Source: Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004.
///
/// ```text
///   0 ◀─▶ 2   1 ◀─▶ 3      half of the data, added
///   0 ◀─▶ 1   2 ◀─▶ 3      a quarter, added
///   0 ◀── 1   2 ◀── 3      a quarter
///   0 ◀── 2                half
/// ```
///
/// ```
/// use collective::algorithms::{self, reduce_by_scatter_gather};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(reduce_by_scatter_gather, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("reduce_by_scatter_gather").unwrap().cost(&[8, 0]).rounds(), 6);
/// ```
#[collective(reduce, in_place, chunks = 1 << ranks.max(1).ilog2(), root = root, defaults(root = 0), build(ranks = 8))]
pub fn reduce_by_scatter_gather(p: &Program, ranks: usize, root: usize) {
    // Positions count from the root.
    let rank = |position: usize| (position + root) % ranks;
    let full = 1 << ranks.ilog2();
    // Sums have a place of their own, on the root the output.
    let sums = |position: usize| if position == 0 { Output } else { Scratch("sums") };
    let part =
        |position: usize, index: usize, count: usize| p.chunks(rank(position), sums(position), index, count);
    for position in 0..full {
        p.chunks(rank(position), Input, 0, full).copy_to(rank(position), sums(position), 0);
    }
    for position in full..ranks {
        part(position - full, 0, full).reduce(p.chunks(rank(position), Input, 0, full));
    }
    // A position works on the `2 * distance` chunks around its number and keeps the half with the number itself.
    let mut distance = full / 2;
    while distance > 0 {
        for position in 0..full {
            let kept = position / distance * distance;
            part(position, kept, distance).reduce(part(position ^ distance, kept, distance));
        }
        distance /= 2;
    }
    // Now chunk c is complete on position c.
    distance = 1;
    while distance < full {
        for to in (0..full).step_by(2 * distance) {
            let from = to + distance;
            part(from, from, distance).copy_to(rank(to), sums(to), from);
        }
        distance *= 2;
    }
}
