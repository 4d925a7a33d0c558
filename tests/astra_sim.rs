//! As someone who trusts ASTRA-sim I want the same times from here, to the nanosecond.
//!
//! The expected figures are ASTRA-sim's own results; the traces are compiled here from the library, or from programs below.
//!
//! Counted once for each graph, network and backend, this file and `sim-core/tests/it/astra_sim.rs` hold 71 makespans of
//! algorithms run as custom collectives; `sim-core/tests/it/workload.rs` holds two runs as a workload, 8 finish times each.

use collective::Buffer::Output;
use collective::CollectiveKind::{AllGather, AllReduce, ReduceScatter};
use collective::algorithms::*;
use collective::et::{self, EtOptions, ReduceRate};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::{Bandwidth, Latency};
use collective::sim::{Conventions, Model, Simulation};
use collective::{CollectiveKind, Program, Schedule, Setting, Size, compile};

fn build(kind: CollectiveKind, ranks: usize, chunks: usize, program: impl FnOnce(&Program)) -> Schedule {
    let setting = Setting { in_place: true, chunks: Some(chunks), ..Setting::new("test", kind, ranks) };
    compile(&setting.trace("", program).unwrap()).unwrap()
}

fn ring(n: usize) -> Schedule {
    build(AllReduce, n, n, |p| allreduce_ring(p, n, 1))
}

fn halving_doubling(n: usize) -> Schedule {
    build(AllReduce, n, n, |p| allreduce_recursive_halving_doubling(p, n))
}

/// A dimension as ASTRA-sim's YAML states it: 1 GB/s is 2^30 bytes per second.
fn dimension(kind: &str, size: u32, gb_per_s: f64, latency_ns: f64) -> Dimension {
    let bandwidth = Bandwidth::from_bytes_per_s(gb_per_s * f64::from(1 << 30)).unwrap();
    let latency = Latency::from_ns(latency_ns).unwrap();
    match kind {
        "Ring" => Dimension::ring(size, bandwidth, latency),
        "Switch" => Dimension::switch(size, bandwidth, latency),
        _ => Dimension::fully_connected(size, bandwidth, latency),
    }
}

fn time_ns(schedule: &Schedule, size: u64, rate: ReduceRate, topology: &Topology, model: Model) -> u64 {
    let options = EtOptions { reduce_rate: rate, ..EtOptions::new(Size::bytes(size)) };
    let graph = et::graph(schedule, &options).unwrap();
    let simulation = Simulation::new(topology).model(model).conventions(Conventions::AstraSim);
    let report = simulation.run(&graph).unwrap();
    assert!(report.makespan.0.is_multiple_of(1000), "whole nanoseconds");
    report.makespan.0 / 1000
}

/// The times in both models, link-queue first, on one dimension.
fn both(
    schedule: &Schedule,
    size: u64,
    rate: ReduceRate,
    (kind, gb_per_s, latency): (&str, f64, f64),
) -> [u64; 2] {
    let ranks = schedule.ranks.len() as u32;
    let topology = Topology::new([dimension(kind, ranks, gb_per_s, latency)]).unwrap();
    [Model::LinkQueue, Model::Analytical].map(|model| time_ns(schedule, size, rate, &topology, model))
}

/// The time of the analytical model on several dimensions.
fn product(schedule: &Schedule, size: u64, dimensions: &[(&str, u32, f64, f64)]) -> u64 {
    let dimensions = dimensions.iter().map(|(kind, size, gb, ns)| dimension(kind, *size, *gb, *ns));
    let topology = Topology::new(dimensions).unwrap();
    time_ns(schedule, size, ReduceRate::CollectiveApi, &topology, Model::Analytical)
}

const MIB: u64 = 1 << 20;
const RING: (&str, f64, f64) = ("Ring", 50.0, 500.0);
const SWITCH: (&str, f64, f64) = ("Switch", 50.0, 500.0);
const FULLY_CONNECTED: (&str, f64, f64) = ("FullyConnected", 50.0, 500.0);

#[test]
fn a_ring_of_eight_takes_fourteen_rounds_and_seven_reductions() {
    let ring = ring(8);
    for links in [RING, FULLY_CONNECTED] {
        // 14 × 2,941 + 7 × 1
        assert_eq!(both(&ring, MIB, ReduceRate::Free, links), [41_181, 41_181], "{links:?}");
        // 14 × 2,941 + 7 × 7,000: the example that ASTRA-sim ships
        assert_eq!(both(&ring, MIB, ReduceRate::CollectiveApi, links), [90_174, 90_174], "{links:?}");
    }
    assert_eq!(both(&ring, MIB, ReduceRate::Free, SWITCH), [82_355, 48_181]);
    assert_eq!(both(&ring, MIB, ReduceRate::CollectiveApi, SWITCH), [131_348, 97_174]);
}

#[test]
fn a_ring_of_sixteen_over_64_mebibytes() {
    let (ring, rate) = (ring(16), ReduceRate::CollectiveApi);
    assert_eq!(both(&ring, 64 * MIB, rate, RING), [6_123_750, 6_123_750]);
    assert_eq!(both(&ring, 64 * MIB, rate, FULLY_CONNECTED), [6_123_750, 6_123_750]);
    assert_eq!(both(&ring, 64 * MIB, rate, SWITCH), [8_482_500, 6_138_750]);
    assert_eq!(
        product(&ring, 64 * MIB, &[("Switch", 8, 400.0, 936.25), ("Ring", 2, 50.0, 1000.0)]),
        4_114_140
    );
    let three = [("Ring", 2, 200.0, 50.0), ("FullyConnected", 2, 100.0, 500.0), ("Switch", 4, 50.0, 2000.0)];
    assert_eq!(product(&ring, 64 * MIB, &three), 4_352_430);
}

#[test]
fn recursive_halving_doubling() {
    let rate = ReduceRate::CollectiveApi;
    let eight = halving_doubling(8);
    assert_eq!(both(&eight, MIB, rate, RING), [162_530, 94_176]);
    assert_eq!(both(&eight, MIB, rate, SWITCH), [127_352, 93_176]);
    assert_eq!(both(&eight, MIB, rate, FULLY_CONNECTED), [90_176, 90_176]);
    assert_eq!(both(&eight, MIB, rate, ("Switch", 400.0, 936.25)), [72_772, 68_504]);
    let sixteen = halving_doubling(16);
    assert_eq!(both(&sixteen, 64 * MIB, rate, FULLY_CONNECTED), [6_120_750, 6_120_750]);
    let four = halving_doubling(4);
    assert_eq!(both(&four, 4096, rate, ("Ring", 80.0, 1000.0)), [6_116, 6_070]);
    assert_eq!(both(&four, 4096, rate, ("Switch", 80.0, 1000.0)), [8_138, 8_070]);
    let thirty_two = halving_doubling(32);
    assert_eq!(both(&thirty_two, 65_536, rate, RING), [58_000, 34_366]);
    assert_eq!(both(&thirty_two, 65_536, rate, FULLY_CONNECTED), [8_366, 8_366]);
    let product = |dimensions: &[_]| product(&thirty_two, 65_536, dimensions);
    assert_eq!(product(&[("Ring", 4, 80.0, 1000.0), ("Ring", 8, 80.0, 1000.0)]), 22_476);
    assert_eq!(product(&[("Switch", 8, 400.0, 936.25), ("Ring", 4, 50.0, 1000.0)]), 20_134);
    assert_eq!(
        product(&[
            ("Ring", 2, 200.0, 50.0),
            ("FullyConnected", 4, 100.0, 500.0),
            ("Switch", 4, 50.0, 2000.0)
        ]),
        21_180
    );
}

#[test]
fn all_gather_and_reduce_scatter_rings() {
    let gather = build(AllGather, 8, 1, |p| allgather_ring(p, 8, 1));
    let rate = ReduceRate::CollectiveApi;
    assert_eq!(both(&gather, MIB, rate, RING), [20_587, 20_587]);
    assert_eq!(both(&gather, MIB, rate, FULLY_CONNECTED), [20_587, 20_587]);
    assert_eq!(both(&gather, MIB, rate, SWITCH), [41_174, 24_087]);
    let scatter = build(ReduceScatter, 8, 1, |p| reduce_scatter_ring(p, 8, 1));
    assert_eq!(both(&scatter, MIB, rate, RING), [69_587, 69_587]);
    assert_eq!(both(&scatter, MIB, rate, FULLY_CONNECTED), [69_587, 69_587]);
    assert_eq!(both(&scatter, MIB, rate, SWITCH), [90_174, 73_087]);
}

#[test]
fn all_gather_by_doubling() {
    let doubling = |n: usize| {
        build(AllGather, n, 1, |p| {
            let mut distance = 1;
            while distance < n {
                for rank in 0..n {
                    let held = rank / distance * distance;
                    p.chunks(rank, Output, held, distance).copy_to(rank ^ distance, Output, held);
                }
                distance *= 2;
            }
        })
    };
    let rate = ReduceRate::CollectiveApi;
    assert_eq!(both(&doubling(8), MIB, rate, SWITCH), [37_176, 20_088]);
    let sixteen = doubling(16);
    assert_eq!(both(&sixteen, 16 * 99_991, rate, RING), [165_798, 35_434]);
    assert_eq!(both(&sixteen, 16 * 99_991, rate, SWITCH), [59_868, 31_934]);
}

#[test]
fn all_gather_by_direct_messages() {
    let direct = build(AllGather, 8, 1, |p| {
        for rank in 0..8 {
            for peer in (0..8).filter(|peer| *peer != rank) {
                p.chunk(rank, Output, rank).copy_to(peer, Output, rank);
            }
        }
    });
    let rate = ReduceRate::CollectiveApi;
    assert_eq!(both(&direct, MIB, rate, FULLY_CONNECTED), [2_941, 2_941]);
    // Messages meet on links: the results in ascending order of nodes.
    assert_eq!(both(&direct, MIB, rate, SWITCH), [35_174, 3_441]);
    assert_eq!(both(&direct, MIB, rate, RING), [25_410, 4_441]);
}
