//! As somebody who simulates a training step I want its collectives to take what their algorithms take by themselves, and to
//! see what overlap chunk by chunk is worth.

use chakra_et::workload::{CollectiveKind, Cost, Group, Workload, WorkloadBuilder};
use collective::algorithms;
use collective::et::{self, EtOptions};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::workload::{Algorithms, Use, WorkloadSimulation};
use collective::sim::{Model, Simulation};
use collective::workload::{Expander, Overlap, Rule, Rules};
use collective::{Size, compile};

fn switch(ranks: u32) -> Topology {
    Topology::new([Dimension::switch(ranks, "50 GB/s".parse().unwrap(), "500 ns".parse().unwrap())]).unwrap()
}

/// One collective on the group of the members, among so many ranks.
fn one(ranks: u32, members: &[u32], kind: CollectiveKind, bytes: u64, root: u32) -> Workload {
    let mut step = WorkloadBuilder::new(ranks);
    let group = step.group("members", members.iter().copied()).unwrap();
    for rank in members {
        step.rooted(*rank, "it", kind, bytes, group, root, &[]).unwrap();
    }
    step.finish()
}

#[test]
fn every_default_takes_what_its_algorithm_takes() {
    let expander = Expander::new(Rules::new().machine(1)).unwrap();
    for n in [1, 2, 3, 5, 8, 13] {
        // Every second rank, so that positions are not ranks.
        let members: Vec<u32> = (0..n).map(|position| 2 * position + 1).collect();
        let (within, alone) = (switch(2 * n + 1), if n > 1 { Some(switch(n)) } else { None });
        let group = Group { name: "members".to_owned(), members: members.clone() };
        for kind in CollectiveKind::ALL {
            let root = if kind.has_root() { n - 1 } else { 0 };
            for bytes in [0, 1, 1001, 3_000_000] {
                let workload = one(2 * n + 1, &members, kind, bytes, root);
                let choice = expander.algorithm(&Use::new(kind, bytes, root, &group)).unwrap();
                for model in [Model::Analytical, Model::Fluid] {
                    let report =
                        WorkloadSimulation::new(&within).model(model).run(&workload, &expander).unwrap();
                    let Some(alone) = &alone else {
                        assert_eq!(report.makespan, Picos::ZERO);
                        continue;
                    };
                    let graph = choice.algorithm.graph();
                    let expected = Simulation::new(alone).model(model).run(graph).unwrap();
                    let found = (report.makespan, report.delivered, report.bytes);
                    assert_eq!(
                        found,
                        (expected.makespan, expected.messages, expected.bytes),
                        "{kind}, {n} ranks, {bytes} bytes, {model}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_rule_gives_what_the_library_gives() {
    let rules = Rules::new().rule(Rule::algorithm("allreduce_ring").set("channels", 2));
    let expander = Expander::new(rules).unwrap();
    let members: Vec<u32> = (0..6).collect();
    let workload = one(6, &members, CollectiveKind::AllReduce, 1_000_000, 0);
    let network = switch(6);
    let report = WorkloadSimulation::new(&network).run(&workload, &expander).unwrap();
    let ring = algorithms::find("allreduce_ring").unwrap();
    let schedule = compile(&(ring.def.trace)(true, &[6, 2]).unwrap()).unwrap();
    let graph = et::graph(&schedule, &EtOptions::new(Size::bytes(1_000_000))).unwrap();
    assert_eq!(report.makespan, Simulation::new(&network).model(Model::Fluid).run(&graph).unwrap().makespan);
    assert_eq!(report.collectives[0].algorithms, ["allreduce_ring(channels=2)"]);
}

#[test]
fn what_there_is_no_algorithm_for_names_the_rule_and_the_collective() {
    let expander = Expander::new(Rules::new().rule(Rule::algorithm("allreduce_swing"))).unwrap();
    let workload = one(6, &[0, 1, 2, 3, 4, 5], CollectiveKind::AllReduce, 8, 0);
    let error = WorkloadSimulation::new(&switch(6)).run(&workload, &expander).unwrap_err().to_string();
    assert!(error.contains("rule 1: allreduce_swing is for powers of two of ranks, not for 6"), "{error}");
    assert!(error.contains("all_reduce") && error.contains("members"), "{error}");
}

/// Ranks, each with links to all others: a message of 200 kB takes 1 + 4 µs.
const RANKS: u32 = 4;
const MESSAGE: u64 = 200_000;
const STEP: u64 = 5;

/// Microseconds of a step of 4 ranks: a product and a collective, one before the other.
fn step(kind: CollectiveKind, product: u64, product_first: bool, overlap: Overlap) -> u64 {
    let mut step = WorkloadBuilder::new(RANKS);
    let bytes = if kind == CollectiveKind::AllGather { MESSAGE } else { MESSAGE * u64::from(RANKS) };
    for rank in 0..RANKS {
        if product_first {
            let product = step.compute(rank, "product", Cost::micros(product), &[]).unwrap();
            step.collective(rank, "it", kind, bytes, 0, &[product]).unwrap();
        } else {
            let it = step.collective(rank, "it", kind, bytes, 0, &[]).unwrap();
            step.compute(rank, "product", Cost::micros(product), &[it]).unwrap();
        }
    }
    let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "1 us".parse().unwrap());
    let network = Topology::new([Dimension::fully_connected(RANKS, bandwidth, latency)]).unwrap();
    let expander = Expander::new(Rules::new().rule(Rule::default_algorithm().overlap(overlap))).unwrap();
    let report = WorkloadSimulation::new(&network).run(&step.finish(), &expander).unwrap();
    assert_eq!(report.makespan.0 % 1_000_000, 0);
    report.makespan.0 / 1_000_000
}

#[test]
fn a_product_of_what_a_ring_gathers_begins_with_the_first_chunk() {
    for tile in [1, 2, 4, 5, 6, 10, 30] {
        let product = tile * u64::from(RANKS);
        let of = |overlap| step(CollectiveKind::AllGather, product, false, overlap);
        assert_eq!(of(Overlap::None), 3 * STEP + product);
        assert_eq!(of(Overlap::Producers), 3 * STEP + product);
        // The rank's own chunk is there at once, another comes every step: either the product never waits, or its
        // last tile follows the last chunk.
        assert_eq!(of(Overlap::Consumers), product.max(3 * STEP + tile), "{tile}");
    }
}

#[test]
fn a_ring_reduces_and_scatters_a_product_tile_by_tile() {
    for tile in [1, 2, 4, 5, 6, 10, 30] {
        let product = tile * u64::from(RANKS);
        let of = |overlap| step(CollectiveKind::ReduceScatter, product, true, overlap);
        assert_eq!(of(Overlap::None), product + 3 * STEP);
        assert_eq!(of(Overlap::Consumers), product + 3 * STEP);
        // The first tile goes at once, and each of the others is there before what it is added to, or the other way round.
        assert_eq!(of(Overlap::Producers), product.max(tile + 3 * STEP), "{tile}");
    }
}
