//! What an algorithm costs by theory is what its program does: rounds, bytes and time.
//!
//! The traces hold what the algorithm itself demands (`NodeOrder::Dataflow`): theory knows no thread blocks.

use collective::algorithms::{self, Algorithm, Cost, Network};
use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::link_loads::link_loads;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::{Bandwidth, Latency};
use collective::sim::{Model, Simulation};
use collective::{Schedule, Size, run};
use rayon::prelude::*;

/// A size of which every chunk is whole.
fn size(schedule: &Schedule) -> Size {
    Size::bytes(run::one_element_a_chunk(&schedule.collective) * 4_096)
}

/// Bytes sent by the rank that sends most.
fn busiest(graph: &collective::chakra_et::graph::Graph) -> u64 {
    use collective::chakra_et::graph::Op;
    let sent = |rank: &collective::chakra_et::graph::RankGraph| -> u64 {
        let nodes = (0..rank.len()).map(|node| rank.op(node as u32));
        nodes.map(|op| if let Op::Send { bytes, .. } = op { bytes } else { 0 }).sum()
    };
    graph.ranks().iter().map(sent).max().unwrap_or(0)
}

/// What of the cost is not what the program does on a network, by what the algorithm itself demands.
fn wrong(algorithm: &Algorithm, values: &[usize], network: Network) -> Vec<String> {
    wrong_in(NodeOrder::Dataflow, algorithm, values, network)
}

/// The same with another order of nodes.
fn wrong_in(order: NodeOrder, algorithm: &Algorithm, values: &[usize], network: Network) -> Vec<String> {
    let in_place = algorithm.placement.allows(true);
    let schedule = algorithm.compile(in_place, values).expect("a choice of its own");
    let ranks = schedule.ranks.len() as u32;
    let cost: Cost = algorithm.cost(values);
    let size = size(&schedule);
    let graph = et::graph(&schedule, &EtOptions { order, ..EtOptions::new(size) }).expect("a graph");
    let (bandwidth, latency): (Bandwidth, Latency) =
        ("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"));

    let ring = Topology::new([Dimension::ring(ranks, bandwidth, latency)]).expect("a ring");
    let rounds = link_loads(&ring, &graph).expect("link loads").rounds.len() as u64;
    let sent = algorithms::Share::new(busiest(&graph), size.in_bytes().max(1));
    let topology = network.topology(values, bandwidth, latency).expect("a network");
    let simulated = Simulation::new(&topology).model(Model::Fluid).run(&graph).expect("a report").makespan;
    let time = cost.time(network.alpha(latency.to_picos()), bandwidth, size).expect("a time");

    let mut wrong = Vec::new();
    let mut compare = |what: &str, theory: String, program: String| {
        if theory != program {
            wrong.push(format!(
                "{} {values:?}: {what}: {theory} by theory, {program} by its program",
                algorithm.name()
            ));
        }
    };
    compare("rounds", cost.rounds().to_string(), rounds.to_string());
    compare("sent by the busiest rank / S", cost.sent.to_string(), sent.to_string());
    compare("time", time.to_string(), simulated.to_string());
    wrong
}

fn assert_right(counts: impl Iterator<Item = usize> + Clone) {
    let cases: Vec<(&Algorithm, Vec<usize>)> = crate::chosen()
        .into_iter()
        .flat_map(|algorithm| {
            let choices = counts.clone().flat_map(|ranks| algorithm.choices(ranks));
            choices.map(move |values| (algorithm, values))
        })
        .collect();
    let mut failures: Vec<String> = cases
        .par_iter()
        .flat_map(|(algorithm, values)| wrong(algorithm, values, algorithm.network))
        .collect();
    failures.sort();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

#[test]
fn rounds_bytes_and_time_are_those_of_theory() {
    assert_right((1..=17).chain([32, 64]));
}

#[test]
#[ignore = "minutes: the full matrix"]
fn rounds_bytes_and_time_are_those_of_theory_for_all_ranks_of_the_full_matrix() {
    assert_right((1..=33).chain([48, 64, 81, 100, 128]));
}

#[test]
fn one_port_is_enough_where_ranks_meet_in_pairs() {
    let meet = [
        "allreduce_bine",
        "allreduce_bine_bandwidth",
        "allreduce_halving_doubling_nearest_first",
        "allreduce_recursive_doubling",
        "allreduce_recursive_halving_doubling",
    ];
    for algorithm in meet.map(|name| algorithms::find(name).expect("an algorithm")) {
        assert_eq!(algorithm.network, Network::FullyConnected);
        for ranks in [1, 2, 4, 8, 16, 32] {
            assert_eq!(wrong(algorithm, &[ranks], Network::Switch), [""; 0]);
        }
    }
}

#[test]
fn thread_blocks_lose_no_round_where_all_ranks_do_the_same() {
    let alike = [
        "allreduce_allpairs_one_shot",
        "allreduce_allpairs_two_shot",
        "allreduce_bidirectional_ring",
        "allreduce_bine",
        "allreduce_bine_bandwidth",
        "allreduce_halving_doubling_nearest_first",
        "allreduce_recursive_doubling",
        "allreduce_recursive_halving_doubling",
        "allreduce_swing",
        "allreduce_swing_bandwidth",
        "allreduce_trivance",
        "allreduce_trivance_bandwidth",
    ];
    for algorithm in alike.map(|name| algorithms::find(name).expect("an algorithm")) {
        // With one more than a power of two a single rank stands aside, and the others do not do the same.
        for ranks in [4, 6, 8, 12, 16, 27] {
            for values in algorithm.choices(ranks) {
                assert_eq!(wrong_in(NodeOrder::ThreadBlock, algorithm, &values, algorithm.network), [""; 0]);
            }
        }
    }
}
