use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, divisors, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: alltonext::DEF,
    ranks: "multiples of `gpus`",
    placement: Placement::OutOfPlace,
    network: Network::FullyConnected,
    choices: |ranks| divisors(ranks).map(|gpus| vec![ranks, gpus]).collect(),
    cost: |values| {
        let (ranks, gpus) = (values[0], values[1]);
        let nodes = ranks / gpus;
        // Within a node all at once; between nodes a GPU's share by way of up to two others.
        let direct = (usize::from(gpus > 1), one_of(1));
        let between = (if nodes > 1 { gpus.min(3) } else { 0 }, one_of(gpus));
        // Beside its own data a GPU may have to pass on a share that leaves its node and one that has come to it.
        let own = usize::from(ranks > 1);
        let passed_on = match (nodes, gpus) {
            (1, _) | (_, 1) => 0,
            (2, _) | (_, 2) => 1,
            _ => 2,
        };
        Cost::rounds_of([between]).or_rounds_of([direct]).with_sent(share(own * gpus + passed_on, gpus))
    },
};

/// Every rank sends its data to the next one: between nodes over the network cards of all GPUs.
///
/// Within a node a GPU sends its data directly. The last GPU of a node gives a share to each GPU of its node; all send to their
/// counterparts in the next node at once, which give the shares to the first GPU there. It is a collective of its own, as a
/// pipeline of layers over many GPUs has it: the last rank sends to nobody, and what lies on rank 0 at the end is open.
///
/// Choose it where nodes have several network cards: to send directly uses one card of each node only.
///
/// Any number of ranks that is a multiple of `gpus`, the number of GPUs in a node; rank = node·gpus + GPU. S is a rank's data. Only
/// out of place, as a rank's data are read while those of the one before it arrive. Rounds: 1 within nodes, 3 between them
/// (2 for two GPUs a node, 1 for one). Bytes sent by a rank: up to S + 2·S/gpus; over each card S/gpus. Time with links of
/// latency α and bandwidth B between any two: the larger of α + S/B and 3·(α + S/(gpus·B)).
///
/// Source: Cowan et al., "MSCCLang: Microsoft Collective Communication Language", ASPLOS 2023 (AllToNext).
///
/// ```text
///   node 0    0 ──▶ 1 ──▶ 2 ──▶ 3        3 ──▶ 0, 1, 2: a share each
///             ║     ║     ║     ║        ══▶ all cards
///   node 1    4 ──▶ 5 ──▶ 6 ──▶ 7        5, 6, 7 ──▶ 4: a share each
/// ```
///
/// ```
/// use collective::algorithms::{self, alltonext};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(alltonext, ranks = 8, gpus = 8);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("alltonext").unwrap().cost(&[8, 8]).rounds(), 1);
/// ```
#[collective(custom, chunks = gpus, defaults(gpus = 8), build(ranks = 8, gpus = 4))]
pub fn alltonext(p: &Program, ranks: usize, gpus: usize) {
    if !p.require(ranks.is_multiple_of(gpus), "the number of ranks must be a multiple of `gpus`") {
        return;
    }
    for to in 1..ranks {
        let from = to - 1;
        for share in 0..gpus {
            p.expect(to, share, from, share);
        }
        if !to.is_multiple_of(gpus) {
            p.chunks(from, Input, 0, gpus).copy_to(to, Output, 0);
            continue;
        }
        for gpu in 0..gpus {
            let (leaves, arrives) = (to - gpus + gpu, to + gpu);
            let mut share = p.chunk(from, Input, gpu);
            if leaves != from {
                share = share.copy_to(leaves, Scratch("leaving"), 0);
            }
            if arrives != to {
                share = share.copy_to(arrives, Scratch("arriving"), 0);
            }
            share.copy_to(to, Output, gpu);
        }
    }
}
