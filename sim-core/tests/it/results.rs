//! What a report can say beside the time: messages and the critical path, by hand.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use chakra_et::graph::{Graph, Op, Origin, RankGraph, SourceRef};
use sim_core::report::{CriticalPath, StepKind};
use sim_core::topology::Dimension;
use sim_core::units::{Bytes, Picos};
use sim_core::{Model, Progress, SimError, Simulation};

use crate::support::*;

const MB: u64 = 1_000_000;

/// [latency, bandwidth, queueing, waiting, computing] in ns.
fn shares(path: &CriticalPath) -> [f64; 5] {
    let shares = path.shares;
    [shares.latency, shares.bandwidth, shares.queueing, shares.waiting, shares.computing].map(Picos::as_ns)
}

#[test]
fn messages_say_when_they_were_sent_and_delivered() {
    let mut ranks = Ranks::new(3);
    let computed = ranks.comp(0, 5, &[]);
    ranks.push(0, Op::Send { dst: 2, tag: 7, bytes: MB }, &[computed]);
    ranks.message(1, 2, 2 * MB);
    ranks.recv(0, 1, 3, &[]);
    ranks.send(1, 0, 3, &[]);
    let topology = one(Dimension::switch, 3, "500 ns");
    let report = Simulation::new(&topology).model(Model::Fluid).message_times(true).run(&ranks.graph());
    let times = report.unwrap().message_times.unwrap();
    let rows: Vec<_> = times
        .iter()
        .map(|m| (m.src, m.dst, m.tag, m.bytes, m.send, m.receive, m.issued.as_ns(), m.delivered.as_ns()))
        .collect();
    // 1 → 2 has moved 0.25 MB at 5,000 (less 60 ps for the 3 bytes, then at half the up-link), and shares the down-link
    // with 0 → 2 until that is through at 45,000.
    assert_eq!(rows[0], (0, 2, 7, Bytes(MB), 1, None, 5_000.0, 46_000.0));
    assert_eq!(rows[1], (1, 2, 0, Bytes(2 * MB), 0, Some(0), 0.0, 61_000.06));
    assert_eq!(rows[2], (1, 0, 0, Bytes(3), 1, Some(2), 0.0, 1_000.12));
    assert_eq!(rows.len(), 3);
}

#[test]
fn a_chain_is_its_own_critical_path() {
    // 0 computes 7 µs and sends over two hops to 2, which computes 3 µs; 1 computes 9 µs aside.
    let mut ranks = Ranks::new(6);
    let computed = ranks.comp(0, 7, &[]);
    ranks.send(0, 2, MB, &[computed]);
    let message = ranks.recv(2, 0, MB, &[]);
    ranks.comp(2, 3, &[message]);
    ranks.comp(1, 9, &[]);
    let (graph, topology) = (ranks.graph(), one(Dimension::ring, 6, "500 ns"));
    for (model, bandwidth) in
        [(Model::Analytical, 20_000.0), (Model::LinkQueue, 40_000.0), (Model::Fluid, 20_000.0)]
    {
        let report = Simulation::new(&topology).model(model).critical_path(true).run(&graph).unwrap();
        let path = report.critical_path.unwrap();
        assert_eq!(shares(&path), [1_000.0, bandwidth, 0.0, 0.0, 10_000.0], "{model}");
        let steps: Vec<_> = path.steps.iter().map(|step| (step.rank, step.node, step.kind)).collect();
        assert_eq!(
            steps,
            [
                (0, 0, StepKind::Compute),
                (0, 1, StepKind::Send { dst: 2 }),
                (2, 0, StepKind::Receive { src: 0 }),
                (2, 1, StepKind::Compute)
            ]
        );
        assert_eq!(path.steps[1].start.as_ns(), 7_000.0);
        assert_eq!(path.steps[1].end.as_ns(), 8_000.0 + bandwidth);
    }
}

#[test]
fn what_a_message_loses_to_others_is_queueing() {
    // The seventh of an incast waits for six on the last link, or shares it with them.
    let mut ranks = Ranks::new(8);
    (1..8).for_each(|src| ranks.message(src, 0, MB));
    let (graph, topology) = (ranks.graph(), one(Dimension::switch, 8, "500 ns"));
    for (model, expected) in [
        (Model::Analytical, [1_000.0, 20_000.0, 0.0, 0.0, 0.0]),
        (Model::LinkQueue, [1_000.0, 40_000.0, 120_000.0, 0.0, 0.0]),
        (Model::Fluid, [1_000.0, 20_000.0, 120_000.0, 0.0, 0.0]),
    ] {
        let report = Simulation::new(&topology).model(model).critical_path(true).run(&graph).unwrap();
        assert_eq!(shares(&report.critical_path.unwrap()), expected, "{model}");
    }
}

#[test]
fn late_starts_and_overheads_are_waiting() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, MB);
    let (graph, topology) = (ranks.graph(), one(Dimension::ring, 2, "500 ns"));
    let late = ["0=+10us".parse().unwrap()];
    let simulation = Simulation::new(&topology).stragglers(&late).critical_path(true);
    let report = simulation.overheads(Picos(1_000_000), Picos(2_000_000)).run(&graph).unwrap();
    assert_eq!(report.makespan.as_ns(), 33_500.0);
    assert_eq!(shares(&report.critical_path.unwrap()), [500.0, 20_000.0, 0.0, 13_000.0, 0.0]);
}

#[test]
fn the_path_is_told_by_source_line() {
    let at = |line| Origin { step: None, source: Some(SourceRef { file: 0, line }) };
    let mut sender = RankGraph::builder();
    let computed = sender.push(Op::Comp { micros: 7, ops: 0, bytes: 0 }, [], at(3)).unwrap();
    sender.push(Op::Send { dst: 1, tag: 0, bytes: MB }, [computed], at(4)).unwrap();
    let mut receiver = RankGraph::builder();
    let message = receiver.push(Op::Recv { src: 0, tag: 0, bytes: MB }, [], at(4)).unwrap();
    let unknown = Origin::default();
    let next = receiver.push(Op::Comp { micros: 9, ops: 0, bytes: 0 }, [message], at(3)).unwrap();
    receiver.push(Op::Comp { micros: 1, ops: 0, bytes: 0 }, [next], unknown).unwrap();
    let mut graph = Graph::new(vec![sender.finish(), receiver.finish()]);
    graph.source_files.push("src/ring.rs".to_owned());
    let topology = one(Dimension::ring, 2, "500 ns");
    let report = Simulation::new(&topology).critical_path(true).run(&graph).unwrap();
    let lines: Vec<_> = report.critical_path.unwrap().lines;
    let lines: Vec<_> = lines.iter().map(|l| (l.file.as_str(), l.line, l.shares.total().as_ns())).collect();
    assert_eq!(lines, [("src/ring.rs", 4, 20_500.0), ("src/ring.rs", 3, 16_000.0)]);
}

#[test]
fn nothing_is_recorded_unless_asked_for_and_nothing_else_changes() {
    let graph = ring_all_reduce(5, 1000, 2);
    let topology = one(Dimension::ring, 5, "500 ns");
    for model in NETWORK_MODELS {
        let simulation = Simulation::new(&topology).model(model).fold(false);
        let plain = simulation.run(&graph).unwrap();
        assert_eq!((&plain.message_times, &plain.critical_path), (&None, &None));
        let mut full = simulation.message_times(true).critical_path(true).run(&graph).unwrap();
        assert_eq!(full.message_times.take().unwrap().len(), 40);
        assert!(full.critical_path.take().is_some());
        assert_eq!(full, plain);
    }
}

#[test]
fn a_graph_without_nodes_has_an_empty_path() {
    let topology = one(Dimension::ring, 2, "500 ns");
    let report = Simulation::new(&topology).critical_path(true).run(&Ranks::new(2).graph()).unwrap();
    assert_eq!(report.critical_path, Some(CriticalPath::default()));
}

#[test]
fn an_observer_hears_of_the_progress_and_may_end_the_run() {
    let graph = ring_all_reduce(200, 1000, 0);
    let topology = one(Dimension::ring, 200, "500 ns");
    let last = AtomicU64::new(0);
    let nodes = graph.node_count();
    let watch = |progress: &Progress| {
        assert!(progress.nodes == nodes && progress.finished <= nodes && progress.messages <= 79_600);
        assert!(progress.events > last.swap(progress.events, Ordering::Relaxed));
        ControlFlow::Continue(())
    };
    let report = Simulation::new(&topology).observer(&watch).run(&graph).unwrap();
    assert!(last.load(Ordering::Relaxed) >= 65_536, "79,600 messages have more than 65,536 events");
    assert_eq!(report, Simulation::new(&topology).run(&graph).unwrap());

    let stop = |_: &Progress| ControlFlow::Break(());
    for model in [Model::LinkQueue, Model::Fluid] {
        let error = Simulation::new(&topology).model(model).observer(&stop).run(&graph).unwrap_err();
        let SimError::Stopped(so_far) = &error else { panic!("{error}") };
        assert!(so_far.progress.finished > 0 && so_far.progress.finished < nodes);
        assert!(so_far.finish.iter().all(|finish| *finish <= so_far.progress.time));
        assert!(so_far.progress.time < report.makespan);
        let text = error.to_string();
        assert!(
            text.starts_with("stopped at ") && text.ends_with(&format!(" of {nodes} nodes finished")),
            "{text}"
        );
    }
}
