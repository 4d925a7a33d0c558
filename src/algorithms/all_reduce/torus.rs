//! All-reduce on tori of two and three dimensions, which differ in the number of dimensions alone.

use std::collections::BTreeMap;

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, Rounds, Share, share};
use crate::algorithms::grid::{distinct, divisor_up_to, near_cube, near_square};

pub use programs::{allreduce_torus_2d, allreduce_torus_3d};

pub(super) const ENTRY_2D: Algorithm = Algorithm {
    def: allreduce_torus_2d::DEF,
    ranks: "multiples of `x`",
    placement: Placement::Both,
    network: Network::Torus { dimensions: 2 },
    choices: |ranks| {
        let [wide, narrow] = near_square(ranks);
        let shapes = [[wide, 2], [wide, 1], [narrow, 1], [divisor_up_to(ranks, 2), 2]];
        distinct(shapes.map(|[x, directions]| vec![ranks, x, directions]))
    },
    cost: |values| {
        let [ranks, x, directions] = *values else { return Cost::default() };
        cost(&[x, ranks / x], directions)
    },
};

pub(super) const ENTRY_3D: Algorithm = Algorithm {
    def: allreduce_torus_3d::DEF,
    ranks: "multiples of `x`·`y`",
    placement: Placement::Both,
    network: Network::Torus { dimensions: 3 },
    choices: |ranks| {
        let [a, b, c] = near_cube(ranks);
        let shapes = [[a, b, 2], [a, b, 1], [c, a, 2], [b, c, 1]];
        distinct(shapes.map(|[x, y, directions]| vec![ranks, x, y, directions]))
    },
    cost: |values| {
        let [ranks, x, y, directions] = *values else { return Cost::default() };
        cost(&[x, y, ranks / (x * y)], directions)
    },
};

/// Messages that follow one another: how many of each size.
type Chain = BTreeMap<Share, u64>;

/// What the bucket algorithm costs.
///
/// All ranks do the same at the same time, so one stands for all. A part of the data begins its phase on a dimension
/// when it has done the phase before, and when the part that had the ports of that dimension in the phase before is done
/// with them. Where dimensions differ, the chains through these two kinds of waiting do too.
fn cost(dimensions: &[usize], directions: usize) -> Cost {
    let (count, ranks) = (dimensions.len(), dimensions.iter().product::<usize>());
    let start = vec![Chain::new()];
    let mut part_done = vec![start.clone(); count];
    let mut port_free = vec![start; count];
    for phase in (0..count).chain((0..count).rev()) {
        for part in 0..count {
            let at = (part + phase) % count;
            let members = dimensions[at];
            if members == 1 {
                continue;
            }
            let pieces: usize = (0..=phase).map(|before| dimensions[(part + before) % count]).product();
            // Of two members, both directions lead over one link.
            let on_one_link = if members == 2 { directions } else { 1 };
            let size = share(on_one_link, count * directions * pieces);
            let mut chains = [part_done[part].as_slice(), &port_free[at]].concat();
            for chain in &mut chains {
                *chain.entry(size).or_default() += members as u64 - 1;
            }
            longest(&mut chains);
            part_done[part].clone_from(&chains);
            port_free[at] = chains;
        }
    }
    let mut chains = part_done.concat();
    longest(&mut chains);
    let chains = chains
        .into_iter()
        .map(|chain| chain.into_iter().rev().map(|(share, count)| Rounds { count, share }).collect());
    Cost::longest_of(chains, share(2 * (ranks - 1), ranks))
}

/// Leaves out the chains than which another has no fewer messages and no fewer bytes.
fn longest(chains: &mut Vec<Chain>) {
    let sums = |chain: &Chain| {
        (chain.values().sum::<u64>(), chain.iter().map(|(share, count)| share * count).sum::<Share>())
    };
    chains.sort();
    chains.dedup();
    let all: Vec<_> = chains.iter().map(sums).collect();
    chains.retain(|chain| {
        let (messages, bytes) = sums(chain);
        !all.iter().any(|other| *other != (messages, bytes) && other.0 >= messages && other.1 >= bytes)
    });
}

/// What both have in common stands with them in one module, as evaluation at build time demands.
#[crate::collective]
mod programs {
    use crate::prelude::*;

    /// The rank's number along a dimension.
    fn coordinate(rank: usize, at: usize, dimensions: &[usize]) -> usize {
        rank / dimensions[..at].iter().product::<usize>() % dimensions[at]
    }

    /// The rings along a dimension.
    fn rings(at: usize, dimensions: &[usize]) -> Vec<Vec<usize>> {
        let stride: usize = dimensions[..at].iter().product();
        let ranks: usize = dimensions.iter().product();
        let starts = (0..ranks).filter(|rank| coordinate(*rank, at, dimensions) == 0);
        starts.map(|start| (0..dimensions[at]).map(|i| start + i * stride).collect()).collect()
    }

    /// One phase of the part of the data that begins with chunk `start` and takes the dimensions in `order`: a reduce-scatter or
    /// an all-gather around every ring along the dimension `order[phase]`.
    fn bucket_phase(
        p: &Program,
        dimensions: &[usize],
        order: &[usize],
        phase: usize,
        start: usize,
        direction: usize,
        reduce: bool,
    ) {
        let at = order[phase];
        let port = format!("port {}", direction * dimensions.len() + at);
        for ring in rings(at, dimensions) {
            // The dimensions before have left to a rank the piece of the number that it has there.
            let (mut first, mut size) = (start, dimensions.iter().product::<usize>());
            for before in &order[..phase] {
                size /= dimensions[*before];
                first += coordinate(ring[0], *before, dimensions) * size;
            }
            let members = ring.len();
            let piece = size / members;
            // A piece is summed on its way from the rank after its owner to the owner, and handed out from there.
            let after = usize::from(reduce);
            for step in 0..members - 1 {
                for owner in 0..members {
                    let index = first + owner * piece;
                    let ahead = |steps: usize| if direction == 0 { steps } else { members - steps };
                    let from = ring[(owner + ahead(after + step)) % members];
                    let to = ring[(owner + ahead(after + step + 1)) % members];
                    // What leaves by a port must have left before the next is put there: so a port sends one message after
                    // the other, and no part of the data begins with a dimension before another has done with it.
                    let data = p.chunks(from, Output, index, piece).copy_to(from, Scratch(&port), 0);
                    let data = data.on_channel(direction);
                    if reduce {
                        p.chunks(to, Output, index, piece).on_channel(direction).reduce(data);
                    } else {
                        data.copy_to(to, Output, index);
                    }
                }
            }
        }
    }

    /// The bucket algorithm on any number of dimensions.
    fn bucket(p: &Program, dimensions: &[usize], directions: usize) {
        let (count, ranks) = (dimensions.len(), dimensions.iter().product::<usize>());
        for rank in 0..ranks {
            p.chunks(rank, Input, 0, count * directions * ranks).copy_to(rank, Output, 0);
        }
        let both_ways =
            (0..count).map(|phase| (phase, true)).chain((0..count).rev().map(|phase| (phase, false)));
        for (phase, reduce) in both_ways {
            for direction in 0..directions {
                // Part 0 takes the dimensions x, y, z, part 1 y, z, x: in each phase every dimension has one part.
                for part in 0..count {
                    let order: Vec<usize> = (0..count).map(|i| (part + i) % count).collect();
                    let start = (direction * count + part) * ranks;
                    bucket_phase(p, dimensions, &order, phase, start, direction, reduce);
                }
            }
        }
    }

    /// All-reduce on a torus of two dimensions, both of which work all the time.
    ///
    /// Half of the data is summed by rings along x and then, a piece of 1/x of it, along y; the other half by rings along y and
    /// then along x: so the links of both dimensions are in use. All-gathers along the same rings backwards hand the
    /// sums out. With two `directions` each half is divided once more, and its halves go around the rings in opposite
    /// directions: then every link of the torus is in use in every round.
    ///
    /// A phase of a dimension begins when the one before is over, for both halves: where dimensions differ, the shorter waits for
    /// the longer.
    ///
    /// Choose it on a torus, for large sizes: it divides the time of rings along one dimension after the other (see
    /// `allreduce_blueconnect`) by two, with two directions by four.
    ///
    /// Any number of ranks that is a multiple of `x`; the torus is x × y with y = n/x, and rank = i + x·j. Rounds: 4(d−1), where d
    /// is the larger of x and y, and e the smaller. Bytes sent by each rank: 2·S·(n−1)/n, divided equally among its 2 (with one
    /// direction) or 4 links if x = y. Time on a torus with links of latency α and bandwidth B, with k = 2 or 4 parts:
    /// 2(d−1)·(2α + S/(k·d·B) + S/(k·d·e·B)); for x = y that is 4(d−1)·α + 2·S·(n−1)/(n·k·B). (With two directions a dimension of
    /// 2 has one link for both, and takes twice its time.)
    ///
    /// Source: Sack and Gropp, "Collective Algorithms for Multiported Torus Networks", ACM TOPC 2015 (the multiported bucket
    /// algorithm).
    ///
    /// ```text
    ///   0 ◀─▶ 1 ◀─▶ 2 ◀─▶ 0       half A: along x first, half B: along y first
    ///   ▲     ▲     ▲
    ///   ▼     ▼     ▼
    ///   3 ◀─▶ 4 ◀─▶ 5 ◀─▶ 3
    ///   ▲     ▲     ▲
    ///   ▼     ▼     ▼
    ///   0     1     2
    /// ```
    ///
    /// ```
    /// use collective::algorithms::{self, allreduce_torus_2d};
    ///
    /// // Verified by all rules, and run on data.
    /// collective::assert_correct!(allreduce_torus_2d, ranks = 8, x = 4, directions = 2);
    /// // Among 8 ranks, so many messages follow one another.
    /// assert_eq!(algorithms::find("allreduce_torus_2d").unwrap().cost(&[8, 4, 2]).rounds(), 12);
    /// ```
    #[collective(
        all_reduce,
        in_place,
        chunks = 2 * directions * ranks,
        defaults(x = 4, directions = 2),
        build(ranks = 8)
    )]
    pub fn allreduce_torus_2d(p: &Program, ranks: usize, x: usize, directions: usize) {
        if !p.require(ranks.is_multiple_of(x), "the number of ranks must be a multiple of `x`")
            || !p.require(directions == 1 || directions == 2, "`directions` must be 1 or 2")
        {
            return;
        }
        bucket(p, &[x, ranks / x], directions);
    }

    /// All-reduce on a torus of three dimensions, all of which work all the time.
    ///
    /// One third of the data is summed by rings along x, then y, then z, one along y, z, x, and one along z, x, y: so the links of
    /// all dimensions are in use. All-gathers along the same rings backwards hand the sums out. With two
    /// `directions` each third is divided once more, and its halves go around the rings in opposite directions: then every link
    /// of the torus is in use in every round.
    ///
    /// A phase of a dimension begins when the one before is over: where dimensions differ, the shorter waits for the longer.
    ///
    /// Choose it on a torus, for large sizes: it divides the time of rings along one dimension after the other (see
    /// `allreduce_blueconnect`) by three, with two directions by six.
    ///
    /// Any number of ranks that is a multiple of `x` times `y`; the torus is x × y × z with z = n/(x·y), and rank = i + x·(j + y·k).
    /// Rounds: 6(d−1), where d is the largest of x, y and z, or fewer where they differ. Bytes sent by each rank: 2·S·(n−1)/n, divided equally
    /// among its 3 (with one direction) or 6 links if the dimensions are equal. Time on a torus of equal dimensions d with links of
    /// latency α and bandwidth B, with k = 3 or 6 parts: 6(d−1)·α + 2·S·(n−1)/(n·k·B). (With two directions a dimension of 2 has
    /// one link for both, and takes twice its time.) Where dimensions differ, the time is that of the longest chain
    /// through the phases, which depends on the size.
    ///
    /// Source: Sack and Gropp, "Collective Algorithms for Multiported Torus Networks", ACM TOPC 2015 (the multiported bucket
    /// algorithm).
    ///
    /// ```text
    ///   phase      1  2  3 | 4  5  6          in each phase every dimension serves another third
    ///   third A    x  y  z | z  y  x
    ///   third B    y  z  x | x  z  y
    ///   third C    z  x  y | y  x  z
    /// ```
    ///
    /// ```
    /// use collective::algorithms::{self, allreduce_torus_3d};
    ///
    /// // Verified by all rules, and run on data.
    /// collective::assert_correct!(allreduce_torus_3d, ranks = 8, x = 2, y = 2, directions = 2);
    /// // Among 8 ranks, so many messages follow one another.
    /// assert_eq!(algorithms::find("allreduce_torus_3d").unwrap().cost(&[8, 2, 2, 2]).rounds(), 6);
    /// ```
    #[collective(
        all_reduce,
        in_place,
        chunks = 3 * directions * ranks,
        defaults(x = 4, y = 4, directions = 2),
        build(ranks = 8, x = 2, y = 2)
    )]
    pub fn allreduce_torus_3d(p: &Program, ranks: usize, x: usize, y: usize, directions: usize) {
        if !p.require(
            x.checked_mul(y).is_some_and(|plane| ranks.is_multiple_of(plane)),
            "the number of ranks must be a multiple of `x` times `y`",
        ) || !p.require(directions == 1 || directions == 2, "`directions` must be 1 or 2")
        {
            return;
        }
        bucket(p, &[x, y, ranks / (x * y)], directions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains of (how many, one of how many parts of S), the longest first.
    fn chains(dimensions: &[usize], directions: usize) -> Vec<Vec<(u64, usize)>> {
        let cost = cost(dimensions, directions);
        let all = [vec![cost.chain], cost.others].concat();
        let plain = |rounds: &Rounds| {
            assert_eq!(*rounds.share.numer(), 1);
            (rounds.count, *rounds.share.denom() as usize)
        };
        all.iter().map(|chain| chain.iter().map(plain).collect()).collect()
    }

    #[test]
    fn equal_dimensions_have_one_chain() {
        // 2(d − 1) rounds in each pair of phases, of 1/d, 1/d², 1/d³ of a part.
        for d in [3, 4, 7] {
            let rounds = 2 * (d as u64 - 1);
            assert_eq!(chains(&[d, d], 1), [[(rounds, 2 * d), (rounds, 2 * d * d)]]);
            assert_eq!(
                chains(&[d, d, d], 2),
                [[(rounds, 6 * d), (rounds, 6 * d * d), (rounds, 6 * d * d * d)]]
            );
        }
    }

    #[test]
    fn on_two_dimensions_the_longer_decides() {
        assert_eq!(chains(&[5, 3], 1), [[(8, 10), (8, 30)]]);
        assert_eq!(chains(&[3, 5], 2), [[(8, 20), (8, 60)]]);
    }

    #[test]
    fn a_dimension_of_one_member_does_nothing() {
        // A part begins when the one before has left the only ring: twice 2(7 − 1) rounds of half of the data.
        assert_eq!(chains(&[7, 1], 1), [[(24, 14)]]);
        assert_eq!(chains(&[1, 1], 2), [[]]);
        assert_eq!(chains(&[1, 1, 1], 1), [[]]);
    }

    #[test]
    fn where_both_directions_share_a_link_the_size_decides() {
        // 4 × 2, by hand. The first phase is 3 rounds of 1/4 of a quarter along x, beside 1 round of twice a half of a quarter
        // along y, which has more bytes and fewer messages; the second is 3 rounds of 1/8 of a quarter along x, beside 1 of
        // twice as much along y; and the same backwards.
        assert_eq!(
            chains(&[4, 2], 2),
            [vec![(6, 16), (6, 32)], vec![(1, 4), (3, 16), (6, 32)], vec![(2, 4), (6, 32)]]
        );
    }
}
