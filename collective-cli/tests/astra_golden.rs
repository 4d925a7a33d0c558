//! Recorded runs of ASTRA-sim, where they lie beside the checkout, to the nanosecond: every algorithm that ran as a
//! custom collective, and every one that ran as the workload itself.
//!
//! The root package's `tests/astra_sim.rs` holds such figures with traces of its own; this test adds ASTRA-sim's own
//! traces.

use std::fs;
use std::path::Path;

use collective::sim::topology;
use collective::sim::{Compat, Conventions, Model, SimError, Simulation};
use serde_json::Value;

#[test]
fn every_recorded_run_takes_the_recorded_time() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference/astra-golden");
    let Ok(index) = fs::read_to_string(folder.join("index.jsonl")) else {
        println!("skipped: no recorded runs at {}", folder.display());
        return;
    };
    let mut compared = 0;
    let mut different = Vec::new();
    for line in index.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let compat = match text("mode") {
            "custom" => None,
            "p2p" => Some(Compat::AstraSim),
            _ => continue,
        };
        let network = topology::load(&folder.join(text("network")), None).unwrap();
        assert_eq!(network.conventions, Conventions::AstraSim);
        let model = if text("backend") == "aware" { Model::LinkQueue } else { Model::Analytical };
        let graph = chakra_et::read_trace(folder.join(text("et_prefix"))).unwrap();
        let simulation = Simulation::new(&network.topology).model(model).conventions(network.conventions);
        let result = simulation.compat(compat).run(&graph);
        if !row["expected_failure"].is_null() {
            match result {
                Err(SimError::Stuck(stuck)) => assert!(!stuck.receives.is_empty(), "{}", text("case")),
                other => panic!("{}: expected to be stuck, found {other:?}", text("case")),
            }
            compared += 1;
            continue;
        }
        let report = result.unwrap_or_else(|error| panic!("{}: {error}", text("case")));
        let whole = |ps: u64| {
            assert!(ps.is_multiple_of(1000), "{}: {ps} ps", text("case"));
            ps / 1000
        };
        // Where the order of simultaneously ready nodes matters, only the makespan in ascending order is known.
        let same = if row["order_sensitive"] == true {
            whole(report.makespan.0) == row["max_ns_id_order"].as_u64().unwrap()
        } else {
            let wanted = row["expected_ns"].as_array().unwrap().iter().map(|ns| ns.as_u64().unwrap());
            wanted.eq(report.finish.iter().map(|finish| whole(finish.0)))
        };
        compared += 1;
        if !same {
            different.push(text("case").to_owned());
        }
    }
    assert!(different.is_empty(), "{} of {compared} differ: {different:?}", different.len());
    assert!(compared >= 100, "only {compared} rows found");
}
