//! As somebody with traces of few ranks I want to simulate many.

use std::fs;

use serde_json::json;

use super::steps;
use super::support::{fails, json, succeeds};

#[test]
fn a_workload_is_replicated_by_rules_and_can_be_written() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let run = "simulate --workload t/training --topology ring4.toml --json --replicate 2";
    let report = json(&succeeds(at, run));
    // The sum of four ranks, in 6 messages of 250,000 bytes: 6 · (500 ns + 5 µs).
    assert_eq!(report["collectives"][0]["ranks"], json!(4));
    assert_eq!(report["time_ns"], json!(100_000 + 33_000 + 5_000));
    // By themselves, both pairs take what one did.
    let report = json(&succeeds(at, &format!("{run} --copy all")));
    assert_eq!(report["collectives"].as_array().unwrap().len(), 2);
    assert_eq!(report["collectives"][1]["span_ns"], json!(21_000));
    // What was written is what was simulated.
    let report = json(&succeeds(at, &format!("{run} --copy all --write-workload t/both")));
    let again = "simulate --workload t/both --groups t/both.groups.json --topology ring4.toml --json";
    assert_eq!(json(&succeeds(at, again))["ranks"], report["ranks"]);
    assert_eq!(fs::read_to_string(at.join("t/both.groups.json")).unwrap().lines().count(), 1);
}

#[test]
fn rules_of_replication_that_cannot_be_are_refused() {
    let directory = steps::directory();
    let at = directory.path();
    steps::mixed(at);
    let line = |arguments: &str, wanted: &str| {
        let run = format!("simulate --workload t/mixed --groups mixed.json --dry-run {arguments}");
        let stderr = fails(at, 2, &run);
        let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(
            errors.len() == 1 && errors[0].contains(wanted),
            "{arguments}: wanted {wanted:?} in: {stderr}"
        );
    };
    line("--join 3", "--join goes with --replicate K");
    line("--replicate 0", "0 copies");
    line("--replicate 2 --join 9", "group \"9\"");
    line("--replicate 2 --join 3,4 --copy 4", "named twice, by --join and --copy");
    line("--replicate 2 --write-workload mixed.json/x", "mixed.json/x");
    let groups = "simulate --workload t/mixed --groups mixed.json --dry-run --json --replicate 2 --join 3,4 --shard all";
    let report = json(&succeeds(at, groups));
    let sizes: Vec<usize> = report["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["ranks"].as_array().unwrap().len())
        .collect();
    // All; groups 1 and 2 and their copies; 3 and 4 of both replicas.
    assert_eq!(sizes.iter().sum::<usize>(), 8 + 4 * 2 + 2 * 4);
}
