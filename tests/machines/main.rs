//! How far machines are from measured times: see `docs/accuracy-machines.md`, which a test here writes.
#![cfg(feature = "topology-files")]

mod document;
mod fit;
mod measured;
mod programs;

use collective::sim::machine::{self, Protocol};

use fit::{Point, fit};
use measured::{H100_RINGS, H200_RINGS, Section, spark, v100};
use programs::Outcome;

/// The outcomes of sizes from `from` on.
fn from(section: &Section, from: u64) -> Vec<Outcome> {
    section.outcomes().into_iter().filter(|outcome| outcome.bytes >= from).collect()
}

fn mean(outcomes: &[Outcome]) -> f64 {
    outcomes.iter().map(|outcome| outcome.error().abs()).sum::<f64>() / outcomes.len() as f64
}

fn worst(outcomes: &[Outcome]) -> f64 {
    outcomes.iter().map(|outcome| outcome.error().abs()).fold(0.0, f64::max)
}

/// The machine's figures are those that 4 ranks give, and nothing of 8 ranks went into them.
#[test]
fn the_figures_of_spark_are_fitted_to_four_ranks() {
    let points = |series: &measured::Series, rounds| {
        let rows: Vec<_> = series.rows().filter(|(bytes, _)| *bytes >= spark::RINGS_FROM).collect();
        rows.into_iter().map(move |(bytes, micros)| Point { ranks: 4.0, rounds, bytes: bytes as f64, micros })
    };
    let [all_reduce, all_gather] = spark::FITTED.series else { unreachable!("two collectives") };
    let fitted = fit(&points(all_reduce, 6.0).chain(points(all_gather, 3.0)).collect::<Vec<_>>());
    let machine = machine::builtin("dgx-spark").unwrap();
    let costs = machine.costs(Protocol::Simple).unwrap();
    let near = |stated: f64, fitted: f64, unit: f64| (stated - fitted).abs() <= unit / 2.0;
    assert!(near(costs.launch.0 as f64 / 1e6, fitted.launch, 0.1), "{}", fitted.launch);
    assert!(near(costs.latency.0 as f64 / 1e6, fitted.latency, 0.01), "{}", fitted.latency);
    // Of the two links of a rank.
    let stated = machine.topology.unwrap().injection()[0] / 2e9;
    assert!(near(stated, fitted.bandwidth, 0.01), "{}", fitted.bandwidth);
}

#[test]
fn four_sparks_foretell_eight() {
    let outcomes = from(&spark::FORETOLD, spark::RINGS_FROM);
    assert_eq!(outcomes.len(), 12);
    assert!(mean(&outcomes) <= 0.015, "{}", mean(&outcomes));
}

/// With NCCL's constants alone.
#[test]
fn rings_of_hopper_are_foretold() {
    let mut outcomes = H200_RINGS.outcomes();
    outcomes.extend(H100_RINGS.outcomes());
    assert_eq!(outcomes.len(), 15);
    assert!(mean(&outcomes) <= 0.02 && worst(&outcomes) <= 0.04, "{} {}", mean(&outcomes), worst(&outcomes));
}

/// From the one time of two.
#[test]
fn two_v100_foretell_four_and_eight() {
    let outcomes = v100::MORE.outcomes();
    assert!(worst(&outcomes) <= 0.06, "{}", worst(&outcomes));
}
