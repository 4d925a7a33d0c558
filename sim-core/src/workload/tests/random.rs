//! Properties of any workload: computations, collectives of overlapping groups, messages, in any order on each rank.

use chakra_et::validate::Level;
use chakra_et::workload::{CollectiveKind, Cost, Workload, WorkloadBuilder, check};
use proptest::prelude::*;

use super::super::*;
use super::{Ring, fully_connected};
use crate::topology::{Dimension, Topology};
use crate::units::Picos;
use crate::{Compat, Model};

const RANKS: u32 = 4;
const GROUPS: [&[u32]; 5] = [&[0, 1, 2, 3], &[0, 1], &[2, 3], &[1, 2], &[3]];

/// What happens in the workload, to one rank or several.
#[derive(Clone, Debug)]
enum Event {
    Compute { rank: u32, micros: u64, stream: u32 },
    Collective { group: usize, bytes: u64 },
    Message { src: u32, dst: u32, bytes: u64 },
}

fn event() -> impl Strategy<Value = Event> {
    let bytes = prop::sample::select(vec![0_u64, 4_000, 40_000_000]);
    prop_oneof![
        2 => (0..RANKS, 0..40_u64, 0..2_u32).prop_map(|(rank, micros, stream)| Event::Compute { rank, micros, stream }),
        2 => (0..GROUPS.len(), bytes.clone()).prop_map(|(group, bytes)| Event::Collective { group, bytes }),
        1 => (0..RANKS, 1..RANKS, bytes).prop_map(|(src, by, bytes)| Event::Message { src, dst: (src + by) % RANKS, bytes }),
    ]
}

/// The events, which each rank comes to in the order of `order` (by default as they are), each with up to three dependences:
/// so many nodes back, where 0 is none.
fn workload(events: &[Event], orders: &[Vec<usize>], backs: &[[usize; 3]]) -> Workload {
    let mut builder = WorkloadBuilder::new(RANKS);
    for (number, members) in (1..).zip(&GROUPS[1..]) {
        builder.group(number.to_string(), members.iter().copied()).unwrap();
    }
    for rank in 0..RANKS {
        let mut count = 0_u32;
        for at in &orders[rank as usize] {
            let deps: Vec<u32> = backs[*at % backs.len()]
                .iter()
                .filter(|back| **back > 0)
                .filter_map(|back| count.checked_sub(*back as u32))
                .collect();
            // Names tell collectives apart that ranks come to in different orders.
            let name = format!("event {at}");
            let added = match events[*at] {
                Event::Compute { rank: of, micros, stream } if of == rank => {
                    builder.compute_on(rank, name, Cost::micros(micros), false, stream, &deps)
                }
                Event::Collective { group, bytes } if GROUPS[group].contains(&rank) => {
                    builder.collective(rank, name, CollectiveKind::AllReduce, bytes, group as u32, &deps)
                }
                Event::Message { src, dst, bytes } if src == rank => {
                    builder.send(rank, name, dst, *at as u32, bytes, &deps)
                }
                Event::Message { src, dst, bytes } if dst == rank => {
                    builder.recv(rank, name, src, *at as u32, bytes, &deps)
                }
                _ => continue,
            };
            added.unwrap();
            count += 1;
        }
    }
    builder.finish()
}

fn any_workload() -> impl Strategy<Value = Workload> {
    prop::collection::vec(event(), 1..24).prop_flat_map(|events| {
        let numbers: Vec<usize> = (0..events.len()).collect();
        let order = prop_oneof![3 => Just(numbers.clone()), 1 => Just(numbers).prop_shuffle()];
        let orders = prop::collection::vec(order, RANKS as usize);
        let backs = prop::collection::vec([0..4_usize, 0..4_usize, 0..8_usize], 8);
        (Just(events), orders, backs).prop_map(|(events, orders, backs)| workload(&events, &orders, &backs))
    })
}

/// A ring with a switch's contention.
fn shared() -> Topology {
    Topology::new([Dimension::ring(RANKS, "1 TB/s".parse().unwrap(), "100 ns".parse().unwrap())]).unwrap()
}

/// What a report must be like, whatever the workload.
fn is_sound(workload: &Workload, report: &WorkloadReport) {
    let makespan = report.makespan.0;
    for (rank, times) in report.ranks.iter().enumerate() {
        let RankTimes { compute, overlapped, exposed, idle, finish, .. } = times;
        assert_eq!(compute.0 + overlapped.0 + exposed.0 + idle.0, makespan);
        assert!(finish.0 <= makespan);
        // A stream runs one computation at a time.
        let nodes = workload.rank(rank);
        let mut streams = [0_u64; 2];
        for (node, op) in (0..).zip(nodes.graph().ops()) {
            if let chakra_et::graph::Op::Comp { micros, .. } = op {
                streams[nodes.traits(node).stream as usize] += micros * 1_000_000;
            }
        }
        let busy = compute.0 + overlapped.0;
        assert!(busy <= streams.iter().sum() && busy >= streams.into_iter().max().unwrap());
    }
    let steps = &report.critical_path.steps;
    assert!(steps.windows(2).all(|two| two[0].finish == two[1].start && two[0].to == two[1].rank));
    if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
        assert_eq!((first.start, last.finish), (Picos::ZERO, report.makespan));
    }
    let sum: Picos = Picos(report.critical_path.shares().iter().map(|share| share.0).sum());
    assert_eq!(sum, report.makespan);
    for row in &report.collectives {
        assert!(row.exposed <= row.time && row.waited <= row.time);
        assert!(row.time.0 <= row.span.0 * u64::from(row.ranks));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// What is said of a workload before it runs is what comes of it.
    #[test]
    fn a_workload_comes_to_its_end_unless_something_is_wrong_with_it(workload in any_workload()) {
        let errors: Vec<_> = check(&workload).into_iter().filter(|found| found.level == Level::Error).collect();
        for topology in [fully_connected(RANKS), shared()] {
            for model in [Model::Analytical, Model::LinkQueue, Model::Fluid] {
                let simulation = WorkloadSimulation::new(&topology).model(model);
                match simulation.run(&workload, &Ring::default()) {
                    Ok(report) => {
                        prop_assert!(errors.is_empty(), "ran in spite of {errors:?}");
                        is_sound(&workload, &report);
                        prop_assert_eq!(&report, &simulation.run(&workload, &Ring::default()).unwrap());
                    }
                    Err(WorkloadError::Stuck(stuck)) => {
                        prop_assert!(!errors.is_empty(), "{}", stuck);
                        prop_assert!(stuck.is_circle, "all messages have both ends: {}", stuck);
                    }
                    Err(WorkloadError::Join(_)) => prop_assert!(!errors.is_empty()),
                    Err(error) => panic!("{error}"),
                }
                // Under ASTRA-sim's rules collectives meet in the order in which ranks come to them, whatever their names.
                let compat = simulation.compat(Some(Compat::AstraSim));
                match compat.run(&workload, &Ring::default()) {
                    Ok(report) => is_sound(&workload, &report),
                    Err(WorkloadError::Stuck(stuck)) => prop_assert!(stuck.is_circle, "{}", stuck),
                    Err(WorkloadError::Join(_) | WorkloadError::OtherCollective { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}
