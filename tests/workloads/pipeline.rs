//! Pipelines: the bubble is the textbook's, for both orders of microbatches.

use std::collections::BTreeMap;

use chakra_et::workload::{CollectiveKind, Cost, NodeId, Workload, WorkloadBuilder};
use collective::chakra_et;
use collective::sim::workload::{Span, Timeline, Track, What, WorkloadSimulation};

use crate::support::*;

/// What a stage does one after the other: forward or backward of a microbatch.
#[derive(Clone, Copy)]
enum Work {
    Forward(u32),
    Backward(u32),
}
use Work::{Backward, Forward};

/// All forward, then all backward (Huang et al., "GPipe", 2019).
fn gpipe(_: u32, _: u32, m: u32) -> Vec<Work> {
    (0..m).map(Forward).chain((0..m).map(Backward)).collect()
}

/// As many forward as there are stages behind, then one backward and one forward in turns (Narayanan et al., "PipeDream", 2019).
fn one_forward_one_backward(stage: u32, p: u32, m: u32) -> Vec<Work> {
    let ahead = (p - stage - 1).min(m);
    let mut order: Vec<Work> = (0..ahead).map(Forward).collect();
    for batch in 0..m - ahead {
        order.extend([Forward(ahead + batch), Backward(batch)]);
    }
    order.extend((m - ahead..m).map(Backward));
    order
}

type Order = fn(u32, u32, u32) -> Vec<Work>;

/// `replicas` pipelines of `p` stages; forward takes `f`, backward `b` µs, and messages nothing. In the end each stage sums up
/// its gradients of `bytes` over the replicas.
fn pipeline(order: Order, [p, m, replicas]: [u32; 3], [f, b]: [u64; 2], bytes: u64) -> Workload {
    let mut step = WorkloadBuilder::new(p * replicas);
    let groups: Vec<u32> = (0..p)
        .map(|stage| {
            step.group(format!("{}", stage + 1), (0..replicas).map(|replica| replica * p + stage)).unwrap()
        })
        .collect();
    for rank in 0..p * replicas {
        let (stage, first) = (rank % p, rank - rank % p);
        let mut last: Option<NodeId> = None;
        for work in order(stage, p, m) {
            // From where the data come, to where they go, and which are told apart by the tag.
            let (name, cost, from, to, tag) = match work {
                Forward(batch) => ("forward", f, stage.checked_sub(1), Some(stage + 1), batch),
                Backward(batch) => ("backward", b, Some(stage + 1), stage.checked_sub(1), m + batch),
            };
            let rank_of = |stage: Option<u32>| stage.filter(|stage| *stage < p).map(|stage| first + stage);
            let mut deps: Vec<NodeId> = last.into_iter().collect();
            deps.extend(rank_of(from).map(|from| step.recv(rank, "in", from, tag, 0, &[]).unwrap()));
            let node = step.compute(rank, name, Cost::micros(cost), &deps).unwrap();
            if let Some(to) = rank_of(to) {
                step.send(rank, "out", to, tag, 0, &[node]).unwrap();
            }
            last = Some(node);
        }
        let group = groups[stage as usize];
        step.collective(rank, "gradients", CollectiveKind::AllReduce, bytes, group, &[last.unwrap()])
            .unwrap();
    }
    step.finish()
}

/// By rank, the activations that are kept: from the end of a forward to the end of its backward.
#[derive(Default)]
struct Kept(BTreeMap<u32, Vec<(u64, i32)>>);

impl Timeline for Kept {
    fn span(&mut self, span: &Span<'_>) {
        if let (Track::Gpu { rank, .. }, What::Node { name, .. }) = (span.track, span.what) {
            let change = if name == "forward" { 1 } else { -1 };
            self.0.entry(rank).or_default().push((span.finish.0, change));
        }
    }
}

impl Kept {
    /// The most at once, by rank.
    fn most(self) -> Vec<i32> {
        let peak = |mut changes: Vec<(u64, i32)>| {
            changes.sort_unstable();
            let sums = changes.iter().scan(0, |kept, (_, change)| {
                *kept += change;
                Some(*kept)
            });
            sums.max().unwrap_or(0)
        };
        self.0.into_values().map(peak).collect()
    }
}

#[test]
fn the_bubble_is_that_of_the_textbook_and_one_forward_one_backward_keeps_less() {
    for (p, m) in [(1, 4), (2, 2), (4, 8), (8, 3), (5, 17), (3, 1)] {
        for times in [[6, 6], [5, 10], [7, 3]] {
            let topology = ideal(p);
            for (order, name) in [(gpipe as Order, "GPipe"), (one_forward_one_backward, "1F1B")] {
                let workload = pipeline(order, [p, m, 1], times, 0);
                let mut kept = Kept::default();
                let report = WorkloadSimulation::new(&topology)
                    .run_with_timeline(&workload, &defaults(), &mut kept)
                    .unwrap();
                check(&report);
                // m + p − 1 slots, of which a stage works in m: the bubble is (p − 1) / (m + p − 1).
                let slot = times[0] + times[1];
                let case = format!("{name}, {p} stages, {m} microbatches, {times:?}");
                assert_eq!(report.makespan.0, u64::from(m + p - 1) * slot * US, "{case}");
                for rank in &report.ranks {
                    let bubble = 1.0 - rank.utilisation(report.makespan).unwrap();
                    assert!((bubble - f64::from(p - 1) / f64::from(m + p - 1)).abs() < 1e-12, "{case}");
                }
                let wanted: Vec<i32> =
                    (0..p).map(|stage| if name == "GPipe" { m } else { m.min(p - stage) } as i32).collect();
                assert_eq!(kept.most(), wanted, "{case}");
            }
        }
    }
}

/// The first stage is the last to finish, so its gradients are the ones that are waited for; those of the others are hidden.
#[test]
fn gradients_of_later_stages_are_summed_up_in_the_bubble() {
    let (p, m, replicas) = (4, 6, 3);
    // A ring of three: four messages of 3 µs, shorter than the 8 µs between two stages.
    let workload = pipeline(one_forward_one_backward, [p, m, replicas], [4, 8], 9_000_000);
    let report = run_ideal(&workload, &defaults());
    assert_eq!(report.makespan.0, (u64::from(m + p - 1) * 12 + 12) * US);
    for (rank, times) in report.ranks.iter().enumerate() {
        let stage = rank as u64 % u64::from(p);
        assert_eq!(times.finish.0, report.makespan.0 - stage * 8 * US, "rank {rank}");
        assert_eq!(times.exposed.0, 12 * US);
    }
    let last = report.critical_path.steps.last().unwrap();
    assert_eq!((last.name.as_str(), last.to % p), ("gradients", 0));
}
