//! Models and rules of a simulation, chosen on the command line.

mod support;

use serde_json::{Value, json};
use support::{fails, json, succeeds, with_ring};

#[test]
fn loggp_needs_no_topology() {
    let directory = with_ring();
    let at = directory.path();
    // 2·15·(2·1,500 + 2,500), and with 63 further bytes of 6 ns.
    let ring = |arguments: &str| {
        json(&succeeds(at, &format!("simulate allreduce_ring --ranks 16 --model loggp --json {arguments}")))
    };
    let report = ring("--size 1KiB");
    assert_eq!(report["time_ns"], json!(30 * (5_500 + 63 * 6)));
    assert_eq!((&report["topology"], &report["messages"]), (&Value::Null, &json!(480)));
    assert!(report["notes"].to_string().contains("L=2500ns,o=1500ns,g=1000ns,G=6ns/B"), "{report}");
    assert_eq!(ring("--size 1KiB --loggp L=1us,o=0ns,G=0ns/B")["time_ns"], json!(30_000));
    let text = succeeds(at, "simulate allreduce_ring --ranks 16 --model loggp");
    assert!(text.contains("16 ranks, on no topology (loggp under exact conventions)"), "{text}");
    for (arguments, part) in [
        ("--model loggp", "--ranks"),
        ("--ranks 16 --model link-queue", "--model link-queue needs --topology FILE"),
        ("--ranks 8 --model analytical --topology ring.yml --loggp L=1ns", "--loggp is for --model loggp"),
        ("--ranks 8 --model loggp --loggp S=1", "\"S=1\" is no parameter of loggp"),
        ("--ranks 8 --model loggp --compat astra-sim", "cannot be combined"),
        ("--ranks 8 --model analytical --topology ring.yml --compat ns3", "astra-sim"),
    ] {
        let stderr = fails(at, 2, &format!("simulate allreduce_ring {arguments}"));
        assert!(stderr.contains(part), "{arguments}: {stderr}");
    }
}

#[test]
fn one_rank_stands_for_all_unless_it_may_not() {
    let directory = with_ring();
    let at = directory.path();
    let run = |arguments: &str| {
        json(&succeeds(at, &format!("simulate allreduce_ring --topology ring.yml --json {arguments}")))
    };
    let (folded, each) = (run("--model analytical"), run("--model analytical --no-fold"));
    assert_eq!((&folded["folded"], &each["folded"]), (&json!(true), &json!(false)));
    assert_eq!((&folded["time_ns"], &folded["ranks"]), (&each["time_ns"], &each["ranks"]));
    assert_eq!(run("--model link-queue")["folded"], json!(false));
}

#[test]
fn as_astra_sim_runs_a_workload_one_send_is_in_flight() {
    let directory = with_ring();
    let at = directory.path();
    // Four channels: together 4 · 14 messages one after the other on each rank, else side by side.
    let run = |arguments: &str| {
        let time = json(&succeeds(
            at,
            &format!(
                "simulate allreduce_ring --set channels=4 --topology ring.yml --model analytical --json {arguments}"
            ),
        ));
        time["time_ns"].as_u64().unwrap()
    };
    // 262,144 / 8 / ... = 32,768 B: ⌊500 + 610.35⌋ ns.
    let (custom, workload) = (run("--size 1MiB"), run("--size 1MiB --compat astra-sim"));
    assert_eq!(custom, 14 * 1_110 + 7);
    assert!(workload >= 4 * 14 * 1_110, "{workload}");
}
