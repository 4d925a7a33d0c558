//! Windows against the serial engine: the same to the bit, whatever the network, the program and the blocks.

use std::sync::OnceLock;

use chakra_et::graph::{Graph, Op, Origin, RankGraph};
use proptest::prelude::*;
use rayon::ThreadPool;

use super::super::serial::run_serially;
use super::super::tests::{RANKS, Step, loose, setup, steps, thread_blocks};
use super::*;
use crate::straggler::Straggler;
use crate::topology::{
    Dimension, FatTree, LeafSpine, LinkList, LinkSpec, Node, Placement, Routing, Topology,
};
use crate::units::Picos;

/// Blocks, and threads that share them.
const TEAMS: [(usize, usize); 4] = [(2, 2), (3, 3), (8, 1), (8, 3)];

fn pools() -> &'static [ThreadPool] {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    POOLS.get_or_init(|| {
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        (1..=3).map(pool).collect()
    })
}

fn in_windows(setup: Setup<'_>, graph: &Graph, blocks: usize, threads: usize) -> Option<Run> {
    let policy = Policy { blocks, always: true };
    pools()[threads - 1].install(|| run(setup, graph, policy)).map(|run| run.unwrap())
}

fn link(bandwidth: &str, latency: &str) -> LinkSpec {
    LinkSpec::new(bandwidth.parse().unwrap(), latency.parse().unwrap())
}

/// A network of `RANKS` ranks: plain or tree-like, ranks in order or anywhere.
fn topology(kind: usize, seed: u64) -> Topology {
    let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    let one = |dimension| Topology::new([dimension]).unwrap();
    let placed = |topology: Topology| {
        let placement = Placement::random(RANKS, topology.position_count(), seed).unwrap();
        topology.placed(&placement).unwrap()
    };
    match kind {
        0 => one(Dimension::ring(RANKS, bandwidth, latency)),
        1 => one(Dimension::switch(RANKS, bandwidth, latency)),
        2 => one(Dimension::fully_connected(RANKS, bandwidth, "1 ns".parse().unwrap())),
        3 => one(Dimension::ring(RANKS, bandwidth, "0 ns".parse().unwrap())),
        4 => placed(Topology::torus([2, 4], link("50 GB/s", "500 ns")).unwrap()),
        5 => placed(FatTree::k_ary(4, link("25 GB/s", "1 us")).unwrap().build().unwrap()),
        6 => placed(leaf_spine(seed)),
        _ => uneven(seed),
    }
}

const TOPOLOGIES: usize = 8;

fn leaf_spine(seed: u64) -> Topology {
    let tree = LeafSpine {
        leaves: 3,
        hosts: 2,
        spines: 2,
        host: link("50 GB/s", "500 ns"),
        uplink: link("25 GB/s", "300 ns"),
        routing: Routing::Ecmp { seed },
    };
    tree.build().unwrap()
}

/// Neighbours and a hub, each direction with its own latency, some with none.
fn uneven(seed: u64) -> Topology {
    let latency = |at: u32| ["0 ns", "1 ns", "250 ns", "500 ns"][(seed >> (2 * at)) as usize % 4];
    let mut list = LinkList::new(RANKS);
    let hub = list.switch("hub");
    for rank in 0..RANKS {
        let next = Node::Rank((rank + 1) % RANKS);
        list.one_way(Node::Rank(rank), next, link("50 GB/s", latency(rank)));
        list.one_way(next, Node::Rank(rank), link("20 GB/s", latency(rank + 5)));
        list.one_way(Node::Rank(rank), hub, link("10 GB/s", latency(rank + 10)));
        list.one_way(hub, Node::Rank(rank), link("50 GB/s", latency(rank + 15)));
    }
    list.build().unwrap()
}

/// The same answer in windows as from the serial engine, and none where that has none.
fn check(setup: Setup<'_>, graph: &Graph, is_divisible: bool) {
    let serial = run_serially(setup, graph);
    for (blocks, threads) in TEAMS {
        let windows = in_windows(setup, graph, blocks, threads);
        match (&serial, windows) {
            (Ok(expected), Some(found)) => assert_eq!(found, *expected, "{blocks} blocks"),
            (Ok(_), None) => assert!(!is_divisible, "{blocks} blocks: not run"),
            (Err(_), None) => {}
            (Err(error), Some(_)) => panic!("{blocks} blocks: ran in spite of {error}"),
        }
    }
}

fn conditions(number: usize, stragglers: &[Straggler]) -> Options<'_> {
    let plain = Options::default();
    match number {
        0 => plain,
        1 => Options { stragglers, message_times: true, critical_path: true, recording: true, ..plain },
        2 => Options {
            send_overhead: Picos(300_000),
            receive_overhead: Picos(200_000),
            reduce_bandwidth: Some("100 GB/s".parse().unwrap()),
            message_times: true,
            recording: true,
            ..plain
        },
        _ => Options { stragglers, send_overhead: Picos(20_000), critical_path: true, ..plain },
    }
}

fn check_all(steps: &[Step], blocks: usize, kind: usize, seed: u64, number: usize) {
    let topology = topology(kind, seed);
    let stragglers: [Straggler; 2] = ["1=+3us,x1.5".parse().unwrap(), "4=+20us".parse().unwrap()];
    let options = conditions(number, &stragglers);
    for graph in [thread_blocks(steps, blocks), loose(steps)] {
        for model in [Model::LinkQueue, Model::Fluid] {
            let setup = Setup { options, ..setup(&topology, model, Conventions::Exact) };
            // Those have latency everywhere, and only fluid ties more than that.
            let is_divisible = model == Model::LinkQueue && kind <= 2;
            check(setup, &graph, is_divisible);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_program_runs_in_windows_as_it_does_serially(
        steps in steps(), blocks in 1..5usize, kind in 0..TOPOLOGIES, seed: u64, number in 0..4usize
    ) {
        check_all(&steps, blocks, kind, seed, number);
    }

    /// One size and no computing: nearly everything happens at the same time as something else.
    #[test]
    fn ties_are_decided_alike(
        steps in steps(), blocks in 1..5usize, kind in 0..TOPOLOGIES, seed: u64, size in 0..2u64
    ) {
        let of_one_size = |(rank, distance, tag, _, send, recv)| (rank, distance, tag, size * 3000, send, recv);
        let steps: Vec<Step> = steps.into_iter().map(of_one_size).collect();
        check_all(&steps, blocks, kind, seed, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Neighbours only, but for messages that take two links of ranks 0 and 1: then fluid leaves something to divide, and
    /// flows come across others that had their link for themselves.
    #[test]
    fn flows_that_share_links_within_a_block_run_as_they_do_serially(
        steps in steps(), blocks in 1..5usize, tie: bool, number in 0..4usize
    ) {
        let steps: Vec<Step> = steps.into_iter().map(|(rank, distance, tag, bytes, send, recv)| {
            let distance = if rank == 0 && distance == 2 { 2 } else { [1, RANKS - 1][distance as usize % 2] };
            (rank, distance, tag, if tie { bytes.min(3000) } else { bytes }, send, recv)
        }).collect();
        let topology = topology(0, 0);
        let stragglers: [Straggler; 2] = ["1=+3us,x1.5".parse().unwrap(), "4=+20us".parse().unwrap()];
        let options = conditions(number, &stragglers);
        for graph in [thread_blocks(&steps, blocks), loose(&steps)] {
            check(Setup { options, ..setup(&topology, Model::Fluid, Conventions::Exact) }, &graph, true);
        }
    }
}

fn ranks(count: usize, nodes: &[(usize, Op, &[u32])]) -> Graph {
    let mut ranks: Vec<_> = (0..count).map(|_| RankGraph::builder()).collect();
    for (rank, op, deps) in nodes {
        ranks[*rank].push(*op, deps.iter().copied(), Origin::default()).unwrap();
    }
    Graph::new(ranks.into_iter().map(|rank| rank.finish()).collect())
}

fn switch(ranks: u32) -> Topology {
    Topology::new([Dimension::switch(ranks, "50 GB/s".parse().unwrap(), "500 ns".parse().unwrap())]).unwrap()
}

const MB: u64 = 1_000_000;

/// Ranks 0 and 1 are one block, 2 and 3 the other. Both messages come to the down-link of rank 0 at 40.5 µs.
#[test]
fn of_messages_from_two_blocks_that_come_to_a_link_at_once_the_lower_sender_goes_first() {
    let comp = Op::Comp { micros: 20, ops: 0, bytes: 0 };
    let send = |bytes| Op::Send { dst: 0, tag: 0, bytes };
    let graph = ranks(4, &[(3, send(2 * MB), &[]), (1, comp, &[]), (1, send(MB), &[0])]);
    let topology = switch(4);
    let setup = setup(&topology, Model::LinkQueue, Conventions::Exact);
    for (blocks, threads) in TEAMS {
        let (report, _) = in_windows(setup, &graph, blocks, threads).unwrap();
        assert_eq!(report.finish[1], "61 us".parse().unwrap());
        assert_eq!(report.finish[3], "101 us".parse().unwrap());
    }
}

/// Seven to one, each from a block of its own: one after the other in the order of the ranks.
#[test]
fn an_incast_is_served_in_the_order_of_the_senders() {
    let send = Op::Send { dst: 7, tag: 0, bytes: MB };
    let nodes: Vec<(usize, Op, &[u32])> = (0..7).rev().map(|rank| (rank, send, &[][..])).collect();
    let (graph, topology) = (ranks(8, &nodes), switch(8));
    let setup = setup(&topology, Model::LinkQueue, Conventions::Exact);
    for (blocks, threads) in TEAMS {
        let (report, _) = in_windows(setup, &graph, blocks, threads).unwrap();
        // All are at the switch at 20.5 µs, and take 20 µs each on the down-link, 500 ns long.
        let expected = (0..7).map(|rank| Picos((41_000 + 20_000 * rank) * 1000));
        assert_eq!(report.finish, expected.chain([Picos::ZERO]).collect::<Vec<_>>());
    }
}

/// A message overtakes another of its connection: under fluid the smaller ends first.
#[test]
fn an_overtaking_message_from_another_block_is_for_its_own_receive() {
    let send = |bytes| Op::Send { dst: 1, tag: 0, bytes };
    let recv = |bytes| Op::Recv { src: 0, tag: 0, bytes };
    let comp = Op::Comp { micros: 100, ops: 0, bytes: 0 };
    let nodes: &[(usize, Op, &[u32])] = &[
        (0, send(2 * MB), &[]),
        (0, send(MB), &[]),
        (1, recv(2 * MB), &[]),
        (1, recv(MB), &[]),
        (1, comp, &[1]),
    ];
    let ring = Dimension::ring(4, "50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    let (graph, topology) = (ranks(4, nodes), Topology::new([ring]).unwrap());
    let setup = setup(&topology, Model::Fluid, Conventions::Exact);
    let (report, times) = in_windows(setup, &graph, 4, 2).unwrap();
    // The smaller is through at 40 µs, the larger at 60 µs; the COMP follows the smaller.
    let us = |tenths: u64| Picos(tenths * 100_000);
    assert_eq!(times.unwrap()[1], [us(605), us(405), us(1405)]);
    assert_eq!(report.finish[0], us(605));
}

#[test]
fn what_cannot_go_on_is_left_to_the_serial_engine_and_explained_by_it() {
    let topology = switch(4);
    let recv = |src| Op::Recv { src, tag: 0, bytes: 8 };
    let send = |dst, bytes| Op::Send { dst, tag: 0, bytes };
    let circle = ranks(
        4,
        &[
            (0, recv(3), &[]),
            (0, send(3, 8), &[0]),
            (3, recv(0), &[]),
            (3, send(0, 8), &[0]),
            (1, send(2, 8), &[]),
        ],
    );
    let mismatch = ranks(4, &[(0, send(3, 9), &[]), (3, recv(0), &[])]);
    for model in [Model::LinkQueue, Model::Fluid] {
        let setup = setup(&topology, model, Conventions::Exact);
        for graph in [&circle, &mismatch] {
            assert!(in_windows(setup, graph, 2, 2).is_none());
        }
        let Err(SimError::Stuck(report)) = run_serially(setup, &circle) else { panic!("not stuck") };
        assert_eq!((report.unfinished, report.deadlock.unwrap().steps.len()), (4, 4));
    }
}

#[test]
fn what_has_an_order_of_its_own_or_is_tied_together_is_not_divided() {
    let graph = ranks(4, &[(0, Op::Send { dst: 3, tag: 0, bytes: 8 }, &[])]);
    let topology = switch(4);
    let divided = |setup| in_windows(setup, &graph, 2, 2).is_some();
    let exact = setup(&topology, Model::LinkQueue, Conventions::Exact);
    assert!(divided(exact));
    assert!(!divided(Setup { compat: Some(crate::compat::Compat::AstraSim), ..exact }));
    assert!(!divided(setup(&topology, Model::LinkQueue, Conventions::AstraSim)));
    assert!(!divided(setup(&topology, Model::Analytical, Conventions::Exact)));
    // Everyone to everyone: under fluid all links of a switch influence each other.
    let mut nodes: Vec<(usize, Op, &[u32])> = Vec::new();
    for (src, dst) in (0..4).flat_map(|src| (0..4).map(move |dst| (src, dst))).filter(|(a, b)| a != b) {
        nodes.push((src as usize, Op::Send { dst, tag: 0, bytes: 8 }, &[]));
    }
    let graph = ranks(4, &nodes);
    assert!(in_windows(exact, &graph, 2, 2).is_some());
    assert!(in_windows(setup(&topology, Model::Fluid, Conventions::Exact), &graph, 2, 2).is_none());
}
