//! The program stands with its building blocks in [`levels`](crate::algorithms::levels).

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::algorithms::grid::{distinct, divisor_up_to, near_cube};
use crate::algorithms::levels::{
    DIRECT, HALVING_DOUBLING, RECURSIVE_DOUBLING, RING, TREE, all_reduce_rounds, all_reduce_sent,
    half_rounds, half_sent,
};

pub use crate::algorithms::levels::programs::allreduce_hierarchical_three_level;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_hierarchical_three_level::DEF,
    ranks: "multiples of `gpus`·`nodes`",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices,
    cost,
};

fn choices(ranks: usize) -> Vec<Vec<usize>> {
    let gpus = divisor_up_to(ranks, 8);
    let nodes = divisor_up_to(ranks / gpus, 4);
    let [a, b, _] = near_cube(ranks);
    let mut all =
        vec![[gpus, nodes, DIRECT, RING, RING], [a, b, DIRECT, RING, RING], [a, b, RING, DIRECT, DIRECT]];
    if ranks.is_power_of_two() {
        all.push([a, b, HALVING_DOUBLING, HALVING_DOUBLING, RECURSIVE_DOUBLING]);
    }
    all.extend([[a, b, DIRECT, DIRECT, TREE], [a, b, RING, RING, RING]]);
    distinct(all.into_iter().map(|choice| [&[ranks], choice.as_slice()].concat()))
}

fn cost(values: &[usize]) -> Cost {
    let [ranks, gpus, nodes, inner, middle, outer] = *values else { return Cost::default() };
    let pods = ranks / (gpus * nodes);
    let (whole, piece, part) = (share(1, 1), share(1, gpus), share(1, gpus * nodes));
    let down = [half_rounds(inner, gpus, whole), half_rounds(middle, nodes, piece)].concat();
    let up: Vec<_> = down.iter().rev().copied().collect();
    Cost::rounds_of([down, all_reduce_rounds(outer, pods, part), up].concat()).with_sent(
        (half_sent(gpus, whole) + half_sent(nodes, piece)) * 2 + all_reduce_sent(outer, pods, part),
    )
}
