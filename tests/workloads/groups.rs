//! Groups of all sizes: without bytes, of one rank, a thousand of them, and many that share one algorithm.

use chakra_et::workload::{CollectiveKind, Cost, WorkloadBuilder};
use collective::chakra_et;
use collective::sim::workload::WorkloadSimulation;
use collective::workload::Rule;

use crate::support::*;

#[test]
fn nothing_is_sent_without_bytes_or_in_a_group_of_one() {
    for kind in CollectiveKind::ALL {
        let mut step = WorkloadBuilder::new(3);
        let own: Vec<u32> = (0..3).map(|rank| step.group(format!("{}", rank + 1), [rank]).unwrap()).collect();
        for rank in 0..3 {
            let empty = match kind {
                // It has messages whatever its size.
                CollectiveKind::Barrier => step.compute(rank, "first", Cost::default(), &[]).unwrap(),
                _ => step.collective(rank, "empty", kind, 0, 0, &[]).unwrap(),
            };
            let own = own[rank as usize];
            let single = step.collective(rank, "single", kind, 1 << 40, own, &[empty]).unwrap();
            step.compute(rank, "last", Cost::micros(3), &[single]).unwrap();
        }
        let report = run_ideal(&step.finish(), &defaults());
        assert_eq!((report.makespan.0, report.delivered, report.bytes.0), (3 * US, 0, 0), "{kind}");
        assert!(report.ranks.iter().all(|rank| rank.exposed.0 == 0 && rank.compute.0 == 3 * US));
    }
}

/// Ranks come at different times: an empty collective keeps nobody, since nothing is sent.
#[test]
fn an_empty_collective_waits_for_nobody() {
    let mut step = WorkloadBuilder::new(4);
    for rank in 0..4 {
        let work = step.compute(rank, "work", Cost::micros(10 * u64::from(rank)), &[]).unwrap();
        step.collective(rank, "empty", CollectiveKind::AllReduce, 0, 0, &[work]).unwrap();
    }
    let report = run_ideal(&step.finish(), &defaults());
    let finish: Vec<u64> = report.ranks.iter().map(|rank| rank.finish.0 / US).collect();
    assert_eq!(finish, [0, 10, 20, 30]);
}

/// A thousand groups of four on 200 ranks: of neighbours, in strides, and drawn at random; each ring of 12 kB takes 6 messages of
/// 3 ns on links of its own, but the collectives of different groups meet on them.
#[test]
fn a_thousand_groups_share_one_algorithm() {
    const RANKS: u32 = 200;
    let mut step = WorkloadBuilder::new(RANKS);
    let mut state = 7_u64;
    let mut random = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % below
    };
    let mut count = [0_u64; RANKS as usize];
    for group in 0..1_000_u32 {
        let first = group % (RANKS / 4);
        let members = match group % 3 {
            0 => (4 * first..4 * first + 4).collect(),
            1 => (0..4).map(|at| first + at * (RANKS / 4)).collect(),
            _ => {
                let mut members = Vec::new();
                while members.len() < 4 {
                    let rank = random(RANKS);
                    if !members.contains(&rank) {
                        members.push(rank);
                    }
                }
                members
            }
        };
        let index = step.group(format!("{}", group + 1), members.iter().copied()).unwrap();
        for rank in members {
            count[rank as usize] += 1;
            step.collective(rank, "sum", CollectiveKind::AllReduce, 12_000, index, &[]).unwrap();
        }
    }
    let workload = step.finish();
    let expander = expander([Rule::algorithm("allreduce_ring")]);
    let report = run_ideal(&workload, &expander);
    assert_eq!(report.collectives.len(), 1_000);
    assert_eq!(report.delivered, 1_000 * 4 * 6);
    assert_eq!(report.bytes.0, 1_000 * 4 * 6 * 3_000);
    // Compiled once, and used a thousand times.
    let used: Vec<String> = expander.used().iter().map(ToString::to_string).collect();
    assert_eq!(used, ["1000 × all_reduce of 4 ranks, 12 KB: allreduce_ring(channels=1) (rule 1)"]);
    // All at once: without contention as long as one, else at most as long as the busiest ranks' one after the other.
    let topology = ideal(RANKS);
    let simulation = WorkloadSimulation::new(&topology).model(collective::sim::Model::Analytical);
    let one = 6 * 3_000;
    assert_eq!(run(&simulation, &workload, &expander).makespan.0, one);
    assert!((one..=one * count.iter().sum::<u64>()).contains(&report.makespan.0));
}
