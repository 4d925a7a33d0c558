//! Shared by the build script and the crate. Without `build(…)`, so that the bodies may use all of Rust.

use std::collections::BTreeMap;

use collective::prelude::*;

/// How far two ranks are apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    Node,
    Network,
}

/// Everybody sends to everybody: first within the node, then to the others, on a channel for each distance.
#[collective(all_gather, defaults(node = 8))]
pub(crate) fn allgather_by_distance(p: &Program, ranks: usize, node: usize) {
    let mut pairs: BTreeMap<Distance, Vec<(usize, usize)>> = BTreeMap::new();
    for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
        let distance = if from / node == to / node { Distance::Node } else { Distance::Network };
        pairs.entry(distance).or_default().push((from, to));
    }
    for (distance, mut pairs) in pairs {
        // So that not all of them send to rank 0 first.
        pairs.sort_by_key(|(from, to)| (to + ranks - from) % ranks);
        for (from, to) in pairs {
            p.chunk(from, Input, 0).on_channel(distance as usize).copy_to(to, Output, from);
        }
    }
}

/// From rank 0 down a binary tree.
#[collective(broadcast)]
pub(crate) fn broadcast_tree(p: &Program, ranks: usize) {
    let root = p.chunk(0, Input, 0).copy_to(0, Output, 0);
    let mut reached = vec![root];
    (1..ranks).for_each(|rank| reached.push(reached[(rank - 1) / 2].copy_to(rank, Output, 0)));
}
