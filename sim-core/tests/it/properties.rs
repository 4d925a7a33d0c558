//! What holds for any graph.

use chakra_et::graph::{Graph, Op};
use proptest::prelude::*;
use sim_core::topology::{Dimension, DimensionKind, Topology};
use sim_core::units::{Bandwidth, Latency};
use sim_core::{Conventions, Model, Simulation};

use crate::support::*;

/// A message of a random graph: source, distance to the destination, size, and which earlier nodes its
/// ends depend on.
type Message = (u32, u32, u64, usize, usize);

fn messages() -> impl Strategy<Value = Vec<Message>> {
    prop::collection::vec((0..12u32, 1..12u32, 0..200_000u64, 0..4usize, 0..4usize), 1..60)
}

/// Every message has its own tag, and nodes depend only on what came before in a common order, so the
/// graph can be executed.
fn graph(messages: &[Message]) -> Graph {
    let mut ranks = Ranks::new(12);
    let mut nodes = vec![Vec::<u32>::new(); 12];
    for (tag, &(src, distance, bytes, before_send, before_recv)) in (0..).zip(messages) {
        let dst = (src + distance) % 12;
        let send_deps: Vec<u32> = nodes[src as usize].iter().rev().take(before_send).copied().collect();
        nodes[src as usize].push(ranks.push(src, Op::Send { dst, tag, bytes }, &send_deps));
        let recv_deps: Vec<u32> = nodes[dst as usize].iter().rev().take(before_recv).copied().collect();
        let recv = ranks.push(dst, Op::Recv { src, tag, bytes }, &recv_deps);
        nodes[dst as usize].push(ranks.comp(dst, u64::from(tag) % 3, &[recv]));
    }
    ranks.graph()
}

fn topology(shape: &[(DimensionKind, u32)], gb_per_s: f64) -> Topology {
    let bandwidth = Bandwidth::from_bytes_per_s(gb_per_s * 1e9).unwrap();
    let latency = Latency::from_ns(500.0).unwrap();
    Topology::new(shape.iter().map(|&(kind, size)| Dimension { kind, size, bandwidth, latency })).unwrap()
}

fn shapes() -> impl Strategy<Value = Vec<(DimensionKind, u32)>> {
    use DimensionKind::{FullyConnected, Ring, Switch};
    prop::sample::select(vec![
        vec![(Ring, 12)],
        vec![(Switch, 12)],
        vec![(FullyConnected, 12)],
        vec![(Ring, 3), (Switch, 4)],
        vec![(FullyConnected, 2), (Ring, 2), (Ring, 3)],
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn everything_is_delivered_and_no_run_is_shorter_than_one_message(
        shape in shapes(), messages in messages()
    ) {
        let (graph, topology) = (graph(&messages), topology(&shape, 25.0));
        for (model, conventions) in [
            (Model::Analytical, Conventions::Exact),
            (Model::Analytical, Conventions::AstraSim),
            (Model::LinkQueue, Conventions::Exact),
            (Model::Fluid, Conventions::Exact),
        ] {
            let simulation = Simulation::new(&topology).model(model).conventions(conventions);
            let report = simulation.run(&graph).unwrap();
            prop_assert_eq!(report.messages, messages.len() as u64);
            prop_assert_eq!(report.bytes.0, messages.iter().map(|message| message.2).sum::<u64>());
            prop_assert_eq!(&simulation.run(&graph).unwrap(), &report, "the same again");
            for &(src, distance, bytes, ..) in &messages {
                let mut alone = Ranks::new(12);
                alone.message(src, (src + distance) % 12, bytes);
                prop_assert!(simulation.run(&alone.graph()).unwrap().makespan <= report.makespan);
            }
        }
    }

    #[test]
    fn queues_never_make_a_run_faster_and_bandwidth_never_makes_it_slower_without_them(
        shape in shapes(), messages in messages(), more in 1.0..4.0f64
    ) {
        let graph = graph(&messages);
        let run = |model, gb_per_s| {
            Simulation::new(&topology(&shape, gb_per_s)).model(model).run(&graph).unwrap()
        };
        let analytical = run(Model::Analytical, 25.0);
        let faster = run(Model::Analytical, 25.0 * more);
        let link_queue = run(Model::LinkQueue, 25.0);
        let fluid = run(Model::Fluid, 25.0);
        for rank in 0..12 {
            prop_assert!(analytical.finish[rank] <= fluid.finish[rank]);
            prop_assert!(faster.finish[rank] <= analytical.finish[rank]);
            prop_assert!(analytical.finish[rank] <= link_queue.finish[rank]);
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing(shape in shapes(), messages in messages()) {
        let (graph, topology) = (graph(&messages), topology(&shape, 25.0));
        for model in NETWORK_MODELS {
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let simulation = Simulation::new(&topology).model(model).message_times(true).critical_path(true);
                pool.install(|| simulation.run(&graph).unwrap())
            };
            prop_assert_eq!(run(1), run(3));
        }
    }
}
