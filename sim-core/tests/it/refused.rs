//! What cannot be simulated is refused with one sentence that names it.

use chakra_et::graph::Op;
use sim_core::topology::{Dimension, Topology};
use sim_core::{Conventions, Model, Simulation};

use crate::support::*;

fn refusal(ranks: u32, op: Op, deps: &[u32]) -> String {
    let mut graph = Ranks::new(ranks);
    graph.comp(1, 0, &[]);
    graph.push(1, op, deps);
    Simulation::new(&one(Dimension::ring, ranks, "1 us")).run(&graph.graph()).unwrap_err().to_string()
}

#[test]
fn what_a_node_may_not_be() {
    for (op, deps, message) in [
        (
            Op::Send { dst: 1, tag: 0, bytes: 8 },
            &[][..],
            "rank 1, node 1 exchanges a message with its own rank: a copy within a rank is a COMP",
        ),
        (
            Op::Recv { src: 2, tag: 0, bytes: 8 },
            &[],
            "rank 1, node 1 names the peer 2: expected a rank below 2",
        ),
        (
            Op::Coll { kind: 0, bytes: 8 },
            &[],
            "rank 1, node 1 is a COMM_COLL node (collective type 0): supported are COMM_SEND, COMM_RECV and COMP nodes",
        ),
        (
            Op::Mem { store: true, bytes: 8 },
            &[],
            "rank 1, node 1 is a MEM_STORE node: supported are COMM_SEND, COMM_RECV and COMP nodes",
        ),
        (
            Op::Other { node_type: 1 },
            &[],
            "rank 1, node 1 is a node of type 1: supported are COMM_SEND, COMM_RECV and COMP nodes",
        ),
        (
            Op::Comp { micros: 0, ops: 0, bytes: 0 },
            &[7],
            "rank 1, node 1 depends on the 7-th node of its rank, which does not exist",
        ),
        (
            Op::Comp { micros: u64::MAX, ops: 0, bytes: 0 },
            &[],
            "the simulated time is too long: expected fewer than 2^64 picoseconds (213 days)",
        ),
        (
            Op::Send { dst: 0, tag: 0, bytes: u64::MAX },
            &[],
            "the simulated time is too long: expected fewer than 2^64 picoseconds (213 days)",
        ),
    ] {
        assert_eq!(refusal(2, op, deps), message);
    }
}

#[test]
fn a_graph_of_other_ranks_than_the_topology() {
    let error = Simulation::new(&one(Dimension::ring, 16, "1 us")).run(&Ranks::new(8).graph()).unwrap_err();
    assert_eq!(error.to_string(), "the graph has 8 ranks but the topology has 16");
}

#[test]
fn link_queues_in_two_dimensions_under_the_conventions_of_astra_sim() {
    let ring = Dimension::ring(2, "50 GB/s".parse().unwrap(), "1 us".parse().unwrap());
    let topology = Topology::new([ring, ring]).unwrap();
    let simulation = Simulation::new(&topology).conventions(Conventions::AstraSim);
    let error = simulation.run(&Ranks::new(4).graph()).unwrap_err().to_string();
    assert!(error.contains("it has 2") && error.contains("--conventions exact"), "{error}");
    assert!(simulation.model(Model::Analytical).run(&Ranks::new(4).graph()).is_ok());
}

#[test]
fn sums_that_do_not_fit_are_errors() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, u64::MAX / 2);
    ranks.message(0, 1, u64::MAX / 2);
    ranks.message(0, 1, u64::MAX / 2);
    let fast = Dimension::ring(2, "1000000 TB/s".parse().unwrap(), "0 ns".parse().unwrap());
    let topology = Topology::new([fast]).unwrap();
    let graph = ranks.graph();
    for model in MODELS {
        let error = Simulation::new(&topology).model(model).run(&graph).unwrap_err().to_string();
        assert_eq!(error, "the messages are too large: expected fewer than 2^64 bytes in all");
    }
}
