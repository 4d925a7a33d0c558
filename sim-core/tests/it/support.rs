//! Graphs and networks that the tests make themselves.

use chakra_et::graph::{Graph, Op, Origin, RankGraph, RankGraphBuilder};
use sim_core::topology::{Dimension, Topology, parse_astra_yaml};
use sim_core::{Conventions, Model, Report, Simulation};

/// The models that both conventions know, of those in which messages use a network.
pub(crate) const MODELS: [Model; 2] = [Model::Analytical, Model::LinkQueue];

/// The models in which messages use a network.
pub(crate) const NETWORK_MODELS: [Model; 3] = [Model::Analytical, Model::LinkQueue, Model::Fluid];

/// The ranks of a graph under construction.
pub(crate) struct Ranks(Vec<RankGraphBuilder>);

impl Ranks {
    pub(crate) fn new(count: u32) -> Self {
        Self((0..count).map(|_| RankGraph::builder()).collect())
    }

    pub(crate) fn push(&mut self, rank: u32, op: Op, deps: &[u32]) -> u32 {
        self.0[rank as usize].push(op, deps.iter().copied(), Origin::default()).unwrap()
    }

    pub(crate) fn send(&mut self, rank: u32, dst: u32, bytes: u64, deps: &[u32]) -> u32 {
        self.push(rank, Op::Send { dst, tag: 0, bytes }, deps)
    }

    pub(crate) fn recv(&mut self, rank: u32, src: u32, bytes: u64, deps: &[u32]) -> u32 {
        self.push(rank, Op::Recv { src, tag: 0, bytes }, deps)
    }

    pub(crate) fn comp(&mut self, rank: u32, micros: u64, deps: &[u32]) -> u32 {
        self.push(rank, Op::Comp { micros, ops: 0, bytes: 0 }, deps)
    }

    /// A SEND and its RECV, both without dependences.
    pub(crate) fn message(&mut self, src: u32, dst: u32, bytes: u64) {
        self.send(src, dst, bytes, &[]);
        self.recv(dst, src, bytes, &[]);
    }

    pub(crate) fn graph(self) -> Graph {
        Graph::new(self.0.into_iter().map(RankGraphBuilder::finish).collect())
    }
}

/// Ring all-reduce: n−1 steps of send, receive, reduce, then n−1 of send, receive; every node of a rank
/// depends on the one before.
pub(crate) fn ring_all_reduce(n: u32, chunk: u64, reduce_micros: u64) -> Graph {
    ring_of(n, |_| chunk, reduce_micros)
}

/// As [`ring_all_reduce`], with messages whose size depends on rank and step, counted together.
pub(crate) fn ring_all_reduce_of(n: u32, bytes: impl Fn(u64) -> u64) -> Graph {
    ring_of(n, bytes, 0)
}

fn ring_of(n: u32, bytes: impl Fn(u64) -> u64, reduce_micros: u64) -> Graph {
    let size = |rank: u32, step: u32| bytes(u64::from((rank * 7_919 + step * 104_729) % 4_096));
    let mut ranks = Ranks::new(n);
    for rank in 0..n {
        let mut last = Vec::new();
        for step in 0..2 * (n - 1) {
            let previous = (rank + n - 1) % n;
            last = vec![ranks.send(rank, (rank + 1) % n, size(rank, step), &last)];
            last = vec![ranks.recv(rank, previous, size(previous, step), &last)];
            if step < n - 1 {
                last = vec![ranks.comp(rank, reduce_micros, &last)];
            }
        }
    }
    ranks.graph()
}

/// Recursive halving and doubling: partners at distance n/2, …, 1 reduce halves, then the way back.
pub(crate) fn halving_doubling_all_reduce(n: u32, size: u64, reduce_micros: impl Fn(u64) -> u64) -> Graph {
    let mut ranks = Ranks::new(n);
    let halving: Vec<(u32, u64)> = (1..=n.ilog2()).map(|step| (n >> step, size >> step)).collect();
    for rank in 0..n {
        let mut last = Vec::new();
        let steps =
            halving.iter().map(|step| (step, true)).chain(halving.iter().rev().map(|step| (step, false)));
        for (&(distance, bytes), reduces) in steps {
            last = vec![ranks.send(rank, rank ^ distance, bytes, &last)];
            last = vec![ranks.recv(rank, rank ^ distance, bytes, &last)];
            if reduces {
                last = vec![ranks.comp(rank, reduce_micros(bytes), &last)];
            }
        }
    }
    ranks.graph()
}

/// All-reduce by direct messages: every rank reduces its chunk, then sends it to all; in rotating order.
pub(crate) fn direct_all_reduce(n: u32, chunk: u64) -> Graph {
    let mut ranks = Ranks::new(n);
    for rank in 0..n {
        let mut reduced = Vec::new();
        for phase in 0..2 {
            let after = if phase == 0 { Vec::new() } else { reduced.clone() };
            for step in 1..n {
                ranks.send(rank, (rank + step) % n, chunk, &after);
            }
            for step in 1..n {
                let message = ranks.recv(rank, (rank + n - step) % n, chunk, &[]);
                reduced.push(message);
            }
        }
    }
    ranks.graph()
}

/// Direct all-reduce as thread blocks, one for each peer in ascending order: send my part of the peer's chunk,
/// receive and reduce, one peer after the other from the next rank on; then exchange the results.
pub(crate) fn all_pairs_all_reduce(n: u32, chunk: u64, reduce_micros: u64) -> Graph {
    let mut ranks = Ranks::new(n);
    for rank in 0..n {
        // The nodes of the thread block for a peer begin at 5 times its place among the peers.
        let first = |peer: u32| 5 * if peer < rank { peer } else { peer - 1 };
        let reduced = |distance: u32| first((rank + distance) % n) + 2;
        let last = reduced(n - 1);
        for peer in (0..n).filter(|peer| *peer != rank) {
            let distance = (peer + n - rank) % n;
            let send = ranks.send(rank, peer, chunk, &[]);
            let before = if distance > 1 { vec![reduced(distance - 1), send] } else { vec![send] };
            let recv = ranks.recv(rank, peer, chunk, &before);
            let reduce = ranks.comp(rank, reduce_micros, &[recv]);
            let both = if reduce == last { vec![last] } else { vec![last, reduce] };
            let result = ranks.send(rank, peer, chunk, &both);
            ranks.recv(rank, peer, chunk, &[result]);
        }
    }
    ranks.graph()
}

/// One dimension by ASTRA-sim's name of it, read as an ASTRA-sim network file.
pub(crate) fn astra(name: &str, npus: u32, gb_per_s: f64, latency_ns: f64) -> Topology {
    let text = format!(
        "topology: [ {name} ]\nnpus_count: [ {npus} ]\nbandwidth: [ {gb_per_s} ]\nlatency: [ {latency_ns} ]\n"
    );
    parse_astra_yaml(&text, "network.yml", None).unwrap().topology
}

/// One dimension with links of 50 GB/s (SI).
pub(crate) fn one(
    kind: fn(u32, sim_core::units::Bandwidth, sim_core::units::Latency) -> Dimension,
    size: u32,
    latency: &str,
) -> Topology {
    Topology::new([kind(size, "50 GB/s".parse().unwrap(), latency.parse().unwrap())]).unwrap()
}

/// The finish times of the ranks in ns, under [analytical, link-queue].
pub(crate) fn finish_ns(topology: &Topology, conventions: Conventions, graph: &Graph) -> [Vec<f64>; 2] {
    MODELS.map(|model| {
        let report = simulate(topology, model, conventions, graph);
        report.finish.iter().map(|finish| finish.as_ns()).collect()
    })
}

/// The makespans in ns, under [analytical, link-queue].
pub(crate) fn makespan_ns(topology: &Topology, conventions: Conventions, graph: &Graph) -> [f64; 2] {
    MODELS.map(|model| simulate(topology, model, conventions, graph).makespan.as_ns())
}

pub(crate) fn simulate(topology: &Topology, model: Model, conventions: Conventions, graph: &Graph) -> Report {
    Simulation::new(topology).model(model).conventions(conventions).run(graph).unwrap()
}
