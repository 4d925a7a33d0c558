//! Traces by other writers, where a checkout has them next to it: all are simulated to their end. Nothing is tested without.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chakra_et::graph::Op;
use chakra_et::groups::Groups;
use chakra_et::workload::{self, CollectiveKind, Cost, Workload};
use collective::chakra_et;
use collective::sim::Model;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::workload::{Roofline, WorkloadSimulation};

use crate::support::*;

/// The directories of workloads.
fn samples() -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/et-samples");
    let Ok(entries) = std::fs::read_dir(&path) else { return Vec::new() };
    let micro = std::fs::read_dir(path.join("micro")).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.chain(micro).map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let of_micro = path.parent().is_some_and(|parent| parent.ends_with("micro"));
        of_micro || ["stage_", "text_", "pytorch_fsdp"].iter().any(|begin| name.starts_with(begin))
    });
    found.sort();
    found
}

/// ASTRA-sim's group file, an object of lists of numbers.
fn groups(text: &str) -> Groups {
    let list = |entry: &str| {
        let (name, members) = entry.split_once('[').unwrap();
        let name = name.split('"').nth(1).unwrap().to_owned();
        (name, members.split(',').map(|member| member.trim().parse().unwrap()).collect())
    };
    Groups::new(text.split(']').filter(|entry| entry.contains('[')).map(list))
}

fn read(directory: &Path) -> Workload {
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.collect();
    let json = files.iter().find(|path| path.extension().is_some_and(|ending| ending == "json"));
    let groups = json.map(|path| groups(&std::fs::read_to_string(path).unwrap()));
    let prefix = files.iter().find_map(|path| path.to_str()?.strip_suffix(".0.et")).unwrap();
    workload::read(prefix, groups.as_ref()).unwrap_or_else(|error| panic!("{error}"))
}

fn roofline() -> Roofline {
    Roofline::new(900e12, "1600 GB/s".parse().unwrap()).unwrap()
}

/// The longest time that a stream of a rank computes.
fn computing(workload: &Workload) -> u64 {
    let mut longest = 0;
    for rank in workload.ranks() {
        let mut streams = BTreeMap::new();
        for node in 0..rank.len() as u32 {
            if let Op::Comp { micros, ops, bytes } = rank.graph().op(node) {
                let by_roofline = roofline().time(Cost { micros, ops, bytes }).unwrap().0;
                let time = if micros > 0 { micros * US } else { by_roofline };
                let of = rank.traits(node);
                *streams.entry((of.on_cpu, of.stream)).or_insert(0) += time;
            }
        }
        longest = longest.max(streams.into_values().max().unwrap_or(0));
    }
    longest
}

/// Bytes over the links into all ranks that the kinds need at least, and of the busiest group, whose collectives follow one
/// another, those that go over one link at least.
fn communicating(workload: &Workload) -> (u64, u64) {
    let (mut bytes, mut groups) = (0, BTreeMap::new());
    for collective in workload.collectives().unwrap().all {
        let n = workload.groups()[collective.group as usize].members.len() as u64;
        let size = collective.kind.size(collective.bytes, n).unwrap();
        let passes = if collective.kind == CollectiveKind::AllReduce { 2 } else { 1 };
        bytes += passes * (n - 1) * size;
        if n > 1 {
            *groups.entry(collective.group).or_insert(0) += size / n;
        }
    }
    (bytes, groups.into_values().max().unwrap_or(0))
}

/// Name, network, bandwidth into a rank, and of a link, in GB/s.
fn networks(ranks: u32) -> Vec<(&'static str, Topology, u64, u64)> {
    let mut networks = vec![
        ("Ring", network(Dimension::ring, ranks), if ranks == 2 { 50 } else { 100 }, 50),
        ("FullyConnected", network(Dimension::fully_connected, ranks), 50 * u64::from(ranks - 1), 50),
        ("Switch", network(Dimension::switch, ranks), 50, 50),
    ];
    if ranks > 4 {
        networks.push(("Cluster", cluster(ranks / 4, 4), 500, 450));
    }
    networks
}

#[test]
fn every_workload_is_simulated_to_its_end_and_takes_no_less_than_it_must() {
    for directory in samples() {
        let workload = read(&directory);
        let name = directory.file_name().unwrap().to_string_lossy();
        let (computing, (received, followed)) = (computing(&workload), communicating(&workload));
        let ranks = workload.rank_count() as u64;
        let mut row = format!("{name:<36}");
        for (kind, topology, into, link) in networks(ranks as u32) {
            for model in [Model::Analytical, Model::Fluid] {
                let simulation = WorkloadSimulation::new(&topology).model(model).roofline(roofline());
                let report = run(&simulation, &workload, &defaults());
                let case = format!("{name} on {kind}, {model}");
                assert!(report.makespan.0 > 0, "{case}");
                assert!(report.makespan.0 >= computing, "{case}");
                // A byte at 1 GB/s takes 1000 ps.
                assert!(report.makespan.0 >= followed * 1000 / link, "{case}");
                // Contention-free models have no limit to what comes in at once.
                if model == Model::Fluid {
                    assert!(report.makespan.0 >= (received * 1000).div_ceil(into * ranks), "{case}");
                    row += &format!(" {:>14.3}", report.makespan.as_ns() / 1000.0);
                }
                assert!(report.bytes.0 >= received, "{case}");
            }
        }
        println!("{row}");
    }
}
