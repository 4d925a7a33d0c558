//! Messages a second of each model, on graphs of collectives.
//!
//! `cargo bench -p sim-core`; the graph is built outside of the measurement, the run's own preparation
//! (checks, connections, lanes, routes) is inside. Nothing is folded, unless it says so.

use chakra_et::graph::{Graph, Op, Origin, RankGraph, SymmetricGraph, Symmetry};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use sim_core::topology::{Dimension, FatTree, LeafSpine, LinkSpec, Routing, Topology};
use sim_core::{Model, Simulation};

fn main() {
    divan::main();
}

/// 2(n−1) steps of send, receive and, in the first half, reduce, all in one chain; the size of a message
/// is given by rank and step.
fn ring(n: u32, bytes: impl Fn(u32, u32) -> u64) -> Graph {
    let ranks = (0..n).map(|rank| {
        let mut graph = RankGraph::builder();
        let mut last = None;
        for step in 0..2 * (n - 1) {
            let (next, previous) = ((rank + 1) % n, (rank + n - 1) % n);
            let send = Op::Send { dst: next, tag: 0, bytes: bytes(rank, step) };
            let recv = Op::Recv { src: previous, tag: 0, bytes: bytes(previous, step) };
            let comp = Op::Comp { micros: 0, ops: 1, bytes: bytes(previous, step) };
            for op in [send, recv, comp].into_iter().take(if step < n - 1 { 3 } else { 2 }) {
                last = graph.push(op, last, Origin::default()).ok();
            }
        }
        graph.finish()
    });
    Graph::new(ranks.collect())
}

/// Everyone to everyone at once; the size of a message is given by source and destination.
fn all_pairs(n: u32, bytes: impl Fn(u32, u32) -> u64) -> Graph {
    let ranks = (0..n).map(|rank| {
        let mut graph = RankGraph::builder();
        for step in 1..n {
            let (dst, src) = ((rank + step) % n, (rank + n - step) % n);
            let send = Op::Send { dst, tag: 0, bytes: bytes(rank, dst) };
            let recv = Op::Recv { src, tag: 0, bytes: bytes(src, rank) };
            for op in [send, recv] {
                let _ = graph.push(op, [], Origin::default());
            }
        }
        graph.finish()
    });
    Graph::new(ranks.collect())
}

type Kind = fn(u32, sim_core::units::Bandwidth, sim_core::units::Latency) -> Dimension;

fn run(bencher: Bencher, kind: Kind, model: Model, graph: &Graph) {
    let topology = topology(kind, graph);
    let simulation = Simulation::new(&topology).model(model).fold(false);
    let messages = simulation.run(graph).expect("a report").messages;
    bencher.counter(ItemsCount::new(messages)).bench_local(|| simulation.run(black_box(graph)));
}

fn topology(kind: Kind, graph: &Graph) -> Topology {
    let bandwidth = "50 GB/s".parse().expect("a bandwidth");
    let dimension = kind(graph.rank_count() as u32, bandwidth, "500 ns".parse().expect("a latency"));
    Topology::new([dimension]).expect("a topology")
}

/// Those that execute messages; the model machine has a bench of its own.
const MODELS: [Model; 4] = [Model::Analytical, Model::LinkQueue, Model::Fluid, Model::LogGp];

#[divan::bench(args = MODELS)]
fn ring_256_lock_step(bencher: Bencher, model: Model) {
    run(bencher, Dimension::ring, model, &ring(256, |_, _| 262_144));
}

#[divan::bench(args = MODELS)]
fn ring_256_jitter(bencher: Bencher, model: Model) {
    let size = |rank: u32, step: u32| 262_144 + u64::from((rank * 7_919 + step * 104_729) % 4_096);
    run(bencher, Dimension::ring, model, &ring(256, size));
}

#[divan::bench(args = MODELS, sample_count = 10)]
fn ring_1024_lock_step(bencher: Bencher, model: Model) {
    run(bencher, Dimension::ring, model, &ring(1024, |_, _| 65_536));
}

#[divan::bench(args = MODELS, sample_count = 20)]
fn all_pairs_512_on_a_switch(bencher: Bencher, model: Model) {
    run(bencher, Dimension::switch, model, &all_pairs(512, |_, _| 65_536));
}

/// Sizes of all kinds, between 64 and 113 KiB.
fn uneven(src: u32, dst: u32) -> u64 {
    65_536 + u64::from(src * 7_919 + dst * 104_729) % 50_000
}

/// Everyone to everyone, one message of a rank after the other.
fn pairwise(n: u32, bytes: impl Fn(u32, u32) -> u64) -> Graph {
    let ranks = (0..n).map(|rank| {
        let mut graph = RankGraph::builder();
        let mut last = None;
        for step in 1..n {
            let (dst, src) = ((rank + step) % n, (rank + n - step) % n);
            let send = Op::Send { dst, tag: 0, bytes: bytes(rank, dst) };
            last = graph.push(send, last, Origin::default()).ok();
            let recv = Op::Recv { src, tag: 0, bytes: bytes(src, rank) };
            let _ = graph.push(recv, [], Origin::default());
        }
        graph.finish()
    });
    Graph::new(ranks.collect())
}

/// Of `chunks` chunks each: everyone to everyone within the nodes of `n` ranks, a ring along each of the `n` rails, and again
/// everyone to everyone within the nodes.
fn hierarchical(n: u32, chunks: u32) -> Graph {
    let ranks = (0..n * n).map(|rank| {
        let mut graph = RankGraph::builder();
        let (node, gpu) = (rank / n, rank % n);
        let within = |distance: u32| node * n + (gpu + distance) % n;
        let on_rail = |distance: u32| (node + distance) % n * n + gpu;
        for chunk in 0..chunks {
            let bytes = 1_048_576 + u64::from(chunk) * 1_024;
            let mut last = Vec::new();
            for phase in 0..2 {
                let tag = 3 * chunk + phase;
                let mut received = Vec::new();
                for distance in 1..n {
                    let send = Op::Send { dst: within(distance), tag, bytes };
                    let _ = graph.push(send, last.iter().copied(), Origin::default());
                    let recv = Op::Recv { src: within(n - distance), tag, bytes };
                    received.extend(graph.push(recv, [], Origin::default()));
                }
                last = received;
                for _ in 0..if phase == 0 { 2 * (n - 1) } else { 0 } {
                    let (tag, bytes) = (3 * chunk + 2, bytes / u64::from(n));
                    let send = Op::Send { dst: on_rail(1), tag, bytes };
                    let recv = Op::Recv { src: on_rail(n - 1), tag, bytes };
                    let both = [send, recv].map(|op| graph.push(op, last.iter().copied(), Origin::default()));
                    last = both.into_iter().flatten().collect();
                }
            }
        }
        graph.finish()
    });
    Graph::new(ranks.collect())
}

/// Fair sharing where many flows have to do with each other; the messages a second are very different.
#[divan::bench(args = [
    "switch 64 equal", "switch 64 uneven", "switch 64 pairwise", "switch 256 equal", "leaf-spine 64 equal",
    "leaf-spine 64 uneven", "leaf-spine 64 halving", "2:1 64 uneven", "fat-tree 128 equal", "fat-tree 128 pairwise",
    "fat-tree 128 halving", "rails 64 hierarchical", "rails 64 uneven", "torus 64 uneven",
], sample_count = 5, sample_size = 1)]
fn fair_sharing(bencher: Bencher, case: &str) {
    let link = LinkSpec::new("50 GB/s".parse().expect("a bandwidth"), "500 ns".parse().expect("a latency"));
    let switch = |ranks| Dimension::switch(ranks, link.bandwidth, link.latency);
    let tree = |spines| LeafSpine {
        leaves: 8,
        hosts: 8,
        spines,
        host: link,
        uplink: link,
        routing: Routing::default(),
    };
    let (network, traffic) = case.rsplit_once(' ').expect("a network and its traffic");
    let topology = match network {
        "switch 64" => Topology::new([switch(64)]),
        "switch 256" => Topology::new([switch(256)]),
        "leaf-spine 64" => tree(8).build(),
        "2:1 64" => tree(4).build(),
        "fat-tree 128" => FatTree::k_ary(8, link).and_then(FatTree::build),
        "rails 64" => {
            let node = Dimension { bandwidth: "450 GB/s".parse().expect("a bandwidth"), ..switch(8) };
            Topology::new([node, switch(8)])
        }
        _ => Topology::torus([8, 8], link),
    };
    let topology = topology.expect("a topology");
    let ranks = topology.rank_count();
    let graph = match traffic {
        "equal" => all_pairs(ranks, |_, _| 65_536),
        "uneven" => all_pairs(ranks, uneven),
        "pairwise" => pairwise(ranks, uneven),
        "halving" => halving_doubling(ranks).expand(),
        _ => hierarchical(8, 8),
    };
    let simulation = Simulation::new(&topology).model(Model::Fluid);
    let messages = simulation.run(&graph).expect("a report").messages;
    bencher.counter(ItemsCount::new(messages)).bench_local(|| simulation.run(black_box(&graph)));
}

/// 4.2 million messages in one thread and in two, which share windows of time.
#[divan::bench(args = [(Model::LinkQueue, 1), (Model::LinkQueue, 2), (Model::Fluid, 1), (Model::Fluid, 2)], sample_count = 5)]
fn ring_1448_in_threads(bencher: Bencher, (model, threads): (Model, usize)) {
    let graph = ring(1448, |_, _| 65_536);
    let topology = topology(Dimension::ring, &graph);
    let simulation = Simulation::new(&topology).model(model);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let in_pool = || pool.install(|| simulation.run(black_box(&graph)));
    let messages = in_pool().expect("a report").messages;
    bencher.counter(ItemsCount::new(messages)).bench_local(in_pool);
}

/// The work grows in proportion to the messages: 2.1 and 33.5 million.
#[divan::bench(args = [1024, 4096], sample_count = 3)]
fn ring_growth_contention_free(bencher: Bencher, ranks: u32) {
    run(bencher, Dimension::ring, Model::Analytical, &ring(ranks, |_, _| 65_536));
}

#[divan::bench(args = [1024, 4096], sample_count = 1)]
fn ring_growth_link_queue(bencher: Bencher, ranks: u32) {
    run(bencher, Dimension::ring, Model::LinkQueue, &ring(ranks, |_, _| 65_536));
}

/// Rank 0 of a recursive halving and doubling.
fn halving_doubling(ranks: u32) -> SymmetricGraph {
    let mut graph = RankGraph::builder();
    let mut last = None;
    let rounds = ranks.ilog2();
    for round in (0..rounds).rev().chain(0..rounds) {
        let (peer, bytes) = (1 << round, 65_536 << round);
        for op in [Op::Send { dst: peer, tag: 0, bytes }, Op::Recv { src: peer, tag: 0, bytes }] {
            last = graph.push(op, last, Origin::default()).ok();
        }
    }
    SymmetricGraph::new(Symmetry::xor(ranks).expect("a power of two"), graph.finish()).expect("peers below")
}

/// 131,072 ranks on a switch, building the graph included: one for all, and each.
#[divan::bench(args = [true, false], sample_count = 3)]
fn halving_doubling_131_072(bencher: Bencher, fold: bool) {
    let ranks = 1 << 17;
    let bandwidth = "50 GB/s".parse().expect("a bandwidth");
    let switch = Dimension::switch(ranks, bandwidth, "500 ns".parse().expect("a latency"));
    let topology = Topology::new([switch]).expect("a topology");
    let simulation = Simulation::new(&topology).model(Model::Analytical).fold(fold);
    bencher.bench_local(|| simulation.run_symmetric(&halving_doubling(ranks)));
}
