//! Ranks that are late or slow, overheads, reductions: by hand. 1,000,000 B take 20,000 ns on a link.

use chakra_et::graph::Op;
use sim_core::straggler::Straggler;
use sim_core::topology::{Dimension, Topology};
use sim_core::units::{Bandwidth, Picos};
use sim_core::workload::Roofline;
use sim_core::{Conventions, Model, SimError, Simulation};

use crate::support::*;

const MB: u64 = 1_000_000;

fn ring() -> Topology {
    one(Dimension::ring, 3, "500 ns")
}

fn stragglers(texts: &[&str]) -> Vec<Straggler> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn finish(simulation: Simulation, ranks: Ranks) -> Vec<f64> {
    simulation.run(&ranks.graph()).unwrap().finish.iter().map(|finish| finish.as_ns()).collect()
}

/// 0 → 1 → 2, with 7 µs of computing before each message and after the last.
fn relay() -> Ranks {
    let mut ranks = Ranks::new(3);
    let mut last = Vec::new();
    for rank in 0..2 {
        last = vec![ranks.comp(rank, 7, &last)];
        ranks.send(rank, rank + 1, MB, &last);
        last = vec![ranks.recv(rank + 1, rank, MB, &[])];
    }
    ranks.comp(2, 7, &last);
    ranks
}

#[test]
fn a_late_start_delays_what_the_rank_does_itself() {
    let (topology, late) = (ring(), stragglers(&["0=+10us", "2=+1us"]));
    for model in NETWORK_MODELS {
        let simulation = Simulation::new(&topology).model(model);
        // 7,000 + 20,500, twice, and 7,000 more.
        assert_eq!(finish(simulation, relay()), [27_500.0, 55_000.0, 62_000.0]);
        // The lateness of rank 2 is over long before its message comes.
        assert_eq!(finish(simulation.stragglers(&late), relay()), [37_500.0, 65_000.0, 72_000.0]);
    }
}

#[test]
fn a_message_that_comes_before_a_late_rank_waits_for_it() {
    let (topology, late) = (ring(), stragglers(&["1=+100us"]));
    let mut ranks = Ranks::new(3);
    ranks.message(0, 1, MB);
    let simulation = Simulation::new(&topology).stragglers(&late);
    assert_eq!(finish(simulation, ranks), [20_500.0, 100_000.0, 0.0]);
}

#[test]
fn a_slow_rank_computes_longer_and_sends_as_fast() {
    let (topology, slow) = (ring(), stragglers(&["1=x1.5"]));
    let simulation = Simulation::new(&topology).stragglers(&slow);
    assert_eq!(finish(simulation, relay()), [27_500.0, 58_500.0, 65_500.0]);
}

#[test]
fn each_message_pays_its_overheads_on_both_sides() {
    let topology = ring();
    for model in NETWORK_MODELS {
        let simulation = Simulation::new(&topology).model(model);
        let simulation = simulation.overheads(Picos(1_500_000), Picos(2_500_000));
        // 7,000 + 1,500 + 20,500; the receiver goes on 2,500 later.
        assert_eq!(finish(simulation, relay()), [29_000.0, 60_500.0, 70_000.0], "{model}");
        // The receive comes late: its overhead is paid then.
        let mut ranks = Ranks::new(3);
        ranks.send(0, 1, MB, &[]);
        let busy = ranks.comp(1, 100, &[]);
        ranks.recv(1, 0, MB, &[busy]);
        assert_eq!(finish(simulation, ranks), [22_000.0, 102_500.0, 0.0], "{model}");
    }
}

#[test]
fn reductions_without_a_duration_take_their_bytes_over_the_bandwidth() {
    let (topology, slow) = (ring(), stragglers(&["2=x2"]));
    let bandwidth: Bandwidth = "400 GB/s".parse().unwrap();
    let mut ranks = Ranks::new(3);
    ranks.push(0, Op::Comp { micros: 0, ops: 250_000, bytes: MB }, &[]);
    ranks.push(1, Op::Comp { micros: 0, ops: 0, bytes: MB }, &[]);
    ranks.push(2, Op::Comp { micros: 0, ops: 1, bytes: MB }, &[]);
    let stated = ranks.push(2, Op::Comp { micros: 3, ops: 250_000, bytes: MB }, &[]);
    assert_eq!(stated, 1);
    let simulation = Simulation::new(&topology).reduce_bandwidth(bandwidth).stragglers(&slow);
    // 10^6 / (4·10^11) s = 2,500 ns; a copy is free; the slow rank takes 5,000 and, as stated, 2 · 3,000.
    assert_eq!(finish(simulation, ranks), [2_500.0, 0.0, 6_000.0]);
}

#[test]
fn computations_without_a_duration_take_what_the_roofline_says() {
    let (topology, slow) = (ring(), stragglers(&["2=x2"]));
    let roofline = Roofline::new(1e12, "400 GB/s".parse().unwrap()).unwrap();
    let mut ranks = Ranks::new(3);
    // 10^7 operations at 10^12 a second; then 10^6 bytes at 4 · 10^11 a second, twice as long on the slow rank.
    ranks.push(0, Op::Comp { micros: 0, ops: 10_000_000, bytes: MB }, &[]);
    ranks.push(1, Op::Comp { micros: 7, ops: 10_000_000, bytes: MB }, &[]);
    ranks.push(2, Op::Comp { micros: 0, ops: 0, bytes: MB }, &[]);
    let graph = ranks.graph();
    for model in [Model::Analytical, Model::LinkQueue, Model::Fluid] {
        let simulation = Simulation::new(&topology).model(model).roofline(roofline).stragglers(&slow);
        let finish = simulation.run(&graph).unwrap().finish;
        assert_eq!(finish, ["10 us", "7 us", "5 us"].map(|time| time.parse().unwrap()));
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let topology = ring();
    let refused = |texts: &[&str]| {
        let stragglers = stragglers(texts);
        Simulation::new(&topology).stragglers(&stragglers).run(&relay().graph()).unwrap_err().to_string()
    };
    assert_eq!(refused(&["3=+1us"]), "there is no rank 3 to be a straggler: expected a rank below 3");
    assert!(refused(&["1=+1us", "0=x2", "1=x2"]).starts_with("rank 1 is named as a straggler twice"));
    let late = stragglers(&["1=+1us"]);
    let simulation = Simulation::new(&topology).conventions(Conventions::AstraSim);
    for simulation in [
        simulation.stragglers(&late),
        simulation.overheads(Picos(1), Picos(0)),
        simulation.overheads(Picos(0), Picos(1)),
        simulation.reduce_bandwidth("1 GB/s".parse().unwrap()),
        simulation.roofline(Roofline::new(1.0, "1 GB/s".parse().unwrap()).unwrap()),
    ] {
        let error = simulation.run(&relay().graph()).unwrap_err();
        assert!(matches!(error, SimError::ExactOption { .. }), "{error}");
        assert!(error.to_string().contains("--conventions exact"), "{error}");
    }
    let huge = stragglers(&["0=+18446744073709551615ps"]);
    let error = Simulation::new(&topology).stragglers(&huge).run(&relay().graph()).unwrap_err();
    assert!(error.to_string().starts_with("the simulated time is too long"), "{error}");
}
