//! The same graph gives the same time for every message: again and again, with any number of threads.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use chakra_et::graph::Graph;
use sim_core::topology::{Dimension, Topology};
use sim_core::{Conventions, Model, Simulation};

use crate::support::*;

/// Of the finish times of all nodes, by rank and node.
fn hash(simulation: &Simulation<'_>, graph: &Graph, threads: usize) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (_, times) = pool.install(|| simulation.run_with_times(graph)).unwrap();
    let mut hasher = DefaultHasher::new();
    times.hash(&mut hasher);
    hasher.finish()
}

fn setups(topology: &Topology) -> impl Iterator<Item = Simulation<'_>> {
    let all =
        Model::ALL.into_iter().flat_map(|model| Conventions::ALL.map(|conventions| (model, conventions)));
    // Only exact conventions know the fluid model.
    let all = all.filter(|setup| *setup != (Model::Fluid, Conventions::AstraSim));
    all.map(|(model, conventions)| {
        Simulation::new(topology).model(model).conventions(conventions).fold(false)
    })
}

#[test]
fn every_message_takes_the_same_time_for_1_2_3_and_8_threads_and_20_times() {
    let graphs = [
        (ring_all_reduce(16, 65_536, 3), one(Dimension::ring, 16, "500 ns")),
        (all_pairs_all_reduce(12, 99_991, 3), one(Dimension::switch, 12, "500 ns")),
        (halving_doubling_all_reduce(32, 1 << 20, |_| 1), one(Dimension::ring, 32, "500 ns")),
    ];
    for (graph, topology) in &graphs {
        for simulation in setups(topology) {
            let expected = hash(&simulation, graph, 1);
            for threads in [1, 2, 3, 8] {
                for _ in 0..20 {
                    assert_eq!(hash(&simulation, graph, threads), expected, "{threads} threads");
                }
            }
        }
    }
}

#[test]
fn a_graph_large_enough_for_several_threads_too() {
    // 1.8 million nodes.
    let (graph, topology) = (ring_all_reduce(600, 65_536, 0), one(Dimension::ring, 600, "500 ns"));
    for model in [Model::Analytical, Model::LogGp] {
        let simulation = Simulation::new(&topology).model(model).fold(false);
        let expected = hash(&simulation, &graph, 1);
        for threads in [2, 3, 8] {
            assert_eq!(hash(&simulation, &graph, threads), expected, "{model}, {threads} threads");
        }
    }
}
