//! `collective run` as its users meet it.

mod support;

use std::fs;

use serde_json::json;
use support::{collective, fails, json, succeeds};

#[test]
fn an_algorithm_is_run_and_its_largest_error_told() {
    let at = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        json(&succeeds(at.path(), &format!("run allreduce_ring --ranks 8 --json {arguments}")))
    };
    // Case D05: a number of elements that does not divide.
    let report = run("--elements 1000003 --type f32");
    assert_eq!((&report["verdict"], &report["post_condition"]), (&json!("pass"), &json!("holds")));
    assert_eq!((&report["compared"], &report["messages"]), (&json!(8 * 1_000_003), &json!(112)));
    assert_eq!((&report["reduction_depth"], &report["slots"]), (&json!(7), &json!(2)));
    let (error, allowed) =
        (report["largest_error"].as_f64().unwrap(), report["allowed_error"].as_f64().unwrap());
    // Seven roundings of sums of at most eight numbers below one: 7 · 2⁻²⁴ · 8.
    assert!(0.0 < error && error <= allowed && allowed < 56.0 / f64::from(1 << 24) * 1.001, "{report}");

    for arguments in
        ["--type i32", "--type bf16 --op avg", "--type f64 --op prod --slots unlimited", "--op min"]
    {
        let report = run(&format!("--elements 5 --seeds 3 {arguments}"));
        assert_eq!((&report["verdict"], &report["orders"]), (&json!("pass"), &json!(7)), "{arguments}");
    }
    assert_eq!(run("--type i64")["largest_error"], json!(0.0));
    let text = succeeds(at.path(), "run allreduce_ring --ranks 3 --set channels=2 --elements 7 --type bf16");
    assert!(
        text.starts_with(
            "allreduce_ring (channels = 2), all-reduce in place, 3 ranks, 7 elements of bf16, sum"
        )
    );
    let compared = text.lines().find(|line| line.starts_with("elements compared")).unwrap();
    assert_eq!(compared.split_whitespace().last(), Some("21"));
}

#[test]
fn wrong_data_are_a_verdict_that_names_the_element() {
    let at = tempfile::tempdir().unwrap();
    let good = succeeds(at.path(), "compile allreduce_ring --ranks 4 --to msccl-xml");
    fs::write(at.path().join("good.xml"), &good).unwrap();
    assert!(succeeds(at.path(), "run good.xml").contains("pass"));
    // A receive that only copies where it should add.
    fs::write(at.path().join("wrong.xml"), good.replacen("type=\"rrcs\"", "type=\"rcs\"", 1)).unwrap();
    let output = collective(at.path(), "run wrong.xml --elements 10 --type i32 --json");
    assert_eq!(output.status.code(), Some(1));
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&report["verdict"], &report["post_condition"]), (&json!("wrong"), &json!("fails")));
    // 10 elements in 4 chunks are 3, 3, 2, 2; the same chunk is wrong on every rank that gets it.
    let first = &report["first_wrong"];
    assert_eq!((&first["element"], &first["buffer"]), (&json!(0), &json!("i")));
    assert_eq!(report["wrong"].as_u64().unwrap() % 4, 0);
    let stderr = fails(at.path(), 1, "run wrong.xml");
    assert!(
        stderr.contains("allreduce_ring, run in turn: rank 0, i[") && stderr.contains("wanted"),
        "{stderr}"
    );
}

#[test]
fn a_deadlock_is_a_verdict_with_its_steps() {
    let at = tempfile::tempdir().unwrap();
    // Each rank of a ring begins with a send, which nobody receives yet.
    let stderr = fails(at.path(), 1, "run allreduce_ring --ranks 4 --slots 0");
    assert!(stderr.contains("rank 0, tb0, step 0 (s) waits for its message to be taken"), "{stderr}");
    assert!(stderr.contains("(4/4)"), "{stderr}");
    let output = collective(at.path(), "run allreduce_ring --ranks 4 --slots 0 --json");
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&report["verdict"], &report["post_condition"]), (&json!("deadlock"), &json!("not checked")));
    assert_eq!(report["findings"].as_array().unwrap().len(), 4);
}

#[test]
fn bad_input_is_one_line() {
    let at = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        ("run nonsense --ranks 4", "there is no algorithm \"nonsense\""),
        ("run allreduce_ring", "needs a number of ranks"),
        ("run absent.xml", "absent.xml: "),
        ("run allreduce_ring --ranks 8 --elements 99999999999", "more than the limit of 4.0 GiB"),
        ("run allreduce_ring --ranks 8 --op xor", "expected sum, prod, min, max or avg"),
        ("run allreduce_ring --ranks 8 --type u8", "unknown element type"),
        ("run allreduce_ring --ranks 8 --slots many", "expected a whole number, or unlimited"),
    ] {
        let stderr = fails(at.path(), 2, arguments);
        assert!(stderr.contains(message), "{arguments}: {stderr}");
    }
}
