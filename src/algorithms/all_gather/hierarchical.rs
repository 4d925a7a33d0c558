//! The program stands with its building blocks in [`levels`](crate::algorithms::levels).

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::algorithms::levels::{half_choices, half_rounds, half_sent};

pub use crate::algorithms::levels::programs::allgather_hierarchical;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allgather_hierarchical::DEF,
    ranks: "multiples of `gpus`",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: half_choices,
    cost: |values| {
        let [ranks, gpus, inner, outer] = *values else { return Cost::default() };
        let (nodes, whole) = (ranks / gpus, share(1, 1));
        // Recursive doubling sends from little to much: the rounds of halving, backwards.
        let between = half_rounds(outer, nodes, share(1, gpus)).into_iter().rev();
        let inside = half_rounds(inner, gpus, whole).into_iter().rev();
        Cost::rounds_of(between.chain(inside)).with_sent(half_sent(ranks, whole))
    },
};
