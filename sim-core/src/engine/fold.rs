//! Looks for relabellings of ranks that map a graph onto itself.

use chakra_et::graph::{Graph, Symmetry};

use crate::topology::Topology;

/// The symmetries that the graph has, of those tried. Every node and dependence is compared, in about the time of a sweep;
/// where there is no symmetry, the second rank mostly shows it.
///
/// Tried are rotations, XOR, translations of the torus whose sizes are those of the topology, and nodes of g ranks for every g
/// that divides the ranks: rotations within a node, with rotations or XOR of the nodes.
pub(super) fn candidates<'a>(
    graph: &'a Graph,
    topology: Option<&Topology>,
) -> impl Iterator<Item = Symmetry> + 'a {
    let ranks = u32::try_from(graph.rank_count()).ok().filter(|ranks| *ranks > 2);
    let sizes: Vec<u32> = topology
        .map(|topology| topology.dimensions().map(|dimension| dimension.size).collect())
        .unwrap_or_default();
    let torus = (sizes.len() > 1).then(|| Symmetry::torus(&sizes).ok()).flatten();
    let all = ranks.into_iter().flat_map(move |ranks| {
        let simple = [Some(Symmetry::rotation(ranks)), Symmetry::xor(ranks).ok(), torus.clone()];
        simple.into_iter().flatten().chain(nodes(ranks))
    });
    all.filter(|symmetry| symmetry.holds_for(graph))
}

/// Ranks as nodes of equal size.
fn nodes(ranks: u32) -> impl Iterator<Item = Symmetry> {
    // Beyond this many in a node there is none of them on any machine.
    const MOST_IN_A_NODE: u32 = 1024;
    let sizes = (2..=MOST_IN_A_NODE.min(ranks / 2)).filter(move |size| ranks.is_multiple_of(*size));
    sizes.flat_map(move |size| {
        let nodes = ranks / size;
        let mut cube = vec![size];
        cube.extend((0..nodes.ilog2()).map(|_| 2));
        let xor = nodes.is_power_of_two().then(|| Symmetry::torus(&cube).ok()).flatten();
        [Symmetry::torus(&[size, nodes]).ok(), xor].into_iter().flatten()
    })
}
