//! ASTRA-sim's system file.

use std::fs;

use chakra_et::workload::{CollectiveKind, Cost, WorkloadBuilder};
use serde_json::json;

use super::steps::{self, write};
use super::support::{collective, fails, json, succeeds, with_ring};

#[test]
fn a_custom_collective_and_the_roofline_of_a_system_file_take_the_time_that_they_take_in_astra_sim() {
    let directory = with_ring();
    let at = directory.path();
    succeeds(
        at,
        "compile allreduce_ring --ranks 8 --size 1MiB --reduce-rate collectiveapi --to chakra -o t/ring",
    );
    let mut step = WorkloadBuilder::new(8);
    for rank in 0..8 {
        let product = step.compute(rank, "COMP_NODE", Cost::operations(1_000, 1_600_000), &[]).unwrap();
        step.collective(rank, "COMM_COLL_NODE", CollectiveKind::AllReduce, 77, 0, &[product]).unwrap();
    }
    write(at, "step", step);
    let keys = json!({
        "all-reduce-implementation-custom": ["t/ring"],
        "preferred-dataset-splits": 1,
        "roofline-enabled": 1,
        "peak-perf": 900,
        "local-mem-bw": 1600,
        "scheduling-policy": "FIFO",
    });
    fs::write(at.join("system.json"), format!("{keys:#}")).unwrap();
    let run = "simulate --workload t/step --topology ring.yml --model link-queue --compat astra-sim --system system.json";
    let report = json(&succeeds(at, &format!("{run} --json")));
    // 1,600,000 bytes at 1600 GB/s; then the ring that ASTRA-sim ships, whatever the size that the node states.
    assert_eq!(report["time_ns"], json!(1_000 + 90_174));
    assert_eq!(report["algorithms"][0]["algorithm"], json!("t/ring"));
    assert_eq!(report["algorithms"][0]["rule"], json!("system.json:2"));
    let text = String::from_utf8(collective(at, run).stdout).unwrap();
    assert!(text.contains("note: system.json: scheduling-policy = \"FIFO\": has no effect here"), "{text}");
    // The roofline is there, so nothing is said of computations without a duration; an argument goes before it.
    let output = collective(at, &format!("{run} --dry-run"));
    assert!(!String::from_utf8(output.stderr).unwrap().contains("computation-needs-roofline"));
    let faster = json(&succeeds(at, &format!("{run} --roofline 900TFLOP/s,3200GB/s --json")));
    assert_eq!(faster["time_ns"], json!(500 + 90_174));
}

#[test]
fn a_system_file_that_is_wrong_or_goes_with_something_else_is_refused() {
    let directory = steps::directory();
    let at = directory.path();
    steps::training(at);
    fs::write(at.join("system.json"), "{\"all-reduce-implementation\": [\"ring\"]}").unwrap();
    let run = "simulate --workload t/training --topology ring2.toml --system";
    assert!(fails(at, 2, &format!("{run} none.json")).contains("none.json"));
    let stderr = fails(at, 2, &format!("{run} system.json"));
    assert!(stderr.contains("system.json: preferred-dataset-splits: is not stated: expected 1"), "{stderr}");
    let right = "{\"all-reduce-implementation\": [\"ring\"], \"preferred-dataset-splits\": 1}";
    fs::write(at.join("system.json"), right).unwrap();
    for argument in ["--reduce-rate 50GB/s", "--order dataflow"] {
        let stderr = fails(at, 2, &format!("{run} system.json {argument}"));
        assert!(stderr.contains("does not go with --system"), "{stderr}");
    }
    assert!(fails(at, 2, &format!("{run} system.json --rules r.toml")).contains("--rules"));
    let alone = "simulate allreduce_ring --topology ring2.toml --model fluid --system system.json";
    assert!(fails(at, 2, alone).contains("--system goes with --workload PREFIX"));
    // Own conventions and rules are fine: 126 µs as with the default, which on one machine is the ring.
    assert_eq!(json(&succeeds(at, &format!("{run} system.json --json")))["time_ns"], json!(126_000));
}
