//! Figures of a machine from measured times.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{fails, json, succeeds};
use tempfile::TempDir;

/// A folder with the measured times of the examples.
fn folder() -> TempDir {
    let at = tempfile::tempdir().unwrap();
    for name in ["measured.log", "measured.csv"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
        fs::copy(from, at.path().join(name)).unwrap();
    }
    at
}

const RING: &str =
    "calibrate --measured measured.log --algorithm allreduce_ring --machine mi300x --fit launch,copy";

fn report(at: &Path, line: &str) -> Value {
    json(&succeeds(at, line))
}

/// The value and the relative error of a figure.
fn figure(said: &Value, name: &str) -> (f64, f64) {
    let figures = said["figures"].as_array().unwrap();
    let found = figures.iter().find(|it| it["figure"] == name).unwrap();
    (found["fitted"].as_f64().unwrap(), found["relative_error"].as_f64().unwrap())
}

/// The times of the example were made with a launch of 9 us and 15 GB/s, and up to 3 % more or less.
#[test]
fn the_figures_that_times_were_made_with_are_found_again() {
    let at = folder();
    let said = report(at.path(), &format!("{RING} --json"));
    for (name, expected) in [("Simple.launch", 9000.0), ("Simple.copy", 15e9)] {
        let (value, error) = figure(&said, name);
        assert!((value / expected).ln().abs() < 3.0 * error, "{name}: {value} +- {error}");
        assert!(error < 0.12, "{name}: {value} +- {error}");
    }
    assert!(said["fitted"]["largest_error"].as_f64().unwrap() < 0.06, "{said}");
}

#[test]
fn the_machine_is_written_with_its_source_and_can_be_taken_again() {
    let at = folder();
    succeeds(at.path(), &format!("{RING} -o mine.toml --residuals all.csv"));
    let text = fs::read_to_string(at.path().join("mine.toml")).unwrap();
    assert!(text.starts_with("name = \"mine\"\n"), "{text}");
    assert!(text.contains("Simple.launch, Simple.copy fitted by collective calibrate to "), "{text}");
    assert!(text.contains(" measured times above 64 KiB in measured.log: mean error "), "{text}");
    // Begun where it ended, it stays there.
    let again = report(at.path(), &format!("{} --json", RING.replace("mi300x", "mine.toml")));
    for figure in again["figures"].as_array().unwrap() {
        let (before, fitted) = (figure["before"].as_f64().unwrap(), figure["fitted"].as_f64().unwrap());
        assert!((before / fitted).ln().abs() < 2e-3, "{figure}");
    }
    // A row for each size of the log, fitted or not.
    let rows = fs::read_to_string(at.path().join("all.csv")).unwrap();
    let log = fs::read_to_string(at.path().join("measured.log")).unwrap();
    let sizes = log.lines().filter(|line| line.contains(" float ")).count();
    assert_eq!(rows.lines().count(), 1 + sizes);
    assert!(rows.contains(",false\n") && rows.contains(",true\n"), "{rows}");
}

#[test]
fn figures_that_do_the_same_are_named() {
    let at = folder();
    // Small sizes of one program take the same time: a launch and the latencies.
    let said = report(
        at.path(),
        &format!("{} --sizes 4KiB..32KiB --small 0 --json", RING.replace("launch,copy", "launch,latency")),
    );
    let pairs: Vec<Vec<&str>> = said["indistinct"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair["figures"].as_array().unwrap().iter().filter_map(Value::as_str).collect())
        .collect();
    assert!(pairs.contains(&vec!["Simple.launch", "Simple.latency"]), "{said}");
}

#[test]
fn what_is_wrong_is_said() {
    let at = folder();
    fs::write(
        at.path().join("cut.log"),
        "     1048576   262144  float  sum  -1  soon  1.0  1.0  0  30.0  1.0  1.0  0\n",
    )
    .unwrap();
    fs::write(at.path().join("runs.toml"), "[[run]]\nmeasured = \"measured.log\"\nalgorithms = \"x\"\n")
        .unwrap();
    for (line, message) in [
        (RING.replace("measured.log", "cut.log"), "cut.log:1: the time \"soon\" of size 1048576 is none"),
        (RING.replace("measured.log", "none.log"), "none.log: "),
        (
            RING.replace("allreduce_ring", "allgather_ring"),
            "measured.log: it has all_reduce among 8 ranks, but allgather_ring does",
        ),
        (RING.replace("launch,copy", "speed"), "there is no figure \"speed\": expected one of launch"),
        (
            RING.replace("launch,copy", "LL9.copy"),
            "\"LL9.copy\" is no figure of a machine: there is no protocol",
        ),
        (
            RING.replace("mi300x", "nccl-ampere"),
            "the machine nccl-ampere has no topology of its own: expected --topology FILE",
        ),
        (format!("{RING} --measured measured.csv"), "2 times --measured, but 1 times --algorithm"),
        (
            format!("{RING} --sizes 1GiB..2GiB"),
            "measured.log: no time in place is of a size that is to be fitted",
        ),
        (format!("{RING} --sizes 256KiB..512KiB"), "cannot tell 2 figures"),
        (
            "calibrate --runs runs.toml --machine mi300x".to_owned(),
            "runs.toml:1: the key algorithm is missing",
        ),
    ] {
        let said = fails(at.path(), 2, &line);
        assert!(said.contains(message), "{line}\n{said}");
    }
    assert!(!at.path().join("mine.toml").exists());
}
