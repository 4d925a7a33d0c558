//! Computation and messages of one graph overlap chunk by chunk, and take what the hand calculation gives.

use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::{Model, Simulation};
use collective::{Schedule, Size};

#[allow(dead_code)]
#[path = "../examples/allgather_gemm.rs"]
mod allgather_gemm;
#[allow(dead_code)]
#[path = "../examples/gemm_reduce_scatter.rs"]
mod gemm_reduce_scatter;

/// Microseconds of a message: 19 for its bytes, and the latency.
const STEP: u64 = 20;

fn time(schedule: &Schedule, model: Model) -> Picos {
    let ranks = schedule.ranks.len();
    let link = ("1 GB/s".parse().unwrap(), "1 us".parse().unwrap());
    let topology = Topology::new([Dimension::ring(ranks as u32, link.0, link.1)]).unwrap();
    let chunks = schedule.collective.logical_chunks() as u64;
    let size = Size::bytes(19_000 * chunks);
    let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(size) };
    let graph = et::graph(schedule, &options).unwrap();
    Simulation::new(&topology).model(model).run(&graph).unwrap().makespan
}

/// A product of p·C tiles feeds a reduce-scatter, and gathered tiles feed a product, for several ratios of compute time c to step time t.
#[test]
fn the_pipeline_takes_what_the_hand_calculation_gives() {
    let mut strict = 0;
    for (ranks, tiles) in [(2, 1), (2, 5), (3, 2), (4, 1), (5, 3), (8, 4)] {
        for c in [0, 1, 5, 10, 19, 20, 21, 40, 160] {
            for (coarse, is_coarse) in [(0, false), (1, true)] {
                let scatter =
                    gemm_reduce_scatter::gemm_reduce_scatter::compile(ranks, tiles, c, coarse).unwrap();
                let gather = allgather_gemm::allgather_gemm::compile(ranks, tiles, c, coarse).unwrap();
                let (p, chunks, c) = (ranks as u64, tiles as u64, c as u64);
                let wanted = [
                    gemm_reduce_scatter::by_hand(p, chunks, c, STEP, is_coarse),
                    allgather_gemm::by_hand(p, chunks, c, STEP, is_coarse),
                ];
                let (computing, sending) = (p * chunks * c, (p - 1) * chunks * STEP);
                for (schedule, wanted) in [scatter, gather].iter().zip(wanted) {
                    for model in [Model::Analytical, Model::LinkQueue, Model::Fluid] {
                        let took = time(schedule, model);
                        assert_eq!(
                            took,
                            Picos(wanted * 1_000_000),
                            "{} {ranks} {tiles} {c} {model:?}",
                            schedule.name
                        );
                        // Never less than either alone, and never more than one after the other.
                        let took = took.0 / 1_000_000;
                        assert!((computing.max(sending)..=computing + sending).contains(&took));
                        strict += u32::from(took < computing + sending);
                    }
                }
            }
        }
    }
    assert!(strict > 200, "{strict}");
}

/// Three ranks, two tiles a part, c = 30, t = 20, worked out event by event: rank r computes tiles at 30, 60, …, 180. Messages of
/// the first stage leave at 30 and 60, those of the second, whose tiles are there at 90 and 120, at 90 and 120; the last arrives
/// at 140; the own tiles are there at 150 and 180. With c = 10: messages leave at 10, 30, 50, 70, the last arrives at 90.
#[test]
fn two_cases_by_hand() {
    let scatter = |c| gemm_reduce_scatter::gemm_reduce_scatter::compile(3, 2, c, 0).unwrap();
    assert_eq!(time(&scatter(30), Model::LinkQueue), Picos(180_000_000));
    assert_eq!(time(&scatter(10), Model::LinkQueue), Picos(90_000_000));
    // Gathered: own tiles until 2c, the others arrive at 20, 40, 60, 80.
    let gather = |c| allgather_gemm::allgather_gemm::compile(3, 2, c, 0).unwrap();
    assert_eq!(time(&gather(30), Model::LinkQueue), Picos(180_000_000));
    assert_eq!(time(&gather(10), Model::LinkQueue), Picos(90_000_000));
}

/// With thread blocks in order, as a GPU runs them, a tile leaves as soon as it is computed as well.
#[test]
fn thread_blocks_overlap_too() {
    let schedule = gemm_reduce_scatter::gemm_reduce_scatter::compile(4, 3, 20, 0).unwrap();
    let topology =
        Topology::new([Dimension::ring(4, "1 GB/s".parse().unwrap(), "1 us".parse().unwrap())]).unwrap();
    let graph = et::graph(&schedule, &EtOptions::new(Size::bytes(19_000 * 12))).unwrap();
    let took = Simulation::new(&topology).model(Model::LinkQueue).run(&graph).unwrap().makespan;
    assert_eq!(took, Picos(gemm_reduce_scatter::by_hand(4, 3, 20, 20, false) * 1_000_000));
}

#[test]
fn the_algorithms_are_right_for_every_number_of_ranks() {
    collective::assert_correct!(
        gemm_reduce_scatter::gemm_reduce_scatter,
        ranks = 1..=7,
        tiles = [1, 3],
        micros = [0, 4],
        coarse = [0, 1]
    );
    collective::assert_correct!(
        allgather_gemm::allgather_gemm,
        ranks = 1..=7,
        tiles = [1, 3],
        micros = [0, 4],
        coarse = [0, 1]
    );
}

#[test]
fn the_examples_run() {
    gemm_reduce_scatter::main().unwrap();
    allgather_gemm::main().unwrap();
}
