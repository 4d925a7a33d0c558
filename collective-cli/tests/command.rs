//! The command as its users meet it.

mod support;

use std::fs;

use chakra_et::graph::{Op, Origin};
use chakra_et::{RankWriter, metadata, view};
use serde_json::{Value, json};
use support::{RING_YAML, collective, fails, json, succeeds, with_ring};

#[test]
fn compile_then_simulate_gives_the_time_of_astra_sim() {
    let directory = with_ring();
    let at = directory.path();
    let said = succeeds(at, "compile allreduce_ring --ranks 8 --size 1MiB -o out/ring");
    assert!(said.contains("post-condition holds for 8 ranks; wrote 280 nodes"), "{said}");
    for model in ["analytical", "link-queue"] {
        let report =
            json(&succeeds(at, &format!("simulate out/ring --topology ring.yml --model {model} --json")));
        assert_eq!(report["time_ns"], json!(41_181));
        assert_eq!(report["messages"], json!(112));
        assert_eq!(report["bytes"], json!(112 * 131_072));
        assert_eq!(report["conventions"], json!("astra-sim"));
        let ranks = report["ranks"].as_array().unwrap();
        assert_eq!(ranks.len(), 8);
        for (rank, entry) in ranks.iter().enumerate() {
            assert_eq!(entry, &json!({"rank": rank, "finish_ns": 41_181}));
        }
        // 1,048,576 B / 41,181 ns, and 2 · 7/8 of it.
        let algbw = report["algbw_gb_per_s"].as_f64().unwrap();
        assert!((algbw - 25.462_616).abs() < 1e-6, "{algbw}");
        let busbw = report["busbw_gb_per_s"].as_f64().unwrap();
        assert!((busbw - 44.559_578).abs() < 1e-6, "{busbw}");
    }
    // By name, without files, it is the same; the number of ranks is the topology's.
    let by_name =
        json(&succeeds(at, "simulate allreduce_ring --topology ring.yml --model link-queue --json"));
    assert_eq!(by_name["time_ns"], json!(41_181));
    assert_eq!(by_name["parameters"], json!({"ranks": 8, "channels": 1}));
    // Every link forwards fourteen chunks.
    assert_eq!(by_name["busiest_link"]["bytes"], json!(14 * 131_072));
}

#[test]
fn exact_conventions_count_in_powers_of_ten_and_picoseconds() {
    let directory = with_ring();
    let at = directory.path();
    let run = |arguments: &str| {
        json(&succeeds(
            at,
            &format!("simulate allreduce_ring --ranks 8 --model link-queue --json {arguments}"),
        ))
    };
    // 14 × (500 ns + 131,072 B / 50 B/ns)
    let yaml = run("--topology ring.yml --conventions exact");
    assert_eq!(yaml["time_ns"], json!(43_700.16));
    fs::write(
        at.join("ring.toml"),
        "[[dimension]]\nkind = \"ring\"\nsize = 8\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n",
    )
    .unwrap();
    let toml = run("--topology ring.toml");
    assert_eq!((&toml["time_ns"], &toml["conventions"]), (&json!(43_700.16), &json!("exact")));
    let text = succeeds(
        at,
        "simulate allreduce_ring --ranks 8 --model analytical --topology ring.toml --size 64KiB",
    );
    // 14 × (500 ns + 8,192 B / 50 B/ns)
    assert!(text.starts_with("allreduce_ring (channels = 1), 64 KiB, 8 ranks, on ring.toml"), "{text}");
    assert!(text.contains("9293.76 ns") && text.contains("no injection limit"), "{text}");
}

#[test]
fn what_could_be_misread_is_noted() {
    let directory = with_ring();
    let at = directory.path();
    let notes = |arguments: &str| {
        let report = json(&succeeds(at, &format!("simulate allreduce_ring --json {arguments}")));
        report["notes"].to_string()
    };
    assert_eq!(
        notes("--topology ring.yml --model link-queue"),
        "[]",
        "neighbours of a ring are one hop apart"
    );
    fs::write(at.join("switch.yml"), RING_YAML.replace("Ring", "Switch")).unwrap();
    assert!(notes("--topology switch.yml --model link-queue").contains("stores and forwards whole messages"));
    fs::write(
        at.join("two.yml"),
        "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50, 5 ]\nlatency: [ 500, 500 ]\n",
    )
    .unwrap();
    assert!(notes("--topology two.yml --model analytical").contains("lowest-numbered dimension"));
}

#[test]
fn one_rank_takes_no_time_and_no_bytes_take_no_time() {
    let directory = with_ring();
    let at = directory.path();
    fs::write(
        at.join("one.toml"),
        "[[dimension]]\nkind = \"ring\"\nsize = 1\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n",
    )
    .unwrap();
    let one = json(&succeeds(
        at,
        "simulate allreduce_ring --ranks 1 --topology one.toml --model link-queue --json",
    ));
    assert_eq!((&one["time_ns"], &one["messages"]), (&json!(0), &json!(0)));
    assert_eq!((&one["algbw_gb_per_s"], &one["busbw_gb_per_s"]), (&Value::Null, &Value::Null));
    let nothing = json(&succeeds(
        at,
        "simulate allreduce_ring --ranks 8 --size 0 --topology ring.yml --conventions exact --model link-queue --json",
    ));
    assert_eq!((&nothing["time_ns"], &nothing["bytes"]), (&json!(0), &json!(0)));
}

#[test]
fn bad_input_gets_one_line_that_says_what_is_wrong() {
    let directory = with_ring();
    let at = directory.path();
    succeeds(at, "compile allreduce_ring --ranks 8 -o t/ring");
    let simulate = "--topology ring.yml --model link-queue";
    let two = |arguments: &str, wanted: &[&str]| {
        let stderr = fails(at, 2, arguments);
        for wanted in wanted {
            assert!(stderr.contains(wanted), "{arguments}: wanted \"{wanted}\" in: {stderr}");
        }
    };
    two(&format!("simulate nothing {simulate}"), &["nothing.N.et", "`collective algorithms` lists them"]);
    two(&format!("simulate t {simulate}"), &["a prefix is expected"]);
    two("simulate t/ring --topology ring.yml --model fluidity", &["fluidity", "analytical", "link-queue"]);
    two("simulate t/ring --topology none.yml --model link-queue", &["none.yml"]);
    two(
        &format!("simulate allreduce_ring --ranks 4 {simulate}"),
        &["ring.yml", "4 ranks", "the topology has 8"],
    );
    two(&format!("simulate t/ring --ranks 4 {simulate}"), &["t/ring has 8 ranks, not 4"]);
    two(&format!("simulate t/ring --size 2MiB {simulate}"), &["compiled for 1048576 bytes, not 2097152"]);
    two("compile allreduce_ring -o t/x", &["--ranks N"]);
    two("compile allreduce_ring --ranks 8 --size 10 -o t/x", &["10 bytes", "f32"]);
    two("compile allreduce_ring --ranks 0 -o t/x", &["at least one rank"]);
    two("compile allreduce_ring --ranks 100000000 -o t/x", &["more than"]);
    two(
        "compile allreduce_ring --ranks 8 --set channels=2305843009213693953 -o t/x",
        &["is more than 4294967295"],
    );
    two("compile allreduce_ring --ranks 8 --set rings=2 -o t/x", &["no parameter `rings`", "channels"]);
    two("compile allreduce_ring --ranks 8 --set channels=two -o t/x", &["channels must be a whole number"]);
    two("compile allreduce_ring --ranks 8 --set channels=0 -o t/x", &["at least one chunk"]);
    two("compile allreduce_hierarchical --ranks 9 --set gpus=4 -o t/x", &["multiple of `gpus`"]);
    two("compile allreduce --ranks 8 -o t/x", &["no algorithm \"allreduce\"", "did you mean allreduce_"]);
    two("compile allreduce_ring --ranks 8", &["-o DIR/NAME"]);
    two("compile allreduce_ring --ranks 8 -o ring.yml/x", &["ring.yml"]);
    assert!(!at.join("t/x.0.et").exists(), "a refused compilation writes nothing");
}

#[test]
fn broken_traces_are_named_by_file_and_place() {
    let directory = with_ring();
    let at = directory.path();
    let simulate = "simulate t/ring --topology ring.yml --model link-queue";
    succeeds(at, "compile allreduce_ring --ranks 8 -o t/ring");
    let file = at.join("t/ring.3.et");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 5]).unwrap();
    let stderr = fails(at, 2, simulate);
    assert!(stderr.contains("ring.3.et") && stderr.contains("byte "), "{stderr}");
    fs::remove_file(&file).unwrap();
    let stderr = fails(at, 2, simulate);
    assert!(stderr.contains("ring.3.et is missing"), "{stderr}");
    fs::write(&file, b"").unwrap();
    assert!(fails(at, 2, simulate).contains("empty"));
}

#[test]
fn a_run_that_cannot_go_on_says_who_waits_for_whom() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("two.yml"), RING_YAML.replace("Ring", "Switch").replace("[ 8 ]", "[ 2 ]")).unwrap();
    // Each rank receives before it sends.
    let rank = |rank: u32| {
        let mut writer = RankWriter::new(&metadata::write(None, &[]).unwrap()).unwrap();
        let recv = Op::Recv { src: 1 - rank, tag: 7, bytes: 4096 };
        let send = Op::Send { dst: 1 - rank, tag: 7, bytes: 4096 };
        let node = |id, name, op, deps| view::node(id, name, op, deps, Origin::default()).unwrap();
        writer.node(&node(0, "COMM_RECV_NODE", recv, vec![])).unwrap();
        writer.node(&node(1, "COMM_SEND_NODE", send, vec![0])).unwrap();
        writer.finish()
    };
    chakra_et::write_trace(at.join("stuck"), 2, |r| Ok::<_, std::convert::Infallible>(rank(r as u32)))
        .unwrap();
    let simulate = "simulate stuck --topology two.yml --model link-queue";
    let stderr = fails(at, 1, simulate);
    assert!(stderr.contains("rank 0, node 0: waits for 4096 bytes from rank 1, tag 7"), "{stderr}");
    assert!(stderr.contains("rank 1 has not come to its send, node 1"), "{stderr}");
    // As ASTRA-sim runs a workload, too.
    let stderr = fails(at, 1, &format!("{simulate} --compat astra-sim"));
    for rank in 0..2 {
        let waiter = format!("rank {rank}, node 0: waits for 4096 bytes from rank {}, tag 7", 1 - rank);
        assert!(stderr.contains(&waiter), "{stderr}");
    }
    let output = collective(at, &format!("{simulate} --json"));
    assert_eq!(output.status.code(), Some(1));
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&report["verdict"], &report["partial_time_ns"]), (&json!("stuck"), &json!(0)));
    assert_eq!(report["waiting"][1]["rank"], json!(1));
    assert_eq!(report["waiting"][1]["peer"], json!(0));
    let circle = report["deadlock"].as_array().unwrap();
    assert_eq!(circle.len(), 4, "two receives and two sends");
    assert_eq!(circle[0], json!({"rank": 0, "node": 0, "kind": "receive", "peer": 1}));
    assert!(stderr.contains("ranks wait for each other: rank 0 node 0 (receive from 1) -> "), "{stderr}");
}

#[test]
fn stages_on_the_way_can_be_looked_at() {
    let directory = with_ring();
    let at = directory.path();
    let trace = succeeds(at, "compile allreduce_ring --ranks 2 --to trace");
    assert_eq!(trace.lines().filter(|line| line.starts_with("op")).count(), 4);
    assert!(trace.contains("reduce r1 i[0] += r0 i[0] ch0  src/algorithms/all_reduce/ring.rs:"), "{trace}");
    let schedule = succeeds(at, "compile allreduce_ring --ranks 3 --to schedule");
    assert!(schedule.contains("1 rrs i[2] <- r2 -> r1"), "{schedule}");
    succeeds(at, "compile allreduce_ring --ranks 3 --to schedule -o schedule.txt");
    assert_eq!(fs::read_to_string(at.join("schedule.txt")).unwrap().trim_end(), schedule.trim_end());
}

#[test]
fn a_smaller_run_leaves_no_ranks_of_a_larger_one() {
    let directory = with_ring();
    let at = directory.path();
    succeeds(at, "compile allreduce_ring --ranks 16 -o t/ring");
    succeeds(at, "compile allreduce_ring --ranks 8 -o t/ring");
    let report = json(&succeeds(at, "simulate t/ring --topology ring.yml --model analytical --json"));
    assert_eq!(report["time_ns"], json!(41_181));
}

#[test]
fn the_library_is_listed() {
    let at = tempfile::tempdir().unwrap();
    let text = succeeds(at.path(), "algorithms");
    assert!(text.contains("allreduce_ring(channels=1)"), "{text}");
    let list = json(&succeeds(at.path(), "algorithms --json"));
    let ring = list.as_array().unwrap().iter().find(|entry| entry["name"] == "allreduce_ring").unwrap();
    assert_eq!(ring["collective"], json!("all_reduce"));
    assert_eq!(ring["parameters"][1], json!({"name": "channels", "default": 1}));
    assert!(ring["summary"].as_str().unwrap().starts_with("All-reduce by rings"));
}
