//! As a network architect I want to know which algorithm is the fastest where on my network.

mod support;

use serde_json::Value;
use support::{fails, json, succeeds};

const SWITCH: &str =
    "[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n";

fn at() -> tempfile::TempDir {
    let at = tempfile::tempdir().expect("a directory");
    std::fs::write(at.path().join("switch.toml"), SWITCH).expect("a file");
    at
}

#[test]
fn the_fastest_are_said_for_each_size_and_from_where_to_where() {
    let at = at();
    let said = json(&succeeds(at.path(), "compare --collective all-reduce --topology switch.toml --json"));
    assert_eq!((&said["ranks"], &said["model"]), (&Value::from(8), &Value::from("fluid")));
    let algorithms = said["algorithms"].as_array().expect("algorithms");
    let sizes = said["sizes_bytes"].as_array().expect("sizes");
    assert_eq!((sizes.len(), &sizes[20]), (21, &Value::from(1u64 << 30)));
    // The fastest of each size has the least of the times that are listed.
    for (index, fastest) in said["fastest"].as_array().expect("the fastest").iter().enumerate() {
        let times = algorithms.iter().filter_map(|algorithm| algorithm["times_ns"][index].as_f64());
        assert_eq!(fastest["time_ns"].as_f64(), times.reduce(f64::min), "{fastest}");
    }
    // The stretches follow one another from the first size to the last.
    let stretches = said["stretches"].as_array().expect("stretches");
    assert_eq!(stretches[0]["from_bytes"], 1024);
    assert_eq!(stretches[stretches.len() - 1]["until_bytes"], 1u64 << 30);
    for pair in stretches.windows(2) {
        assert!(pair[0]["until_bytes"].as_u64() < pair[1]["from_bytes"].as_u64(), "{pair:?}");
        assert_ne!(pair[0]["algorithm"], pair[1]["algorithm"]);
    }
}

#[test]
fn the_times_are_those_of_the_formulas() {
    let at = at();
    let command = "compare --collective all-reduce --topology switch.toml --sizes 64KiB..64MiB:1024 \
                   --algorithm allreduce_ring --algorithm allreduce_recursive_halving_doubling --json";
    let said = json(&succeeds(at.path(), command));
    let time = |label: &str, index: usize| {
        let all = said["algorithms"].as_array().expect("algorithms");
        let found = all.iter().find(|algorithm| algorithm["algorithm"] == label).expect(label);
        found["times_ns"][index].as_f64().expect("a time")
    };
    // 14 (1 us + S/8B) = 14 · 1163.84 ns; 2 (3 us + 7/8 S/B), S/8B being 163.84 ns.
    assert_eq!(time("allreduce_ring(channels=1)", 0), 16_293.76);
    assert_eq!(time("allreduce_recursive_halving_doubling", 0), 8_293.76);
    assert_eq!(said["sizes_bytes"], serde_json::json!([65_536, 67_108_864]));
}

#[test]
fn the_text_is_for_a_terminal() {
    let at = at();
    let text =
        succeeds(at.path(), "compare --collective all_reduce --topology switch.toml --sizes 1KiB,1MiB");
    assert!(
        text.starts_with("all-reduce among 8 ranks on switch.toml (fluid under exact conventions)\n"),
        "{text}"
    );
    for part in ["which is fastest where", "times of all", "allreduce_ring(channels=1)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let tables = text.lines().filter(|line| !line.starts_with("note: "));
    assert!(tables.map(|line| line.chars().count()).all(|width| width <= 160), "{text}");
}

#[test]
fn an_xml_file_takes_part() {
    let at = at();
    succeeds(at.path(), "compile allreduce_ring --ranks 8 --to msccl-xml --output mine.xml");
    let command = "compare mine.xml --collective all-reduce --topology switch.toml --sizes 1MiB --algorithm allreduce_ring --json";
    let said = json(&succeeds(at.path(), command));
    let all = said["algorithms"].as_array().expect("algorithms");
    let (mine, ring) = (&all[all.len() - 1], &all[0]);
    assert_eq!(
        (&mine["algorithm"], &ring["algorithm"]),
        (&Value::from("mine.xml"), &Value::from("allreduce_ring(channels=1)"))
    );
    assert_eq!(mine["times_ns"], ring["times_ns"]);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let at = at();
    let cases = [
        ("--collective scan --topology switch.toml", "there is nothing to compare for \"scan\""),
        ("--collective all-reduce", "--model fluid needs --topology FILE"),
        ("--collective all-reduce --topology switch.toml --ranks 9", "switch.toml has 8 ranks, not 9"),
        ("--collective all-reduce --topology switch.toml --sizes 4..2", "holds no sizes"),
        (
            "--collective all-reduce --topology switch.toml --algorithm nobody",
            "there is no algorithm \"nobody\" for all_reduce",
        ),
        ("--collective all-reduce --topology switch.toml --algorithm allgather_ring", "there are allreduce_"),
        ("--collective all-reduce --model loggp", "--ranks N"),
        ("--collective all-reduce --topology switch.toml --conventions astra-sim", "no algorithm has a time"),
    ];
    for (arguments, message) in cases {
        let stderr = fails(at.path(), 2, &format!("compare {arguments}"));
        assert!(stderr.contains(message), "{arguments}: {stderr}");
    }
}

#[test]
fn an_algorithm_is_described() {
    let at = at();
    let text = succeeds(at.path(), "algorithms allreduce_ring");
    for part in ["allreduce_ring(channels=1)", "for ranks: any", "Patarasuk", "0 ──▶ 1", "rounds"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let list = succeeds(at.path(), "algorithms --collective all-gather --ranks 5");
    assert!(list.contains("allgather_ring(channels=1)") && !list.contains("allreduce"), "{list}");
    assert!(list.lines().any(|line| line.contains("allgather_ring") && line.contains("4/5")), "{list}");
    assert!(fails(at.path(), 2, "algorithms pat").contains("did you mean allgather_pat"));
    assert!(fails(at.path(), 2, "algorithms --ranks 4097").contains("expected 1 to 4096"));
    let stderr = fails(at.path(), 2, "algorithms --collective nothing");
    assert!(stderr.contains("there are for all-reduce, all-gather"), "{stderr}");
}
