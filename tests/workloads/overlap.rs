//! Overlap by rule: computations around a collective begin and end chunk by chunk, and take what the hand calculation gives.

use chakra_et::workload::{CollectiveKind, Cost, NodeId, Workload, WorkloadBuilder};
use collective::chakra_et;
use collective::et::{self, EtOptions, NodeOrder};
use collective::prelude::*;
use collective::sim::Simulation;
use collective::sim::workload::{WorkloadReport, WorkloadSimulation};
use collective::workload::{Expander, Overlap, Rule, Rules};
use collective::{Schedule, Size};

use crate::support::*;

#[allow(dead_code)]
#[path = "../../examples/allgather_gemm.rs"]
mod allgather_gemm;
#[allow(dead_code)]
#[path = "../../examples/gemm_reduce_scatter.rs"]
mod gemm_reduce_scatter;

/// A ring that passes on C tiles of each part one after the other.
#[collective(reduce_scatter, in_place, chunks = tiles)]
fn scatter_in_tiles(p: &Program, ranks: usize, tiles: usize) {
    for stage in 0..ranks - 1 {
        for rank in 0..ranks {
            let (part, next) = ((rank + 2 * ranks - 1 - stage) % ranks, (rank + 1) % ranks);
            for k in 0..tiles {
                let index = part * tiles + k;
                p.chunk(next, Input, index).on_channel(0).reduce(p.chunk(rank, Input, index));
            }
        }
    }
}

#[collective(all_gather, in_place, chunks = tiles)]
fn gather_in_tiles(p: &Program, ranks: usize, tiles: usize) {
    for stage in 0..ranks - 1 {
        for rank in 0..ranks {
            let (part, next) = ((rank + ranks - stage) % ranks, (rank + 1) % ranks);
            for k in 0..tiles {
                let index = part * tiles + k;
                p.chunk(rank, Output, index).on_channel(0).copy_to(next, Output, index);
            }
        }
    }
}

/// Bytes that take 20 µs on an ideal link, and what a tile has.
const STEP: u64 = 20;
const TILE: u64 = STEP * US;

/// A product of p·C tiles of `c` µs before a reduce-scatter.
fn before_a_scatter(p: u64, tiles: u64, c: u64) -> Workload {
    let mut step = WorkloadBuilder::new(p as u32);
    for rank in 0..p as u32 {
        let product = step.compute(rank, "product", Cost::micros(p * tiles * c), &[]).unwrap();
        let bytes = p * tiles * TILE;
        step.collective(rank, "sum", CollectiveKind::ReduceScatter, bytes, 0, &[product]).unwrap();
    }
    step.finish()
}

/// A product of p·C tiles after an all-gather.
fn after_a_gather(p: u64, tiles: u64, c: u64) -> Workload {
    let mut step = WorkloadBuilder::new(p as u32);
    for rank in 0..p as u32 {
        let all = step.collective(rank, "gather", CollectiveKind::AllGather, tiles * TILE, 0, &[]).unwrap();
        step.compute(rank, "product", Cost::micros(p * tiles * c), &[all]).unwrap();
    }
    step.finish()
}

fn tiled(tiles: u64, overlap: Overlap) -> Expander {
    let rule = |name: &str| Rule::algorithm(name).set("tiles", tiles as usize).overlap(overlap);
    let rules = Rules::new().register(scatter_in_tiles::DEF).register(gather_in_tiles::DEF);
    let rules = rules.rule(rule("scatter_in_tiles")).rule(rule("gather_in_tiles"));
    // A thread block would send a tile of the first stage only after it had passed on one of the second.
    Expander::new(rules).unwrap().order(NodeOrder::Dataflow)
}

/// The same in the language: computations in the algorithm, on the same links.
fn in_the_language(schedule: &Schedule, ranks: u64, tiles: u64) -> u64 {
    let options =
        EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(ranks * tiles * TILE)) };
    let graph = et::graph(schedule, &options).unwrap();
    Simulation::new(&ideal(ranks as u32)).run(&graph).unwrap().makespan.0
}

#[test]
fn a_pipeline_of_tiles_takes_what_is_calculated_by_hand_and_what_the_language_gives() {
    let mut strict = 0;
    for (p, tiles) in [(2, 1), (2, 5), (3, 2), (4, 1), (5, 3), (8, 4)] {
        let topology = ideal(p as u32);
        for c in [1, 5, 10, 19, 20, 21, 40, 160] {
            let (computing, sending) = (p * tiles * c, (p - 1) * tiles * STEP);
            for (overlap, is_coarse) in [(Overlap::Both, false), (Overlap::None, true)] {
                let (ranks, count, micros) = (p as usize, tiles as usize, c as usize);
                let coarse = usize::from(is_coarse);
                let scatter = gemm_reduce_scatter::gemm_reduce_scatter::compile(ranks, count, micros, coarse);
                let gather = allgather_gemm::allgather_gemm::compile(ranks, count, micros, coarse);
                let cases = [
                    (
                        before_a_scatter(p, tiles, c),
                        scatter.unwrap(),
                        gemm_reduce_scatter::by_hand(p, tiles, c, STEP, is_coarse),
                    ),
                    (
                        after_a_gather(p, tiles, c),
                        gather.unwrap(),
                        allgather_gemm::by_hand(p, tiles, c, STEP, is_coarse),
                    ),
                ];
                for (workload, schedule, wanted) in &cases {
                    let case = format!("{p} ranks, {tiles} tiles, c = {c}, {overlap:?}: {}", schedule.name);
                    assert_eq!(in_the_language(schedule, p, tiles), wanted * US, "{case}");
                    for model in MODELS {
                        let simulation = WorkloadSimulation::new(&topology).model(model);
                        let report = run(&simulation, workload, &tiled(tiles, overlap));
                        assert_eq!(report.makespan.0, wanted * US, "{case}, {model}");
                        assert!(
                            report
                                .ranks
                                .iter()
                                .all(|rank| rank.compute.0 + rank.overlapped.0 == computing * US)
                        );
                    }
                    assert!((computing.max(sending)..=computing + sending).contains(wanted), "{case}");
                    strict += u32::from(*wanted < computing + sending);
                }
            }
        }
    }
    assert!(strict >= 60, "{strict}");
}

/// The library's rings have a chunk for each rank: a tile is a rank's part.
#[test]
fn the_librarys_rings_overlap_in_as_many_tiles_as_there_are_ranks() {
    let kinds = [CollectiveKind::AllGather, CollectiveKind::ReduceScatter];
    let with = |overlap| expander([Rule::default_algorithm().kinds(kinds).overlap(overlap)]);
    for p in [2, 3, 4, 7, 8] {
        for c in [1, 20, 33] {
            let scatter = gemm_reduce_scatter::by_hand(p, 1, c, STEP, false) * US;
            let gather = allgather_gemm::by_hand(p, 1, c, STEP, false) * US;
            let coarse = (p * c + (p - 1) * STEP) * US;
            let time = |workload: &Workload, overlap| run_ideal(workload, &with(overlap)).makespan.0;
            let (before, after) = (before_a_scatter(p, 1, c), after_a_gather(p, 1, c));
            // Each rule is for what comes before, or for what comes after.
            assert_eq!(time(&before, Overlap::Producers), scatter, "{p} {c}");
            assert_eq!(time(&before, Overlap::Consumers), coarse, "{p} {c}");
            assert_eq!(time(&after, Overlap::Consumers), gather, "{p} {c}");
            assert_eq!(time(&after, Overlap::Producers), coarse, "{p} {c}");
        }
    }
}

/// Layers of gather, product, product, scatter.
fn layers(p: u32, count: u32, [c, d]: [u64; 2], bytes: u64) -> Workload {
    let mut step = WorkloadBuilder::new(p);
    for rank in 0..p {
        let mut last: Vec<NodeId> = vec![];
        for _ in 0..count {
            let all = step.collective(rank, "gather", CollectiveKind::AllGather, bytes, 0, &last).unwrap();
            let up = step.compute(rank, "up", Cost::micros(c), &[all]).unwrap();
            let down = step.compute(rank, "down", Cost::micros(d), &[up]).unwrap();
            let kind = CollectiveKind::ReduceScatter;
            last = vec![step.collective(rank, "scatter", kind, bytes * u64::from(p), 0, &[down]).unwrap()];
        }
    }
    step.finish()
}

/// Whatever the ratio: never less than all computing or all communicating, and never more than one after the other. Finer is
/// never slower on links that nobody else uses.
#[test]
fn overlap_stays_between_its_bounds() {
    let both = expander([Rule::default_algorithm().overlap(Overlap::Both)]);
    for (p, count) in [(2, 3), (3, 2), (5, 4), (8, 2)] {
        for (c, d) in [(1, 1), (30, 2), (7, 90), (1000, 1000)] {
            let bytes = 13_000_000;
            let workload = layers(p, count, [c, d], bytes);
            let fine = run_ideal(&workload, &both);
            let coarse = run_ideal(&workload, &defaults());
            let computing = u64::from(count) * (c + d) * US;
            let sending = u64::from(2 * count * (p - 1)) * bytes;
            assert_eq!(coarse.makespan.0, computing + sending);
            let least = computing.max(sending);
            assert!(
                (least..=coarse.makespan.0).contains(&fine.makespan.0),
                "{p} {count} {c} {d}: {}",
                fine.makespan
            );
            let exposed = |report: &WorkloadReport| report.ranks[0].exposed;
            assert!(exposed(&fine) < exposed(&coarse));
            assert_eq!((fine.delivered, fine.bytes), (coarse.delivered, coarse.bytes));
        }
    }
}
