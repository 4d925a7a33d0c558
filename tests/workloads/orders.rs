//! Who waits for whom: hidden and exposed communication, late ranks, and orders that cannot be.

use chakra_et::workload::{CollectiveKind, Cost, Workload, WorkloadBuilder};
use collective::chakra_et;
use collective::sim::topology::Dimension;
use collective::sim::workload::{PathKind, WorkloadError, WorkloadSimulation};
use collective::sim::{Compat, Model};

use crate::support::*;

const ALL_REDUCE: CollectiveKind = CollectiveKind::AllReduce;

/// An all-reduce of 40 MB on four ranks by a ring is 6 messages of 10 µs.
const BYTES: u64 = 40_000_000;
const TAKES: u64 = 60;

fn beside(micros: u64, after: bool) -> Workload {
    let mut step = WorkloadBuilder::new(4);
    for rank in 0..4 {
        let sum = step.collective(rank, "sum", ALL_REDUCE, BYTES, 0, &[]).unwrap();
        let deps = if after { vec![sum] } else { vec![] };
        step.compute(rank, "product", Cost::micros(micros), &deps).unwrap();
    }
    step.finish()
}

#[test]
fn communication_beside_a_computation_is_hidden_as_far_as_that_lasts() {
    for micros in [0, 1, 59, 60, 61, 200] {
        let report = run_ideal(&beside(micros, false), &defaults());
        assert_eq!(report.makespan.0, micros.max(TAKES) * US);
        for rank in &report.ranks {
            assert_eq!(rank.overlapped.0, micros.min(TAKES) * US);
            assert_eq!(rank.exposed.0, TAKES.saturating_sub(micros) * US);
            assert_eq!(rank.compute.0, micros.saturating_sub(TAKES) * US);
        }
        let row = &report.collectives[0];
        assert_eq!((row.time.0, row.exposed.0), (4 * TAKES * US, 4 * TAKES.saturating_sub(micros) * US));
    }
}

#[test]
fn communication_before_a_computation_is_exposed() {
    for micros in [0, 1, 60, 200] {
        let report = run_ideal(&beside(micros, true), &defaults());
        assert_eq!(report.makespan.0, (micros + TAKES) * US);
        for rank in &report.ranks {
            assert_eq!([rank.overlapped.0, rank.exposed.0, rank.compute.0], [0, TAKES * US, micros * US]);
        }
        let [computing, _, collectives, ..] = report.critical_path.shares();
        assert_eq!([computing.0, collectives.0], [micros * US, TAKES * US]);
    }
}

#[test]
fn a_late_rank_shifts_everyone_by_its_delay() {
    let mut step = WorkloadBuilder::new(5);
    for rank in 0..5 {
        let mut last = vec![];
        for _ in 0..4 {
            let product = step.compute(rank, "product", Cost::micros(9), &last).unwrap();
            last = vec![step.collective(rank, "sum", ALL_REDUCE, 1_000_003, 0, &[product]).unwrap()];
        }
    }
    let (workload, expander) = (step.finish(), defaults());
    let topology = network(Dimension::ring, 5);
    let late = ["2=+70us".parse().unwrap()];
    let slow = ["2=x2.0".parse().unwrap()];
    for model in MODELS {
        let simulation = WorkloadSimulation::new(&topology).model(model);
        let on_time = run(&simulation, &workload, &expander);
        let report = run(&simulation.stragglers(&late), &workload, &expander);
        for (late, on_time) in report.ranks.iter().zip(&on_time.ranks) {
            assert_eq!(late.finish.0, on_time.finish.0 + 70 * US, "{model}");
        }
        assert_eq!(
            (&report.critical_path.steps[0].kind, report.critical_path.steps[0].rank),
            (&PathKind::LateStart, 2)
        );
        // One that computes at half speed delays every round by a product.
        let report = run(&simulation.stragglers(&slow), &workload, &expander);
        assert_eq!(report.makespan.0, on_time.makespan.0 + 4 * 9 * US, "{model}");
    }
}

/// Two ranks come to two groups in opposite order, with or without dependences that say so.
fn opposite(with_dependences: bool) -> Workload {
    let mut step = WorkloadBuilder::new(2);
    let groups = [step.group("1", [0, 1]).unwrap(), step.group("2", [0, 1]).unwrap()];
    for (rank, order) in [(0, [0, 1]), (1, [1, 0])] {
        let mut last = vec![];
        for group in order {
            let name = ["sum of one", "sum of two"][group];
            let node = step.collective(rank, name, ALL_REDUCE, 4_000, groups[group], &last).unwrap();
            last = if with_dependences { vec![node] } else { vec![] };
        }
    }
    step.finish()
}

#[test]
fn two_groups_in_opposite_order_are_a_deadlock_where_something_fixes_the_order() {
    let topology = network(Dimension::ring, 2);
    for model in MODELS {
        let simulation = WorkloadSimulation::new(&topology).model(model);
        run(&simulation, &opposite(false), &defaults());
        let by_dependences = simulation.run(&opposite(true), &defaults());
        let as_astra_sim = simulation.compat(Some(Compat::AstraSim)).run(&opposite(false), &defaults());
        for error in [by_dependences, as_astra_sim].map(Result::unwrap_err) {
            let WorkloadError::Stuck(stuck) = &error else { panic!("{error}") };
            assert!(stuck.is_circle);
            let text = error.to_string();
            for part in [
                "deadlock",
                "rank 0",
                "rank 1",
                "sum of one",
                "sum of two",
                "all_reduce of 4000 bytes",
                "group \"1\"",
                "group \"2\"",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
    }
    // It is found before the run as well.
    let findings = chakra_et::workload::check(&opposite(true));
    assert!(findings.iter().any(|finding| finding.id == "deadlock"), "{findings:?}");
    assert!(chakra_et::workload::check(&opposite(false)).is_empty());
}

/// One group's collectives keep their order on every rank even if a later one could begin earlier.
#[test]
fn the_collectives_of_a_group_take_turns_and_those_of_two_do_not() {
    let two = |of_two_groups: bool| {
        let mut step = WorkloadBuilder::new(4);
        let other = step.group("1", 0..4).unwrap();
        for rank in 0..4 {
            step.collective(rank, "first", ALL_REDUCE, BYTES, 0, &[]).unwrap();
            let group = if of_two_groups { other } else { 0 };
            step.collective(rank, "second", ALL_REDUCE, BYTES, group, &[]).unwrap();
        }
        step.finish()
    };
    let topology = ideal(4);
    let time = |model, workload| {
        run(&WorkloadSimulation::new(&topology).model(model), &workload, &defaults()).makespan.0
    };
    for model in MODELS {
        assert_eq!(time(model, two(false)), 2 * TAKES * US, "{model}");
    }
    // Without contention they do not feel each other; on one link they share it.
    assert_eq!(time(Model::Analytical, two(true)), TAKES * US);
    assert_eq!(time(Model::Fluid, two(true)), 2 * TAKES * US);
}
