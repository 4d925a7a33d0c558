//! Under the model machine, one rank stands for all where all do the same over links that are alike.

use std::ops::ControlFlow;

use chakra_et::graph::{CollectiveInfo, Op, Origin, RankGraph, StepRef, SymmetricGraph, Symmetry};
use proptest::prelude::*;
use sim_core::machine::{Completion, Costs, Machine, Protocol};
use sim_core::topology::{Dimension, Topology};
use sim_core::units::{Bytes, Picos};
use sim_core::{Progress, Report, SimError, Simulation};

/// A thread block of rank 0: it sends, hands on some times what comes, and keeps the last.
#[derive(Clone, Copy, Debug)]
struct Block {
    dst: u32,
    src: u32,
    tag: u32,
    bytes: u64,
    handed_on: u32,
    reduces: bool,
    /// Whether its steps wait for those of the thread block before.
    waits: bool,
}

fn graph(symmetry: Symmetry, blocks: &[Block]) -> SymmetricGraph {
    let mut nodes = RankGraph::builder();
    let mut last = vec![None; blocks.len()];
    let most = blocks.iter().map(|block| block.handed_on).max().unwrap_or(0);
    for step in 0..most + 2 {
        let mut before: Option<u32> = None;
        for (number, block) in (0u32..).zip(blocks).filter(|(_, block)| step < block.handed_on + 2) {
            let Block { dst, src, tag, bytes, handed_on, reduces, waits } = *block;
            let origin = Origin { step: Some(StepRef { thread_block: number, step }), source: None };
            let recv = (step > 0).then_some(Op::Recv { src, tag, bytes });
            let reduce = (step > 0 && reduces).then_some(Op::Comp { micros: 0, ops: bytes, bytes });
            let send = (step <= handed_on).then_some(Op::Send { dst, tag, bytes });
            let last = &mut last[number as usize];
            let mut deps: Vec<u32> = last.iter().copied().chain(before.filter(|_| waits)).collect();
            for op in [recv, reduce, send].into_iter().flatten() {
                let node = nodes.push(op, deps.drain(..), origin).unwrap();
                deps.push(node);
                *last = Some(node);
            }
            before = *last;
        }
    }
    let mut info = CollectiveInfo::default();
    info.chunks = u64::from(symmetry.rank_count());
    info.size_bytes = info.chunks * blocks.iter().map(|block| block.bytes).max().unwrap_or(0);
    SymmetricGraph::new(symmetry, nodes.finish()).unwrap().with_info(info)
}

/// What all ranks do alike.
#[derive(Clone, Copy, Debug)]
enum Traffic {
    /// So many rings.
    Rings(u32, u32),
    /// Everyone to everyone.
    Pairs(u32),
    /// To the ranks that differ in one bit, of so many.
    Cube(u32),
    /// To the next and the one before in both dimensions.
    Torus(u32, u32),
}

impl Traffic {
    fn symmetry(self) -> Symmetry {
        match self {
            Self::Rings(ranks, _) | Self::Pairs(ranks) => Symmetry::rotation(ranks),
            Self::Cube(bits) => Symmetry::xor(1 << bits).unwrap(),
            Self::Torus(a, b) => Symmetry::torus(&[a, b]).unwrap(),
        }
    }

    /// To and from whom a rank sends, by thread block.
    fn peers(self) -> Vec<(u32, u32)> {
        match self {
            Self::Rings(ranks, channels) => vec![(1, ranks - 1); channels as usize],
            Self::Pairs(ranks) => (1..ranks).map(|shift| (shift, ranks - shift)).collect(),
            Self::Cube(bits) => (0..bits).map(|bit| (1 << bit, 1 << bit)).collect(),
            Self::Torus(a, b) => vec![(1, a - 1), (a - 1, 1), (a, a * (b - 1)), (a * (b - 1), a)],
        }
    }

    fn graph(self, bytes: u64, of_block: impl Fn(u32) -> (u64, u32, bool, bool)) -> SymmetricGraph {
        let block = |(tag, (dst, src)): (u32, (u32, u32))| {
            let (more, handed_on, reduces, waits) = of_block(tag);
            Block { dst, src, tag, bytes: bytes + more, handed_on, reduces, waits }
        };
        graph(self.symmetry(), &(0..).zip(self.peers()).map(block).collect::<Vec<_>>())
    }
}

fn topology(kind: usize, traffic: Traffic) -> Topology {
    let ranks = traffic.symmetry().rank_count();
    let (bandwidth, latency) = ("30 GB/s".parse().unwrap(), "700 ns".parse().unwrap());
    let dimensions = match (kind, traffic) {
        (0, _) => vec![Dimension::ring(ranks, bandwidth, latency)],
        (1, _) => vec![Dimension::switch(ranks, bandwidth, latency)],
        (2, _) => vec![Dimension::fully_connected(ranks, bandwidth, latency)],
        (_, Traffic::Torus(a, b)) => [a, b].map(|size| Dimension::ring(size, bandwidth, latency)).into(),
        (_, Traffic::Cube(_)) => vec![Dimension::hypercube(ranks, bandwidth, latency)],
        _ => vec![Dimension::one_way_ring(ranks, bandwidth, latency)],
    };
    Topology::new(dimensions).unwrap()
}

fn traffic() -> impl Strategy<Value = Traffic> {
    prop_oneof![
        (2u32..8, 1u32..5).prop_map(|(ranks, channels)| Traffic::Rings(ranks, channels)),
        (2u32..7).prop_map(Traffic::Pairs),
        (1u32..4).prop_map(Traffic::Cube),
        (3u32..5, 3u32..5).prop_map(|(a, b)| Traffic::Torus(a, b)),
    ]
}

fn machines() -> impl Strategy<Value = Machine> {
    let costs = (0u64..9_000, 0u64..900, 0u64..4_000, 1u32..40, 1u32..40, 1u32..4, 2_000u64..200_000);
    let limits = (prop::option::of(20u32..90), prop::option::of(20u32..90), prop::option::of(1u32..6));
    (costs, limits, any::<bool>(), any::<bool>()).prop_map(
        |(figures, (egress, ingress, slots), filled, flags)| {
            let (step, slice, latency, copy, reduce, slices, piece) = figures;
            let (ns, rate) =
                (|ns| Picos::from_ns(ns).unwrap(), |rate: u32| format!("{rate} GB/s").parse().unwrap());
            let mut costs = Costs::free();
            (costs.step, costs.slice, costs.latency) = (ns(step), ns(slice), ns(latency));
            (costs.copy, costs.reduce) = (Some(rate(copy)), Some(rate(reduce)));
            (costs.slices, costs.slots, costs.piece) = (slices, slots, Some(Bytes(piece)));
            costs.wire = if flags { 2.0 } else { 1.0 };
            let mut machine = Machine::new("test").with(Protocol::Simple, costs);
            (machine.egress, machine.ingress) = (egress.map(rate), ingress.map(rate));
            machine.completion = if filled { Completion::Filled } else { Completion::Delivered };
            machine
        },
    )
}

/// Without the word of how it was made.
fn each(report: Result<Report, SimError>) -> Result<Report, SimError> {
    report.map(|mut report| {
        report.folded = false;
        report
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn one_rank_says_what_all_say(
        traffic in traffic(),
        kind in 0usize..4,
        machine in machines(),
        bytes in 1u64..300_000,
        blocks in prop::collection::vec((0u64..9_000, 0u32..9, any::<bool>(), any::<bool>()), 10),
    ) {
        let topology = topology(kind, traffic);
        let graph = traffic.graph(bytes, |block| blocks[block as usize]);
        let simulation = Simulation::new(&topology).machine(&machine);
        let all = graph.expand();
        let unfolded = simulation.fold(false).run(&all);
        prop_assert_eq!(&each(simulation.run(&all)), &unfolded);
        prop_assert_eq!(&each(simulation.run_symmetric(&graph)), &unfolded);
    }
}

fn simple() -> Machine {
    let mut costs = Costs::free();
    (costs.step, costs.slots) = ("1 us".parse().unwrap(), Some(8));
    Machine::new("simple").with(Protocol::Simple, costs)
}

#[test]
fn ranks_whose_links_are_alike_are_folded_and_no_others() {
    let cases = [
        (Traffic::Rings(6, 3), [true, true, true, true]),
        // A message to a rank two further crosses two links of the ring.
        (Traffic::Pairs(6), [false, true, true, false]),
        (Traffic::Pairs(3), [true, true, true, false]),
        // Neighbours by bits are no neighbours on a ring, and go round it in both directions.
        (Traffic::Cube(3), [false, true, true, true]),
        (Traffic::Torus(3, 4), [false, true, true, true]),
    ];
    let machine = simple();
    for (traffic, expected) in cases {
        let graph = traffic.graph(100_000, |_| (0, 3, true, false));
        let folded = [0, 1, 2, 3].map(|kind| {
            let topology = topology(kind, traffic);
            let simulation = Simulation::new(&topology).machine(&machine);
            let report = simulation.run(&graph.expand()).unwrap();
            assert_eq!(report.folded, simulation.run_symmetric(&graph).unwrap().folded);
            report.folded
        });
        assert_eq!(folded, expected, "{traffic:?}");
    }
}

#[test]
fn what_one_rank_cannot_say_is_not_folded() {
    let (traffic, machine) = (Traffic::Rings(4, 2), simple());
    let topology = topology(0, traffic);
    let graph = traffic.graph(100_000, |_| (0, 3, false, false));
    let simulation = Simulation::new(&topology).machine(&machine);
    assert!(simulation.run_symmetric(&graph).unwrap().folded);
    for simulation in [simulation.fold(false), simulation.message_times(true), simulation.recording(true)] {
        assert!(!simulation.run_symmetric(&graph).unwrap().folded);
    }
    assert!(!simulation.run_with_times(&graph.expand()).unwrap().0.folded);
    let stragglers = ["3=+1us".parse().unwrap()];
    assert!(!simulation.stragglers(&stragglers).run_symmetric(&graph).unwrap().folded);
}

#[test]
fn very_many_ranks_take_the_time_of_one() {
    let traffic = Traffic::Rings(65_536, 4);
    let (topology, machine) = (topology(1, traffic), simple());
    let graph = traffic.graph(1_000_000, |_| (0, 998, false, false));
    let report = Simulation::new(&topology).machine(&machine).run_symmetric(&graph).unwrap();
    // A thousand steps of 1 us, and 999 messages over two links of 700 ns, four of which share a link of 30 GB/s.
    let message = 4.0 * 1_000_000.0 / 30.0;
    assert!((report.makespan.as_ns() - 1_000_000.0 - 999.0 * (1_400.0 + message)).abs() < 1.0);
    assert_eq!(report.messages, 65_536 * 4 * 999);
    let links = report.links.unwrap();
    assert_eq!(links.len(), 2 * 65_536);
    assert!(links.iter().all(|load| load.bytes == Bytes(4 * 999_000_000)));
}

#[test]
fn a_run_of_very_many_ranks_that_is_stuck_says_what_each_waits_for() {
    // Everybody receives before it sends, 1,024 times: 2^27 nodes.
    let ranks = 1 << 16;
    let mut nodes = RankGraph::builder();
    let at = |step| Origin { step: Some(StepRef { thread_block: 0, step }), source: None };
    let mut last = None;
    for step in 0..1024 {
        let recv = Op::Recv { src: ranks - 1, tag: 0, bytes: 8 };
        last = nodes.push(recv, last, at(step)).ok();
        last = nodes.push(Op::Send { dst: 1, tag: 0, bytes: 8 }, last, at(step)).ok();
    }
    let graph = SymmetricGraph::new(Symmetry::rotation(ranks), nodes.finish()).unwrap();
    let (bandwidth, latency) = ("30 GB/s".parse().unwrap(), "700 ns".parse().unwrap());
    let ring = Topology::new([Dimension::ring(ranks, bandwidth, latency)]).unwrap();
    let machine = simple();
    let Err(SimError::Stuck(stuck)) = Simulation::new(&ring).machine(&machine).run_symmetric(&graph) else {
        panic!("not stuck")
    };
    assert_eq!((stuck.unfinished, stuck.nodes, stuck.receives.len()), (1 << 27, 1 << 27, 1 << 16));
    assert_eq!((stuck.receives[5].rank, stuck.receives[5].peer), (5, 4));
}

#[test]
fn an_observer_hears_of_all_ranks() {
    let traffic = Traffic::Rings(1_000, 8);
    let (topology, machine) = (topology(1, traffic), simple());
    let graph = traffic.graph(1_000_000, |_| (0, 5_000, false, false));
    let nodes = graph.node_count() as usize;
    let once = |progress: &Progress| {
        assert_eq!(progress.nodes, nodes);
        assert_eq!(progress.bytes.0, progress.messages * 1_000_000);
        ControlFlow::Break(())
    };
    match Simulation::new(&topology).machine(&machine).observer(&once).run_symmetric(&graph) {
        Err(SimError::Stopped(so_far)) => {
            assert_eq!(so_far.finish.len(), 1_000);
            assert!(so_far.progress.messages.is_multiple_of(1_000) && so_far.progress.messages > 1_000);
        }
        other => panic!("not stopped: {other:?}"),
    }
}
