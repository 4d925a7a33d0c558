//! A run takes at most 64 bytes a message beside the graph, whatever the engine.

use chakra_et::graph::{Graph, Op, Origin, RankGraph};
use peak_alloc::PeakAlloc;
use sim_core::topology::{Dimension, Topology};
use sim_core::{Model, Simulation};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// A ring all-reduce in lock step: 2·n·(n−1) messages.
fn ring(n: u32) -> Graph {
    let ranks = (0..n).map(|rank| {
        let mut graph = RankGraph::builder();
        let mut last = None;
        for step in 0..2 * (n - 1) {
            let send = Op::Send { dst: (rank + 1) % n, tag: 0, bytes: 65_536 };
            let recv = Op::Recv { src: (rank + n - 1) % n, tag: 0, bytes: 65_536 };
            let comp = Op::Comp { micros: 0, ops: 1, bytes: 65_536 };
            for op in [send, recv, comp].into_iter().take(if step < n - 1 { 3 } else { 2 }) {
                last = Some(graph.push(op, last, Origin::default()).unwrap());
            }
        }
        graph.finish()
    });
    Graph::new(ranks.collect())
}

/// Everyone to everyone at once: as many connections as messages.
fn all_pairs(n: u32) -> Graph {
    let ranks = (0..n).map(|rank| {
        let mut graph = RankGraph::builder();
        for step in 1..n {
            let (dst, src) = ((rank + step) % n, (rank + n - step) % n);
            for op in [Op::Send { dst, tag: 0, bytes: 65_536 }, Op::Recv { src, tag: 0, bytes: 65_536 }] {
                graph.push(op, [], Origin::default()).unwrap();
            }
        }
        graph.finish()
    });
    Graph::new(ranks.collect())
}

// One test only: the peak is that of the process.
#[test]
fn a_message_takes_at_most_64_bytes() {
    let (graph, pairs) = (ring(256), all_pairs(256));
    let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    let topology = Topology::new([Dimension::ring(256, bandwidth, latency)]).unwrap();
    let of_messages = Model::ALL.into_iter().filter(|model| *model != Model::Machine);
    let of_ring = of_messages.map(|model| (model, &graph));
    for (model, graph) in of_ring.chain([(Model::Analytical, &pairs)]) {
        let simulation = Simulation::new(&topology).model(model).fold(false);
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let report = simulation.run(graph).unwrap();
        let bytes = ALLOCATOR.peak_usage() - before;
        let each = bytes as f64 / report.messages as f64;
        println!("{model}: {each:.2} bytes a message");
        assert!(each <= 64.0, "{model}: {each:.1} bytes a message");
    }
}
