//! What a report says, against times worked out by hand.

use std::fs;

use chakra_et::workload::{CollectiveKind, Cost, WorkloadBuilder};
use serde_json::{Value, json};

use super::steps::{self, write};
use super::support::{fails, json, succeeds};

const TRAINING: &str = "simulate --workload t/training --topology ring2.toml";

#[test]
fn the_iteration_time_comes_first_and_then_what_it_went_into() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let text = succeeds(at, TRAINING);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("t/training, 2 ranks, on ring2.toml (fluid under exact conventions)"));
    // 100 + 21 + 5 µs.
    assert_eq!(lines.nth(1), Some("iteration time  126000 ns"));
    for wanted in [
        "collectives 1",
        "computing only          105.000  83.3 %",
        "both at once             10.000   7.9 %",
        "communicating only       11.000   8.7 %",
        "all_reduce   all ranks      2      1       1 MB     21.000   11.000    0.000",
        "by allreduce_ring(channels=1)",
        "critical path: 3 steps, us",
        "computing   105.000  83.3 %  2 steps",
        "all_reduce   21.000  16.7 %  1 step",
        "busiest link: ",
    ] {
        assert!(squeezed(&text).contains(&squeezed(wanted)), "{wanted} is not in: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("\nall ranks spend it alike\n"), "{text}");
    let text = succeeds(at, &format!("{TRAINING} --per-rank"));
    assert!(squeezed(&text).contains("1 126.000 105.000 10.000 11.000 0.000 0.000 91.3 %"), "{text}");
}

/// Columns may be of any width.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn json_has_every_figure() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let report = json(&succeeds(at, &format!("{TRAINING} --json")));
    let expected = json!({
        "workload": "t/training", "topology": "ring2.toml", "placement": null, "model": "fluid",
        "conventions": "exact", "compat": null, "time_ns": 126_000, "nodes": 8, "messages": 4, "bytes": 2_000_000,
        "point_to_point": {"count": 0, "bytes": 0, "time_ns": 0},
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&report[key], value, "{key}");
    }
    let rank = json!({
        "rank": 1, "finish_ns": 126_000, "compute_ns": 105_000, "overlapped_ns": 10_000, "exposed_ns": 11_000,
        "idle_ns": 0, "waited_ns": 0, "cpu_ns": 0, "compute_utilisation": 115_000.0 / 126_000.0,
    });
    assert_eq!(report["ranks"][1], rank);
    let spent = json!({
        "mean_ns": 11_000, "least": {"rank": 0, "time_ns": 11_000}, "most": {"rank": 0, "time_ns": 11_000},
    });
    assert_eq!(report["spent"]["exposed"], spent);
    // Times are sums over both ranks.
    let sums = json!({
        "kind": "all_reduce", "group": "", "ranks": 2, "algorithms": ["allreduce_ring(channels=1)"], "count": 1,
        "bytes": 1_000_000, "time_ns": 42_000, "exposed_ns": 22_000, "waited_ns": 0, "span_ns": 21_000,
    });
    assert_eq!(report["collectives"], json!([sums]));
    let algorithm = json!({
        "algorithm": "allreduce_ring(channels=1)", "rule": null, "kind": "all_reduce", "ranks": 2, "count": 1,
        "min_size_bytes": 1_000_000, "max_size_bytes": 1_000_000,
    });
    assert_eq!(report["algorithms"], json!([algorithm]));
    let path = &report["critical_path"];
    let shares =
        json!({"computing": {"time_ns": 105_000, "steps": 2}, "all_reduce": {"time_ns": 21_000, "steps": 1}});
    assert_eq!(path["shares"], shares);
    let names: Vec<&Value> = path["longest"].as_array().unwrap().iter().map(|step| &step["name"]).collect();
    assert_eq!(names, ["backward", "gradients", "update"]);
    let of_sum = &path["longest"][1];
    assert_eq!(
        (&of_sum["start_ns"], &of_sum["end_ns"], &of_sum["group"]),
        (&json!(100_000), &json!(121_000), &json!(""))
    );
    assert_eq!(path["steps"], Value::Null, "only when they are asked for");
    let path = &json(&succeeds(at, &format!("{TRAINING} --json --critical-path")))["critical_path"];
    assert_eq!(path["steps"].as_array().unwrap().len(), 3);
    assert!(report["most_nodes_in_flight"].as_u64().unwrap() > 0);
    assert_eq!(report["findings"], json!([]));
    assert!(report["notes"][0].as_str().unwrap().starts_with("fluid shares links"), "{}", report["notes"]);
    // Both links of the ring carry half of it twice.
    let links = json(&succeeds(at, &format!("{TRAINING} --json --links")))["links"].clone();
    let bytes: u64 = links.as_array().unwrap().iter().map(|link| link["bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, 2_000_000);
}

#[test]
fn rules_choose_the_algorithm() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let rules = "[[rule]]\nkind = \"all_reduce\"\nalgorithm = \"allreduce_allpairs_one_shot\"\n";
    fs::write(at.join("rules.toml"), rules).unwrap();
    let report = json(&succeeds(at, &format!("{TRAINING} --rules rules.toml --json")));
    assert_eq!(report["algorithms"][0]["rule"], json!("rules.toml:1: rule 1"));
    let name = report["collectives"][0]["algorithms"][0].as_str().unwrap();
    assert!(name.starts_with("allreduce_allpairs"), "{name}");
    fs::write(at.join("rules.toml"), "[[rule]]\nalgorithm = \"allreduce_rings\"\n").unwrap();
    let stderr = fails(at, 2, &format!("{TRAINING} --rules rules.toml"));
    let first = stderr.lines().next().unwrap();
    assert!(first.starts_with("error: rules.toml:2: ") && first.contains("allreduce_rings"), "{stderr}");
    assert!(stderr.contains("2 | algorithm = \"allreduce_rings\"\n"), "the line is shown: {stderr}");
}

#[test]
fn speeds_of_processor_and_memory_give_computations_their_time() {
    let directory = steps::directory();
    let at = directory.path();
    let mut step = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let near = step.memory(rank, "near", false, false, 1_000_000, &[]).unwrap();
        let far = step.memory(rank, "far", true, true, 1_000_000, &[near]).unwrap();
        step.compute(rank, "product", Cost::operations(9_000_000_000, 1), &[far]).unwrap();
    }
    write(at, "speeds", step);
    let run = |arguments: &str| {
        let output = super::support::collective(
            at,
            &format!("simulate --workload t/speeds --topology ring2.toml --json {arguments}"),
        );
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        (json(&String::from_utf8(output.stdout).unwrap())["time_ns"].clone(), stderr)
    };
    let (time, warnings) = run("");
    assert_eq!(time, json!(0));
    assert!(warnings.contains("computation-needs-roofline") && warnings.contains("memory-needs-bandwidth"));
    // 9 · 10^9 operations at 900 · 10^12 a second.
    let (time, warnings) = run("--roofline 900TFLOP/s,1600GB/s");
    assert_eq!(time, json!(10_000));
    assert!(!warnings.contains("roofline") && warnings.contains("memory-needs-bandwidth"), "{warnings}");
    // And twice 100 ns + 1 MB at 1 TB/s, or the remote one of 1 µs + 1 MB at 100 GB/s.
    let local = "--roofline 0.9PFLOPS,1600GB/s --memory 100ns,1TB/s";
    assert_eq!(run(local), (json!(12_200), String::new()));
    assert_eq!(run(&format!("{local} --remote-memory 1us,100GB/s")).0, json!(22_100));
}

#[test]
fn a_straggler_shifts_everyone_by_its_delay() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let report = json(&succeeds(at, &format!("{TRAINING} --straggler 1=+50us --json")));
    assert_eq!(report["time_ns"], json!(176_000));
    assert_eq!(report["ranks"][0]["waited_ns"], json!(50_000));
    assert_eq!(report["critical_path"]["shares"]["late_start"], json!({"time_ns": 50_000, "steps": 1}));
    let text = succeeds(at, &format!("{TRAINING} --straggler 1=+50us"));
    assert!(text.contains("late start") && text.contains("waiting for late ranks"), "{text}");
}

#[test]
fn groups_that_are_alike_share_a_row_until_each_is_asked_for() {
    let directory = steps::directory();
    let at = directory.path();
    steps::mixed(at);
    let run = "simulate --workload t/mixed --topology ring4.toml --groups mixed.json \
               --roofline 900TFLOP/s,1600GB/s --memory 0ns,2TB/s";
    let text = succeeds(at, run);
    let rows = |text: &str, name: &str| {
        let of_collectives = text.split("critical path").next().unwrap();
        of_collectives.lines().filter(|line| line.starts_with(name)).count()
    };
    // The sums of the two pairs share a row; that of all ranks has its own.
    assert_eq!((rows(&text, "all_reduce"), rows(&text, "reduce_scatter")), (2, 1), "{text}");
    assert!(text.contains("2 groups"), "{text}");
    assert!(text.contains("messages outside collectives: 2, "), "{text}");
    let text = succeeds(at, &format!("{run} --per-group --per-rank --links"));
    assert_eq!((rows(&text, "all_reduce"), rows(&text, "reduce_scatter")), (3, 2), "{text}");
    assert!(text.contains("\"3\"") && !text.contains("2 groups"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_thousand_groups_are_a_few_rows() {
    let directory = steps::directory();
    let at = directory.path();
    let mut step = WorkloadBuilder::new(4);
    for number in 0..1000 {
        let first = 2 * (number % 2);
        let group = step.group((1 + number).to_string(), [first, first + 1]).unwrap();
        for rank in [first, first + 1] {
            step.collective(rank, "sum", CollectiveKind::AllReduce, 4000, group, &[]).unwrap();
        }
    }
    write(at, "groups", step);
    let run = "simulate --workload t/groups --groups groups.json --topology ring4.toml --model analytical";
    let text = succeeds(at, run);
    assert!(text.contains("1000 groups      2   1000       4 KB"), "{text}");
    assert!(text.lines().count() < 60, "{text}");
    // All at once, and nothing in the way of each: 2 · (500 ns + 2,000 B / 50 GB/s).
    assert!(text.contains("iteration time  1080 ns"), "{text}");
    let report = json(&succeeds(at, &format!("{run} --json")));
    assert_eq!(report["collectives"].as_array().unwrap().len(), 1000);
    let rows = succeeds(at, &format!("{run} --per-group"));
    assert!(rows.lines().filter(|line| line.starts_with("all_reduce")).count() >= 1000);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let directory = steps::directory();
    let at = directory.path();
    steps::mixed(at);
    let run = |threads: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_collective"));
        let arguments = "simulate --workload t/mixed --topology ring4.toml --groups mixed.json --json --critical-path \
                         --links --roofline 900TFLOP/s,1600GB/s --timeline line.json";
        let output =
            command.current_dir(at).args(arguments.split_whitespace()).env("RAYON_NUM_THREADS", threads);
        let output = output.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (output.stdout, fs::read(at.join("line.json")).unwrap())
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn astra_sims_file_brings_its_conventions_and_a_model_that_it_has() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    let yaml = "topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n";
    fs::write(at.join("ring.yml"), yaml).unwrap();
    let run = |arguments: &str| {
        let run = format!("simulate --workload t/training --topology ring.yml --json {arguments}");
        json(&succeeds(at, &run))
    };
    let report = run("");
    assert_eq!((&report["model"], &report["conventions"]), (&json!("analytical"), &json!("astra-sim")));
    // A message takes ⌊500,000 B / (50 · 2^30 B / 10^9 ns)⌋ + 500 = 9,813 ns, a reduction of the ring 1 ns as a COMP without cost.
    let time = report["time_ns"].as_u64().unwrap();
    assert!((100_000 + 5_000 + 2 * 9_813..=100_000 + 5_000 + 2 * 9_814).contains(&time), "{time}");
    let report = run("--conventions exact");
    assert_eq!((&report["model"], &report["time_ns"]), (&json!("fluid"), &json!(126_000)));
    let report = run("--model link-queue --compat astra-sim");
    assert_eq!((&report["model"], &report["compat"]), (&json!("link-queue"), &json!("astra-sim")));
}

#[test]
fn a_dry_run_says_what_there_is_and_which_algorithm_each_would_get() {
    let directory = steps::directory();
    let at = directory.path();
    steps::mixed(at);
    let run = "simulate --workload t/mixed --groups mixed.json --dry-run";
    let text = succeeds(at, run);
    assert!(text.starts_with("t/mixed: "), "{text}");
    for wanted in ["2 × all_reduce of 2 ranks", "1 × all_reduce of 4 ranks", "2 × reduce_scatter of 2 ranks"]
    {
        assert!(text.contains(wanted), "{wanted} is not in: {text}");
    }
    let report = json(&succeeds(at, &format!("{run} --json")));
    assert_eq!((&report["verdict"], &report["groups"][1]["group"]), (&json!("pass"), &json!("1")));
    let of_group = json!([{"kind": "all_reduce", "count": 1, "bytes": 100_000}]);
    assert_eq!(report["groups"][1]["collectives"], of_group);
    assert_eq!(report["computations"], json!({"gpu": 8, "cpu": 4}));
    let ids: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"computation-needs-roofline"), "{ids:?}");
}
