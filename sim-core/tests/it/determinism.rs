//! The same graph gives the same time for every message: again and again, with any number of threads.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

use chakra_et::graph::Graph;
use rayon::prelude::*;
use sim_core::topology::{Dimension, Topology};
use sim_core::{Conventions, Model, Progress, SimError, Simulation};

use crate::support::*;

fn in_pool<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

/// Of the finish times of all nodes, by rank and node.
fn hash(simulation: &Simulation<'_>, graph: &Graph, threads: usize) -> u64 {
    let (_, times) = in_pool(threads, || simulation.run_with_times(graph)).unwrap();
    let mut hasher = DefaultHasher::new();
    times.hash(&mut hasher);
    hasher.finish()
}

fn setups(topology: &Topology) -> impl Iterator<Item = Simulation<'_>> {
    // The model machine takes thread blocks, which these graphs do not name.
    let models = Model::ALL.into_iter().filter(|model| *model != Model::Machine);
    let all = models.flat_map(|model| Conventions::ALL.map(|conventions| (model, conventions)));
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

#[test]
fn windows_of_several_threads_change_nothing() {
    // 200 thousand nodes: several blocks. Sizes that differ, so that little happens at the same time; and one size.
    let ring = one(Dimension::ring, 200, "500 ns");
    for (name, graph) in [
        ("lock step", ring_all_reduce(200, 65_536, 0)),
        ("jitter", ring_all_reduce_of(200, |at| 60_000 + at * 7)),
    ] {
        for model in [Model::LinkQueue, Model::Fluid] {
            let simulation = Simulation::new(&ring).model(model).message_times(true).critical_path(true);
            let expected = in_pool(1, || simulation.run_with_times(&graph)).unwrap();
            for threads in [2, 3, 8] {
                for _ in 0..5 {
                    let found = in_pool(threads, || simulation.run_with_times(&graph)).unwrap();
                    assert!(found == expected, "{name}, {model}, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn the_times_of_windows_have_one_hash_for_1_2_3_and_8_threads_and_20_times() {
    let (graph, ring) = (ring_all_reduce(200, 65_536, 0), one(Dimension::ring, 200, "500 ns"));
    for model in [Model::LinkQueue, Model::Fluid] {
        let simulation = Simulation::new(&ring).model(model);
        let expected = hash(&simulation, &graph, 1);
        for threads in [1, 2, 3, 8] {
            for _ in 0..20 {
                assert_eq!(hash(&simulation, &graph, threads), expected, "{model}, {threads} threads");
            }
        }
    }
}

#[test]
fn windows_in_simulations_that_run_beside_each_other_do_not_wait_for_each_other() {
    let (graph, ring) = (ring_all_reduce(200, 65_536, 0), one(Dimension::ring, 200, "500 ns"));
    let simulation = Simulation::new(&ring).model(Model::LinkQueue);
    let expected = simulation.run(&graph).unwrap();
    let reports: Vec<_> =
        in_pool(2, || (0..8).into_par_iter().map(|_| simulation.run(&graph).unwrap()).collect());
    assert!(reports.into_iter().all(|report| report == expected));
}

#[test]
fn an_observer_hears_of_windows_and_ends_them() {
    let (graph, ring) = (ring_all_reduce(200, 65_536, 0), one(Dimension::ring, 200, "500 ns"));
    let last = std::sync::Mutex::new(0);
    let impatient = |progress: &Progress| {
        *last.lock().unwrap() = progress.messages;
        if progress.messages < 40_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let simulation = Simulation::new(&ring).model(Model::LinkQueue).observer(&impatient);
    match in_pool(3, || simulation.run(&graph)) {
        Err(SimError::Stopped(partial)) => {
            assert_eq!(partial.progress.messages, *last.lock().unwrap());
            assert!((40_000..79_600).contains(&partial.progress.messages));
            assert_eq!(partial.progress.bytes.0, partial.progress.messages * 65_536);
            assert!(partial.finish.iter().all(|finish| *finish <= partial.progress.time));
            assert_eq!(partial.finish.len(), 200);
        }
        other => panic!("not stopped: {other:?}"),
    }
}
