//! The engines against each other, and against any number of threads.

use chakra_et::graph::{Graph, Op, Origin, RankGraph};
use proptest::prelude::*;

use super::serial::run_events;
use super::*;
use crate::topology::Dimension;

/// A step of a random program: what a rank does, with which peer and tag, on which thread block.
pub(crate) type Step = (u32, u32, u32, u64, usize, usize);

pub(crate) const RANKS: u32 = 5;

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let sizes = prop::sample::select(vec![0u64, 1, 700, 65_536, 1_000_000]);
    prop::collection::vec((0..RANKS, 1..RANKS, 0..2u32, sizes, 0..4usize, 0..6usize), 1..80)
}

/// Each step is a message with a COMP behind it. On each rank every thread block is a chain; a connection
/// (peer and tag) stays on the thread block that used it first. Nodes may also depend on any earlier one.
pub(crate) fn thread_blocks(steps: &[Step], blocks: usize) -> Graph {
    let mut ranks: Vec<_> = (0..RANKS).map(|_| RankGraph::builder()).collect();
    let mut last: Vec<Vec<Option<u32>>> = vec![vec![None; blocks]; RANKS as usize];
    let mut nodes = vec![0u32; RANKS as usize];
    let mut push = |rank: u32, block: usize, op: Op, back: usize| {
        let at = rank as usize;
        let further = nodes[at].checked_sub(back as u32 * 3 + 1).filter(|_| back > 0);
        let deps = further.into_iter().chain(last[at][block]);
        let node = ranks[at].push(op, deps, Origin::default()).unwrap();
        last[at][block] = Some(node);
        nodes[at] += 1;
    };
    for &(src, distance, tag, bytes, _, back) in steps {
        let dst = (src + distance) % RANKS;
        let block = |peer: u32| (peer * 2 + tag) as usize % blocks;
        push(src, block(dst), Op::Send { dst, tag, bytes }, back);
        push(dst, block(src), Op::Recv { src, tag, bytes }, back / 2);
        push(dst, block(src), Op::Comp { micros: bytes % 3, ops: 0, bytes }, 0);
    }
    Graph::new(ranks.into_iter().map(|rank| rank.finish()).collect())
}

/// Nodes that depend on few others or none, so that the order of a connection is not always fixed.
pub(crate) fn loose(steps: &[Step]) -> Graph {
    let mut ranks: Vec<_> = (0..RANKS).map(|_| RankGraph::builder()).collect();
    let mut nodes = vec![0u32; RANKS as usize];
    let mut push = |rank: u32, op: Op, back: usize| {
        let count = &mut nodes[rank as usize];
        let deps = count.checked_sub(back as u32).filter(|dep| dep < count);
        ranks[rank as usize].push(op, deps, Origin::default()).unwrap();
        *count += 1;
    };
    for &(src, distance, tag, bytes, send, recv) in steps {
        let dst = (src + distance) % RANKS;
        // Equal sizes on one connection, because which messages meet is open.
        let bytes = if tag == 0 { 4096 } else { bytes % 2 * 512 };
        let bytes = if tag == 1 { 100_000 } else { bytes };
        push(src, Op::Send { dst, tag, bytes }, send);
        push(dst, Op::Recv { src, tag, bytes }, recv);
        push(dst, Op::Comp { micros: u64::from(distance), ops: 0, bytes }, 1);
    }
    Graph::new(ranks.into_iter().map(|rank| rank.finish()).collect())
}

fn ring_topology() -> Topology {
    Topology::new([Dimension::ring(RANKS, "50 GB/s".parse().unwrap(), "500 ns".parse().unwrap())]).unwrap()
}

fn swept(setup: Setup<'_>, graph: &Graph, partitions: usize) -> Option<sweep::Outcome> {
    let conventions = setup.conventions;
    if setup.model == Model::LogGp {
        return sweep::run_in_partitions::<_, true>(graph, conventions, &setup.loggp, partitions);
    }
    let routes = Routes::new(setup.topology?, conventions);
    sweep::run_in_partitions::<_, true>(graph, conventions, &routes, partitions)
}

pub(crate) fn setup(topology: &Topology, model: Model, conventions: Conventions) -> Setup<'_> {
    let (topology, loggp) = (Some(topology), LogGp::default());
    Setup {
        topology,
        model,
        conventions,
        compat: None,
        loggp,
        fold: true,
        options: Options::default(),
        times: true,
        machine: None,
    }
}

fn setups(topology: &Topology) -> [Setup<'_>; 2] {
    Conventions::ALL.map(|conventions| setup(topology, Model::Analytical, conventions))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn thread_blocks_are_swept_and_the_event_engine_says_the_same(
        steps in steps(), blocks in 1..5usize
    ) {
        let (graph, topology) = (thread_blocks(&steps, blocks), ring_topology());
        for setup in setups(&topology) {
            let (report, times) = run_events(setup, &graph).unwrap();
            for partitions in [1, 2, 3, 8] {
                let outcome = swept(setup, &graph, partitions).expect("thread blocks can be swept");
                prop_assert_eq!(&outcome.times, &times);
                prop_assert_eq!(&outcome.finish, &report.finish);
                prop_assert_eq!((outcome.messages, outcome.bytes), (report.messages, report.bytes.0));
            }
        }
    }

    /// One thread block a rank: nothing ever has to wait for the processor of its rank.
    #[test]
    fn loggp_is_the_same_swept_and_by_events_where_ranks_are_chains(steps in steps()) {
        let (graph, topology) = (thread_blocks(&steps, 1), ring_topology());
        let setup = setup(&topology, Model::LogGp, Conventions::Exact);
        let (report, times) = run_events(setup, &graph).unwrap();
        for partitions in [1, 2, 3, 8] {
            let outcome = swept(setup, &graph, partitions).expect("chains can be swept");
            prop_assert_eq!(&outcome.times, &times);
            prop_assert_eq!(&outcome.finish, &report.finish);
        }
    }

    /// A random program of one rank, done by all; with every kind of relabelling.
    #[test]
    fn folding_changes_no_time(
        steps in prop::collection::vec((1..12u32, 0..2u32, 0..100_000u64, 0..4usize), 1..30), kind in 0..3usize
    ) {
        let symmetry =
            [Symmetry::rotation(12), Symmetry::torus(&[3, 4]).unwrap(), Symmetry::xor(16).unwrap()][kind].clone();
        let mut rank = RankGraph::builder();
        for (peer, tag, bytes, lag) in steps {
            // Thread block i is what depends on one of the last nodes; the RECV takes what the SEND's image sends.
            let last = |back: usize, count: u32| count.checked_sub(back as u32 + 1);
            let count = rank.clone().finish().len() as u32;
            let send = rank.push(Op::Send { dst: peer, tag, bytes }, last(0, count), Origin::default()).unwrap();
            let recv = Op::Recv { src: symmetry.back(peer), tag, bytes };
            let recv = rank.push(recv, last(lag, count), Origin::default()).unwrap();
            rank.push(Op::Comp { micros: bytes % 3, ops: 0, bytes }, [send, recv], Origin::default()).unwrap();
        }
        let graph = SymmetricGraph::new(symmetry, rank.finish()).unwrap();
        let expanded = graph.expand();
        let topology = match graph.rank_count() {
            12 => Topology::new([
                Dimension::ring(3, "50 GB/s".parse().unwrap(), "500 ns".parse().unwrap()),
                Dimension::switch(4, "25 GB/s".parse().unwrap(), "1 us".parse().unwrap()),
            ]),
            ranks => Topology::new([Dimension::switch(ranks, "1 GB/s".parse().unwrap(), "0 ns".parse().unwrap())]),
        };
        let topology = topology.unwrap();
        for model in [Model::Analytical, Model::LogGp] {
            for conventions in Conventions::ALL {
                let setup = setup(&topology, model, conventions);
                let (unfolded, _) = run_events(setup, &expanded).unwrap();
                let report = run_symmetric(setup, &graph).unwrap();
                prop_assert_eq!(Report { folded: false, ..report.clone() }, unfolded.clone());
                let (found, _) = run(Setup { times: false, ..setup }, &expanded).unwrap();
                prop_assert_eq!(found.folded, report.folded, "what can be folded is found to be");
                prop_assert_eq!(Report { folded: false, ..found }, unfolded);
            }
        }
    }

    /// Whatever the sweep dares to answer is what the event engine answers; and it answers nothing that is stuck.
    #[test]
    fn a_sweep_of_any_graph_is_right_or_none(steps in steps()) {
        let (graph, topology) = (loose(&steps), ring_topology());
        for setup in setups(&topology) {
            let events = run_events(setup, &graph);
            for partitions in [1, 3] {
                if let Some(outcome) = swept(setup, &graph, partitions) {
                    let (report, times) = events.as_ref().expect("what was swept can be run");
                    prop_assert_eq!(&outcome.times, times);
                    prop_assert_eq!(&outcome.finish, &report.finish);
                }
            }
        }
    }
}

#[test]
fn a_run_that_is_stuck_or_mismatched_is_left_to_the_event_engine() {
    let topology = ring_topology();
    let graph = |wanted: u64, deps: &[u32]| {
        let mut ranks: Vec<_> = (0..RANKS).map(|_| RankGraph::builder()).collect();
        ranks[0].push(Op::Send { dst: 1, tag: 0, bytes: 8 }, [], Origin::default()).unwrap();
        let recv = Op::Recv { src: 0, tag: 0, bytes: wanted };
        ranks[1].push(recv, deps.iter().copied(), Origin::default()).unwrap();
        Graph::new(ranks.into_iter().map(|rank| rank.finish()).collect())
    };
    let [exact, _] = setups(&topology);
    assert!(swept(exact, &graph(8, &[]), 1).is_some());
    assert!(swept(exact, &graph(9, &[]), 1).is_none());
    assert!(matches!(run(exact, &graph(9, &[])), Err(SimError::SizeMismatch { .. })));
    for deps in [&[0][..], &[7]] {
        assert!(swept(exact, &graph(8, deps), 1).is_none(), "{deps:?}");
        assert!(run(exact, &graph(8, deps)).is_err());
    }
}
