//! Tests of the engine by workloads whose times can be computed by hand.

mod alone;
mod compat;
mod random;

use std::error::Error;
use std::sync::{Arc, Mutex};

use chakra_et::graph::{Graph, Op, Origin, RankGraph, RankGraphBuilder, TooLarge};
use chakra_et::workload::{CollectiveKind, Cost, Workload, WorkloadBuilder};
use rustc_hash::FxHashMap;

use super::*;
use crate::topology::{Dimension, Topology};
use crate::units::Picos;
use crate::{Compat, Conventions, Model, Simulation};

const US: u64 = 1_000_000;

/// A ring: every collective is a reduce-scatter, a rank's input one chunk of bytes / n a rank.
#[derive(Default)]
struct Ring {
    made: Mutex<FxHashMap<(u32, u64), Arc<Algorithm>>>,
    consumers: bool,
    producers: bool,
}

/// n − 1 messages of bytes / n from each rank to the next, each after the one before and that which came before.
fn ring(n: u32, bytes: u64) -> Result<Algorithm, TooLarge> {
    let size = bytes / u64::from(n.max(1));
    let (mut ranks, mut inputs, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    for rank in 0..n {
        let mut nodes: RankGraphBuilder = RankGraph::builder();
        let (mut last, mut sent) = (None, None);
        let (dst, src) = ((rank + 1) % n, (rank + n - 1) % n);
        // In step s, chunk rank − s leaves, and chunk rank − s − 1 comes and is added to.
        let mut reads = vec![Vec::new(); n as usize];
        for step in 0..n - 1 {
            let deps = sent.into_iter().chain(last);
            let send = nodes.push(Op::Send { dst, tag: 0, bytes: size }, deps, Origin::default())?;
            sent = Some(send);
            last = Some(nodes.push(Op::Recv { src, tag: 0, bytes: size }, [], Origin::default())?);
            reads[((rank + n - step) % n) as usize].push(send);
        }
        inputs.push(reads);
        // One chunk of output, which the last message makes.
        outputs.push(vec![last.into_iter().collect()]);
        ranks.push(nodes.finish());
    }
    Ok(Algorithm::new("ring", Graph::new(ranks)).with_chunks(inputs, outputs))
}

impl Algorithms for Ring {
    fn algorithm(&self, collective: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
        let key = (collective.ranks(), collective.bytes);
        let mut made = self.made.lock().unwrap();
        let algorithm = match made.get(&key) {
            Some(algorithm) => algorithm.clone(),
            None => {
                let algorithm = Arc::new(ring(key.0, key.1)?);
                made.insert(key, algorithm.clone());
                algorithm
            }
        };
        let Self { consumers: split_consumers, producers: split_producers, .. } = *self;
        Ok(Choice { algorithm, split_consumers, split_producers })
    }
}

/// 1 byte takes 1 ps, and a hop no time.
fn fully_connected(ranks: u32) -> Topology {
    let bandwidth = "1 TB/s".parse().unwrap();
    Topology::new([Dimension::fully_connected(ranks, bandwidth, "0 ns".parse().unwrap())]).unwrap()
}

fn run(workload: &Workload, algorithms: &dyn Algorithms) -> WorkloadReport {
    let topology = fully_connected(workload.rank_count() as u32);
    let reports = [Model::Analytical, Model::LinkQueue, Model::Fluid]
        .map(|model| WorkloadSimulation::new(&topology).model(model).run(workload, algorithms).unwrap());
    // No two messages share a link, so the models agree.
    for report in &reports {
        assert_eq!((report.makespan, &report.ranks), (reports[0].makespan, &reports[0].ranks));
        let sum = |rank: &RankTimes| rank.compute.0 + rank.overlapped.0 + rank.exposed.0 + rank.idle.0;
        assert!(report.ranks.iter().all(|rank| sum(rank) == report.makespan.0));
        let steps = &report.critical_path.steps;
        assert!(steps.windows(2).all(|two| two[0].finish == two[1].start && two[0].to == two[1].rank));
        let ends = (steps.first().map(|step| step.start), steps.last().map(|step| step.finish));
        assert_eq!(ends, (Some(Picos::ZERO), Some(report.makespan)));
    }
    let [_, _, fluid] = reports;
    fluid
}

const ALL_REDUCE: CollectiveKind = CollectiveKind::AllReduce;

#[test]
fn one_collective_takes_what_its_algorithm_takes() {
    for n in [1, 2, 3, 8] {
        let mut builder = WorkloadBuilder::new(n);
        for rank in 0..n {
            builder.collective(rank, "x", ALL_REDUCE, 12_000_000, 0, &[]).unwrap();
        }
        let report = run(&builder.finish(), &Ring::default());
        let graph = ring(n, 12_000_000).unwrap();
        let alone = Simulation::new(&fully_connected(n)).model(Model::Fluid).run(graph.graph()).unwrap();
        assert_eq!(report.makespan, alone.makespan);
        assert_eq!((report.delivered, report.bytes), (alone.messages, alone.bytes));
        assert_eq!(report.makespan, Picos(u64::from(n - 1) * 12_000_000 / u64::from(n)));
    }
}

#[test]
fn communication_beside_a_longer_computation_is_hidden() {
    let mut builder = WorkloadBuilder::new(2);
    for rank in 0..2 {
        builder.collective(rank, "c", ALL_REDUCE, 20 * US, 0, &[]).unwrap();
        builder.compute(rank, "p", Cost::micros(15), &[]).unwrap();
    }
    let report = run(&builder.finish(), &Ring::default());
    assert_eq!(report.makespan, Picos(15 * US));
    let RankTimes { compute, overlapped, exposed, idle, .. } = report.ranks[0];
    assert_eq!([compute, overlapped, exposed, idle], [5, 10, 0, 0].map(|us| Picos(us * US)));
}

#[test]
fn communication_between_computations_is_exposed() {
    let mut builder = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let first = builder.compute(rank, "p", Cost::micros(3), &[]).unwrap();
        let sum = builder.collective(rank, "c", ALL_REDUCE, 20 * US, 0, &[first]).unwrap();
        builder.compute(rank, "q", Cost::micros(4), &[sum]).unwrap();
    }
    let report = run(&builder.finish(), &Ring::default());
    assert_eq!(report.makespan, Picos(17 * US));
    let RankTimes { compute, overlapped, exposed, idle, .. } = report.ranks[1];
    assert_eq!([compute, overlapped, exposed, idle], [7, 0, 10, 0].map(|us| Picos(us * US)));
    let names: Vec<&str> = report.critical_path.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["p", "c", "q"]);
    let row = &report.collectives[0];
    assert_eq!((row.count, row.time, row.exposed), (1, Picos(20 * US), Picos(20 * US)));
}

#[test]
fn a_straggler_shifts_everyone_by_its_delay() {
    let mut builder = WorkloadBuilder::new(4);
    for rank in 0..4 {
        let mut last = vec![];
        for _ in 0..3 {
            let product = builder.compute(rank, "p", Cost::micros(2), &last).unwrap();
            last = vec![builder.collective(rank, "c", ALL_REDUCE, 4 * US, 0, &[product]).unwrap()];
        }
    }
    let workload = builder.finish();
    let topology = fully_connected(4);
    let stragglers = ["2=+7us".parse().unwrap()];
    let simulation = WorkloadSimulation::new(&topology);
    let on_time = simulation.run(&workload, &Ring::default()).unwrap();
    let late = simulation.stragglers(&stragglers).run(&workload, &Ring::default()).unwrap();
    assert_eq!(on_time.makespan, Picos(15 * US));
    for (late, on_time) in late.ranks.iter().zip(&on_time.ranks) {
        assert_eq!(late.finish.0, on_time.finish.0 + 7 * US);
    }
    assert_eq!(late.critical_path.steps[0].kind, PathKind::LateStart);
    assert!(late.ranks[0].waited > on_time.ranks[0].waited);
}

#[test]
fn groups_overlap_and_each_keeps_its_order() {
    let mut builder = WorkloadBuilder::new(4);
    let pairs = [builder.group("1", [0, 1]).unwrap(), builder.group("2", [2, 3]).unwrap()];
    for rank in 0..4 {
        for _ in 0..2 {
            builder.collective(rank, "pair", ALL_REDUCE, 20 * US, pairs[rank as usize / 2], &[]).unwrap();
        }
        builder.collective(rank, "all", ALL_REDUCE, 4 * US, 0, &[]).unwrap();
    }
    let workload = builder.finish();
    let topology = fully_connected(4);
    let simulation = WorkloadSimulation::new(&topology).model(Model::Analytical);
    // Twice 10 µs on the pairs, beside 3 µs on all.
    assert_eq!(simulation.run(&workload, &Ring::default()).unwrap().makespan, Picos(20 * US));
    // One at a time.
    let compat = simulation.compat(Some(Compat::AstraSim));
    assert_eq!(compat.run(&workload, &Ring::default()).unwrap().makespan, Picos(23 * US));
}

/// Two ranks come to two groups in opposite order.
fn opposite(with_dependences: bool) -> Workload {
    let mut builder = WorkloadBuilder::new(2);
    let groups = [builder.group("a", [0, 1]).unwrap(), builder.group("b", [0, 1]).unwrap()];
    for rank in 0..2 {
        let [first, second] = if rank == 0 { [0, 1] } else { [1, 0] };
        let name = |group: usize| ["on a", "on b"][group];
        let begun = builder.collective(rank, name(first), ALL_REDUCE, 8, groups[first], &[]).unwrap();
        let deps = if with_dependences { vec![begun] } else { vec![] };
        builder.collective(rank, name(second), ALL_REDUCE, 8, groups[second], &deps).unwrap();
    }
    builder.finish()
}

#[test]
fn opposite_orders_are_a_deadlock_by_dependences_or_under_astra_sims_rules() {
    let topology = fully_connected(2);
    let simulation = WorkloadSimulation::new(&topology);
    assert!(simulation.run(&opposite(false), &Ring::default()).is_ok());
    let cases = [(simulation, opposite(true)), (simulation.compat(Some(Compat::AstraSim)), opposite(false))];
    for (simulation, workload) in cases {
        let error = simulation.run(&workload, &Ring::default()).unwrap_err();
        let WorkloadError::Stuck(stuck) = &error else { panic!("{error}") };
        assert!(stuck.is_circle, "{error}");
        let on: Vec<(u32, &str)> = stuck.waits.iter().map(|wait| (wait.rank, wait.name.as_str())).collect();
        assert_eq!(on, [(0, "on a"), (1, "on a"), (1, "on b"), (0, "on b")], "{error}");
        assert!(error.to_string().contains("waits for rank 1 to come to it"), "{error}");
    }
}

#[test]
fn a_receive_without_a_send_is_named() {
    let mut builder = WorkloadBuilder::new(2);
    let recv = builder.recv(1, "activations", 0, 7, 64, &[]).unwrap();
    builder.compute(1, "forward", Cost::micros(1), &[recv]).unwrap();
    let topology = fully_connected(2);
    let error = WorkloadSimulation::new(&topology).run(&builder.finish(), &Ring::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("2 of 2 nodes are left"), "{text}");
    assert!(
        text.contains("rank 1, node 0 \"activations\" (RECV of 64 bytes from rank 0, tag 7) waits for a message that rank 0 never sends"),
        "{text}"
    );
}

#[test]
fn empty_collectives_groups_of_one_and_a_thousand_groups_take_their_time() {
    let n = 1_000;
    let mut builder = WorkloadBuilder::new(n);
    let singles: Vec<u32> =
        (0..n).map(|rank| builder.group(format!("{}", rank + 1), [rank]).unwrap()).collect();
    for rank in 0..n {
        let alone =
            builder.collective(rank, "alone", ALL_REDUCE, 8_000, singles[rank as usize], &[]).unwrap();
        builder.compute(rank, "p", Cost::micros(1), &[alone]).unwrap();
    }
    let report = run(&builder.finish(), &Ring::default());
    assert_eq!(report.makespan, Picos(US));
    assert_eq!((report.collectives.len(), report.delivered), (1_000, 0));

    let mut builder = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let nothing = builder.collective(rank, "nothing", ALL_REDUCE, 0, 0, &[]).unwrap();
        builder.compute(rank, "p", Cost::micros(1), &[nothing]).unwrap();
    }
    assert_eq!(run(&builder.finish(), &Ring::default()).makespan, Picos(US));
}

/// p stages, m microbatches, GPipe: all forward, then all backward, each taking `micros` on a stage.
fn pipeline(p: u32, m: u32, micros: u64) -> Workload {
    let mut builder = WorkloadBuilder::new(p);
    for stage in 0..p {
        let mut flush = None;
        for (backward, [from, to]) in [
            (false, [stage.checked_sub(1), Some(stage + 1)]),
            (true, [Some(stage + 1), stage.checked_sub(1)]),
        ] {
            for batch in 0..m {
                let tag = batch + if backward { m } else { 0 };
                let there = |stage: &Option<u32>| stage.filter(|stage| *stage < p);
                let input = there(&from).map(|from| builder.recv(stage, "in", from, tag, 0, &[]).unwrap());
                let deps: Vec<u32> = input.into_iter().chain(flush.filter(|_| backward)).collect();
                let work = builder.compute(stage, "work", Cost::micros(micros), &deps).unwrap();
                if !backward {
                    flush = Some(work);
                }
                if let Some(to) = there(&to) {
                    builder.send(stage, "out", to, tag, 0, &[work]).unwrap();
                }
            }
        }
    }
    builder.finish()
}

#[test]
fn the_bubble_of_a_pipeline_is_that_of_the_textbook() {
    for (p, m) in [(1, 4), (2, 2), (4, 8), (8, 3), (5, 17)] {
        let report = run(&pipeline(p, m, 6), &Ring::default());
        // 2 (m + p − 1) slots, of which each stage works in 2 m: the bubble is (p − 1) / (m + p − 1).
        assert_eq!(
            report.makespan,
            Picos(u64::from(2 * (m + p - 1)) * 6 * US),
            "{p} stages, {m} microbatches"
        );
        for rank in &report.ranks {
            let bubble = 1.0 - rank.utilisation(report.makespan).unwrap();
            assert!((bubble - f64::from(p - 1) / f64::from(m + p - 1)).abs() < 1e-12);
        }
    }
}

#[test]
fn a_product_feeds_a_reduce_scatter_tile_by_tile() {
    // p tiles of c each, and p − 1 steps of t: the classic pipeline.
    for p in [2_u64, 3, 4, 8] {
        for (c, t) in [(1, 1), (3, 1), (1, 3), (2, 5)] {
            let mut builder = WorkloadBuilder::new(p as u32);
            for rank in 0..p as u32 {
                let product = builder.compute(rank, "product", Cost::micros(c * p), &[]).unwrap();
                builder
                    .collective(rank, "rs", CollectiveKind::ReduceScatter, t * p * US, 0, &[product])
                    .unwrap();
            }
            let workload = builder.finish();
            let coarse = run(&workload, &Ring::default());
            assert_eq!(coarse.makespan, Picos((p * c + (p - 1) * t) * US));
            let fine = run(&workload, &Ring { producers: true, ..Ring::default() });
            // Step s waits for tile s, which is there after (s + 1) c, and for step s − 1; and the last tile, which is
            // only added at the end, must be there.
            let mut end = 0;
            for step in 0..p - 1 {
                end = end.max((step + 1) * c) + t;
            }
            assert_eq!(fine.makespan, Picos(end.max(p * c) * US), "p = {p}, c = {c}, t = {t}");
        }
    }
}

#[test]
fn a_computation_starts_with_the_first_chunk_that_is_there() {
    // All-gather of one message for each chunk: rank 1 gets 4 chunks, one after the other, 2 µs each.
    struct Chain;
    impl Algorithms for Chain {
        fn algorithm(&self, _: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
            let (mut send, mut recv) = (RankGraph::builder(), RankGraph::builder());
            let (mut sent, mut chunks) = (None, Vec::new());
            for tag in 0..4 {
                sent = Some(send.push(Op::Send { dst: 1, tag, bytes: 2 * US }, sent, Origin::default())?);
                chunks.push(vec![recv.push(
                    Op::Recv { src: 0, tag, bytes: 2 * US },
                    [],
                    Origin::default(),
                )?]);
            }
            let graph = Graph::new(vec![send.finish(), recv.finish()]);
            let outputs = vec![vec![Vec::new(); 4], chunks];
            let algorithm = Algorithm::new("chain", graph).with_chunks(Vec::new(), outputs);
            Ok(Choice { split_consumers: true, ..Choice::new(Arc::new(algorithm)) })
        }
    }
    let mut builder = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let gather = builder.collective(rank, "ag", CollectiveKind::AllGather, 8 * US, 0, &[]).unwrap();
        let product = builder.compute(rank, "product", Cost::micros(13), &[gather]).unwrap();
        builder.compute(rank, "after", Cost::micros(1), &[product]).unwrap();
    }
    let report = run(&builder.finish(), &Chain);
    // Rank 0 has all from the beginning: 13 + 1. Rank 1: 2 for the first chunk, then 13, then 1.
    assert_eq!(report.ranks.iter().map(|rank| rank.finish.0 / US).collect::<Vec<_>>(), [14, 16]);
}

#[test]
fn computations_of_one_stream_run_one_after_the_other_and_of_two_at_once() {
    let mut builder = WorkloadBuilder::new(1);
    for stream in [0, 0, 1] {
        builder.compute_on(0, "p", Cost::micros(2), false, stream, &[]).unwrap();
    }
    builder.compute_on(0, "host", Cost::micros(5), true, 0, &[]).unwrap();
    let workload = builder.finish();
    let topology = fully_connected(1);
    let simulation = WorkloadSimulation::new(&topology);
    let report = simulation.run(&workload, &Ring::default()).unwrap();
    assert_eq!(report.ranks[0].finish, Picos(5 * US));
    assert_eq!((report.ranks[0].compute, report.ranks[0].cpu), (Picos(4 * US), Picos(5 * US)));
    let report = simulation.compat(Some(Compat::AstraSim)).run(&workload, &Ring::default()).unwrap();
    assert_eq!(report.ranks[0].finish, Picos(6 * US));
}

#[test]
fn astra_sim_counts_whole_nanoseconds() {
    let mut builder = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let empty = builder.compute(rank, "p", Cost::default(), &[]).unwrap();
        builder.collective(rank, "c", ALL_REDUCE, 2048, 0, &[empty]).unwrap();
    }
    let bandwidth = "50 GiB/s".parse().unwrap();
    let topology =
        Topology::new([Dimension::fully_connected(2, bandwidth, "500 ns".parse().unwrap())]).unwrap();
    let simulation = WorkloadSimulation::new(&topology)
        .model(Model::Analytical)
        .conventions(Conventions::AstraSim)
        .compat(Some(Compat::AstraSim));
    // 1 ns, then ⌊500 + 1024 / 53.687⌋.
    let report = simulation.run(&builder.finish(), &Ring::default()).unwrap();
    assert_eq!(report.makespan, Picos(520_000));
}

/// Everything that happened, as text.
#[derive(Default)]
struct Diary(Vec<String>, Vec<u64>);

impl Timeline for Diary {
    fn span(&mut self, span: &Span<'_>) {
        let Span { track, what, start, finish } = span;
        let track = match track {
            Track::Gpu { rank, .. } => format!("gpu {rank}"),
            Track::Group { rank, .. } => format!("group {rank}"),
            Track::ThreadBlock { rank, .. } => format!("block {rank}"),
            Track::Link { link } => format!("link {}", link.0),
            other => format!("{other:?}"),
        };
        let what = match what {
            What::Node { name, .. } | What::Collective { name, .. } | What::Message { name, .. } => {
                (*name).to_owned()
            }
            What::Step { step, flow, collective, .. } => {
                assert_eq!((collective.is_empty(), flow.is_some()), (false, *step != Step::Compute));
                self.1.extend(flow);
                format!("{step:?}")
            }
            What::Crossing { src, dst, .. } => format!("{src} to {dst}"),
        };
        self.0.push(format!("{track}: {what} {}..{}", start.0 / US, finish.0 / US));
    }
}

#[test]
fn a_timeline_hears_of_everything_when_it_ends() {
    let mut builder = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let product = builder.compute(rank, "p", Cost::micros(2), &[]).unwrap();
        builder.collective(rank, "c", ALL_REDUCE, 8 * US, 0, &[product]).unwrap();
    }
    let workload = builder.finish();
    let topology = fully_connected(2);
    for model in [Model::LinkQueue, Model::Fluid] {
        let mut diary = Diary::default();
        let simulation = WorkloadSimulation::new(&topology).model(model);
        simulation.run_with_timeline(&workload, &Ring::default(), &mut diary).unwrap();
        let expected = [
            "gpu 0: p 0..2",
            "gpu 1: p 0..2",
            "link 0: 0 to 1 2..6",
            "block 0: Send(1) 2..6",
            "block 1: Receive(0) 2..6",
            "link 1: 1 to 0 2..6",
            "block 1: Send(0) 2..6",
            "group 1: c 2..6",
            "block 0: Receive(1) 2..6",
            "group 0: c 2..6",
        ];
        assert_eq!(diary.0, expected, "{model}");
        // The two ends of each message have its number.
        assert_eq!(diary.1, [0, 0, 1, 1], "{model}");
    }
}

#[test]
fn overlap_that_divides_nothing_is_warned_of_with_the_reason() {
    // Of each rank: a product, a collective after it, and whatever the case adds.
    let warnings = |ring: &Ring, add: &dyn Fn(&mut WorkloadBuilder, u32, u32, u32)| {
        let mut builder = WorkloadBuilder::new(2);
        for rank in 0..2 {
            let product = builder.compute(rank, "p", Cost::micros(2), &[]).unwrap();
            let sum = builder.collective(rank, "c", ALL_REDUCE, 8 * US, 0, &[product]).unwrap();
            add(&mut builder, rank, product, sum);
        }
        run(&builder.finish(), ring).warnings
    };
    let (producers, consumers) =
        (Ring { producers: true, ..Ring::default() }, Ring { consumers: true, ..Ring::default() });
    let nothing: &dyn Fn(&mut WorkloadBuilder, u32, u32, u32) = &|_, _, _, _| {};
    let after_both: &dyn Fn(&mut WorkloadBuilder, u32, u32, u32) = &|builder, rank, product, sum| {
        builder.compute(rank, "next", Cost::micros(1), &[product, sum]).unwrap();
    };
    assert_eq!(warnings(&producers, nothing), [""; 0]);
    let begin = "overlap of producers divides no computation at 1 × all_reduce by ring: ";
    assert_eq!(
        warnings(&producers, after_both),
        [format!("{begin}other nodes need all of the computation before it")]
    );
    let begin = "overlap of consumers divides no computation at 1 × all_reduce by ring: ";
    assert_eq!(warnings(&consumers, nothing), [format!("{begin}no computation depends on it directly")]);
    assert_eq!(warnings(&consumers, after_both), [format!("{begin}a rank's output is a single chunk")]);
    assert_eq!(warnings(&Ring::default(), after_both), [""; 0]);
}
