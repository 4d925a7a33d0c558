//! The model machine: ring all-reduces of 1 GiB over 8 channels, of one rank for all and of all ranks.
//!
//! `cargo bench -p sim-core --bench machine`; the graph of the first rank is built outside of the measurement, and so is that of all
//! ranks. The figures are those of no machine in particular.

use chakra_et::graph::{CollectiveInfo, Op, Origin, RankGraph, StepRef, SymmetricGraph, Symmetry};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use sim_core::Simulation;
use sim_core::machine::{Costs, Machine, Protocol};
use sim_core::topology::{Dimension, Topology};
use sim_core::units::Bytes;

fn main() {
    divan::main();
}

const SIZE: u64 = 1 << 30;
const CHANNELS: u32 = 8;

/// Rank 0 of the rings, a thread block each, in waves.
fn rings(ranks: u32) -> SymmetricGraph {
    let bytes = SIZE / u64::from(ranks * CHANNELS);
    let (mut nodes, mut last) = (RankGraph::builder(), [None; CHANNELS as usize]);
    for step in 0..2 * ranks - 1 {
        for (tag, last) in (0..).zip(&mut last) {
            let at = StepRef { thread_block: tag, step };
            let recv = (step > 0).then_some(Op::Recv { src: ranks - 1, tag, bytes });
            let reduce = (1..ranks).contains(&step).then_some(Op::Comp { micros: 0, ops: bytes, bytes });
            let send = (step + 1 < 2 * ranks - 1).then_some(Op::Send { dst: 1, tag, bytes });
            for op in [recv, reduce, send].into_iter().flatten() {
                *last = nodes.push(op, *last, Origin { step: Some(at), source: None }).ok();
            }
        }
    }
    let mut info = CollectiveInfo::default();
    (info.size_bytes, info.chunks) = (SIZE, u64::from(ranks * CHANNELS));
    let graph = SymmetricGraph::new(Symmetry::rotation(ranks), nodes.finish()).expect("peers below");
    graph.with_info(info)
}

fn machine() -> Machine {
    let mut costs = Costs::free();
    costs.launch = "5 us".parse().expect("a time");
    costs.step = "1 us".parse().expect("a time");
    costs.latency = "500 ns".parse().expect("a time");
    (costs.copy, costs.reduce) = ("25 GB/s".parse().ok(), "20 GB/s".parse().ok());
    (costs.slices, costs.slots, costs.piece) = (2, Some(8), Some(Bytes(1 << 20)));
    Machine::new("bench").with(Protocol::Simple, costs)
}

type Kind = fn(u32, sim_core::units::Bandwidth, sim_core::units::Latency) -> Dimension;

const SWITCH: Kind = Dimension::switch;
const RING: Kind = Dimension::ring;

fn run(bencher: Bencher, ranks: u32, network: &str, fold: bool) {
    let kind = if network == "switch" { SWITCH } else { RING };
    let dimension =
        kind(ranks, "50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"));
    let topology = Topology::new([dimension]).expect("a topology");
    let (machine, graph) = (machine(), rings(ranks));
    let simulation = Simulation::new(&topology).machine(&machine);
    let folded = simulation.run_symmetric(&graph).expect("a report");
    let counter = ItemsCount::new(folded.messages);
    if fold {
        bencher.counter(counter).bench_local(|| simulation.run_symmetric(black_box(&graph)));
    } else {
        let (simulation, graph) = (simulation.fold(false), graph.expand());
        bencher.counter(counter).bench_local(|| simulation.run(black_box(&graph)));
    }
}

#[divan::bench(args = ["switch", "ring"], sample_count = 5, sample_size = 1)]
fn ring_1024_folded(bencher: Bencher, network: &str) {
    run(bencher, 1024, network, true);
}

/// The chunks of 1 MiB are moved in one round of the loop over the buffer.
#[divan::bench(args = ["switch", "ring"], sample_count = 3, sample_size = 1)]
fn ring_128_each(bencher: Bencher, network: &str) {
    run(bencher, 128, network, false);
}
