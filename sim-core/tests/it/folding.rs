//! Programs in which all ranks do the same are simulated for one rank.

use chakra_et::graph::{Graph, Op, Origin, RankGraph, SymmetricGraph, Symmetry};
use sim_core::topology::{Dimension, Topology};
use sim_core::{Conventions, LogGp, Model, SimError, Simulation};

use crate::support::*;

/// Rank 0 of the ring all-reduce of [`ring_all_reduce`].
fn symmetric_ring(n: u32, chunk: u64) -> SymmetricGraph {
    let mut rank = RankGraph::builder();
    let mut last = None;
    for step in 0..2 * (n - 1) {
        let mut push = |op| last = rank.push(op, last, Origin::default()).ok();
        push(Op::Send { dst: 1, tag: 0, bytes: chunk });
        push(Op::Recv { src: n - 1, tag: 0, bytes: chunk });
        if step < n - 1 {
            push(Op::Comp { micros: 0, ops: 0, bytes: 0 });
        }
    }
    SymmetricGraph::new(Symmetry::rotation(n), rank.finish()).unwrap()
}

#[test]
fn a_ring_over_131_072_ranks_takes_its_closed_form() {
    let n = 131_072;
    let graph = symmetric_ring(n, 50_000);
    let ring = one(Dimension::ring, n, "500 ns");
    let report = Simulation::new(&ring).model(Model::Analytical).run_symmetric(&graph).unwrap();
    assert!(report.folded);
    // 2(n−1) steps of 500 + 1,000 ns.
    assert_eq!(report.makespan.as_ns(), f64::from(2 * (n - 1)) * 1_500.0);
    assert_eq!((report.messages, report.finish.len()), (2 * u64::from(n) * u64::from(n - 1), n as usize));
    assert_eq!(report.bytes.0, report.messages * 50_000);
    let loggp = Simulation::with_loggp(LogGp::default()).run_symmetric(&symmetric_ring(n, 1)).unwrap();
    assert_eq!(loggp.makespan.as_ns(), f64::from(2 * (n - 1)) * 5_500.0);
}

#[test]
fn what_is_the_same_for_all_is_folded_and_reported_unless_switched_off() {
    let cases = [
        (ring_all_reduce(8, 1_000, 1), one(Dimension::ring, 8, "500 ns")),
        (halving_doubling_all_reduce(16, 16_000, |_| 1), one(Dimension::switch, 16, "500 ns")),
        (halving_doubling_all_reduce(16, 16_000, |_| 1), one(Dimension::ring, 16, "500 ns")),
        (direct_all_reduce(6, 1_000), one(Dimension::fully_connected, 6, "500 ns")),
    ];
    for (at, (graph, topology)) in cases.iter().enumerate() {
        for conventions in Conventions::ALL {
            let simulation = Simulation::new(topology).model(Model::Analytical).conventions(conventions);
            let folded = simulation.run(graph).unwrap();
            assert!(folded.folded, "case {at}");
            let unfolded = simulation.fold(false).run(graph).unwrap();
            assert!(!unfolded.folded);
            assert_eq!(folded.finish, unfolded.finish);
            assert_eq!((folded.messages, folded.bytes), (unfolded.messages, unfolded.bytes));
        }
    }
}

#[test]
fn what_differs_between_ranks_is_not_folded() {
    let ring = one(Dimension::ring, 8, "500 ns");
    let run = |graph: &Graph, model| Simulation::new(&ring).model(model).run(graph).unwrap();
    assert!(!run(&ring_all_reduce(8, 1_000, 0), Model::LinkQueue).folded, "links are shared");
    let mut ranks = Ranks::new(8);
    (0..8).for_each(|rank| ranks.message(rank, (rank + 1) % 8, 8 + u64::from(rank / 7)));
    assert!(!run(&ranks.graph(), Model::Analytical).folded, "one size differs");
    // The ranks do the same, but rank 3 is no neighbour of rank 4 on this torus, as rank 0 is of rank 1.
    let torus = Topology::new([Dimension::ring(4, "50 GB/s".parse().unwrap(), "1 us".parse().unwrap()); 2]);
    let graph = ring_all_reduce(16, 1_000, 0);
    assert!(!Simulation::new(&torus.unwrap()).model(Model::Analytical).run(&graph).unwrap().folded);
}

#[test]
fn a_symmetric_graph_that_cannot_be_folded_is_expanded_or_refused() {
    let (graph, ring) = (symmetric_ring(8, 1_000), one(Dimension::ring, 8, "500 ns"));
    assert_eq!(graph.expand(), ring_all_reduce(8, 1_000, 0));
    let simulation = Simulation::new(&ring).model(Model::LinkQueue);
    assert_eq!(simulation.run_symmetric(&graph), simulation.run(&graph.expand()));
    let huge = one(Dimension::ring, 131_072, "500 ns");
    let error = Simulation::new(&huge).run_symmetric(&symmetric_ring(131_072, 8)).unwrap_err().to_string();
    assert!(error.contains("85898690560 nodes"), "{error}");
    let error = Simulation::new(&ring).run_symmetric(&symmetric_ring(4, 8)).unwrap_err().to_string();
    assert_eq!(error, "the graph has 4 ranks but the topology has 8");
}

#[test]
fn a_symmetric_run_that_is_stuck_says_who_waits() {
    let mut rank = RankGraph::builder();
    let recv = rank.push(Op::Recv { src: 3, tag: 0, bytes: 8 }, [], Origin::default()).unwrap();
    rank.push(Op::Send { dst: 1, tag: 0, bytes: 8 }, [recv], Origin::default()).unwrap();
    let graph = SymmetricGraph::new(Symmetry::rotation(4), rank.finish()).unwrap();
    let ring = one(Dimension::ring, 4, "500 ns");
    let error = Simulation::new(&ring).model(Model::Analytical).run_symmetric(&graph).unwrap_err();
    assert!(error.to_string().contains("rank 3 has not come to its send, node 1"), "{error}");
}

#[test]
fn a_deadlock_of_very_many_ranks_is_told_by_one() {
    // Everybody receives before sending, 2,048 times: 2^29 nodes.
    let (n, rounds) = (131_072, 2_048);
    let mut rank = RankGraph::builder();
    let mut last = None;
    for _ in 0..rounds {
        for op in [Op::Recv { src: n - 1, tag: 0, bytes: 8 }, Op::Send { dst: 1, tag: 0, bytes: 8 }] {
            last = rank.push(op, last, Origin::default()).ok();
        }
    }
    let graph = SymmetricGraph::new(Symmetry::rotation(n), rank.finish()).unwrap();
    let ring = one(Dimension::ring, n, "500 ns");
    for simulation in
        [Simulation::new(&ring).model(Model::Analytical), Simulation::with_loggp(LogGp::default())]
    {
        let Err(SimError::Stuck(stuck)) = simulation.run_symmetric(&graph) else { panic!("not stuck") };
        assert_eq!((stuck.unfinished, stuck.nodes), (1 << 29, 1 << 29));
        assert_eq!((stuck.receives.len(), stuck.time.0), (n as usize, 0));
        // Around the whole ring: a RECV and a SEND of every rank.
        assert_eq!(stuck.deadlock.map(|circle| circle.steps.len()), Some(2 * n as usize));
    }
}
