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
    assert_eq!(lines.nth(1), Some("iteration time  126 us (126000 ns)"));
    for wanted in [
        "collectives 1",
        "computing only          105 us  83.3 %",
        "both at once             10 us   7.9 %",
        "communicating only       11 us   8.7 %",
        "idle 0 ns 0.0 %",
        "all_reduce   all ranks      2      1       1 MB     21 us   11 us    0 ns",
        "by allreduce_ring(channels=1)",
        "critical path: 3 steps",
        "computing   105 us  83.3 %  2 steps",
        "all_reduce   21 us  16.7 %  1 step",
        "busiest link: ",
    ] {
        assert!(squeezed(&text).contains(&squeezed(wanted)), "{wanted} is not in: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("\nall ranks spend it alike\n"), "{text}");
    let text = succeeds(at, &format!("{TRAINING} --per-rank"));
    assert!(squeezed(&text).contains("1 126 us 105 us 10 us 11 us 0 ns 0 ns 91.3 %"), "{text}");
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
        "bytes": 1_000_000, "mean_size_bytes": 1_000_000, "time_ns": 42_000, "exposed_ns": 22_000, "waited_ns": 0, "span_ns": 21_000,
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
    assert_eq!(report["warnings"], json!([]));
    // Half of 1 MB in both rounds, of 50 GB/s · 126 µs = 6.3 MB.
    let busiest = &report["busiest_link"];
    let share = busiest["utilisation"].as_f64().unwrap();
    assert!((share - 1.0 / 6.3).abs() < 1e-9 && busiest["bytes"] == json!(1_000_000), "{busiest}");
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
    assert!(text.contains("late start") && text.contains("    of these two, waiting "), "{text}");
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
    assert!(squeezed(&text).contains("1000 groups 2 1000 4 KB "), "{text}");
    assert!(text.lines().count() < 60, "{text}");
    // All at once, and nothing in the way of each: 2 · (500 ns + 2,000 B / 50 GB/s).
    assert!(text.contains("iteration time  1.08 us (1080 ns)"), "{text}");
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

#[test]
fn the_busiest_link_is_the_fullest_and_not_the_one_in_use_longest() {
    let directory = steps::directory();
    let at = directory.path();
    // From 0 to 1 a fast link, from 1 to 2 one of a tenth.
    let links = "[[dimension]]\nkind = \"links\"\nranks = 3\nlatency = \"0 ns\"\n\
        [[dimension.link]]\nbetween = [0, 1]\nbandwidth = \"100 GB/s\"\n\
        [[dimension.link]]\nbetween = [1, 2]\nbandwidth = \"10 GB/s\"\n";
    fs::write(at.join("links.toml"), links).unwrap();
    let mut step = WorkloadBuilder::new(3);
    // 8 MB over the fast link alone, 1 MB over both: the slow link holds the second up on the fast one as well.
    step.send(0, "far", 2, 1, 1_000_000, &[]).unwrap();
    step.send(0, "near", 1, 2, 500_000, &[]).unwrap();
    step.recv(2, "far", 0, 1, 1_000_000, &[]).unwrap();
    step.recv(1, "near", 0, 2, 500_000, &[]).unwrap();
    write(at, "links", step);
    let run = "simulate --workload t/links --topology links.toml";
    let report = json(&succeeds(at, &format!("{run} --json --links")));
    // Fluid: 100 µs for 1 MB at 10 GB/s. Both links are in use all the time, the fast one a sixth or so of its bandwidth.
    assert_eq!(report["time_ns"], json!(100_000));
    let full = &report["busiest_link"];
    assert_eq!((&full["bytes"], &full["busy_ns"]), (&json!(1_000_000), &json!(100_000)));
    assert_eq!(full["utilisation"], json!(1.0));
    let rows = report["links"].as_array().unwrap();
    assert_eq!(
        (rows.len(), &rows[0]["utilisation"], &rows[1]["utilisation"]),
        (2, &json!(1.0), &json!(0.15))
    );
    assert_eq!((&rows[1]["bytes"], &rows[1]["busy_ns"]), (&json!(1_500_000), &json!(100_000)));
    let text = succeeds(at, run);
    assert!(text.contains(", 1 MB, 100.0 % of what it could carry, in use 100.0 % of the time\n"), "{text}");
}

#[test]
fn a_path_is_shown_with_its_ends_or_as_a_whole() {
    let directory = steps::directory();
    let at = directory.path();
    // 40 computations of 1 µs, in the middle 30 of 10 µs, and 40 of 1 µs.
    let mut step = WorkloadBuilder::new(1);
    let mut last = Vec::new();
    for number in 0..110 {
        let micros = if (40..70).contains(&number) { 10 } else { 1 };
        last = vec![step.compute(0, format!("c{number}"), Cost::micros(micros), &last).unwrap()];
    }
    write(at, "chain", step);
    fs::write(at.join("one.toml"), steps::topology("switch", 1)).unwrap();
    let run = "simulate --workload t/chain --topology one.toml";
    let names = |text: &str| -> Vec<String> {
        let steps = text.lines().filter_map(|line| line.split_whitespace().nth(1)).map(str::to_owned);
        steps.filter(|name| name.starts_with('c') && name[1..].parse::<u32>().is_ok()).collect()
    };
    let longest: Vec<String> = (40..50).map(|number| format!("c{number}")).collect();
    assert_eq!(names(&succeeds(at, run)), longest);
    let text = succeeds(at, &format!("{run} --critical-path"));
    let expected: Vec<String> = [0, 1, 2]
        .into_iter()
        .chain(40..60)
        .chain([107, 108, 109])
        .map(|number| format!("c{number}"))
        .collect();
    assert_eq!(names(&text), expected);
    // 37 of 1 µs from 3 µs on; 10 of 10 and 37 of 1 µs from 40 + 200 µs on.
    let gaps: Vec<String> = text.lines().filter(|line| line.starts_with('…')).map(squeezed).collect();
    assert_eq!(gaps, ["… 37 steps 3 us 37 us", "… 47 steps 240 us 137 us"]);
    let text = succeeds(at, &format!("{run} --critical-path=all"));
    assert_eq!(names(&text).len(), 110);
    assert!(!text.contains('…'), "{text}");
}

#[test]
fn a_gather_has_one_size_everywhere() {
    let directory = steps::directory();
    let at = directory.path();
    let mut step = WorkloadBuilder::new(4);
    for rank in 0..4 {
        step.collective(rank, "parameters", CollectiveKind::AllGather, 1 << 20, 0, &[]).unwrap();
    }
    write(at, "gather", step);
    // The input of a rank is 1 MiB, what is gathered 4 MiB: that is what rules go by.
    let run = "simulate --workload t/gather --topology ring4.toml";
    for text in [succeeds(at, run), succeeds(at, &format!("{run} --dry-run"))] {
        assert!(text.contains("4 MiB") && !text.contains("1 MiB"), "{text}");
        assert!(text.contains("size: as nccl-tests and rules count it"), "{text}");
    }
    let report = json(&succeeds(at, &format!("{run} --json")));
    assert_eq!(report["collectives"][0]["mean_size_bytes"], report["algorithms"][0]["min_size_bytes"]);
    assert_eq!(report["collectives"][0]["bytes"], json!(1 << 20));
}

#[test]
fn overlap_that_has_no_effect_is_warned_of() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    // Another computation needs the product too, so it cannot leave chunk by chunk.
    fs::write(at.join("rules.toml"), "[[rule]]\ndefault = true\noverlap = \"producers\"\n").unwrap();
    let run = format!("{TRAINING} --rules rules.toml");
    let output = super::support::collective(at, &run);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let warning = "overlap of producers divides no computation at 1 × all_reduce by allreduce_ring(channels=1): other nodes need all \
                   of the computation before it";
    assert_eq!(stderr, format!("warning: {warning}\n"));
    let report = json(&succeeds(at, &format!("{run} --json")));
    assert_eq!((&report["warnings"], &report["time_ns"]), (&json!([warning]), &json!(126_000)));
    // After it there is one that waits.
    fs::write(at.join("rules.toml"), "[[rule]]\ndefault = true\noverlap = \"consumers\"\n").unwrap();
    assert_eq!(json(&succeeds(at, &format!("{run} --json")))["warnings"], json!([]));
}

#[test]
fn a_cluster_with_a_card_for_each_gpu_has_a_ring_for_each_by_default() {
    let directory = steps::directory();
    let at = directory.path();
    let cluster = |cards: u32| {
        format!(
            "[[dimension]]\nkind = \"cluster\"\nnodes = 2\nwiring = \"by-node\"\ncards = {cards}\ncard-bandwidth = \"400 GB/s\"\ncard-latency = \"1 us\"\n\
             [[dimension.node]]\nkind = \"switch\"\nsize = 4\nlatency = \"250 ns\"\nbandwidth = \"450 GB/s\"\n\
             [[dimension.network]]\nkind = \"switch\"\nsize = {}\nlatency = \"1 us\"\nbandwidth = \"50 GB/s\"\n",
            2 * cards
        )
    };
    let mut step = WorkloadBuilder::new(8);
    for rank in 0..8 {
        step.collective(rank, "sum", CollectiveKind::AllReduce, 1 << 30, 0, &[]).unwrap();
    }
    write(at, "sum", step);
    let run = |cards: u32, more: &str| {
        fs::write(at.join("cluster.toml"), cluster(cards)).unwrap();
        json(&succeeds(at, &format!("simulate --workload t/sum --topology cluster.toml --json {more}")))
    };
    let report = run(4, "");
    assert_eq!(report["algorithms"][0]["algorithm"], json!("allreduce_rotated_rings(gpus=4)"));
    // Each card carries a quarter of 2 · 7/8 of 2^30 bytes at 50 GB/s, and one ring would carry all: a third of the time or less.
    let one_ring = 2.0 * 7.0 / 8.0 * f64::from(1 << 30) / 50.0;
    let time = report["time_ns"].as_f64().unwrap();
    assert!(time >= one_ring / 4.0 && time < one_ring / 2.5, "{time} of {one_ring}");
    // Where it is not known, or not so, the report says which rule to try.
    for report in [run(2, ""), run(4, "--placement random:1")] {
        let algorithm = &report["algorithms"][0]["algorithm"];
        let notes = report["notes"].to_string();
        let said = notes.contains("allreduce_rotated_rings") && notes.contains("gpus = 4");
        assert!(algorithm == "allreduce_ring(channels=1)", "{algorithm}");
        // At random places no rank is known to share a machine with the next: eight ranks are taken as one.
        assert_eq!(said, report["placement"].is_null(), "{notes}");
    }
}
