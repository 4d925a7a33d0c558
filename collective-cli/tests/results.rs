//! As an author I want to know what the time went into, and what late ranks and shared links do to it.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use support::{fails, json, succeeds, with_ring};

/// A ring of eight in this project's own form.
const RING_TOML: &str =
    "[[dimension]]\nkind = \"ring\"\nsize = 8\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n";

fn directory() -> tempfile::TempDir {
    let directory = with_ring();
    fs::write(directory.path().join("ring.toml"), RING_TOML).unwrap();
    fs::write(directory.path().join("switch.toml"), RING_TOML.replace("ring", "switch")).unwrap();
    directory
}

#[test]
fn the_critical_path_says_what_the_time_went_into_and_which_lines_it_comes_from() {
    let directory = directory();
    let at = directory.path();
    let run = "simulate allreduce_ring --topology ring.toml --model fluid --critical-path";
    let report = json(&succeeds(at, &format!("{run} --json --reduce-bandwidth 100GB/s")));
    // 14 messages in a row of 131,072 B at 50 GB/s, and 7 reductions at 100 GB/s.
    let path = &report["critical_path"];
    let expected = json!({
        "latency_ns": 7_000, "bandwidth_ns": 36_700.16, "queueing_ns": 0, "waiting_ns": 0, "computing_ns": 9_175.04,
    });
    assert_eq!(path["shares"], expected);
    assert_eq!(report["time_ns"], json!(52_875.2));
    let sends = path["steps"].as_array().unwrap().iter().filter(|step| step["kind"] == "send").count();
    assert_eq!(sends, 14);
    let lines = path["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "the reduce and the copy of the ring");
    let sum: f64 = lines.iter().map(|line| line["time_ns"].as_f64().unwrap()).sum();
    assert!((sum - 52_875.2).abs() < 1e-6, "{sum}");
    assert!(lines.iter().all(|line| line["file"] == "src/algorithms/all_reduce/ring.rs"), "{lines:?}");

    let text = succeeds(at, run);
    // 7,000 and 36,700.16 of 43,700.16.
    assert!(text.contains("14 messages\n"), "{text}");
    assert!(text.contains("latency       7 us  16.0 %"), "{text}");
    assert!(text.contains("bandwidth  36.7 us  84.0 %"), "{text}");
    assert!(!text.contains("queueing"), "what is nothing is not shown: {text}");
    assert!(text.contains("src/algorithms/all_reduce/ring.rs:"), "{text}");
}

#[test]
fn links_are_listed_by_how_long_they_were_busy() {
    let directory = directory();
    let at = directory.path();
    let run = |model: &str, more: &str| {
        succeeds(
            at,
            &format!("simulate allreduce_ring --topology switch.toml --links --model {model} {more}"),
        )
    };
    for model in ["link-queue", "fluid"] {
        let report = json(&run(model, "--json"));
        let links = report["links"].as_array().unwrap();
        assert_eq!(links.len(), 16, "an up-link and a down-link for each rank");
        for link in links {
            assert_eq!(link["bytes"], json!(14 * 131_072));
            // 14 · 131,072 B / 50 GB/s
            assert_eq!(link["busy_ns"], json!(36_700.16));
            let share = 36_700.16 / report["time_ns"].as_f64().unwrap();
            assert!((link["utilisation"].as_f64().unwrap() - share).abs() < 1e-9);
        }
    }
    let text = run("fluid", "");
    let is_row = |line: &&str| line.contains('→') && !line.starts_with("busiest link");
    assert_eq!(text.lines().filter(is_row).count(), 10, "{text}");
    // 36,700.16 of 50,700.16.
    assert!(text.contains("72.4 %") && text.contains("and 6 more (--json has all)"), "{text}");
    assert!(run("analytical", "").contains("the model analytical knows no links"));
    assert_eq!(json(&run("analytical", "--json"))["links"], Value::Null);
}

#[test]
fn the_times_of_all_messages_go_into_a_file() {
    let directory = directory();
    let at = directory.path();
    let run = "simulate allreduce_ring --topology ring.toml --model fluid --messages times.csv";
    succeeds(at, run);
    let table = fs::read_to_string(at.join("times.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..4], ["src", "dst", "tag", "bytes"]);
    assert_eq!(rows.len(), 1 + 112);
    // The first message of rank 0 goes to rank 1: 500 ns + 131,072 B / 50 GB/s.
    assert_eq!((rows[1][..2].to_vec(), rows[1][3]), (vec!["0", "1"], "131072"));
    assert_eq!(rows[1][6..], ["0", "3121.44"]);
    let last = rows[1..].iter().map(|row| row[7].parse::<f64>().unwrap()).fold(0.0, f64::max);
    assert_eq!(last, 43_700.16);
    fails(at, 2, &run.replace("times.csv", "nowhere/times.csv"));
}

#[test]
fn late_and_slow_ranks_and_overheads_cost_what_they_must() {
    let directory = directory();
    let at = directory.path();
    let run = |arguments: &str| {
        let run = "simulate allreduce_ring --topology ring.toml --model fluid --json";
        json(&succeeds(at, &format!("{run} {arguments}")))["time_ns"].clone()
    };
    assert_eq!(run(""), json!(43_700.16));
    // Everybody waits for the late one once.
    assert_eq!(run("--straggler 3=+10us"), json!(53_700.16));
    // 14 messages in a row, each 100 + 200 ns longer.
    assert_eq!(run("--send-overhead 100ns --receive-overhead 200ns"), json!(47_900.16));
    // Seven reductions in a row of 1,310.72 ns; the slow rank has seven itself, of twice that.
    assert_eq!(run("--reduce-bandwidth 100GB/s"), json!(52_875.2));
    assert_eq!(run("--reduce-bandwidth 100GB/s --straggler 3=x2"), json!(62_050.24));
}

#[test]
fn what_astra_sim_does_not_know_is_refused_under_its_conventions() {
    let directory = directory();
    let at = directory.path();
    for (arguments, wanted) in [
        ("--model fluid", "fluid has no meaning under the astra-sim conventions"),
        ("--model link-queue --straggler 3=+10us", "a straggler has no meaning"),
        ("--model link-queue --send-overhead 1us", "an overhead of messages has no meaning"),
        ("--model link-queue --reduce-bandwidth 1GB/s", "a reduce bandwidth has no meaning"),
        ("--model link-queue --straggler 8=+10us --conventions exact", "no rank 8 to be a straggler"),
        ("--model link-queue --straggler 3", "expected RANK=+DELAY"),
    ] {
        let stderr = fails(at, 2, &format!("simulate allreduce_ring --topology ring.yml {arguments}"));
        assert!(stderr.contains(wanted), "{arguments}: {stderr}");
    }
}

#[test]
fn very_many_ranks_are_simulated_by_one_where_all_do_the_same() {
    let directory = directory();
    let at = directory.path();
    fs::write(at.join("large.toml"), RING_TOML.replace('8', "131072").replace("ring", "switch")).unwrap();
    // 2 (n−1) rounds of two links of 500 ns and a byte, 20 ps.
    let run = "simulate allreduce_ring --ranks 131072 --topology large.toml --size 131072 --type i8";
    let report = json(&succeeds(at, &format!("{run} --model analytical --json")));
    assert_eq!(report["time_ns"], json!(262_142.0 * 1_000.02));
    assert_eq!((&report["messages"], &report["folded"]), (&json!(262_142_u64 * 131_072), &json!(true)));
    assert_eq!(report["algorithm"], json!("allreduce_ring"));
    // Each of 2 (n−1) rounds takes 2 o + L under loggp.
    let loggp = json(&succeeds(
        at,
        "simulate allreduce_ring --ranks 131072 --size 131072 --type i8 --model loggp --json",
    ));
    assert_eq!(loggp["time_ns"], json!(262_142_u64 * 5_500));
    for algorithm in ["allgather_ring", "reduce_scatter_ring", "allreduce_hierarchical"] {
        let run = run.replace("allreduce_ring", algorithm);
        let text = succeeds(at, &format!("{run} --model analytical"));
        assert!(text.contains("one was simulated for all"), "{text}");
    }
    // Links are shared, ranks differ, or all are asked for: then it is too much.
    for more in
        ["--model link-queue", "--model analytical --straggler 3=+1us", "--model analytical --no-fold"]
    {
        let stderr = fails(at, 2, &format!("{run} {more}"));
        assert!(stderr.contains("one rank cannot stand for all"), "{stderr}");
    }
    // Unequal chunks have no such form, and two channels none that is known.
    let stderr = fails(at, 2, &format!("{run} --model analytical --set channels=2"));
    assert!(stderr.contains("more than 67108864 chunks"), "{stderr}");
}

#[test]
fn a_large_algorithm_takes_the_time_of_the_compiled_one() {
    let directory = directory();
    let at = directory.path();
    // 480 ranks have 1.1 million nodes.
    fs::write(at.join("large.toml"), RING_TOML.replace('8', "480")).unwrap();
    let run =
        "simulate allreduce_ring --topology large.toml --size 480KiB --reduce-rate 1GB/s --json --model";
    for model in ["analytical", "link-queue"] {
        let report = json(&succeeds(at, &format!("{run} {model}")));
        // For source lines it is compiled.
        let compiled = json(&succeeds(at, &format!("{run} {model} --critical-path")));
        for key in ["time_ns", "messages", "bytes", "ranks", "busbw_gb_per_s", "collective", "size_bytes"] {
            assert_eq!(report[key], compiled[key], "{model}: {key}");
        }
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_in_the_middle_of_a_run_prints_what_there_is() {
    let directory = directory();
    let at = directory.path();
    // Two million messages, which take seconds.
    fs::write(at.join("large.toml"), RING_TOML.replace('8', "1024").replace("ring", "switch")).unwrap();
    let arguments = "simulate allreduce_ring --topology large.toml --model fluid --json";
    // Nothing tells from outside when the run has begun, so it is interrupted later and later.
    for wait in (0..24).map(|power| Duration::from_secs_f64(0.1 * 1.25_f64.powi(power))) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
        command.current_dir(at).args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        thread::sleep(wait);
        // It may have ended.
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        if !stderr.contains("interrupted at") {
            continue;
        }
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        let said = stderr.lines().collect::<Vec<_>>();
        assert!(said.len() == 1 && said[0].starts_with("error: allreduce_ring: interrupted at "), "{stderr}");
        let report = json(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(report["verdict"], "interrupted");
        let nodes = 1024 * 5 * 1023_u64;
        assert_eq!(report["nodes"], json!(nodes));
        let finished = report["finished_nodes"].as_u64().unwrap();
        assert!((1..nodes).contains(&finished), "{finished}");
        assert_eq!(report["ranks"].as_array().unwrap().len(), 1024);
        return;
    }
    panic!("the run was never met while it ran");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_command_with_130() {
    let directory = directory();
    let at = directory.path();
    // A pipe opens when the command reads it, so the signal comes in the middle of its work.
    let pipe = at.join("pipe.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
    let arguments = "simulate allreduce_ring --topology pipe.toml --model fluid --json";
    command.current_dir(at).args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let topology = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    // It does not wait for what it reads.
    let output = child.wait_with_output().unwrap();
    drop(topology);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(output.stdout.is_empty() && stderr.is_empty(), "there is nothing to keep: {stderr}");
}

#[test]
fn what_is_too_large_rank_by_rank_is_refused_at_once_with_what_would_do() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let switch =
        "[[dimension]]\nkind = \"switch\"\nsize = 131072\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n";
    fs::write(at.join("large.toml"), switch).unwrap();
    let large = "--topology large.toml --model analytical";
    let stderr = fails(at, 2, &format!("simulate allreduce_ring {large} --size 1000004"));
    assert!(stderr.contains("multiple of 524288 bytes, such as --size 1048576"), "{stderr}");
    // More nodes of one rank than there is memory for.
    let stderr = fails(at, 2, "simulate allreduce_ring --ranks 4294967295 --model loggp --size 0");
    assert!(stderr.contains("chunks"), "{stderr}");
    // Whole vectors are sent, so the size may be any: 17 rounds of 2 · 500 ns and 20,000.08 ns.
    let report = format!("simulate allreduce_recursive_doubling {large} --size 1000004 --json");
    let report = json(&succeeds(at, &report));
    assert_eq!((&report["time_ns"], &report["folded"]), (&json!(357_001.36), &json!(true)));
}
