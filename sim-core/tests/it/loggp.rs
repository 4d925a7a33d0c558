//! LogGP: the closed form of a ring, and cases by hand. With LogGOPSim's default parameters: L 2,500 ns,
//! o 1,500 ns, g 1,000 ns, G 6 ns a byte.

use chakra_et::graph::Graph;
use sim_core::{Compat, LogGp, Simulation};

use crate::support::*;

fn finish_ns(graph: &Graph) -> Vec<f64> {
    let report = Simulation::with_loggp(LogGp::default()).run(graph).unwrap();
    report.finish.iter().map(|finish| finish.as_ns()).collect()
}

#[test]
fn a_ring_takes_2_n_minus_1_times_2_o_plus_l_plus_s_minus_1_g() {
    // What LogGOPSim itself gives.
    for (ranks, bytes, ns) in [
        (16, 1, 165_000.0),
        (64, 1, 693_000.0),
        (256, 1 << 20, 3_211_444_500.0),
        (512, 1 << 20, 6_435_482_900.0),
        (1024, 1 << 20, 12_883_559_700.0),
    ] {
        let graph = ring_all_reduce(ranks, bytes, 0);
        for fold in [true, false] {
            let report = Simulation::with_loggp(LogGp::default()).fold(fold).run(&graph).unwrap();
            assert_eq!(report.makespan.as_ns(), ns, "{ranks} ranks");
            assert_eq!(report.folded, fold);
        }
    }
}

#[test]
fn one_message_costs_the_overhead_twice() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, 1_001);
    assert_eq!(finish_ns(&ranks.graph()), [1_500.0, 1_500.0 + 2_500.0 + 1_500.0 + 6_000.0]);
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, 0);
    assert_eq!(finish_ns(&ranks.graph()), [1_500.0, 5_500.0]);
}

#[test]
fn the_gap_lies_between_the_starts_of_two_messages() {
    // The second SEND is ready at 1,500, but the card sends again at 1,000 + 1,000 · 6 = 7,000.
    let mut ranks = Ranks::new(2);
    let first = ranks.send(0, 1, 1_001, &[]);
    ranks.send(0, 1, 1, &[first]);
    let first = ranks.recv(1, 0, 1_001, &[]);
    ranks.recv(1, 0, 1, &[first]);
    // The receiver is done with the first at 4,000 + 1,500 + 6,000 = 11,500, and the first byte of the second is there
    // at 7,000 + 1,500 + 2,500 = 11,000: it starts at 11,500.
    assert_eq!(finish_ns(&ranks.graph()), [8_500.0, 13_000.0]);
}

#[test]
fn a_processor_does_one_thing_at_a_time_in_the_order_in_which_they_can_start() {
    // Rank 0: a COMP of 3 µs and a SEND, both ready; the message of rank 1 is there at 4,000.
    let mut ranks = Ranks::new(2);
    ranks.comp(0, 3, &[]);
    ranks.send(0, 1, 1, &[]);
    ranks.recv(0, 1, 1, &[]);
    ranks.send(1, 0, 1, &[]);
    ranks.recv(1, 0, 1, &[]);
    // COMP to 3,000; SEND to 4,500; RECV to 6,000. Rank 1: SEND to 1,500, the message is there at 7,000.
    assert_eq!(finish_ns(&ranks.graph()), [6_000.0, 8_500.0]);
}

#[test]
fn an_incast_is_drawn_in_byte_by_byte() {
    let mut ranks = Ranks::new(4);
    (1..4).for_each(|src| ranks.message(src, 0, 1_001));
    // The first bytes are all there at 4,000; each message takes 1,500 + 6,000.
    assert_eq!(finish_ns(&ranks.graph()), [26_500.0, 1_500.0, 1_500.0, 1_500.0]);
}

#[test]
fn a_message_that_comes_early_waits_without_cost() {
    let mut ranks = Ranks::new(2);
    ranks.send(0, 1, 1, &[]);
    let busy = ranks.comp(1, 100, &[]);
    ranks.recv(1, 0, 1, &[busy]);
    assert_eq!(finish_ns(&ranks.graph()), [1_500.0, 101_500.0]);
    // Two thread blocks: the COMP does not hinder the message, only its RECV.
    let mut ranks = Ranks::new(2);
    ranks.send(0, 1, 1, &[]);
    ranks.recv(1, 0, 1, &[]);
    let first = ranks.comp(1, 3, &[]);
    ranks.comp(1, 3, &[first]);
    // COMPs to 3,000 and 6,000; the message is there at 4,000, after the second COMP could start.
    assert_eq!(finish_ns(&ranks.graph()), [1_500.0, 7_500.0]);
}

#[test]
fn a_receive_that_nobody_serves_is_named() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, 8);
    ranks.recv(1, 0, 8, &[]);
    let error = Simulation::with_loggp(LogGp::default()).run(&ranks.graph()).unwrap_err().to_string();
    assert!(error.contains("rank 1, node 1: waits for 8 bytes from rank 0"), "{error}");
    let mut ranks = Ranks::new(2);
    let late = ranks.recv(0, 1, 8, &[]);
    ranks.send(0, 1, 8, &[late]);
    let late = ranks.recv(1, 0, 8, &[]);
    ranks.send(1, 0, 8, &[late]);
    let error = Simulation::with_loggp(LogGp::default()).run(&ranks.graph()).unwrap_err().to_string();
    assert!(error.contains("rank 1 has not come to its send, node 1"), "{error}");
}

#[test]
fn a_message_is_told_by_its_issue_and_the_arrival_of_its_first_byte() {
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, 1_001);
    let simulation = Simulation::with_loggp(LogGp::default()).message_times(true);
    let times = simulation.run(&ranks.graph()).unwrap().message_times.unwrap();
    let [message] = times[..] else { panic!("{times:?}") };
    // o + L.
    assert_eq!((message.issued.as_ns(), message.delivered.as_ns()), (0.0, 4_000.0));
    assert_eq!((message.send, message.receive), (0, Some(0)));
}

#[test]
fn the_path_of_a_ring_is_its_closed_form() {
    // 6 messages in a row: L on the way, 1,000 bytes of 6 ns drawn in, and o on each side.
    let simulation = Simulation::with_loggp(LogGp::default()).critical_path(true);
    let report = simulation.run(&ring_all_reduce(4, 1_001, 0)).unwrap();
    let path = report.critical_path.unwrap();
    let ns = |time: sim_core::units::Picos| time.as_ns();
    let shares = path.shares;
    assert_eq!(
        [ns(shares.latency), ns(shares.bandwidth), ns(shares.waiting)],
        [15_000.0, 36_000.0, 18_000.0]
    );
    assert_eq!((shares.total(), report.makespan.as_ns()), (report.makespan, 6.0 * 11_500.0));
    let ends = path.steps.windows(2).all(|two| two[0].end == two[1].start);
    assert!(ends && path.steps.first().unwrap().start.0 == 0, "each step starts when the one before ends");
    // The card sends again at 7,000: what the second message waits for is its rank.
    let mut ranks = Ranks::new(2);
    let first = ranks.send(0, 1, 1_001, &[]);
    ranks.send(0, 1, 1, &[first]);
    let report = simulation.run(&ranks.graph()).unwrap();
    let path = report.critical_path.unwrap();
    assert_eq!((ns(path.shares.waiting), report.makespan.as_ns()), (8_500.0, 8_500.0));
    // A message that came early costs its RECV, not its way; 100 µs are computed.
    let mut ranks = Ranks::new(2);
    ranks.send(0, 1, 1_001, &[]);
    let busy = ranks.comp(1, 100, &[]);
    ranks.recv(1, 0, 1_001, &[busy]);
    let shares = simulation.run(&ranks.graph()).unwrap().critical_path.unwrap().shares;
    let parts = [shares.computing, shares.bandwidth, shares.waiting, shares.latency];
    assert_eq!(parts.map(ns), [100_000.0, 6_000.0, 1_500.0, 0.0]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let graph = Ranks::new(2).graph();
    let loggp = Simulation::with_loggp(LogGp::default());
    let error = loggp.compat(Some(Compat::AstraSim)).run(&graph).unwrap_err().to_string();
    assert!(error.contains("cannot be combined with `--compat astra-sim`"), "{error}");
    let error = loggp.model(sim_core::Model::Analytical).run(&graph).unwrap_err().to_string();
    assert_eq!(error, "the model analytical needs a topology");
    let long = "L=200000000s".parse::<LogGp>();
    assert!(long.is_err());
    let mut ranks = Ranks::new(2);
    ranks.message(0, 1, u64::MAX);
    let error = loggp.run(&ranks.graph()).unwrap_err().to_string();
    assert!(error.starts_with("the simulated time is too long"), "{error}");
}
