//! A collective in a step takes what its algorithm takes by itself.

use chakra_et::workload::{CollectiveKind, Group, WorkloadBuilder};
use collective::chakra_et;
use collective::sim::topology::Dimension;
use collective::sim::workload::{Algorithms, Use, WorkloadSimulation};
use collective::sim::{Model, Simulation};
use collective::workload::{Expander, Rules};

use crate::support::*;

/// Every kind, on odd numbers of ranks, with sizes that divide by nothing: the algorithm is the one that the expander chooses, run
/// by the simulator for algorithms.
#[test]
fn every_kind_takes_what_its_algorithm_takes_alone() {
    let expander = Expander::new(Rules::new().machine(4)).unwrap();
    let mut compared = 0;
    for ranks in [1, 2, 3, 5, 8, 13] {
        let group = Group { name: String::new(), members: (0..ranks).collect() };
        for kind in CollectiveKind::ALL {
            let root = if kind.has_root() { ranks / 2 } else { 0 };
            for bytes in [1, 1001, 1_000_003] {
                let workload = alone(ranks, kind, bytes, root);
                let choice = expander.algorithm(&Use::new(kind, bytes, root, &group)).unwrap();
                let graph = choice.algorithm.graph();
                assert_eq!(graph.node_count() == 0, ranks == 1, "{kind}");
                for dimension in [Dimension::ring, Dimension::switch] as [Kind; 2] {
                    let topology = network(dimension, ranks);
                    for model in MODELS {
                        let alone = Simulation::new(&topology).model(model).run(graph).unwrap();
                        let within =
                            run(&WorkloadSimulation::new(&topology).model(model), &workload, &expander);
                        let case = format!("{kind} of {bytes} bytes on {ranks} ranks, {model}");
                        assert_eq!(within.makespan, alone.makespan, "{case}");
                        assert_eq!((within.delivered, within.bytes), (alone.messages, alone.bytes), "{case}");
                        assert_eq!(within.links, alone.links, "{case}");
                        compared += 1;
                    }
                }
            }
        }
    }
    assert_eq!(compared, 6 * 10 * 3 * 2 * 3);
}

/// Rings by their formula: steps of one message of S/n, S = 120 kB on links of a byte a picosecond.
#[test]
fn rings_take_their_formula() {
    for ranks in [2_u32, 3, 4, 5, 8] {
        let (n, size) = (u64::from(ranks), 120_000);
        for (kind, bytes, steps) in [
            (CollectiveKind::AllReduce, size, 2 * (n - 1)),
            (CollectiveKind::ReduceScatter, size, n - 1),
            // The input of one rank.
            (CollectiveKind::AllGather, size / n, n - 1),
        ] {
            let report = run_ideal(&alone(ranks, kind, bytes, 0), &defaults());
            assert_eq!(report.makespan.0, steps * size / n, "{kind} on {ranks} ranks");
            let row = &report.collectives[0];
            assert_eq!((row.kind, row.count, row.bytes.0), (kind, 1, bytes));
            assert_eq!((row.time.0, row.span.0), (n * report.makespan.0, report.makespan.0));
        }
    }
}

/// A group's members need not be neighbours: on a switch, where all are alike, it makes no difference who they are.
#[test]
fn a_collective_is_mapped_onto_the_ranks_of_its_group() {
    let expander = Expander::new(Rules::new().machine(1)).unwrap();
    let topology = network(Dimension::switch, 11);
    let members = [1, 4, 5, 8, 10];
    for kind in CollectiveKind::ALL {
        let mut step = WorkloadBuilder::new(11);
        let group = step.group("5", members).unwrap();
        for rank in members {
            let root = if kind.has_root() { 3 } else { 0 };
            step.rooted(rank, "on five of eleven", kind, 70_003, group, root, &[]).unwrap();
        }
        let workload = step.finish();
        let root = if kind.has_root() { 3 } else { 0 };
        for model in MODELS {
            let apart = run(&WorkloadSimulation::new(&topology).model(model), &workload, &expander);
            let five = network(Dimension::switch, 5);
            let alone =
                run(&WorkloadSimulation::new(&five).model(model), &alone(5, kind, 70_003, root), &expander);
            // Equal times are ordered by rank, which the mapping keeps.
            assert_eq!(apart.makespan, alone.makespan, "{kind} {model}");
            assert_eq!((apart.delivered, apart.bytes), (alone.delivered, alone.bytes), "{kind} {model}");
            let idle = (0..11).filter(|rank| !members.contains(rank));
            assert!(
                idle.clone().count() == 6
                    && idle.into_iter().all(|rank| apart.ranks[rank as usize].finish.0 == 0)
            );
        }
    }
}

/// A rank's share ends when the rank is done: no barrier. In a chain from rank 0, the first goes on long before the last.
#[test]
fn a_collective_is_no_barrier() {
    let report = run(
        &WorkloadSimulation::new(&network(Dimension::ring, 8)).model(Model::LinkQueue),
        &alone(8, CollectiveKind::Broadcast, 8_000_000, 0),
        &defaults(),
    );
    let finish: Vec<u64> = report.ranks.iter().map(|rank| rank.finish.0).collect();
    assert!(finish.is_sorted() && finish[0] < finish[7], "{finish:?}");
}

/// A barrier without bytes still keeps everybody until the last has come.
#[test]
fn nobody_leaves_a_barrier_before_the_last_has_come() {
    let topology = network(Dimension::switch, 5);
    let stragglers = ["3=+40us".parse().unwrap()];
    let simulation = WorkloadSimulation::new(&topology).stragglers(&stragglers);
    let report = run(&simulation, &alone(5, CollectiveKind::Barrier, 0, 0), &defaults());
    assert!(report.ranks.iter().all(|rank| rank.finish.0 > 40 * US));
    assert!(report.ranks.iter().enumerate().all(|(rank, times)| (times.waited.0 >= 40 * US) == (rank != 3)));
}
