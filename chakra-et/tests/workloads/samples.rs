//! Traces by other writers, where a checkout has them next to it. Nothing is tested where it has not.

use std::path::{Path, PathBuf};

use super::*;

fn samples() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference/et-samples");
    if !path.is_dir() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// The groups of a sample, and the prefix of its trace.
fn sample(directory: &Path) -> (PathBuf, Option<Groups>) {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let names: Vec<PathBuf> = names.collect();
    let json = names.iter().find(|path| path.extension().is_some_and(|ending| ending == "json"));
    let groups = json.map(|path| Groups::from_json(&std::fs::read_to_string(path).unwrap()).unwrap());
    let prefix = names.iter().find_map(|path| path.to_str()?.strip_suffix(".0.et")).unwrap();
    (prefix.into(), groups)
}

/// Name, ranks, nodes, collectives of each kind and dependences of each workload in the index.
fn index(samples: &Path) -> Vec<(String, usize, usize, String)> {
    let text = std::fs::read_to_string(samples.join("INDEX.tsv")).unwrap();
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| columns[at].parse().unwrap();
        (columns[0].to_owned(), number(1), number(2), columns[4].to_owned())
    };
    let is_workload = |name: &str| {
        ["stage_", "text_", "micro/", "pytorch_fsdp"].iter().any(|begin| name.starts_with(begin))
    };
    text.lines().skip(1).map(row).filter(|row| is_workload(&row.0)).collect()
}

#[test]
fn every_workload_is_read_with_the_nodes_that_its_index_says() {
    let Some(samples) = samples() else { return };
    let all = index(&samples);
    assert!(all.len() > 20);
    for (name, ranks, nodes, kinds) in all {
        let (prefix, groups) = sample(&samples.join(&name));
        let loaded = workload::load(&prefix, groups.as_ref(), &ReadOptions::default());
        let loaded = loaded.unwrap_or_else(|error| panic!("{name}: {error}"));
        let workload = loaded.workload;
        assert_eq!((workload.rank_count(), workload.node_count()), (ranks, nodes), "{name}");
        let mut counts = std::collections::BTreeMap::new();
        for op in workload.ranks().iter().flat_map(|rank| rank.graph().ops()) {
            if let chakra_et::graph::Op::Coll { kind, .. } = op {
                *counts.entry(CollectiveKind::from_wire(*kind).unwrap()).or_insert(0_usize) += 1;
            }
        }
        for (kind, count) in &counts {
            let said = format!("'{}': {count}", kind.name().to_uppercase());
            assert!(kinds.contains(&said), "{name}: {said} in {kinds}");
        }
        // The same graphs as those of the reader of algorithms.
        let graph = chakra_et::read_trace(&prefix).unwrap();
        for (rank, other) in workload.ranks().iter().zip(graph.ranks()) {
            assert_eq!(rank.graph(), other, "{name}");
        }
        let joined = workload.collectives().unwrap_or_else(|error| panic!("{name}: {error}"));
        let parts: usize = joined.all.iter().map(|collective| collective.nodes.len()).sum();
        assert_eq!(parts, counts.values().sum::<usize>(), "{name}");
        let findings = workload::check(&workload);
        let errors = findings.iter().filter(|finding| finding.level == chakra_et::validate::Level::Error);
        assert_eq!(errors.collect::<Vec<_>>(), [] as [&workload::Finding; 0], "{name}");
        // STAGE's computations state operations, those of PyTorch that take no time are bookkeeping of the host.
        let ids: Vec<&str> = findings.iter().map(|finding| finding.id).collect();
        let expected: &[&str] = match &name[..5] {
            "pytor" => &["computation-without-cost"],
            "stage" => &["computation-needs-roofline"],
            _ => &[],
        };
        assert_eq!(ids, expected, "{name}");
        // PyTorch's converter states the same dependence as one of data and of control, STAGE attributes without value.
        let expected = match &name[..5] {
            "pytor" => "duplicate-dependence",
            "stage" => "attribute-without-value",
            _ => "",
        };
        assert!(loaded.warnings.iter().all(|warning| warning.kind.id() == expected), "{name}");
    }
}

/// Single ranks of larger jobs: what they are is said.
#[test]
fn single_ranks_of_real_jobs_are_read_and_known_for_what_they_are() {
    let Some(samples) = samples() else { return };
    let dirty = samples.join("pytorch_dirty_1r/chakra");
    let error = workload::read(&dirty, None).unwrap_err().to_string();
    assert!(error.contains("dependence on id") && error.contains("`drop_dangling` leaves out"), "{error}");
    let mut options = ReadOptions::default();
    options.drop_dangling = true;
    let loaded = workload::load(&dirty, None, &options).unwrap();
    assert_eq!(loaded.workload.node_count(), 3664);
    let warnings: Vec<&str> = loaded.warnings.iter().map(|warning| warning.kind.id()).collect();
    for id in ["dropped-dependence", "host-collective"] {
        assert!(warnings.contains(&id), "{warnings:?}");
    }
    // The trace has a circle, too: its converter was known for that.
    let ids = |workload: &Workload| -> Vec<&str> {
        workload::check(workload).iter().map(|finding| finding.id).collect()
    };
    assert_eq!(ids(&loaded.workload), ["cyclic-dependence", "computation-without-cost", "one-rank"]);

    let host = workload::read(samples.join("pytorch_hostonly_1r/host"), None).unwrap();
    assert_eq!(ids(&host), ["computation-without-cost", "no-communication"]);
}
