//! The library under the model machine.

use collective::algorithms::{Algorithm, Network};
use collective::et::{self, EtOptions};
use collective::sim::machine::{Costs, Machine, Protocol};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::{Bytes, Picos};
use collective::sim::{Model, Simulation};
use collective::{Size, run};
use rayon::prelude::*;

/// Every algorithm with its choices for some counts, as graphs in the order of thread blocks.
fn graphs(counts: &[usize]) -> Vec<(&'static Algorithm, Vec<usize>, collective::chakra_et::graph::Graph)> {
    let cases = crate::chosen().into_iter().flat_map(|algorithm| {
        let choices = counts.iter().flat_map(|ranks| algorithm.choices(*ranks));
        choices.map(move |values| (algorithm, values))
    });
    let cases: Vec<_> = cases.collect();
    let graph = |(algorithm, values): (&'static Algorithm, Vec<usize>)| {
        let schedule =
            algorithm.compile(algorithm.placement.allows(true), &values).expect("a choice of its own");
        let size = Size::bytes(run::one_element_a_chunk(&schedule.collective) * 4_096);
        (algorithm, values, et::graph(&schedule, &EtOptions::new(size)).expect("a graph"))
    };
    cases.into_par_iter().map(graph).collect()
}

#[test]
fn a_machine_that_costs_nothing_is_the_model_fluid() {
    let free = Machine::free();
    graphs(&[2, 3, 5, 8, 12]).par_iter().for_each(|(algorithm, values, graph)| {
        let ranks = graph.rank_count() as u32;
        let (bandwidth, latency) =
            ("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"));
        let own = algorithm.network.topology(values, bandwidth, latency).expect("a network");
        let ring = Topology::new([Dimension::ring(ranks, bandwidth, latency)]).expect("a ring");
        for topology in [own, ring] {
            let fluid = Simulation::new(&topology).model(Model::Fluid).run(graph).expect("a report");
            let machine = Simulation::new(&topology).machine(&free).run(graph).expect("a report");
            let said = |report: &collective::sim::Report| {
                (report.finish.clone(), report.links.clone(), report.messages)
            };
            assert_eq!(said(&machine), said(&fluid), "{} {values:?}", algorithm.name());
        }
    });
}

/// Connections that hold two messages are enough, which is what runtimes have at least: the verifier says so of schedules, and the
/// machine is another opinion. A message here is two slices.
#[test]
fn two_messages_a_connection_are_enough_for_every_algorithm() {
    let mut costs = Costs::free();
    (costs.launch, costs.slice, costs.latency) = (Picos(5_000_000), Picos(300_000), Picos(2_000_000));
    (costs.slots, costs.slices, costs.piece) = (Some(4), 2, Some(Bytes(1_500)));
    costs.copy = Some("20 GB/s".parse().expect("a bandwidth"));
    let machine = Machine::new("two messages").with(Protocol::Simple, costs);
    graphs(&[2, 3, 6, 8, 16]).par_iter().for_each(|(algorithm, values, graph)| {
        let (bandwidth, latency) =
            ("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"));
        let topology = Network::Switch.topology(values, bandwidth, latency).expect("a network");
        if topology.rank_count() as usize != graph.rank_count() {
            return;
        }
        let fluid = Simulation::new(&topology).model(Model::Fluid).run(graph).expect("a report").makespan;
        let report = Simulation::new(&topology).machine(&machine).run(graph);
        let time = report.unwrap_or_else(|error| panic!("{} {values:?}: {error}", algorithm.name())).makespan;
        assert!(
            time > fluid,
            "{} {values:?}: {time} on a machine with costs, {fluid} without",
            algorithm.name()
        );
    });
}
