//! The program stands with its building blocks in [`levels`](crate::algorithms::levels).

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::algorithms::levels::{half_choices, half_rounds, half_sent};

pub use crate::algorithms::levels::programs::reduce_scatter_hierarchical;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_scatter_hierarchical::DEF,
    ranks: "multiples of `gpus`",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: half_choices,
    cost: |values| {
        let [ranks, gpus, inner, outer] = *values else { return Cost::default() };
        let (nodes, whole) = (ranks / gpus, share(1, 1));
        let (inside, between) = (half_rounds(inner, gpus, whole), half_rounds(outer, nodes, share(1, gpus)));
        Cost::rounds_of(inside.into_iter().chain(between)).with_sent(half_sent(ranks, whole))
    },
};
