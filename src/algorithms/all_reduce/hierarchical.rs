//! The program stands with its building blocks in [`levels`](crate::algorithms::levels).

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, divisors, share};
use crate::algorithms::grid::{distinct, divisor_up_to};
use crate::algorithms::levels::{
    DIRECT, HALVING_DOUBLING, RECURSIVE_DOUBLING, RING, TREE, all_reduce_rounds, all_reduce_sent,
    half_rounds, half_sent,
};

pub use crate::algorithms::levels::programs::allreduce_hierarchical;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_hierarchical::DEF,
    ranks: "multiples of `gpus`",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices,
    cost,
};

fn choices(ranks: usize) -> Vec<Vec<usize>> {
    let gpus = divisor_up_to(ranks, 8);
    let nodes = ranks / gpus;
    let other = divisors(ranks).filter(|other| ![1, gpus, ranks].contains(other)).last().unwrap_or(gpus);
    let mut all = vec![[gpus, DIRECT, RING], [gpus, RING, RING], [other, DIRECT, RING], [gpus, RING, DIRECT]];
    if nodes.is_power_of_two() {
        let inner = if gpus.is_power_of_two() { HALVING_DOUBLING } else { DIRECT };
        all.extend([[gpus, DIRECT, HALVING_DOUBLING], [gpus, inner, RECURSIVE_DOUBLING]]);
    } else {
        all.push([gpus, DIRECT, TREE]);
    }
    distinct(all.into_iter().map(|[gpus, inner, outer]| vec![ranks, gpus, inner, outer]))
}

fn cost(values: &[usize]) -> Cost {
    let [ranks, gpus, inner, outer] = *values else { return Cost::default() };
    let (nodes, whole) = (ranks / gpus, share(1, 1));
    let inside = half_rounds(inner, gpus, whole);
    let between = all_reduce_rounds(outer, nodes, share(1, gpus));
    Cost::rounds_of([inside.clone(), between, inside.into_iter().rev().collect()].concat())
        .with_sent(half_sent(gpus, whole) * 2 + all_reduce_sent(outer, nodes, share(1, gpus)))
}
