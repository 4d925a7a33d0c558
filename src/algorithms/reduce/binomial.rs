use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::algorithms::rooted::{choices, rounds};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_binomial::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices,
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(rounds(ranks), one_of(1))]).with_sent(one_of(1) * u64::from(ranks > 1))
    },
};

/// Reduce along a binomial tree: in every round half of the ranks that still have a sum give it to the others.
///
/// The distances double from round to round. Where the number of ranks is no power of two, those beyond the largest one give their
/// data away before that, to ranks whose sums are the last to be awaited: those at the ends of the longest paths. So no
/// rank ever receives from two at once, although nobody waits for a signal to send.
///
/// Choose it for small sizes: where a rank receives one message at a time, nothing takes fewer rounds. For large sizes take
/// [`reduce_double_tree`](fn@super::reduce_double_tree) or [`reduce_by_scatter_gather`](fn@super::reduce_by_scatter_gather).
///
/// Any number of ranks. Rounds: ⌈log2 n⌉. Bytes sent by each rank but the root: S; the root receives S·⌊log2 n⌋. Time on a
/// switch with links of latency α/2 and bandwidth B: ⌈log2 n⌉·(α + S/B).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005; there
/// the ranks beyond a power of two hang from the tree's root side.
///
/// ```text
///   0 ◀─ 1    2 ◀─ 3  4 ◀─ 5  6 ◀─ 7  round 0
///   0 ◀────── 2       4 ◀────── 6     round 1
///   0 ◀────────────── 4               round 2
/// ```
///
/// ```
/// use collective::algorithms::{self, reduce_binomial};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(reduce_binomial, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("reduce_binomial").unwrap().cost(&[8, 0]).rounds(), 3);
/// ```
#[collective(reduce, in_place, root = root, defaults(root = 0), build(ranks = 8))]
pub fn reduce_binomial(p: &Program, ranks: usize, root: usize) {
    // Positions count from the root.
    let rank = |position: usize| (position + root) % ranks;
    let bits = ranks.ilog2();
    let full = 1 << bits;
    let extra = ranks - full;
    // The last position is the end of the longest path; then come those whose bits, read in reverse, count down from it.
    // So no two children of a rank have paths of one length below them, and they never send at once.
    let host = |number: usize| (full - 1 - number).reverse_bits() >> (usize::BITS - bits);
    let hosts: Vec<usize> = (0..extra).map(host).collect();
    let mut sums: Vec<ChunkRef<'_>> = Vec::new();
    for position in 0..ranks {
        let own = p.chunk(rank(position), Input, 0);
        sums.push(if position == 0 {
            own.copy_to(root, Output, 0)
        } else if hosts.contains(&position) || position < full && position % 2 == 0 {
            own.copy_to(rank(position), Scratch("sum"), 0)
        } else {
            own
        });
    }
    for number in 0..extra {
        sums[hosts[number]] = sums[hosts[number]].reduce(sums[full + number]);
    }
    let mut distance = 1;
    while distance < full {
        for to in (0..full).step_by(2 * distance) {
            sums[to] = sums[to].reduce(sums[to + distance]);
        }
        distance *= 2;
    }
}
