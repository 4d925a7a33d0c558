//! MSCCL XML on the command line.

mod support;

use std::fs;

use serde_json::json;
use support::{collective, fails, json, succeeds, with_ring};

#[test]
fn xml_of_a_built_in_algorithm_can_be_simulated_and_converted() {
    let directory = with_ring();
    let at = directory.path();
    let text = succeeds(at, "compile allreduce_ring --ranks 8 --to msccl-xml");
    assert!(text.starts_with(
        "<algo name=\"allreduce_ring\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"8\" ngpus=\"8\" \
         coll=\"allreduce\" inplace=\"1\">\n"
    ));
    succeeds(
        at,
        "compile allreduce_ring --ranks 8 --to msccl-xml --target rccl --max-bytes 65536 -o ring.xml",
    );
    let written = fs::read_to_string(at.join("ring.xml")).unwrap();
    assert!(written.contains("outofplace=\"0\" minBytes=\"0\" maxBytes=\"65536\">"), "{written}");

    // 41,181 ns is what ASTRA-sim says of this ring.
    let direct = json(&succeeds(at, "simulate ring.xml --topology ring.yml --model link-queue --json"));
    assert_eq!((&direct["time_ns"], &direct["messages"]), (&json!(41_181), &json!(112)));
    assert_eq!(direct["collective"], json!("all_reduce"));
    let said = succeeds(at, "convert ring.xml -o et/ring --size 1MiB");
    assert!(said.contains("ring.xml: 8 ranks, 120 steps; wrote et/ring.0.et … et/ring.7.et"), "{said}");
    let traces = json(&succeeds(at, "simulate et/ring --topology ring.yml --model link-queue --json"));
    assert_eq!(traces["time_ns"], json!(41_181));

    // To the XML of another runtime; what the file said is kept.
    let report = json(&succeeds(at, "convert ring.xml -o other.xml --target msccl-executor --json"));
    assert_eq!(
        report[0],
        json!({"input": "ring.xml", "output": "other.xml", "ranks": 8, "steps": 120, "files": ["other.xml"]})
    );
    assert_eq!(fs::read_to_string(at.join("other.xml")).unwrap(), written);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let directory = with_ring();
    let at = directory.path();
    let stderr = fails(at, 2, "compile allreduce_ring --ranks 8 --to schedule --target rccl");
    assert!(stderr.contains("go with --to msccl-xml"), "{stderr}");
    let stderr = fails(at, 2, "compile allreduce_ring --ranks 8 --to msccl-xml --target nccl");
    assert!(
        stderr.contains("there is no target \"nccl\": expected msccl, msccl-executor or rccl"),
        "{stderr}"
    );
    let stderr =
        fails(at, 2, "compile allreduce_ring --ranks 2 --to msccl-xml --min-bytes 4096 --max-bytes 1024");
    assert!(stderr.contains("minBytes 4096 is more than maxBytes 1024"), "{stderr}");
    succeeds(at, "compile allreduce_ring --ranks 2 --to msccl-xml -o ring.xml");
    let stderr = fails(at, 2, "convert ring.xml -o other.xml --size 1MiB");
    assert!(stderr.contains("MSCCL XML has no sizes"), "{stderr}");
    let stderr = fails(at, 2, "convert ring.xml -o et/ring --target rccl");
    assert!(stderr.contains("are for MSCCL XML"), "{stderr}");
    let stderr = fails(at, 2, "simulate ring.xml --ranks 4 --topology ring.yml --model analytical");
    assert!(stderr.contains("ring.xml has 2 ranks, not 4"), "{stderr}");
}

#[test]
fn a_runtime_that_cannot_hold_an_algorithm_is_a_verdict() {
    let directory = with_ring();
    let stderr = fails(directory.path(), 1, "compile allreduce_ring --ranks 64 --to msccl-xml --target rccl");
    assert!(stderr.contains("limit: rank 0, tb0 has 127 steps"), "{stderr}");
    assert!(stderr.contains("rccl has at most 64"), "{stderr}");
    // Case D15: as many channels as are used.
    let text = succeeds(directory.path(), "compile allreduce_ring --ranks 4 --set channels=4 --to msccl-xml");
    assert!(text.contains("nchannels=\"4\""), "{text}");
}

#[test]
fn wrong_files_are_not_simulated_and_say_where() {
    let directory = with_ring();
    let at = directory.path();
    succeeds(at, "compile allreduce_ring --ranks 8 --to msccl-xml -o ring.xml");
    let good = fs::read_to_string(at.join("ring.xml")).unwrap();
    // A receive that only copies where it should add.
    fs::write(at.join("wrong.xml"), good.replacen("type=\"rrcs\"", "type=\"rcs\"", 1)).unwrap();
    let stderr = fails(at, 1, "simulate wrong.xml --topology ring.yml --model link-queue");
    assert!(stderr.contains("wrong.xml:") && stderr.contains("all-reduce does not hold"), "{stderr}");
    fails(at, 1, "convert wrong.xml -o et/wrong");
    succeeds(at, "convert wrong.xml -o et/wrong --unchecked");
    fs::write(at.join("chan.xml"), good.replacen("chan=\"0\"", "chan=\"3\"", 1)).unwrap();
    let stderr = fails(at, 2, "simulate chan.xml --topology ring.yml --model link-queue");
    assert!(stderr.contains("chan.xml:3: gpu 0, tb 0: attribute chan is 3"), "{stderr}");
    fs::write(at.join("latin.xml"), b"<algo\nname='\xe9'/>").unwrap();
    let stderr = fails(at, 2, "convert latin.xml -o out.xml");
    assert!(stderr.contains("latin.xml:2: this is not UTF-8 text"), "{stderr}");
}

#[test]
fn an_unstated_post_condition_is_said() {
    let directory = with_ring();
    let at = directory.path();
    succeeds(at, "compile allreduce_ring --ranks 8 --to msccl-xml -o ring.xml");
    let text = fs::read_to_string(at.join("ring.xml")).unwrap();
    fs::write(at.join("custom.xml"), text.replace("coll=\"allreduce\"", "coll=\"custom\"")).unwrap();
    let output = collective(at, "simulate custom.xml --topology ring.yml --model link-queue --json");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("custom.xml: it states no post-condition, so none was checked"), "{stderr}");
}

#[test]
fn folders_convert_what_they_can() {
    // Case D16.
    let directory = with_ring();
    let at = directory.path();
    let stderr = fails(at, 2, "convert absent -o out");
    assert!(stderr.contains("there is no file absent.N.et"), "{stderr}");
    fs::create_dir(at.join("empty")).unwrap();
    let stderr = fails(at, 2, "convert empty -o out");
    assert!(stderr.contains("empty: no algorithms found"), "{stderr}");
    fs::create_dir(at.join("mixed")).unwrap();
    fs::write(at.join("mixed/a.xml"), "<algo>\n<gpu id=\"x\"/></algo>").unwrap();
    fs::write(at.join("mixed/notes.txt"), "not an algorithm").unwrap();
    succeeds(at, "compile allreduce_ring --ranks 4 --to msccl-xml -o mixed/b.xml");
    for (arguments, written) in [
        ("convert mixed -o out --target rccl", "out/b.xml"),
        ("convert mixed -o et --to chakra", "et/b.3.et"),
    ] {
        let output = collective(at, arguments);
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stdout.contains("mixed/b.xml: 4 ranks"), "{stdout}");
        assert_eq!(
            stderr.lines().next(),
            Some("error: mixed/a.xml:2: gpu: attribute id is \"x\": expected a whole number from 0 to 65535")
        );
        assert!(at.join(written).exists());
    }
}
