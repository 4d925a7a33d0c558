//! Speed and memory of whole training steps: a million nodes over 256 ranks, every collective a ring, on a fully connected
//! network, with the preparation of the run.
//!
//! `cargo bench -p sim-core --bench workload`; each in a process of its own gives the steadiest figures:
//! `cargo bench -p sim-core --bench workload -- fluid`.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex};

use chakra_et::graph::{Graph, Op, Origin, RankGraph};
use chakra_et::workload::{CollectiveKind, Cost, Workload, WorkloadBuilder};
use divan::Bencher;
use peak_alloc::PeakAlloc;
use sim_core::Model;
use sim_core::topology::{Dimension, Topology};
use sim_core::workload::{Algorithm, Algorithms, Choice, Use, WorkloadSimulation};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const RANKS: u32 = 256;
/// Ranks of a tensor-parallel group.
const TENSOR: u32 = 8;

fn main() {
    let workload = step(1000);
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let report = simulate(Model::Analytical, &workload, &Rings::default());
    println!(
        "{} nodes, {} messages: {:.0} MB for the run beside the {:.0} MB of the workload",
        workload.node_count(),
        report,
        (ALLOCATOR.peak_usage() - before) as f64 / 1e6,
        before as f64 / 1e6
    );
    divan::main();
}

#[divan::bench(args = [Model::Analytical, Model::LinkQueue, Model::Fluid], sample_count = 5, sample_size = 1)]
fn million_nodes(bencher: Bencher, model: Model) {
    let workload = step(1000);
    bencher.bench_local(|| simulate(model, &workload, &Rings::default()));
}

fn simulate(model: Model, workload: &Workload, algorithms: &dyn Algorithms) -> u64 {
    let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    let topology = Topology::new([Dimension::fully_connected(RANKS, bandwidth, latency)]).unwrap();
    let report = WorkloadSimulation::new(&topology).model(model).run(workload, algorithms).unwrap();
    report.delivered
}

/// So many layers of a product, an all-gather and a reduce-scatter in the tensor-parallel group and another product, and
/// for every fiftieth an all-reduce in the data-parallel group, beside the layers that follow.
fn step(layers: u32) -> Workload {
    let mut builder = WorkloadBuilder::new(RANKS);
    let mut number = 0;
    let mut group = |builder: &mut WorkloadBuilder, members: Vec<u32>| {
        number += 1;
        builder.group(number.to_string(), members).unwrap()
    };
    let tensor: Vec<u32> = (0..RANKS / TENSOR)
        .map(|at| group(&mut builder, (at * TENSOR..(at + 1) * TENSOR).collect()))
        .collect();
    let data: Vec<u32> =
        (0..TENSOR).map(|at| group(&mut builder, (at..RANKS).step_by(TENSOR as usize).collect())).collect();
    for rank in 0..RANKS {
        let (tensor, data) = (tensor[(rank / TENSOR) as usize], data[(rank % TENSOR) as usize]);
        let mut last = Vec::new();
        for layer in 0..layers {
            let first = builder.compute(rank, "product", Cost::micros(40), &last).unwrap();
            let gather = builder
                .collective(rank, "gather", CollectiveKind::AllGather, 1 << 20, tensor, &[first])
                .unwrap();
            let second = builder.compute(rank, "product", Cost::micros(40), &[gather]).unwrap();
            let scatter = builder
                .collective(rank, "scatter", CollectiveKind::ReduceScatter, 8 << 20, tensor, &[second])
                .unwrap();
            if layer % 50 == 49 {
                builder.collective(rank, "sum", CollectiveKind::AllReduce, 1 << 26, data, &[second]).unwrap();
            }
            last = vec![scatter];
        }
    }
    builder.finish()
}

/// Rings for everything.
#[derive(Default)]
struct Rings(Mutex<HashMap<(CollectiveKind, u32, u64), Arc<Algorithm>>>);

impl Algorithms for Rings {
    fn algorithm(&self, collective: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
        let (kind, ranks, bytes) = (collective.kind, collective.ranks(), collective.bytes);
        let mut known = self.0.lock().map_err(|error| error.to_string())?;
        let make = || Arc::new(Algorithm::new("ring", ring(kind, ranks, bytes)));
        Ok(Choice::new(known.entry((kind, ranks, bytes)).or_insert_with(make).clone()))
    }
}

fn ring(kind: CollectiveKind, ranks: u32, bytes: u64) -> Graph {
    let (steps, bytes) = match kind {
        CollectiveKind::AllReduce => (2 * (ranks - 1), bytes / u64::from(ranks)),
        CollectiveKind::AllGather => (ranks - 1, bytes),
        _ => (ranks - 1, bytes / u64::from(ranks)),
    };
    let of_rank = |rank: u32| {
        let mut nodes = RankGraph::builder();
        let (mut sent, mut received) = (None, None);
        let (dst, src) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        for _ in 0..steps {
            let deps = sent.into_iter().chain(received);
            sent = Some(nodes.push(Op::Send { dst, tag: 0, bytes }, deps, Origin::default()).unwrap());
            received = Some(nodes.push(Op::Recv { src, tag: 0, bytes }, [], Origin::default()).unwrap());
        }
        nodes.finish()
    };
    Graph::new((0..ranks).map(of_rank).collect())
}
