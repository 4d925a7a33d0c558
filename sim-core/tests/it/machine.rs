//! The model machine: hand-made cases, and what must hold for any.

use chakra_et::graph::{CollectiveInfo, Graph, Op, Origin, RankGraph, RankGraphBuilder, StepRef};
use proptest::prelude::*;
use sim_core::machine::{Costs, Machine, Protocol};
use sim_core::topology::{Dimension, Topology};
use sim_core::units::{Bytes, Picos};
use sim_core::{Model, Report, SimError, Simulation};

const MB: u64 = 1_000_000;

/// Thread blocks of some ranks; each step waits for the one before and for others of the rank.
struct Blocks {
    ranks: Vec<RankGraphBuilder>,
    /// By rank and thread block, the last node of each step.
    ends: Vec<Vec<Vec<u32>>>,
}

#[derive(Clone, Copy, Default)]
struct Moves {
    recv: Option<u32>,
    reduces: bool,
    send: Option<u32>,
    bytes: u64,
}

fn send(dst: u32, bytes: u64) -> Moves {
    Moves { send: Some(dst), bytes, ..Moves::default() }
}

fn recv(src: u32, bytes: u64) -> Moves {
    Moves { recv: Some(src), bytes, ..Moves::default() }
}

impl Blocks {
    fn new(ranks: usize, blocks: usize) -> Self {
        let of_rank = || vec![Vec::new(); blocks];
        Self {
            ranks: (0..ranks).map(|_| RankGraph::builder()).collect(),
            ends: (0..ranks).map(|_| of_rank()).collect(),
        }
    }

    /// Adds a step; `after` names thread blocks and steps of the rank.
    fn step(&mut self, rank: u32, block: u32, moves: Moves, after: &[(u32, usize)]) {
        let ends = &mut self.ends[rank as usize];
        let mut deps: Vec<u32> = after.iter().map(|(block, step)| ends[*block as usize][*step]).collect();
        deps.extend(ends[block as usize].last());
        let at = StepRef { thread_block: block, step: ends[block as usize].len() as u32 };
        let origin = Origin { step: Some(at), source: None };
        let Moves { recv, reduces, send, bytes } = moves;
        let tag = 0;
        let ops = [
            recv.map(|src| Op::Recv { src, tag, bytes }),
            (reduces || (recv.is_none() && send.is_none())).then_some(Op::Comp {
                micros: 0,
                ops: u64::from(reduces),
                bytes,
            }),
            send.map(|dst| Op::Send { dst, tag, bytes }),
        ];
        for op in ops.into_iter().flatten() {
            let node = self.ranks[rank as usize].push(op, deps.drain(..), origin).unwrap();
            deps.push(node);
        }
        ends[block as usize].push(deps[0]);
    }

    fn graph(self) -> Graph {
        Graph::new(self.ranks.into_iter().map(RankGraphBuilder::finish).collect())
    }

    /// With the size of the collective and its chunks, and a protocol.
    fn collective(self, size_bytes: u64, chunks: u64, protocol: &str) -> Graph {
        let mut graph = self.graph();
        let mut info = CollectiveInfo::default();
        (info.size_bytes, info.chunks, info.protocol) = (size_bytes, chunks, protocol.to_owned());
        graph.info = Some(info);
        graph
    }
}

/// The same costs but for something.
fn but(mut costs: Costs, change: impl FnOnce(&mut Costs)) -> Costs {
    change(&mut costs);
    costs
}

fn time(text: &str) -> Picos {
    text.parse().unwrap()
}

fn full(ranks: u32, bandwidth: &str, latency: &str) -> Topology {
    let mesh = Dimension::fully_connected(ranks, bandwidth.parse().unwrap(), latency.parse().unwrap());
    Topology::new([mesh]).unwrap()
}

fn machine(costs: Costs) -> Machine {
    Machine::new("test").with(Protocol::Simple, costs)
}

fn run(topology: &Topology, machine: &Machine, graph: &Graph) -> Report {
    Simulation::new(topology).machine(machine).run(graph).unwrap()
}

/// Rank 0 sends to rank 1.
fn message(bytes: u64) -> Blocks {
    let mut blocks = Blocks::new(2, 1);
    blocks.step(0, 0, send(1, bytes), &[]);
    blocks.step(1, 0, recv(0, bytes), &[]);
    blocks
}

/// Four slices of 1 MB; filling a slot takes 10 us, taking it out as long, and 5 us pass between.
fn pipeline(slots: Option<u32>) -> Costs {
    let mut costs = Costs::free();
    costs.copy = Some("100 GB/s".parse().unwrap());
    costs.latency = time("5 us");
    (costs.slices, costs.slots) = (4, slots);
    costs
}

#[test]
fn a_full_connection_stops_its_sender() {
    let topology = full(2, "1000 GB/s", "0 ns");
    let graph = message(4 * MB).graph();
    // One slot: 10 + 5 + 10, four times. Two: the third slice waits for the first to be taken out at 25 us, and ends at 35, 40, 50; the
    // fourth at 45, 50, 60. Without a limit the last slot is filled at 40, seen at 45, and taken out at 55.
    for (slots, expected) in [(Some(1), "100 us"), (Some(2), "60 us"), (Some(3), "55 us"), (None, "55 us")] {
        let report = run(&topology, &machine(pipeline(slots)), &graph);
        assert_eq!(report.makespan, time(expected), "{slots:?}");
    }
}

#[test]
fn a_send_frees_its_thread_block_when_its_slot_is_filled() {
    // Two messages of one slice: the second begins at 10 us, though the first is seen at 15 us.
    let mut blocks = Blocks::new(2, 1);
    for _ in 0..2 {
        blocks.step(0, 0, send(1, MB), &[]);
        blocks.step(1, 0, recv(0, MB), &[]);
    }
    let costs = but(pipeline(None), |costs| costs.slices = 1);
    let report = run(&full(2, "1000 GB/s", "0 ns"), &machine(costs), &blocks.graph());
    assert_eq!(report.finish, [time("20 us"), time("35 us")]);
    assert_eq!((report.messages, report.bytes), (2, Bytes(2 * MB)));
}

#[test]
fn overheads_come_once_a_step_and_once_a_slice() {
    let mut costs = Costs::free();
    (costs.launch, costs.step, costs.slice) = (time("7 us"), time("3 us"), time("1 us"));
    costs.slices = 2;
    // 7, then 3 + 1 + 10, then 1 + 10 us; the receiver of the second half adds 1 us.
    let report = run(&full(2, "100 GB/s", "0 ns"), &machine(costs), &message(2 * MB).graph());
    assert_eq!(report.finish, [time("32 us"), time("33 us")]);
}

#[test]
fn a_rank_sends_no_more_than_it_can_over_all_links() {
    // To two ranks at once, from two thread blocks, over a link of 100 GB/s each.
    let mut blocks = Blocks::new(3, 2);
    for (block, dst) in [(0, 1), (1, 2)] {
        blocks.step(0, block, send(dst, MB), &[]);
        blocks.step(dst, 0, recv(0, MB), &[]);
    }
    let graph = blocks.graph();
    let topology = full(3, "100 GB/s", "0 ns");
    let mut limited = machine(Costs::free());
    assert_eq!(run(&topology, &limited, &graph).makespan, time("10 us"));
    limited.egress = Some("50 GB/s".parse().unwrap());
    assert_eq!(run(&topology, &limited, &graph).makespan, time("40 us"));
    (limited.egress, limited.ingress) = (None, limited.egress);
    assert_eq!(run(&topology, &limited, &graph).makespan, time("20 us"));
}

#[test]
fn flags_take_their_part_of_the_links_but_not_of_the_thread_block() {
    let costs = but(Costs::free(), |costs| costs.wire = 2.0);
    let ll = Machine::new("flags").with(Protocol::Ll, costs);
    let graph = |protocol| message(MB).collective(MB, 1, protocol);
    let topology = full(2, "100 GB/s", "0 ns");
    let report = run(&topology, &ll, &graph("LL"));
    assert_eq!((report.makespan, report.bytes), (time("20 us"), Bytes(MB)));
    assert_eq!(report.links.unwrap()[0].bytes, Bytes(MB));
    let error = Simulation::new(&topology).machine(&ll).run(&graph("LL128")).unwrap_err();
    assert_eq!(error.to_string(), "the machine flags has no figures for the protocol LL128: it has LL");
}

#[test]
fn a_reduction_limits_what_goes_out_again() {
    // Rank 1 adds its own to what comes from rank 0 and sends it on.
    let mut blocks = Blocks::new(3, 1);
    blocks.step(0, 0, send(1, MB), &[]);
    blocks.step(1, 0, Moves { recv: Some(0), reduces: true, send: Some(2), bytes: MB }, &[]);
    blocks.step(2, 0, recv(1, MB), &[]);
    let mut costs = Costs::free();
    costs.reduce = Some("25 GB/s".parse().unwrap());
    let report = run(&full(3, "100 GB/s", "0 ns"), &machine(costs), &blocks.graph());
    assert_eq!(report.finish, [time("10 us"), time("50 us"), time("50 us")]);
}

#[test]
fn the_loop_over_the_buffer_costs_each_step_once_a_round() {
    let mut costs = Costs::free();
    (costs.step, costs.piece) = (time("1 us"), Some(Bytes(MB)));
    // 2.5 chunks' worth of rounds: 1 + 10, 1 + 10, 1 + 5.
    let graph = message(2_500_000).collective(2_500_000, 1, "Simple");
    let report = run(&full(2, "100 GB/s", "0 ns"), &machine(costs), &graph);
    assert_eq!(report.finish[0], time("28 us"));
}

#[test]
fn large_buffers_cost_no_more_than_small_ones() {
    // 8 TB in pieces of 1 MB: eight million rounds of 11 us; the receiver is behind by the 10 us of its copy and its 1 us.
    let mut costs = Costs::free();
    (costs.step, costs.piece) = (time("1 us"), Some(Bytes(MB)));
    costs.copy = Some("100 GB/s".parse().unwrap());
    let size = 8_000_000 * MB;
    let graph = message(size).collective(size, 1, "Simple");
    let report = run(&full(2, "100 GB/s", "0 ns"), &machine(costs), &graph);
    assert_eq!(report.makespan, Picos((8_000_000 * 11 + 11) * MB));
    let load = report.links.unwrap()[0];
    assert_eq!((load.bytes, load.busy), (Bytes(size), Picos(8_000_000 * 10 * MB)));
}

#[test]
fn thread_blocks_that_fill_all_slots_and_wait_for_each_other_are_named() {
    // Both send first, two slices through one slot.
    let mut blocks = Blocks::new(2, 1);
    for rank in 0..2 {
        blocks.step(rank, 0, send(1 - rank, MB), &[]);
        blocks.step(rank, 0, recv(1 - rank, MB), &[]);
    }
    let graph = blocks.graph();
    let topology = full(2, "100 GB/s", "0 ns");
    let costs = |slots| pipeline(Some(slots));
    assert!(Simulation::new(&topology).machine(&machine(costs(4))).run(&graph).is_ok());
    match Simulation::new(&topology).machine(&machine(costs(1))).run(&graph) {
        Err(SimError::Stuck(stuck)) => assert_eq!(
            stuck.to_string(),
            "the simulation is stuck at 7500 ns with 4 of 4 nodes unfinished\n  ranks wait for each other: rank 0 node 0 (send to 1, \
             whose slots are full) -> rank 1 node 0 (send to 0, whose slots are full) -> rank 0 node 0"
        ),
        other => panic!("not stuck: {other:?}"),
    }
}

#[test]
fn what_is_never_sent_is_named() {
    let mut blocks = Blocks::new(2, 1);
    blocks.step(1, 0, recv(0, MB), &[]);
    let error = Simulation::new(&full(2, "1 GB/s", "0 ns")).machine(&Machine::free()).run(&blocks.graph());
    let said = error.unwrap_err().to_string();
    assert!(
        said.contains("rank 1, node 0, step 0 of thread block 0: waits for 1000000 bytes from rank 0"),
        "{said}"
    );
    assert!(said.contains("rank 0 has no further send to rank 1"), "{said}");
}

#[test]
fn graphs_without_thread_blocks_are_refused() {
    let mut ranks = [RankGraph::builder(), RankGraph::builder()];
    ranks[0].push(Op::Send { dst: 1, tag: 0, bytes: 1 }, [], Origin::default()).unwrap();
    ranks[1].push(Op::Recv { src: 0, tag: 0, bytes: 1 }, [], Origin::default()).unwrap();
    let graph = Graph::new(ranks.map(RankGraphBuilder::finish).into());
    let topology = full(2, "1 GB/s", "0 ns");
    let said = |simulation: Simulation<'_>, graph: &Graph| simulation.run(graph).unwrap_err().to_string();
    let free = Machine::free();
    let simulation = Simulation::new(&topology).machine(&free);
    assert!(said(simulation, &graph).starts_with("rank 0, node 0 states no thread block and step"));
    assert_eq!(
        said(Simulation::new(&topology).model(Model::Machine), &message(1).graph()),
        "the model machine needs the figures of a machine"
    );
    let overheads = simulation.overheads(time("1 ns"), Picos::ZERO);
    assert!(said(overheads, &message(1).graph()).contains("cannot be combined with an overhead of messages"));
    let mut two = Blocks::new(2, 2);
    two.step(0, 0, send(1, 1), &[]);
    two.step(0, 1, send(1, 1), &[]);
    assert_eq!(
        said(simulation, &two.graph()),
        "rank 0, thread block 1, step 0 sends to rank 1 with tag 0, as another thread block of the rank does"
    );
    let mut sizes = Blocks::new(2, 1);
    sizes.step(0, 0, send(1, 1), &[]);
    sizes.step(1, 0, recv(0, 2), &[]);
    assert_eq!(
        said(simulation, &sizes.graph()),
        "rank 1, thread block 0, step 0 receives 2 bytes, but rank 0, node 0 sends 1"
    );
}

/// Random programs that come to their end with any number of slots that holds what a thread block sends before it receives: rounds in
/// which every rank sends to one and receives from one, each pair of ranks with a thread block of its own at both ends.
fn shifts() -> impl Strategy<Value = (u32, Vec<(u32, u64, bool)>)> {
    (2u32..6).prop_flat_map(|ranks| {
        (Just(ranks), prop::collection::vec((1..ranks, 1u64..400_000, any::<bool>()), 1..8))
    })
}

/// Thread block s − 1 sends to the rank s further, thread block ranks + s − 1 receives from the one s before.
fn of_shifts(ranks: u32, rounds: &[(u32, u64, bool)]) -> Blocks {
    let mut blocks = Blocks::new(ranks as usize, 2 * ranks as usize);
    let mut last: Option<u32> = None;
    for &(shift, bytes, waits) in rounds {
        for rank in 0..ranks {
            let ends = &blocks.ends[rank as usize];
            let before = last.filter(|_| waits).map(|block| (block, ends[block as usize].len() - 1));
            let after: Vec<_> = before.into_iter().collect();
            blocks.step(rank, shift - 1, send((rank + shift) % ranks, bytes), &after);
        }
        for rank in 0..ranks {
            blocks.step(rank, ranks + shift - 1, recv((rank + ranks - shift) % ranks, bytes), &[]);
        }
        last = Some(ranks + shift - 1);
    }
    blocks
}

fn some_costs() -> impl Strategy<Value = Costs> {
    let figures = (0u64..9_000, 0u64..900, 0u64..900, 0u64..4_000, 1u32..40, 1u32..5, 1u64..200_000);
    figures.prop_map(|(launch, step, slice, latency, copy, slices, piece)| {
        let mut costs = Costs::free();
        let ns = |ns| Picos::from_ns(ns).unwrap();
        (costs.launch, costs.step, costs.slice) = (ns(launch), ns(step), ns(slice));
        (costs.latency, costs.slices) = (ns(latency), slices);
        costs.copy = Some(format!("{copy} GB/s").parse().unwrap());
        costs.piece = Some(Bytes(piece.max(4_000)));
        costs
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Every pair of ranks has a link of its own, which one thread block uses: all terms are max-plus.
    #[test]
    fn fewer_slots_are_never_faster_and_more_of_anything_never_slower(
        (ranks, rounds) in shifts(),
        costs in some_costs(),
        slots in 1u32..6,
    ) {
        let topology = full(ranks, "30 GB/s", "200 ns");
        let size = rounds.iter().map(|round| round.1).max().unwrap_or(1);
        let graph = of_shifts(ranks, &rounds).collective(size, 1, "Simple");
        let of = |costs: Costs| run(&topology, &machine(costs), &graph).makespan;
        let with = |slots| of(but(costs.clone(), |costs| costs.slots = slots));
        let (few, more, unlimited) = (with(Some(slots)), with(Some(slots + 1)), with(None));
        prop_assert!(few >= more && more >= unlimited, "{few} {more} {unlimited}");
        let base = but(costs, |costs| costs.slots = Some(slots));
        let faster = but(base.clone(), |costs| costs.copy = Some("45 GB/s".parse().unwrap()));
        prop_assert!(of(faster) <= few);
        let quicker = but(base.clone(), |costs| {
            (costs.latency, costs.slice) = (Picos(costs.latency.0 / 2), Picos(costs.slice.0 / 2));
        });
        prop_assert!(of(quicker) <= few);
        let wider = full(ranks, "60 GB/s", "200 ns");
        prop_assert!(run(&wider, &machine(base), &graph).makespan <= few);
    }

    /// Where nothing costs anything but the links, the machine is the model fluid; and without a link that two share, analytical.
    #[test]
    fn a_free_machine_is_fluid((ranks, rounds) in shifts(), ring in any::<bool>()) {
        let graph = of_shifts(ranks, &rounds).graph();
        let ring = ring && ranks > 2;
        let topology = if ring {
            Topology::new([Dimension::ring(ranks, "30 GB/s".parse().unwrap(), "200 ns".parse().unwrap())]).unwrap()
        } else {
            full(ranks, "30 GB/s", "200 ns")
        };
        let free = Machine::free();
        let (report, times) = Simulation::new(&topology).machine(&free).run_with_times(&graph).unwrap();
        let simulation = Simulation::new(&topology).model(Model::Fluid);
        let (fluid, of_fluid) = simulation.run_with_times(&graph).unwrap();
        prop_assert_eq!(&report.finish, &fluid.finish);
        prop_assert_eq!(times, of_fluid);
        prop_assert_eq!(report.links, fluid.links);
        if !ring {
            let analytical = Simulation::new(&topology).model(Model::Analytical).run(&graph).unwrap();
            prop_assert_eq!(report.makespan, analytical.makespan);
        }
    }
}
