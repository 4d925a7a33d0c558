//! Stages of the compilation: what `compile --to` prints, and the way back from traces.

mod support;

use std::fs;

use serde_json::json;
use support::{fails, json, succeeds, with_ring};

#[test]
fn the_graph_of_operations_names_what_each_waits_for() {
    let directory = with_ring();
    let text = succeeds(directory.path(), "compile allreduce_ring --ranks 2 --to dag");
    // Chunk 0: summed on rank 1, then copied back over what was added; chunk 1 the other way round.
    let lines: Vec<&str> =
        text.lines().map(|line| line.rsplit_once("  ").map_or(line, |(line, _)| line)).collect();
    assert_eq!(
        lines,
        [
            "dag allreduce_ring all-reduce 2 ranks",
            "op0 reduce r1 i[0] += r0 i[0] ch0  level 1",
            "op1 copy r0 i[0] = r1 i[0] ch0  level 2  RAW op0, WAR op0",
            "op2 reduce r0 i[1] += r1 i[1] ch0  level 1",
            "op3 copy r1 i[1] = r0 i[1] ch0  level 2  RAW op2, WAR op2",
        ]
    );
    assert!(text.contains("src/algorithms/all_reduce/ring.rs:"), "{text}");
    let said = json(&succeeds(directory.path(), "compile allreduce_ring --ranks 2 --to dag --json"));
    assert_eq!(said["text"].as_str().map(str::trim_end), Some(text.trim_end()));
}

#[test]
fn a_schedule_as_json() {
    let directory = with_ring();
    let text = succeeds(directory.path(), "compile allreduce_ring --ranks 3 --to json");
    assert_eq!(text.lines().count(), 5, "one line a rank: {text}");
    let schedule = json(&text);
    assert_eq!(
        schedule["collective"],
        json!({"kind": "all_reduce", "in_place": true, "ranks": 3, "chunks": 3, "root": null})
    );
    assert_eq!((&schedule["protocol"], &schedule["channels"]), (&json!("Simple"), &json!(1)));
    let rank = &schedule["ranks"][1];
    assert_eq!(
        (&rank["rank"], &rank["input_chunks"], &rank["output_chunks"]),
        (&json!(1), &json!(3), &json!(0))
    );
    let block = &rank["thread_blocks"][0];
    assert_eq!((&block["send"], &block["recv"], &block["channel"]), (&json!(2), &json!(0), &json!(0)));
    // s, three fused steps, r.
    let steps = block["steps"].as_array().unwrap();
    let kinds: Vec<&str> = steps.iter().map(|step| step["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds.len(), kinds[4]), ("s", 5, "r"));
    assert_eq!((&steps[0]["src"], &steps[0]["chunks"]), (&json!({"buffer": "i", "index": 1}), &json!([1])));
    assert_eq!((&steps[0]["count"], &steps[0]["depends"]), (&json!(1), &json!([])));
    assert!(steps[0].get("dst").is_none() && steps[4].get("src").is_none());
    assert_eq!(steps[1]["source"]["file"], json!("src/algorithms/all_reduce/ring.rs"));
    assert!(steps[1]["send_source"]["line"].is_u64());
    succeeds(directory.path(), "compile allreduce_ring --ranks 3 --to json -o ring.json");
    assert_eq!(fs::read_to_string(directory.path().join("ring.json")).unwrap(), text);
}

#[test]
fn traces_of_every_form_become_the_xml_of_their_schedule() {
    let directory = with_ring();
    let at = directory.path();
    for algorithm in
        ["allreduce_ring --ranks 5 --set channels=2", "allreduce_hierarchical --ranks 8 --set gpus=4"]
    {
        let xml = succeeds(at, &format!("compile {algorithm} --to msccl-xml"));
        // A size that does not divide.
        succeeds(at, &format!("compile {algorithm} --size 4000012 -o et/plain"));
        succeeds(at, &format!("compile {algorithm} --order dataflow -o et/data"));
        succeeds(at, "convert et/plain et/lines.jsonl");
        succeeds(at, "convert et/plain zip/packed.et.gz");
        for prefix in ["et/plain", "et/data", "et/lines", "zip/packed"] {
            let said = succeeds(at, &format!("convert {prefix} back.xml"));
            assert!(said.contains(&format!("{prefix}: ")) && said.contains("wrote back.xml"), "{said}");
            assert_eq!(fs::read_to_string(at.join("back.xml")).unwrap(), xml, "{prefix}");
        }
        let for_rccl =
            succeeds(at, &format!("compile {algorithm} --to msccl-xml --target rccl --max-bytes 4096"));
        succeeds(at, "convert et/plain other.xml --target rccl --max-bytes 4096 --json");
        assert_eq!(fs::read_to_string(at.join("other.xml")).unwrap(), for_rccl);
    }
    // XML to traces and back: the file itself.
    succeeds(at, "compile allreduce_ring --ranks 4 --to msccl-xml -o ring.xml");
    succeeds(at, "convert ring.xml et/ring");
    succeeds(at, "convert et/ring --to msccl-xml -o again.txt");
    let read = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    assert_eq!(read("again.txt"), read("ring.xml"));
}

#[test]
fn traces_without_a_schedule_say_why() {
    let directory = with_ring();
    let at = directory.path();
    succeeds(at, "compile allreduce_ring --ranks 4 -o et/ring");
    succeeds(at, "convert et/ring et/ring.jsonl");
    let lines = fs::read_to_string(at.join("et/ring.2.jsonl")).unwrap();
    fs::create_dir(at.join("foreign")).unwrap();
    for rank in 0..4 {
        fs::copy(at.join(format!("et/ring.{rank}.jsonl")), at.join(format!("foreign/ring.{rank}.jsonl")))
            .unwrap();
    }
    for (from, to, why) in [
        ("\"tb_id\"", "\"block\"", "rank 2, node 0: it does not say which step it is a part of"),
        ("\"protocol\"", "\"proto\"", "rank 2: its metadata do not state protocol"),
        ("\"step_type\"", "\"step_kind\"", "only traces that this project has written hold a schedule"),
    ] {
        fs::write(at.join("foreign/ring.2.jsonl"), lines.replace(from, to)).unwrap();
        let stderr = fails(at, 2, "convert foreign/ring out.xml");
        assert!(stderr.starts_with("error: foreign/ring: ") && stderr.contains(why), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    assert!(!at.join("out.xml").exists());
    let stderr = fails(at, 2, "convert et/ring.1.et out.xml");
    assert!(
        stderr.contains("this is the trace of one rank") && stderr.contains("give the prefix"),
        "{stderr}"
    );
    let stderr = fails(at, 2, "convert et/ring out.xml --size 1MiB");
    assert!(stderr.contains("MSCCL XML has no sizes"), "{stderr}");
    let stderr = fails(at, 2, "convert et/absent out.xml");
    assert!(stderr.contains("no trace found"), "{stderr}");
    // What the runtime cannot hold is a verdict, as when compiled.
    succeeds(at, "compile allreduce_ring --ranks 64 -o et/long");
    assert!(fails(at, 1, "convert et/long out.xml --target rccl").contains("rccl has at most 64"));
}
