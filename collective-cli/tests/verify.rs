//! `collective verify`: what is judged, by which name, and what the exit code says.

mod support;

use std::fs;
use std::path::Path;

use serde_json::json;
use support::{collective, fails, json, succeeds};

/// Two ranks exchange their chunks in scratch and add; rank 1 may forget to wait for what arrives.
fn exchange(waits: bool) -> String {
    let rank = |id: usize, waits: bool| {
        let (peer, wait) =
            (1 - id, if waits { "depid=\"0\" deps=\"1\"" } else { "depid=\"-1\" deps=\"-1\"" });
        format!(
            "<gpu id=\"{id}\"><tb id=\"0\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">\n\
             <step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\"/>\n\
             <step s=\"1\" type=\"r\" dstbuf=\"s\" dstoff=\"0\"/></tb>\n\
             <tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\">\n\
             <step s=\"0\" type=\"re\" srcbuf=\"s\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" {wait}/></tb></gpu>\n"
        )
    };
    format!(
        "<algo name=\"exchange\" ngpus=\"2\" nchunksperloop=\"1\" coll=\"allreduce\" inplace=\"1\">\n{}{}</algo>\n",
        rank(0, true),
        rank(1, waits)
    )
}

fn write(at: &Path, name: &str, text: &str) {
    fs::write(at.join(name), text).unwrap();
}

#[test]
fn a_built_in_algorithm_is_judged_with_its_parameters() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let said = succeeds(at, "verify allreduce_ring --ranks 8 --set channels=2 --reduction-order");
    assert!(said.starts_with("allreduce_ring (ranks = 8, channels = 2): pass\n"), "{said}");
    assert!(said.contains("post-condition: holds"), "{said}");
    assert!(said.contains("the same to the bit") && said.contains("chunk 0: (((((("), "{said}");
    let report = json(&succeeds(at, "verify allreduce_ring --ranks 8 --json"));
    let wanted = [
        ("verdict", json!("pass")),
        ("post_condition", json!("holds")),
        ("findings", json!([])),
        ("slots", json!(2)),
        ("ranks", json!(8)),
        ("same_order_everywhere", json!(true)),
    ];
    for (key, value) in wanted {
        assert_eq!(report[key], value, "{key}");
    }
    assert!(report["min_slots"].as_u64() <= Some(2) && report["min_slots"].as_u64() >= Some(1));
    // Around a ring of three: chunk 0 begins at rank 0, where its second addition follows the way of the ring.
    let report = json(&succeeds(at, "verify allreduce_ring --ranks 3 --reduction-order --json"));
    let order = json!({"chunk": 0, "order": "(r0 + r1) + r2", "ranks": [0, 1, 2]});
    assert_eq!(report["reduction_order"][0], order);
    assert_eq!(report["reduction_order"].as_array().map(Vec::len), Some(3));
    // A runtime that cannot hold it.
    let output = collective(at, "verify allreduce_ring --ranks 64 --target rccl --json");
    assert_eq!(output.status.code(), Some(1));
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&report["verdict"], &report["post_condition"]), (&json!("limit"), &json!("holds")));
    assert_eq!(report["findings"][0]["rule"], json!("limit"));

    assert!(fails(at, 2, "verify allreduce_ring").contains("needs a number of ranks: --ranks N"));
    let stderr = fails(at, 2, "verify allreduce_rong --ranks 4");
    assert!(
        stderr.contains("allreduce_rong") && stderr.contains("--ranks and --set are for built-in"),
        "{stderr}"
    );
    let stderr = fails(at, 2, "verify allreduce_rong");
    assert!(
        stderr.contains(
            "nor is there a folder or a built-in algorithm of this name; did you mean allreduce_ring"
        ),
        "{stderr}"
    );
    assert!(
        fails(at, 2, "verify allreduce_ring --ranks 4 --slots few").contains("a whole number, or unlimited")
    );
}

#[test]
fn a_racing_file_is_a_verdict_with_both_accesses() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "right.xml", &exchange(true));
    write(at, "racing.xml", &exchange(false));
    succeeds(at, "verify right.xml");
    let output = collective(at, "verify racing.xml --json");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.lines().next(), Some("error: racing.xml: race"));
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&report["verdict"], &report["input"]), (&json!("race"), &json!("racing.xml")));
    let places: Vec<(&serde_json::Value, &serde_json::Value)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            assert_eq!((&finding["rule"], &finding["severity"]), (&json!("race"), &json!("error")));
            assert_eq!(finding["rank"], json!(1));
            (&finding["buffer"], &finding["index"])
        })
        .collect();
    // What arrives, and what is sent.
    assert!(
        places.contains(&(&json!("s"), &json!(0))) && places.contains(&(&json!("i"), &json!(0))),
        "{places:?}"
    );
    // Lines 7 to 11 are rank 1's.
    let line = |text: &serde_json::Value| {
        let text = text.as_str().unwrap().to_owned();
        text.strip_prefix("racing.xml:").unwrap().parse::<u32>().unwrap()
    };
    for finding in report["findings"].as_array().unwrap() {
        assert!((7..=11).contains(&line(&finding["source"])), "{finding}");
        assert!((7..=11).contains(&line(&finding["related"][0]["source"])), "{finding}");
    }
    let text = String::from_utf8(collective(at, "verify racing.xml").stdout).unwrap();
    assert!(text.starts_with("racing.xml: race\n") && text.contains("nothing orders them"), "{text}");
}

#[test]
fn what_was_repaired_is_in_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "flags.xml", &exchange(true).replace("type=\"r\"", "type=\"r\" hasdep=\"0\""));
    let output = collective(at, "verify flags.xml --json");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "it is all in the JSON");
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(report["verdict"], json!("pass"));
    let finding = &report["findings"][0];
    assert_eq!((&finding["rule"], &finding["severity"]), (&json!("hasdep"), &json!("warning")));
    let warning = &report["warnings"][0];
    let message = warning["message"].as_str().unwrap();
    assert!(message.contains("hasdep=\"0\"") && warning["line"].is_u64(), "{warning}");
}

#[test]
fn slots_decide_on_a_deadlock() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "x.xml", &exchange(true));
    for (slots, code, verdict, used) in
        [("0", 1, "deadlock", json!(0)), ("1", 0, "pass", json!(1)), ("unlimited", 0, "pass", json!(null))]
    {
        let output = collective(at, &format!("verify x.xml --slots {slots} --json"));
        assert_eq!(output.status.code(), Some(code), "{slots}");
        let report = json(&String::from_utf8(output.stdout).unwrap());
        assert_eq!((&report["verdict"], &report["slots"]), (&json!(verdict), &used));
        assert_eq!(report["min_slots"], json!(1));
    }
    let stdout = String::from_utf8(collective(at, "verify x.xml --slots 0").stdout).unwrap();
    assert!(
        stdout.contains("(1/2) rank 0, tb0, step 0 (s) waits for rank 1 to take its message"),
        "{stdout}"
    );
    assert!(stdout.contains("1 slot a connection is enough"), "{stdout}");
}

#[test]
fn folders_and_several_files_are_all_reported() {
    // Cases D03 and D16.
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::create_dir(at.join("empty")).unwrap();
    assert!(fails(at, 2, "verify empty").contains("empty: no algorithms found"));
    assert!(fails(at, 2, "verify absent").contains("absent"));
    assert!(fails(at, 2, "verify absent.xml").contains("absent.xml: "));
    fs::create_dir(at.join("mixed")).unwrap();
    write(at, "mixed/a.xml", "<algo>\n<gpu id=\"x\"/></algo>");
    write(at, "mixed/b.xml", &exchange(true));
    write(at, "mixed/notes.txt", "no algorithm");
    let output = collective(at, "verify mixed --json");
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        stderr.lines().next(),
        Some("error: mixed/a.xml:2: gpu: attribute id is \"x\": expected a whole number from 0 to 65535")
    );
    let list = json(&String::from_utf8(output.stdout).unwrap());
    let verdict = |i: usize| (list[i]["input"].clone(), list[i]["verdict"].clone());
    assert_eq!(verdict(0), (json!("mixed/a.xml"), json!("malformed")));
    assert_eq!(verdict(1), (json!("mixed/b.xml"), json!("pass")));
    write(at, "racing.xml", &exchange(false));
    let stderr = fails(at, 1, "verify mixed/b.xml racing.xml");
    assert_eq!(stderr.lines().next(), Some("error: racing.xml: race"), "{stderr}");
}

#[test]
fn what_was_not_checked_is_never_a_bare_pass() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "custom.xml", &exchange(true).replace("allreduce", "custom"));
    let text = succeeds(at, "verify custom.xml");
    assert!(text.contains("post-condition: not checked (nothing states one)"), "{text}");
    // Traces of our own hold the schedule; one without it, as other tools write them, only messages.
    succeeds(at, "compile allreduce_ring --ranks 4 -o ring");
    let report = json(&succeeds(at, "verify ring --json"));
    assert_eq!((&report["verdict"], &report["post_condition"]), (&json!("pass"), &json!("holds")));
    succeeds(at, "convert ring plain.jsonl");
    for rank in 0..4 {
        let file = at.join(format!("plain.{rank}.jsonl"));
        let lines = fs::read_to_string(&file)
            .unwrap()
            .replace("step_type", "other_word")
            .replace("tb_id", "other_id");
        fs::write(&file, lines).unwrap();
        succeeds(at, &format!("convert plain.{rank}.jsonl plain.{rank}.et"));
        fs::remove_file(file).unwrap();
    }
    let report = json(&succeeds(at, "verify plain --json"));
    assert_eq!((&report["verdict"], &report["post_condition"]), (&json!("pass"), &json!("not checked")));
    let text = succeeds(at, "verify plain");
    assert!(text.contains("only messages and dependences could be judged"), "{text}");
    assert!(text.contains("rank 0, node 0: ") && report["messages_only"].is_string(), "{text}");
    fs::remove_file(at.join("plain.3.et")).unwrap();
    assert_ne!(collective(at, "verify plain --json").status.code(), Some(0));
}
