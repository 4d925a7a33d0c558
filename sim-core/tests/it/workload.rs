//! Graphs executed as ASTRA-sim executes a workload: one SEND in flight a rank, one COMP, ascending ids.
//!
//! The expected times are ASTRA-sim's own, for the same graph and network.

use sim_core::topology::{Dimension, Topology};
use sim_core::{Compat, Conventions, Model, SimError, Simulation};

use crate::support::*;

fn finish_ns(topology: &Topology, compat: Option<Compat>, graph: &chakra_et::graph::Graph) -> [Vec<f64>; 2] {
    MODELS.map(|model| {
        let simulation = Simulation::new(topology).model(model).conventions(Conventions::AstraSim);
        let report = simulation.compat(compat).run(graph).unwrap();
        report.finish.iter().map(|finish| finish.as_ns()).collect()
    })
}

const WORKLOAD: Option<Compat> = Some(Compat::AstraSim);

#[test]
fn direct_all_reduce_of_1_mib_among_8() {
    let (graph, switch) = (all_pairs_all_reduce(8, 131_072, 7), astra("Switch", 8, 50.0, 500.0));
    assert_eq!(
        finish_ns(&switch, WORKLOAD, &graph),
        [
            [76_528.0, 79_969.0, 83_410.0, 86_851.0, 90_292.0, 93_733.0, 97_174.0, 97_174.0],
            [110_702.0, 116_584.0, 122_466.0, 128_348.0, 134_230.0, 140_112.0, 145_994.0, 145_994.0],
        ]
    );
}

#[test]
fn sends_and_computations_take_turns_and_the_lowest_id_is_first() {
    // Ready together: three SENDs of 1,000 B (⌊500 + 18.6⌋ = 518 ns each), two COMPs of 1 µs, a RECV.
    let mut ranks = Ranks::new(2);
    ranks.send(0, 1, 1_000, &[]);
    let second = ranks.send(0, 1, 1_000, &[]);
    ranks.comp(0, 1, &[]);
    ranks.comp(0, 1, &[]);
    let third = ranks.send(0, 1, 1_000, &[]);
    ranks.comp(0, 1, &[second]);
    ranks.recv(0, 1, 1_000, &[]);
    (0..3).for_each(|_| {
        ranks.recv(1, 0, 1_000, &[]);
    });
    ranks.send(1, 0, 1_000, &[]);
    let graph = ranks.graph();
    let network = astra("FullyConnected", 2, 50.0, 500.0);
    for model in MODELS {
        let simulation = Simulation::new(&network).model(model).conventions(Conventions::AstraSim);
        let (_, times) = simulation.compat(WORKLOAD).run_with_times(&graph).unwrap();
        let ns = |rank: usize, node: u32| times[rank][node as usize].as_ns();
        assert_eq!([ns(0, 0), ns(0, second), ns(0, third)], [518.0, 1_036.0, 1_554.0], "{model}");
        // The third COMP is ready at 1,036 and starts when the second ends.
        assert_eq!([ns(0, 2), ns(0, 3), ns(0, 5)], [1_000.0, 2_000.0, 3_000.0], "{model}");
        assert_eq!([ns(1, 0), ns(1, 1), ns(1, 2), ns(0, 6)], [518.0, 1_036.0, 1_554.0, 518.0], "{model}");
        // All at once without the limit; on a link the SENDs queue, ⌊18.6⌋ = 18 ns each.
        let (_, times) = simulation.run_with_times(&graph).unwrap();
        let third = if model == Model::Analytical { 518.0 } else { 554.0 };
        assert_eq!(times[0][4].as_ns(), third, "{model}");
        assert_eq!(times[0][5].as_ns(), if model == Model::Analytical { 1_518.0 } else { 1_536.0 });
    }
}

#[test]
fn a_computation_that_takes_no_time_leaves_its_turn_at_once() {
    let mut ranks = Ranks::new(2);
    let mut last = ranks.comp(0, 0, &[]);
    for _ in 0..5 {
        ranks.comp(0, 0, &[]);
        last = ranks.comp(0, 0, &[last]);
    }
    ranks.comp(0, 3, &[last]);
    let graph = ranks.graph();
    let ring = one(Dimension::ring, 2, "500 ns");
    let report = Simulation::new(&ring).compat(WORKLOAD).run(&graph).unwrap();
    assert_eq!(report.makespan.as_ns(), 3_000.0);
}

#[test]
fn a_run_that_cannot_go_on_says_who_waits() {
    let mut ranks = Ranks::new(2);
    let lost = ranks.recv(0, 1, 64, &[]);
    ranks.send(0, 1, 64, &[]);
    ranks.send(0, 1, 64, &[lost]);
    ranks.recv(1, 0, 64, &[]);
    let second = ranks.recv(1, 0, 64, &[]);
    ranks.send(1, 0, 64, &[second]);
    let ring = one(Dimension::ring, 2, "500 ns");
    let simulation = Simulation::new(&ring).conventions(Conventions::AstraSim).compat(WORKLOAD);
    match simulation.run(&ranks.graph()) {
        Err(SimError::Stuck(stuck)) => {
            assert_eq!((stuck.unfinished, stuck.receives.len()), (4, 2));
            assert!(stuck.to_string().contains("rank 1 has not come to its send, node 2"), "{stuck}");
        }
        other => panic!("not stuck: {other:?}"),
    }
}
