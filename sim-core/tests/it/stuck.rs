//! Runs that cannot go on say who waits for whom.

use chakra_et::graph::{Graph, Op, Origin, RankGraph, SourceRef, StepRef};
use sim_core::topology::Dimension;
use sim_core::{Conventions, Model, SimError, Simulation, StuckReport};

use crate::support::*;

fn stuck(conventions: Conventions, graph: &Graph) -> StuckReport {
    let ring = one(Dimension::ring, graph.rank_count() as u32, "500 ns");
    // loggp ends at other times, and machine takes thread blocks.
    let knows = |model: &Model| match model {
        Model::Fluid => conventions == Conventions::Exact,
        model => !matches!(model, Model::LogGp | Model::Machine),
    };
    let reports = Model::ALL.into_iter().filter(knows).map(|model| {
        let result = Simulation::new(&ring).model(model).conventions(conventions).run(graph);
        match result {
            Err(SimError::Stuck(report)) => report,
            other => panic!("not stuck: {other:?}"),
        }
    });
    let reports: Vec<StuckReport> = reports.collect();
    assert!(reports.windows(2).all(|two| two[0] == two[1]), "{reports:?}");
    reports[0].clone()
}

#[test]
fn a_receive_without_a_send() {
    let mut ranks = Ranks::new(2);
    let lost = ranks.recv(1, 0, 1024, &[]);
    ranks.comp(1, 1, &[lost]);
    assert_eq!(
        stuck(Conventions::Exact, &ranks.graph()).to_string(),
        "the simulation is stuck at 0 ns with 2 of 2 nodes unfinished\n  \
         rank 1, node 0: waits for 1024 bytes from rank 0, tag 0; rank 0 has no further send to rank 1"
    );
}

#[test]
fn the_second_of_two_receives_for_one_send() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, 1_000_000);
    ranks.recv(1, 0, 1_000_000, &[]);
    assert_eq!(
        stuck(Conventions::Exact, &ranks.graph()).to_string(),
        "the simulation is stuck at 20500 ns with 1 of 3 nodes unfinished\n  \
         rank 1, node 1: waits for 1000000 bytes from rank 0, tag 0; rank 0 has no further send to rank 1"
    );
}

#[test]
fn ranks_that_all_receive_before_they_send() {
    let mut ranks = Ranks::new(3);
    for rank in 0..3 {
        let first = ranks.recv(rank, (rank + 2) % 3, 8, &[]);
        ranks.send(rank, (rank + 1) % 3, 8, &[first]);
    }
    assert_eq!(
        stuck(Conventions::AstraSim, &ranks.graph()).to_string(),
        "the simulation is stuck at 0 ns with 6 of 6 nodes unfinished\n  \
         ranks wait for each other: rank 0 node 0 (receive from 2) -> rank 2 node 1 (send to 0) -> \
         rank 2 node 0 (receive from 1) -> rank 1 node 1 (send to 2) -> rank 1 node 0 (receive from 0) -> \
         rank 0 node 1 (send to 1) -> rank 0 node 0\n  \
         rank 0, node 0: waits for 8 bytes from rank 2, tag 0; rank 2 has not come to its send, node 1\n  \
         rank 1, node 0: waits for 8 bytes from rank 0, tag 0; rank 0 has not come to its send, node 1\n  \
         rank 2, node 0: waits for 8 bytes from rank 1, tag 0; rank 1 has not come to its send, node 1"
    );
}

#[test]
fn a_dependence_cycle_beside_a_root() {
    let mut rank = RankGraph::builder();
    let op = Op::Comp { micros: 1, ops: 0, bytes: 0 };
    for deps in [&[][..], &[0, 3], &[1], &[2]] {
        rank.push(op, deps.iter().copied(), Origin::default()).unwrap();
    }
    rank.set_ids(vec![10, 11, 12, 13]);
    let graph = Graph::new(vec![rank.finish(), RankGraph::default()]);
    assert_eq!(
        stuck(Conventions::Exact, &graph).to_string(),
        "the simulation is stuck at 1000 ns with 3 of 4 nodes unfinished\n  \
         rank 0: nodes depend on each other: 11 -> 13 -> 12 -> 11"
    );
}

#[test]
fn a_node_that_depends_on_itself() {
    let mut ranks = Ranks::new(2);
    ranks.comp(0, 1, &[0]);
    let report = stuck(Conventions::Exact, &ranks.graph());
    assert_eq!(report.cycles[0].nodes, [0]);
    assert!(report.to_string().ends_with("nodes depend on each other: 0 -> 0"));
}

#[test]
fn sizes_that_differ_are_an_error_or_under_astra_sim_never_match() {
    let mut ranks = Ranks::new(2);
    ranks.send(0, 1, 2048, &[]);
    ranks.recv(1, 0, 1024, &[]);
    let graph = ranks.graph();
    let ring = one(Dimension::ring, 2, "500 ns");
    assert_eq!(
        Simulation::new(&ring).run(&graph).unwrap_err().to_string(),
        "rank 0, node 0 sends 2048 bytes but its receive, rank 1, node 0, expects 1024 bytes (tag 0)"
    );
    assert_eq!(
        Simulation::new(&ring).conventions(Conventions::AstraSim).run(&graph).unwrap_err().to_string(),
        "the simulation is stuck at 540 ns with 1 of 2 nodes unfinished\n  \
         rank 1, node 0: waits for 1024 bytes from rank 0, tag 0; the size differs from rank 0, node 0, \
         which sends 2048 bytes"
    );
}

#[test]
fn a_message_with_another_tag_is_pointed_out_with_step_and_line() {
    let mut sender = RankGraph::builder();
    sender.push(Op::Send { dst: 1, tag: 4, bytes: 8 }, [], Origin::default()).unwrap();
    let mut receiver = RankGraph::builder();
    let origin = Origin {
        step: Some(StepRef { thread_block: 2, step: 5 }),
        source: Some(SourceRef { file: 0, line: 12 }),
    };
    receiver.push(Op::Recv { src: 0, tag: 3, bytes: 8 }, [], origin).unwrap();
    let mut graph = Graph::new(vec![sender.finish(), receiver.finish()]);
    graph.source_files.push("src/ring.rs".to_owned());
    let text = stuck(Conventions::Exact, &graph).to_string();
    assert!(
        text.ends_with(
            "rank 1, node 0, step 5 of thread block 2, src/ring.rs:12: waits for 8 bytes from rank 0, tag 3; \
             the tag differs from rank 0, node 0, which sends with tag 4"
        ),
        "{text}"
    );
}

#[test]
fn ranks_that_wait_for_one_that_is_left_alone_are_no_circle() {
    // 2 waits for 1, which waits for 0, which never sends.
    let mut ranks = Ranks::new(3);
    let first = ranks.recv(1, 0, 8, &[]);
    ranks.send(1, 2, 8, &[first]);
    ranks.recv(2, 1, 8, &[]);
    let report = stuck(Conventions::Exact, &ranks.graph());
    assert_eq!((report.deadlock, report.receives.len()), (None, 2));
}

#[test]
fn a_circle_is_found_behind_other_waiting_and_runs_through_computations() {
    // 0 and 1 wait for each other, 0 with a computation between; 2 waits for 1 and in a circle of its own.
    let mut ranks = Ranks::new(3);
    ranks.recv(2, 1, 8, &[]);
    ranks.comp(2, 1, &[2]);
    ranks.comp(2, 1, &[1]);
    let first = ranks.recv(0, 1, 8, &[]);
    let computed = ranks.comp(0, 1, &[first]);
    ranks.send(0, 1, 8, &[computed]);
    let second = ranks.recv(1, 0, 8, &[]);
    ranks.send(1, 0, 8, &[second]);
    ranks.send(1, 2, 8, &[second]);
    let report = stuck(Conventions::Exact, &ranks.graph());
    assert_eq!(report.cycles[0].nodes, [1, 2]);
    assert_eq!(
        report.deadlock.unwrap().to_string(),
        "ranks wait for each other: rank 0 node 0 (receive from 1) -> rank 1 node 1 (send to 0) -> \
         rank 1 node 0 (receive from 0) -> rank 0 node 2 (send to 1) -> rank 0 node 1 -> rank 0 node 0"
    );
}

#[test]
fn the_text_is_short_however_many_wait() {
    let mut ranks = Ranks::new(64);
    (0..64).for_each(|rank| {
        ranks.recv(rank, (rank + 1) % 64, 8, &[]);
    });
    let report = stuck(Conventions::Exact, &ranks.graph());
    assert_eq!(report.receives.len(), 64);
    let text = report.to_string();
    assert_eq!(text.lines().count(), 10);
    assert!(text.ends_with("\n  and 56 more"), "{text}");
}
