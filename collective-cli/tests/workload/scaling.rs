//! As somebody with traces of few ranks I want to simulate many.

use std::fs;

use chakra_et::workload::{CollectiveKind, WorkloadBuilder};
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
    line("--replicate 2 --join 7-9", "--join 7-9: no group is named so; the workload has ");
    line("--replicate 2 --join 'x*'", "--join 'x*': no group is named so");
    line("--replicate 2 --join 3-4 --shard [3-4]", "group \"[3-4]\"");
    line("--replicate 2 --join 3-4 --shard 4-5", "named twice, by --join and --shard");
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

#[test]
fn a_list_of_groups_has_ranges_and_patterns() {
    let directory = steps::directory();
    let at = directory.path();
    steps::mixed(at);
    let dry = "simulate --workload t/mixed --groups mixed.json --dry-run --json --replicate 2";
    let groups = |arguments: &str| json(&succeeds(at, &format!("{dry} {arguments}")))["groups"].clone();
    assert_eq!(groups("--join 3-4"), groups("--join 3,4"));
    assert_ne!(groups("--join 3-4"), groups("--join 3"));
    assert_eq!(groups("--join *"), groups("--join others"));
    // What is named by itself goes before a pattern.
    assert_eq!(groups("--join ? --copy 1,2"), groups("--join 3,4"));
}

#[test]
fn replicas_that_nothing_joins_are_said_to_be_independent() {
    let directory = steps::directory();
    let at = directory.path();
    let mut step = WorkloadBuilder::new(2);
    let pair = step.group("5", [0, 1]).unwrap();
    for rank in 0..2 {
        step.collective(rank, "gather", CollectiveKind::AllGather, 1000, pair, &[]).unwrap();
    }
    steps::write(at, "pair", step);
    let run = "simulate --workload t/pair --groups pair.json --topology ring4.toml --json --replicate 2";
    for more in ["", "--dry-run"] {
        let notes =
            |arguments: &str| json(&succeeds(at, &format!("{run} {more} {arguments}")))["notes"].to_string();
        assert!(notes("").contains("the 2 replicas are independent, for no group joins them: --join GROUPS"));
        assert!(!notes("--copy all").contains("independent") && !notes("--join 5").contains("independent"));
        // The input of a rank stays, so that twice as many gather twice as much.
        assert!(notes("--join 5").contains("2 times as large") && notes("--join 5").contains("--shard"));
        assert!(!notes("--shard 5").contains("as large"));
    }
    let size = |arguments: &str| {
        json(&succeeds(at, &format!("{run} {arguments}")))["collectives"][0]["mean_size_bytes"].clone()
    };
    assert_eq!(
        [size("--copy all"), size("--join 5"), size("--shard 5")],
        [json!(2000), json!(4000), json!(2000)]
    );
}

#[test]
fn groups_that_are_alike_are_one_line_with_the_name_of_a_node() {
    let directory = steps::directory();
    let at = directory.path();
    steps::mixed(at);
    let dry = "simulate --workload t/mixed --groups mixed.json --dry-run";
    let text = succeeds(at, dry);
    // Which are for tensors and which for data is told by what they carry.
    for wanted in [
        "2 groups of 2 ranks like group \"1\" (0, 1)\n  all_reduce ",
        "\"activations\"",
        "2 groups of 2 ranks like group \"3\" (0, 2)\n  reduce_scatter ",
        "\"gradients\"",
        "2 × 1 ",
    ] {
        assert!(text.contains(wanted), "{wanted} is not in: {text}");
    }
    let text = succeeds(at, &format!("{dry} --per-group"));
    assert!(text.contains("group \"4\" of 2 ranks (1, 3)") && !text.contains("2 groups"), "{text}");
}
