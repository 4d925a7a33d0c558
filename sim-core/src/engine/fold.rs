//! Looks for a relabelling of ranks that maps a graph onto itself.

use chakra_et::graph::{Graph, Symmetry};

use crate::topology::Topology;

/// A symmetry that the graph has, if it is one of those tried: rotations, XOR, translations of the torus whose
/// sizes are those of the topology. Every node and dependence is compared, in about the time of a sweep;
/// where there is no symmetry, the second rank mostly shows it.
pub(super) fn find(graph: &Graph, topology: Option<&Topology>) -> Option<Symmetry> {
    let ranks = u32::try_from(graph.rank_count()).ok().filter(|ranks| *ranks > 2)?;
    let rotation = Symmetry::rotation(ranks);
    let xor = Symmetry::xor(ranks).ok();
    let sizes: Vec<u32> = topology
        .map(|topology| topology.dimensions().map(|dimension| dimension.size).collect())
        .unwrap_or_default();
    let torus = (sizes.len() > 1).then(|| Symmetry::torus(&sizes).ok()).flatten();
    [Some(rotation), xor, torus].into_iter().flatten().find(|symmetry| symmetry.holds_for(graph))
}
