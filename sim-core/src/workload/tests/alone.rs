//! A workload of one collective takes what its algorithm takes by itself, whatever the algorithm, the network and the ranks.

use std::error::Error;
use std::sync::Arc;

use chakra_et::graph::Graph;
use chakra_et::workload::{CollectiveKind, WorkloadBuilder};
use proptest::prelude::*;

use super::super::*;
use crate::engine::tests::{RANKS, Step, loose, steps, thread_blocks};
use crate::straggler::Straggler;
use crate::topology::{Dimension, Topology};
use crate::units::Picos;
use crate::{Conventions, Model, Simulation};

/// One algorithm for everything.
struct Only(Arc<Algorithm>);

impl Algorithms for Only {
    fn algorithm(&self, _: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
        Ok(Choice::new(self.0.clone()))
    }
}

/// What a timeline hears of steps and links, in an order of its own.
#[derive(Default)]
struct Heard(Vec<(String, Picos, Picos)>);

impl Timeline for Heard {
    fn span(&mut self, span: &Span<'_>) {
        let track = match span.track {
            Track::ThreadBlock { rank, thread_block, .. } => format!("{rank} {thread_block}"),
            Track::Link { link } => format!("{link:?}"),
            _ => return,
        };
        let what = match span.what {
            // Names and numbers of flows are the workload's alone.
            What::Step { id, step, bytes, .. } => format!("{id} {step:?} {bytes}"),
            what => format!("{what:?}"),
        };
        self.0.push((format!("{track} {what}"), span.start, span.finish));
    }
}

fn topologies() -> [Topology; 3] {
    let (bandwidth, latency) = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
    [Dimension::ring, Dimension::switch, Dimension::fully_connected]
        .map(|kind| Topology::new([kind(RANKS, bandwidth, latency)]).unwrap())
}

fn check(graph: &Graph, with_conditions: bool) {
    let mut builder = WorkloadBuilder::new(RANKS);
    for rank in 0..RANKS {
        builder.collective(rank, "x", CollectiveKind::AllReduce, 1, 0, &[]).unwrap();
    }
    let (workload, only) = (builder.finish(), Only(Arc::new(Algorithm::new("random", graph.clone()))));
    let stragglers: [Straggler; 2] = ["1=+3us,x1.5".parse().unwrap(), "4=+20us".parse().unwrap()];
    for topology in topologies() {
        let cases = [
            (Model::Analytical, Conventions::Exact),
            (Model::LinkQueue, Conventions::Exact),
            (Model::Fluid, Conventions::Exact),
            (Model::Analytical, Conventions::AstraSim),
            (Model::LinkQueue, Conventions::AstraSim),
        ];
        for (model, conventions) in cases {
            let mut alone = Simulation::new(&topology).model(model).conventions(conventions);
            let mut within = WorkloadSimulation::new(&topology).model(model).conventions(conventions);
            if with_conditions && conventions == Conventions::Exact {
                let (send, receive) = ("30 ns".parse().unwrap(), "70 ns".parse().unwrap());
                alone = alone.stragglers(&stragglers).overheads(send, receive);
                within = within.stragglers(&stragglers).overheads(send, receive);
            }
            let [mut of_recording, mut of_workload] = [Heard::default(), Heard::default()];
            let within = within.run_with_timeline(&workload, &only, &mut of_workload);
            match (alone.recording(true).run(graph), within) {
                (Ok(alone), Ok(within)) => {
                    alone.recording.unwrap().tell(graph, &mut of_recording);
                    of_recording.0.sort();
                    of_workload.0.sort();
                    assert_eq!(of_recording.0, of_workload.0, "{model} {conventions}");
                    // A rank without nodes has finished at 0 by itself, and here once it has come to the collective.
                    let finish = |rank: usize| within.ranks[rank].finish;
                    for rank in (0..RANKS as usize).filter(|rank| !graph.rank(*rank).is_empty()) {
                        assert_eq!(finish(rank), alone.finish[rank], "{model} {conventions} rank {rank}");
                    }
                    let found = (within.delivered, within.bytes, within.links);
                    assert_eq!(found, (alone.messages, alone.bytes, alone.links));
                }
                (Err(_), Err(_)) => {}
                (alone, within) => panic!("{model} {conventions}: {alone:?} but {within:?}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_algorithm_takes_what_it_takes_alone(steps in steps(), blocks in 1..5usize, conditions: bool) {
        check(&thread_blocks(&steps, blocks), conditions);
        check(&loose(&steps), conditions);
    }

    /// One size and no computing: nearly everything happens at the same time as something else.
    #[test]
    fn ties_are_decided_alike(steps in steps(), blocks in 1..5usize, conditions: bool) {
        let of_one_size = |(rank, distance, tag, _, send, recv)| (rank, distance, tag, 3000, send, recv);
        let steps: Vec<Step> = steps.into_iter().map(of_one_size).collect();
        check(&thread_blocks(&steps, blocks), conditions);
    }
}
