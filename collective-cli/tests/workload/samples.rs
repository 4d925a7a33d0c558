//! Recorded and generated workloads of other tools, where they are there: each is simulated to its end on several networks.

use std::fs;
use std::path::{Path, PathBuf};

use super::steps::topology;
use super::support::{collective, json};

/// Directories of traces, each with the file of its groups, if it has one.
fn samples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference/et-samples");
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        ["stage_", "text_", "pytorch_fsdp"].iter().any(|start| name.starts_with(start))
    });
    paths.sort();
    paths
}

/// The prefix of the traces in a directory, and how many there are.
fn prefix(directory: &Path) -> (String, usize) {
    let names =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".et")).collect();
    names.sort();
    let first = names[0].trim_end_matches(".et");
    let stem = first.rsplit_once('.').unwrap().0.to_owned();
    let count = names.iter().filter(|name| name.starts_with(&format!("{stem}."))).count();
    (directory.join(stem).display().to_string(), count)
}

#[test]
fn every_sample_ends_on_every_network() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for sample in samples() {
        let (prefix, ranks) = prefix(&sample);
        let groups = fs::read_dir(&sample).unwrap().map(|entry| entry.unwrap().path());
        let groups = groups.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json"));
        let groups = groups.map(|path| format!("--groups {}", path.display())).unwrap_or_default();
        for kind in ["Ring", "Switch", "FullyConnected"] {
            let own = ["ring", "switch", "fully-connected"]
                [["Ring", "Switch", "FullyConnected"].iter().position(|name| *name == kind).unwrap()];
            let file = format!("{kind}{ranks}.toml");
            fs::write(at.join(&file), topology(own, ranks as u32)).unwrap();
            let yaml = format!("{kind}{ranks}.yml");
            let text = format!(
                "topology: [ {kind} ]\nnpus_count: [ {ranks} ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n"
            );
            fs::write(at.join(&yaml), text).unwrap();
            for network in [file, yaml] {
                let run = format!(
                    "simulate --workload {prefix} {groups} --topology {network} --roofline 900TFLOP/s,1600GB/s --drop-dangling --json"
                );
                let output = collective(at, &run);
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(0), "{run}: {stderr}");
                let report = json(&String::from_utf8(output.stdout).unwrap());
                assert!(report["time_ns"].as_f64().unwrap() > 0.0, "{run}");
            }
        }
    }
}
