//! A recording says what the simulation says.

use collective::et::{self, EtOptions};
use collective::sim::straggler::Straggler;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::{Bandwidth, Latency};
use collective::sim::{Compat, Conventions, LogGp, Model, Simulation};
use collective::{Size, algorithms};

use super::*;

fn graph(name: &str, ranks: usize, bytes: u64) -> Graph {
    let algorithm = algorithms::find(name).unwrap();
    let values = algorithm.def.values(&[("ranks", ranks)]).unwrap();
    let schedule = algorithm.compile(algorithm.placement.allows(true), &values).unwrap();
    et::graph(&schedule, &EtOptions::new(Size::bytes(bytes))).unwrap()
}

fn topology(kind: impl Fn(u32, Bandwidth, Latency) -> Dimension, ranks: u32) -> Topology {
    Topology::new([kind(ranks, "50 GB/s".parse().unwrap(), "500 ns".parse().unwrap())]).unwrap()
}

/// An all-gather on a ring of 4 in which every rank sends three chunks of 1 MB on, on a network with a link for each pair.
pub(crate) fn ring_of_four(model: Model) -> Recording {
    let (graph, topology) = (graph("allgather_ring", 4, 4_000_000), topology(Dimension::one_way_ring, 4));
    let simulation = Simulation::new(&topology).model(model).recording(true).critical_path(true);
    Recording::of(&graph, &simulation.run(&graph).unwrap(), Some(&topology)).unwrap()
}

#[test]
fn a_ring_takes_what_it_takes_by_hand() {
    for model in [Model::LinkQueue, Model::Fluid, Model::Analytical] {
        let recording = ring_of_four(model);
        // Three times 500 ns + 1 MB / (50 GB/s).
        assert_eq!(recording.makespan, Picos(61_500_000), "{model}");
        let sends: Vec<&Step> =
            recording.steps.iter().filter(|step| matches!(step.kind, Kind::Send { .. })).collect();
        assert_eq!(sends.len(), 12);
        assert!(sends.iter().all(|step| step.finish.0 - step.start.0 == 20_500_000), "{model}");
        // Each link carries three messages, under link-queue while it serialises, else until they are delivered.
        assert_eq!(recording.links.len(), 4);
        let lasts = if model == Model::LinkQueue { 20_000_000 } else { 20_500_000 };
        for link in 0..4 {
            let crossings = recording.crossings_of(link);
            let times: Vec<u64> =
                crossings.iter().map(|crossing| crossing.finish.0 - crossing.start.0).collect();
            assert_eq!(times, [lasts; 3], "{model}");
            let link = &recording.links[link as usize];
            assert_eq!(
                (link.bytes.0, link.busy),
                (3_000_000, Picos(3 * if model == Model::Fluid { 20_000_000 } else { lasts })),
                "{model}"
            );
        }
        let critical = recording.steps.iter().filter(|step| step.is_critical);
        assert_eq!(critical.count(), recording.path.steps.len());
    }
}

#[test]
fn recording_changes_no_time() {
    let stragglers: [Straggler; 2] = ["1=+3us,x1.5".parse().unwrap(), "4=+20us".parse().unwrap()];
    let (topology, ring) = (topology(Dimension::switch, 8), topology(Dimension::ring, 8));
    for name in ["allreduce_ring", "allreduce_recursive_halving_doubling", "alltoall_direct"] {
        let graph = graph(name, 8, 100_004);
        let check = |simulation: Simulation<'_>, topology: Option<&Topology>| {
            let plain = simulation.run(&graph).unwrap();
            let report = simulation.recording(true).critical_path(true).run(&graph).unwrap();
            let recording = Recording::of(&graph, &report, topology).unwrap();
            assert_eq!((plain.makespan, plain.finish), (recording.makespan, report.finish));
            let last = recording.steps.iter().map(|step| step.finish).max();
            assert_eq!(last, Some(recording.makespan), "{name} {}", report.model);
            assert_eq!(recording.steps.len(), graph.node_count());
            // Every message crosses each link of its route once.
            let crossed: u64 = recording.crossings.iter().map(|crossing| crossing.bytes.0).sum();
            let carried: u64 = recording.links.iter().map(|link| link.bytes.0).sum();
            assert_eq!(crossed, carried);
            if let Some(loads) = &report.links {
                assert_eq!(loads.iter().map(|load| load.bytes.0).sum::<u64>(), carried);
            }
        };
        for model in [Model::Analytical, Model::LinkQueue, Model::Fluid] {
            let simulation = Simulation::new(&topology).model(model);
            check(simulation, Some(&topology));
            let late = simulation.stragglers(&stragglers).overheads(Picos(30_000), Picos(70_000));
            check(late.reduce_bandwidth("100 GB/s".parse().unwrap()), Some(&topology));
            if model != Model::Fluid {
                let astra = Simulation::new(&ring).model(model).conventions(Conventions::AstraSim);
                check(astra, Some(&ring));
                check(astra.compat(Some(Compat::AstraSim)), Some(&ring));
            }
        }
        check(Simulation::with_loggp(LogGp::default()), None);
    }
}

#[test]
fn nothing_is_recorded_of_one_rank_and_without_being_asked() {
    let (graph, topology) = (graph("allgather_ring", 1, 4096), topology(Dimension::switch, 1));
    let simulation = Simulation::new(&topology).model(Model::LinkQueue).critical_path(true);
    assert!(Recording::of(&graph, &simulation.run(&graph).unwrap(), Some(&topology)).is_none());
    let report = simulation.recording(true).run(&graph).unwrap();
    let recording = Recording::of(&graph, &report, Some(&topology)).unwrap();
    assert_eq!((recording.links.len(), recording.crossings.len()), (0, 0));
}
