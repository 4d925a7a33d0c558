use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};

pub use program::allreduce_swing_bandwidth;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_swing_bandwidth::DEF,
    ranks: "even numbers, and 1",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| {
        if ranks == 1 || ranks > 0 && ranks.is_multiple_of(2) { vec![vec![ranks]] } else { Vec::new() }
    },
    cost: |values| {
        let ranks = values[0];
        // All ranks send alike: seen from an odd rank, the others stand in reverse order.
        let blocks: Vec<usize> = program::blocks_sent(ranks).iter().map(|step| step[0].len()).collect();
        let steps = blocks.iter().chain(blocks.iter().rev());
        Cost::rounds_of(steps.map(|blocks| (1, share(*blocks, ranks))))
    },
};

#[crate::collective]
mod program {
    use crate::prelude::*;

    /// The rank that a rank meets in a step.
    fn partner(rank: usize, step: usize, ranks: usize) -> usize {
        let rho = (1 - (-2isize).pow(step as u32 + 1)) / 3;
        let away = if rank.is_multiple_of(2) { rho } else { -rho };
        (rank as isize + away).rem_euclid(ranks as isize) as usize
    }

    /// The blocks that a rank sends in a step while adding, by step and rank. Block b is to end on rank b.
    ///
    /// They are those that the partner can take to their ranks in the steps that remain, without those that the rank itself
    /// still can: where the number of ranks is no power of two there are several ways, and the latest is taken.
    pub(super) fn blocks_sent(ranks: usize) -> Vec<Vec<Vec<usize>>> {
        // Which blocks a rank can take to their ranks in the steps that remain: at the end only its own.
        let mut reach: Vec<Vec<bool>> =
            (0..ranks).map(|rank| (0..ranks).map(|b| b == rank).collect()).collect();
        let mut steps = Vec::new();
        for step in (0..ranks.next_power_of_two().ilog2() as usize).rev() {
            let of_partner: Vec<Vec<bool>> =
                (0..ranks).map(|rank| reach[partner(rank, step, ranks)].clone()).collect();
            let new = |rank: usize| (0..ranks).filter(|b| of_partner[rank][*b] && !reach[rank][*b]).collect();
            let sent: Vec<Vec<usize>> = (0..ranks).map(new).collect();
            for (rank, blocks) in sent.iter().enumerate() {
                for b in blocks {
                    reach[rank][*b] = true;
                }
            }
            steps.push(sent);
        }
        steps.reverse();
        steps
    }

    /// Every rank packs some of its blocks into one message to its partner, who finds them in scratch.
    fn exchange(p: &Program, step: usize, blocks: &[Vec<usize>]) {
        for (rank, blocks) in blocks.iter().enumerate() {
            for (i, block) in blocks.iter().enumerate() {
                p.chunk(rank, Output, *block).copy_to(rank, Scratch("leaving"), i);
            }
            let packed = p.chunks(rank, Scratch("leaving"), 0, blocks.len());
            packed.copy_to(partner(rank, step, p.ranks()), Scratch("arrived"), 0);
        }
    }

    /// All-reduce by Swing, for bandwidth: a reduce-scatter and an all-gather that swing from one side of a rank to the other.
    ///
    /// In step s rank r meets r + ρ if r is even, r − ρ if it is odd; ρ = (1 − (−2)^(s+1)) / 3 is 1, −1, 3, −5, 11, …. It sends
    /// the blocks that the partner can take to their ranks in the steps that remain. The same steps in reverse order hand the
    /// sums out. The blocks of a message lie apart; they are packed into scratch, and added from there.
    ///
    /// Choose it for middle and large sizes on a ring or a torus: the messages are as large as those of halving and doubling,
    /// and cross fewer links.
    ///
    /// Even numbers of ranks, as in the authors' library, and one. Where they are no powers of two, a block that could go in several steps goes in the
    /// latest, so that nothing is sent twice. Rounds: 2·⌈log2 n⌉. Bytes sent by each rank: 2·S·(n−1)/n. Time between equally
    /// distant ranks: 2·⌈log2 n⌉·α + 2·S·(n−1)/(n·B). On a ring of links, the most loaded one carries 19/8·S in all for 16 ranks; 4·S in
    /// halving and doubling, nearest first.
    ///
    /// Source: De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI 2024 (arXiv 2401.09356).
    ///
    /// ```text
    ///   0 ◀─▶ 1   2 ◀─▶ 3   4 ◀─▶ 5   6 ◀─▶ 7      step 0: half of the data
    ///  ─▶ 0   1 ◀─▶ 2   3 ◀─▶ 4   5 ◀─▶ 6   7 ◀─   step 1: a quarter
    ///   0 ◀─────────────▶ 3                        step 2: an eighth; 2 with 5, 4 with 7, 6 with 1
    /// ```
    #[collective(all_reduce, in_place, build(ranks = [6, 8]))]
    pub fn allreduce_swing_bandwidth(p: &Program, ranks: usize) {
        if !p.require(ranks.is_multiple_of(2) || ranks == 1, "the number of ranks must be even, or 1") {
            return;
        }
        for rank in 0..ranks {
            p.chunks(rank, Input, 0, ranks).copy_to(rank, Output, 0);
        }
        for (step, sent) in blocks_sent(ranks).iter().enumerate() {
            exchange(p, step, sent);
            for rank in 0..ranks {
                for (i, block) in sent[partner(rank, step, ranks)].iter().enumerate() {
                    p.chunk(rank, Output, *block).reduce(p.chunk(rank, Scratch("arrived"), i));
                }
            }
        }
        for (step, sent) in blocks_sent(ranks).iter().enumerate().rev() {
            // The sums of the blocks that have come from the partner go back.
            let back: Vec<Vec<usize>> =
                (0..ranks).map(|rank| sent[partner(rank, step, ranks)].clone()).collect();
            exchange(p, step, &back);
            for (rank, blocks) in sent.iter().enumerate() {
                for (i, block) in blocks.iter().enumerate() {
                    p.chunk(rank, Scratch("arrived"), i).copy_to(rank, Output, *block);
                }
            }
        }
    }
}
