//! As somebody who wants to know how far simulated times can be trusted I want them beside measured ones: see `docs/accuracy.md`,
//! which a test here writes.
#![cfg(feature = "topology-files")]

mod document;
mod fitted;
mod measured;
mod programs;
mod reference;

use collective::calibrate::Summary;
use collective::chakra_et::graph::Graph;
use collective::et::{self, EtOptions};
use collective::sim::Simulation;
use collective::sim::machine::{self, Machine, Protocol};
use collective::sim::units::Picos;
use collective::{Schedule, Size};
use rayon::prelude::*;

use measured::{RUNS, Run};

/// Sizes from this one on count; below, launches decide.
const LEAST: u64 = 64 << 10;

/// A measured time and the simulated one.
#[derive(Clone, Copy)]
struct Compared {
    size: u64,
    measured_us: f64,
    simulated_us: f64,
}

impl Compared {
    /// Above 1 where the simulation is too slow.
    fn ratio(&self) -> f64 {
        self.simulated_us / self.measured_us
    }
}

/// The times of a program.
struct Outcome {
    run: &'static Run,
    all: Vec<Compared>,
}

impl Outcome {
    fn ratios(&self, is_large: bool) -> impl Iterator<Item = f64> {
        self.all.iter().filter(move |it| (it.size >= LEAST) == is_large).map(Compared::ratio)
    }

    /// At 64 KiB and more, or below.
    fn summary(&self, is_large: bool) -> Summary {
        Summary::of(self.ratios(is_large)).unwrap()
    }

    fn at(&self, size: u64) -> Compared {
        *self.all.iter().find(|it| it.size == size).unwrap()
    }
}

fn mi300x() -> Machine {
    machine::builtin("mi300x").unwrap()
}

fn graph(schedule: &Schedule, size: u64) -> Graph {
    et::graph(schedule, &EtOptions::new(Size::bytes(size))).unwrap()
}

fn time(machine: &Machine, graph: &Graph) -> Picos {
    let topology = machine.topology.as_ref().unwrap();
    Simulation::new(topology).machine(machine).run(graph).unwrap().makespan
}

/// All programs of some protocols at all sizes.
fn outcomes(machine: &Machine) -> Vec<Outcome> {
    let outcome = |run: &'static Run| {
        let schedule = run.schedule();
        let compared = |(size, measured_us): (u64, f64)| {
            let simulated_us = time(machine, &graph(&schedule, size)).as_ns() / 1000.0;
            Compared { size, measured_us, simulated_us }
        };
        Outcome { run, all: run.times().map(compared).collect() }
    };
    RUNS.par_iter().map(outcome).collect()
}

fn of(outcomes: &[Outcome], protocol: Protocol) -> impl Iterator<Item = &Outcome> {
    outcomes.iter().filter(move |outcome| outcome.run.protocol == protocol)
}

/// Over all points of a protocol.
fn summary(outcomes: &[Outcome], protocol: Protocol, is_large: bool) -> Summary {
    Summary::of(of(outcomes, protocol).flat_map(|outcome| outcome.ratios(is_large))).unwrap()
}
