use chakra_et::graph::{CollectiveInfo, Graph, Op, Origin, RankGraph, StepRef};
use proptest::prelude::*;

use super::{Costs, Machine, Protocol, Rounds, run_rounds};
use crate::engine::{Setup, tests::setup};
use crate::model::{Conventions, Model};
use crate::topology::{Dimension, Topology};
use crate::units::{Bytes, Picos};

/// Ring all-gather over some channels, each a thread block of its own that has as much of the buffer: send one's own, then hand on
/// what comes, then keep the last.
fn rings(ranks: u32, channels: u32, chunk: u64) -> Graph {
    let of_rank = |rank: u32| {
        let mut nodes = RankGraph::builder();
        for tag in 0..channels {
            let (dst, src, bytes) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks, chunk);
            let mut last = None;
            for step in 0..ranks {
                let step_ref = StepRef { thread_block: tag, step };
                let origin = Origin { step: Some(step_ref), source: None };
                if step > 0 {
                    last = nodes.push(Op::Recv { src, tag, bytes }, last, origin).ok();
                }
                if step + 1 < ranks {
                    last = nodes.push(Op::Send { dst, tag, bytes }, last, origin).ok();
                }
            }
        }
        nodes.finish()
    };
    let mut graph = Graph::new((0..ranks).map(of_rank).collect());
    let mut info = CollectiveInfo::default();
    info.chunks = u64::from(ranks * channels);
    info.size_bytes = chunk * info.chunks;
    graph.info = Some(info);
    graph
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The whole report, links included, is what it would be without the jump.
    #[test]
    fn a_jump_changes_nothing(
        (ranks, channels) in (2u32..5, 1u32..4),
        (piece, pieces, rest) in (10_000u64..500_000, 1u64..40, 0u64..10_000),
        (slices, slots) in (1u32..4, 4u32..9),
        (step, latency, copy) in (0u64..3_000_000, 0u64..3_000_000, 1u32..60),
        is_ring in any::<bool>(),
    ) {
        let graph = rings(ranks, channels, piece * pieces + rest);
        let (bandwidth, latency_of_links) = ("47.5 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
        let dimension = match is_ring {
            true => Dimension::ring(ranks, bandwidth, latency_of_links),
            false => Dimension::fully_connected(ranks, bandwidth, latency_of_links),
        };
        let topology = Topology::new([dimension]).unwrap();
        let mut costs = Costs::free();
        (costs.step, costs.latency) = (Picos(step), Picos(latency));
        (costs.slices, costs.slots, costs.piece) = (slices, Some(slots), Some(Bytes(piece)));
        costs.copy = Some(format!("{copy} GB/s").parse().unwrap());
        let mut machine = Machine::new("test").with(Protocol::Simple, costs);
        machine.egress = Some("60 GB/s".parse().unwrap());
        let setup = setup(&topology, Model::Machine, Conventions::Exact);
        let setup = Setup { machine: Some(&machine), ..setup };
        let plain = run_rounds(setup, &graph, |graph, program, costs| {
            Rounds { jumps: false, ..Rounds::of(graph, program, costs) }
        });
        prop_assert_eq!(run_rounds(setup, &graph, Rounds::of).unwrap(), plain.unwrap());
    }
}
