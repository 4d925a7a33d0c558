use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::algorithms::grid::{distinct, divisor_up_to, near_cube, near_square};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_blueconnect::DEF,
    ranks: "multiples of `x`·`y`",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| {
        let ([wide, narrow], [a, b, c]) = (near_square(ranks), near_cube(ranks));
        let shapes = [[divisor_up_to(ranks, 8), 1], [wide, 1], [a, b], [c, b], [narrow, 1]];
        distinct(shapes.map(|[x, y]| vec![ranks, x, y]))
    },
    cost: |values| {
        let [ranks, x, y] = *values else { return Cost::default() };
        // The data that a rank works on shrink by each dimension.
        let sizes = [(x, x), (y, x * y), (ranks / (x * y), ranks)];
        Cost::rounds_of(sizes.map(|(members, pieces)| (2 * (members - 1), share(1, pieces))))
    },
};

/// All-reduce by rings along the dimensions of a grid, one dimension after the other.
///
/// The ranks form a grid of x × y × z, with z = n/(x·y), and rank = i + x·(j + y·k). A reduce-scatter around each
/// ring along x leaves every rank with 1/x of the data to care for; one along y of that with 1/(x·y), one along z with
/// 1/n. All-gathers around the rings along z, y and x hand the sums out. With y = 1, as it is unless said, there are two dimensions,
/// x and z.
///
/// Choose it where the dimensions are levels of different networks (x the GPUs of a node, y the nodes of a pod, z the pods), or
/// axes of a torus: every message goes to a neighbour, and the slower the outer network, the less is left for it to
/// carry. It has the bytes of a ring over all ranks in far fewer rounds.
///
/// Any number of ranks that is a multiple of `x` times `y`. Rounds: 2·((x−1) + (y−1) + (z−1)). Bytes sent by each rank:
/// 2·S·(n−1)/n, of these along x 2·S·(x−1)/x, along y 2·S·(y−1)/(x·y), along z 2·S·(z−1)/n. Time on a switch with links of
/// latency α/2 and bandwidth B: 2(x−1)·(α + S/(x·B)) + 2(y−1)·(α + S/(x·y·B)) + 2(z−1)·(α + S/(n·B)).
///
/// Source: Cho et al., "BlueConnect: Decomposing All-Reduce for Deep Learning on Heterogeneous Network
/// Hierarchy", MLSys 2019.
///
/// ```text
///   0 ─▶ 1 ─▶ 2 ─▶ 0      rings along x: thirds of the data
///   │    │    │
///   ▼    ▼    ▼
///   3 ─▶ 4 ─▶ 5 ─▶ 3      rings along z (0 ─▶ 3 ─▶ 0): sixths
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_blueconnect};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_blueconnect, ranks = 8, x = 8, y = 1);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_blueconnect").unwrap().cost(&[8, 8, 1]).rounds(), 14);
/// ```
#[collective(all_reduce, in_place, defaults(x = 8, y = 1), build(ranks = 12, x = 2, y = 3))]
pub fn allreduce_blueconnect(p: &Program, ranks: usize, x: usize, y: usize) {
    if !p.require(
        x.checked_mul(y).is_some_and(|plane| ranks.is_multiple_of(plane)),
        "the number of ranks must be a multiple of `x` times `y`",
    ) {
        return;
    }
    // The rings along a dimension, whose neighbours are `stride` apart.
    fn rings(members: usize, stride: usize, ranks: usize) -> Vec<Vec<usize>> {
        let starts = (0..ranks).filter(|rank| (rank / stride).is_multiple_of(members));
        starts.map(|start| (0..members).map(|i| start + i * stride).collect()).collect()
    }
    // Members of each dimension, and the distance of neighbours.
    let dimensions = [(x, 1), (y, x), (ranks / (x * y), x * y)];
    for rank in 0..ranks {
        p.chunks(rank, Input, 0, ranks).copy_to(rank, Output, 0);
    }
    // Where the chunks begin that the ranks of a ring still share: each dimension before has left to a rank the piece of
    // the number that it has there.
    let first = |rank: usize, before: usize| -> usize {
        let pieces = dimensions[..before].iter();
        pieces.map(|(members, stride)| rank / stride % members * (ranks / (stride * members))).sum()
    };
    for (at, (members, stride)) in dimensions.iter().enumerate() {
        let piece = ranks / (members * stride);
        for ring in rings(*members, *stride, ranks) {
            for owner in 0..*members {
                let index = first(ring[0], at) + owner * piece;
                let mut sum = p.chunks(ring[(owner + 1) % members], Output, index, piece);
                for step in 2..=*members {
                    sum = p.chunks(ring[(owner + step) % members], Output, index, piece).reduce(sum);
                }
            }
        }
    }
    for (at, (members, stride)) in dimensions.iter().enumerate().rev() {
        let piece = ranks / (members * stride);
        for ring in rings(*members, *stride, ranks) {
            for owner in 0..*members {
                let index = first(ring[0], at) + owner * piece;
                let mut data = p.chunks(ring[owner], Output, index, piece);
                for step in 1..*members {
                    data = data.copy_to(ring[(owner + step) % members], Output, index);
                }
            }
        }
    }
}
