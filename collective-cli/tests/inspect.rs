//! `collective inspect` and the conversion of traces, as their users meet them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use chakra_et::graph::{Op, Origin};
use chakra_et::proto::Node;
use chakra_et::{RankWriter, attr, metadata, view};
use serde_json::{Value, json};

fn collective(directory: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
    command.current_dir(directory).args(arguments.split_whitespace()).output().unwrap()
}

/// Standard output and error of a run that must end with the code given.
#[track_caller]
fn run(directory: &Path, code: i32, arguments: &str) -> (String, String) {
    let output = collective(directory, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

fn node(id: u64, op: Op, deps: &[u64]) -> Node {
    view::node(id, format!("n{id}"), op, deps.to_vec(), Origin::default()).unwrap()
}

fn write(path: &Path, nodes: &[Node]) {
    let mut writer = RankWriter::new(&metadata::write(None, &[]).unwrap()).unwrap();
    nodes.iter().for_each(|node| writer.node(node).unwrap());
    fs::write(path, writer.finish()).unwrap();
}

/// Two ranks: rank 0 sends 100 bytes, rank 1 receives them and adds; then both all-reduce 64 bytes.
fn pair(directory: &Path) {
    let coll = Op::Coll { kind: 0, bytes: 64 };
    write(
        &directory.join("pair.0.et"),
        &[node(0, Op::Send { dst: 1, tag: 0, bytes: 100 }, &[]), node(1, coll, &[0])],
    );
    let add = Op::Comp { micros: 3, ops: 25, bytes: 100 };
    write(
        &directory.join("pair.1.et"),
        &[node(0, Op::Recv { src: 0, tag: 0, bytes: 100 }, &[]), node(1, add, &[0]), node(2, coll, &[1])],
    );
}

#[test]
fn a_sound_trace_is_described() {
    let directory = tempfile::tempdir().unwrap();
    pair(directory.path());
    let (text, _) = run(directory.path(), 0, "inspect pair");
    assert!(text.starts_with("pair: a workload of 5 nodes, 2 ranks\n"), "{text}");
    assert!(text.ends_with("0 error(s), 0 warning(s), 0 note(s)\n"), "{text}");
    let (text, _) = run(directory.path(), 0, "inspect pair --json");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["all"]["types"]["COMM_COLL_NODE"], json!(2));
    assert_eq!(report["all"]["collectives"]["ALL_REDUCE"], json!({"count": 2, "bytes": 128}));
    assert_eq!(report["all"]["sent_bytes"], json!(100));
    assert_eq!((&report["all"]["depth"], &report["all"]["width"]), (&json!(3), &json!(2)));
    assert_eq!(report["ranks"][1]["nodes"], json!(3));
    assert_eq!(report["findings"], json!([]));
}

#[test]
fn errors_end_with_1_and_unreadable_input_with_2() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let copy = Op::Comp { micros: 1, ops: 0, bytes: 0 };
    write(&at.join("knot.0.et"), &[node(1, copy, &[2]), node(2, copy, &[1]), node(9, copy, &[])]);
    let (text, stderr) = run(at, 1, "inspect knot");
    assert!(text.contains("node 1 \"n1\" needs node 2 \"n2\" needs node 1"), "{text}");
    assert!(!text.contains("node 9"), "{text}");
    assert!(stderr.contains("knot: 1 finding(s) are errors"), "{stderr}");
    let (text, _) = run(at, 1, "inspect knot --json");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["findings"][0]["rule"], json!("cyclic-dependence"));
    assert_eq!(report["findings"][0]["related"], json!([{"rank": 0, "node": 1}, {"rank": 0, "node": 2}]));

    fs::write(at.join("cut.0.et"), b"\x07\x0a\x050.0").unwrap();
    assert!(run(at, 2, "inspect cut").1.contains("cut.0.et: byte 0: a message of 7 bytes is announced"));
    assert!(run(at, 2, "inspect nothing").1.contains("no trace found"));
    assert!(run(at, 2, "inspect knot --rank 3 --dot").1.contains("knot has no rank 3"));
    assert!(run(at, 2, "inspect knot --groups none.json").1.contains("none.json"));
}

#[test]
fn one_file_is_judged_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    pair(directory.path());
    let (text, _) = run(directory.path(), 0, "inspect pair.1.et");
    assert!(text.starts_with("pair.1.et: a workload of 3 nodes, rank 1 by itself\n"), "{text}");
}

#[test]
fn many_findings_of_a_rule_are_counted_and_json_has_all() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let nodes: Vec<Node> =
        (0..9).map(|id| node(id, Op::Comp { micros: 1, ops: 0, bytes: 0 }, &[77])).collect();
    write(&at.join("t.0.et"), &nodes);
    let (text, _) = run(at, 1, "inspect t");
    assert!(text.contains("error: dangling-dependence (9)") && text.contains("… and 6 more"), "{text}");
    let (text, _) = run(at, 1, "inspect t --json");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&report["errors"], report["findings"].as_array().map(Vec::len)), (&json!(9), Some(9)));
}

#[test]
fn a_node_is_shown_with_its_attributes_and_dependants() {
    let directory = tempfile::tempdir().unwrap();
    pair(directory.path());
    let (text, _) = run(directory.path(), 0, "inspect pair --node 0 --rank 1");
    assert!(text.starts_with("rank 1, byte "), "{text}");
    assert!(text.contains("COMM_RECV_NODE \"n0\""), "{text}");
    assert!(text.contains("dependants         1\n"), "{text}");
    assert!(text.contains("comm_size          \"100\" (int64Val)\n"), "{text}");
    let (text, _) = run(directory.path(), 0, "inspect pair --node 0 --json");
    let nodes: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(nodes.as_array().map(Vec::len), Some(2));
    assert_eq!(nodes[0]["node"]["type"], json!("COMM_SEND_NODE"));
    assert!(run(directory.path(), 2, "inspect pair --node 5").1.contains("pair: there is no node with id 5"));
}

#[test]
fn the_graph_is_drawn() {
    let directory = tempfile::tempdir().unwrap();
    pair(directory.path());
    let (text, _) = run(directory.path(), 0, "inspect pair --dot");
    assert!(text.starts_with("digraph") && text.contains("r1n0 -> r1n1;"), "{text}");
    let (text, _) = run(directory.path(), 0, "inspect pair --dot --rank 0");
    assert!(!text.contains("r1n0") && text.contains("label=\"0 n0\""), "{text}");
}

#[test]
fn groups_are_taken_from_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let on_group = |id: u64, own: &str, own_position: i32, op: Op| {
        let mut node = node(id, op, &[]);
        node.attr.push(attr::int32(own, own_position));
        node.attr.push(attr::string("pg_name", "5"));
        node
    };
    let idle = [node(0, Op::Comp { micros: 1, ops: 0, bytes: 0 }, &[])];
    write(&at.join("t.0.et"), &idle);
    write(&at.join("t.2.et"), &idle);
    write(&at.join("t.1.et"), &[on_group(0, "comm_src", 0, Op::Send { dst: 1, tag: 3, bytes: 1000 })]);
    write(&at.join("t.3.et"), &[on_group(0, "comm_dst", 1, Op::Recv { src: 0, tag: 3, bytes: 1000 })]);
    fs::write(at.join("groups.json"), r#"{"5": [1, 3]}"#).unwrap();
    run(at, 0, "inspect t --groups groups.json --group-peers");
    let (text, _) = run(at, 1, "inspect t --groups groups.json");
    assert!(text.contains("its comm_dst is 1, but it is on rank 3"), "{text}");
}

#[test]
fn traces_go_through_every_form_and_back() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    pair(at);
    let (said, _) = run(at, 0, "convert pair lines/pair.jsonl");
    assert_eq!(said, "wrote 5 nodes of 2 ranks to lines/pair.jsonl, one file a rank\n");
    let lines = fs::read_to_string(at.join("lines/pair.1.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 4);
    run(at, 0, "convert lines/pair -o packed/pair.et.gz");
    assert!(fs::read(at.join("packed/pair.0.et.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    run(at, 0, "convert packed/pair back/pair.et");
    for rank in 0..2 {
        let file = |name: &str| fs::read(at.join(format!("{name}.{rank}.et"))).unwrap();
        assert!(file("back/pair") == file("pair"), "rank {rank}");
    }
    // One file, too.
    run(at, 0, "convert pair.1.et one.jsonl");
    assert_eq!(fs::read_to_string(at.join("one.jsonl")).unwrap(), lines);
    let left: Vec<_> = fs::read_dir(at.join("back")).unwrap().collect();
    assert_eq!(left.len(), 2, "no temporaries are left");
}

#[test]
fn a_smaller_conversion_leaves_no_ranks_of_a_larger_one() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    pair(at);
    run(at, 0, "convert pair out/t.jsonl");
    fs::remove_file(at.join("pair.1.et")).unwrap();
    run(at, 0, "convert pair out/t.jsonl");
    assert!(at.join("out/t.0.jsonl").exists() && !at.join("out/t.1.jsonl").exists());
}

#[test]
fn what_cannot_be_converted_is_named_and_nothing_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    pair(at);
    assert!(run(at, 2, "convert pair out.txt").1.contains("out.txt: its ending must say what to write"));
    assert!(run(at, 2, "convert none out.jsonl").1.contains("no trace found"));
    fs::write(at.join("bad.jsonl"), "{\"version\":\"0.0.4\"}\n{\"id\":true}\n").unwrap();
    let (_, stderr) = run(at, 2, "convert bad.jsonl bad.et");
    assert!(stderr.contains("bad.jsonl: line 2: id is no whole number: true"), "{stderr}");
    fs::write(at.join("pair.1.et"), "nonsense").unwrap();
    assert!(run(at, 2, "convert pair new/pair.jsonl").1.contains("pair.1.et: byte 0"));
    assert_eq!(fs::read_dir(at.join("new")).unwrap().count(), 0);
}
