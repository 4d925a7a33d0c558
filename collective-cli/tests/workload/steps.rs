//! Small workloads whose times can be worked out by hand, and topologies for them.

use std::fs;
use std::path::Path;

use chakra_et::workload::{CollectiveKind, Cost, WorkloadBuilder};
use tempfile::TempDir;

/// A topology of one dimension in this project's own form.
pub(crate) fn topology(kind: &str, ranks: u32) -> String {
    format!(
        "[[dimension]]\nkind = \"{kind}\"\nsize = {ranks}\nbandwidth = \"50 GB/s\"\nlatency = \"500 ns\"\n"
    )
}

/// A directory with rings of two and four ranks, `ring2.toml` and `ring4.toml`.
pub(crate) fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for ranks in [2, 4] {
        fs::write(directory.path().join(format!("ring{ranks}.toml")), topology("ring", ranks)).unwrap();
    }
    directory
}

/// Writes a workload as `t/NAME`, and its groups as `NAME.json`.
pub(crate) fn write(at: &Path, name: &str, builder: WorkloadBuilder) {
    let workload = builder.finish();
    fs::write(at.join(format!("{name}.json")), workload.groups_json().unwrap()).unwrap();
    workload.write(at.join("t").join(name)).unwrap();
}

/// Two ranks: 100 µs of products, then a sum of 1,000,000 bytes while both compute for another 10 µs; an update of 5 µs.
///
/// A ring of two ranks sums in two steps of 500,000 bytes: 2 · (500 ns + 500,000 B / 50 GB/s) = 21 µs.
pub(crate) fn training(at: &Path) {
    let mut step = WorkloadBuilder::new(2);
    for rank in 0..2 {
        let backward = step.compute(rank, "backward", Cost::micros(100), &[]).unwrap();
        let sum =
            step.collective(rank, "gradients", CollectiveKind::AllReduce, 1_000_000, 0, &[backward]).unwrap();
        step.compute(rank, "other", Cost::micros(10), &[backward]).unwrap();
        step.compute(rank, "update", Cost::micros(5), &[sum]).unwrap();
    }
    write(at, "training", step);
}

/// Two ranks come to the collectives of two groups in opposite order.
pub(crate) fn opposite(at: &Path) {
    let mut step = WorkloadBuilder::new(2);
    let groups = [step.group("1", [0, 1]).unwrap(), step.group("2", [0, 1]).unwrap()];
    for (rank, order) in [(0, [0, 1]), (1, [1, 0])] {
        let mut last = None;
        for at in order {
            let name = ["first", "second"][at];
            let deps: Vec<u32> = last.into_iter().collect();
            let kind = CollectiveKind::AllReduce;
            last = Some(step.collective(rank, name, kind, 4096, groups[at], &deps).unwrap());
        }
    }
    write(at, "opposite", step);
}

/// Two ranks with collectives of two groups that depend on nothing; rank 1 has them the other way round.
pub(crate) fn independent(at: &Path) {
    let mut step = WorkloadBuilder::new(2);
    let groups = [step.group("1", [0, 1]).unwrap(), step.group("2", [0, 1]).unwrap()];
    for (rank, order) in [(0, [0, 1]), (1, [1, 0])] {
        for at in order {
            let name = ["first", "second"][at];
            step.collective(rank, name, CollectiveKind::AllReduce, 4096, groups[at], &[]).unwrap();
        }
    }
    write(at, "independent", step);
}

/// Four ranks: two tensor-parallel pairs (groups 1 and 2), two data-parallel pairs (3 and 4), a message, a load, and work
/// of the CPU.
pub(crate) fn mixed(at: &Path) {
    let mut step = WorkloadBuilder::new(4);
    let pairs = [("1", [0, 1]), ("2", [2, 3]), ("3", [0, 2]), ("4", [1, 3])];
    let groups = pairs.map(|(name, members)| step.group(name, members).unwrap());
    for rank in 0..4 {
        let load = step.memory(rank, "weights", false, false, 2_000_000, &[]).unwrap();
        let launch = step.compute_on(rank, "launch", Cost::micros(2), true, 7, &[]).unwrap();
        let forward =
            step.compute(rank, "forward", Cost::operations(9_000_000_000, 1_000), &[load, launch]).unwrap();
        let tensor = groups[rank as usize / 2];
        let sum = step
            .collective(rank, "activations", CollectiveKind::AllReduce, 100_000, tensor, &[forward])
            .unwrap();
        let passed = match rank {
            0 | 1 => step.send(rank, "to the next stage", rank + 2, 3, 50_000, &[sum]).unwrap(),
            _ => step.recv(rank, "from the stage before", rank - 2, 3, 50_000, &[sum]).unwrap(),
        };
        let data = groups[2 + rank as usize % 2];
        step.compute_on(rank, "", Cost::micros(3), false, 1, &[sum]).unwrap();
        step.collective(rank, "gradients", CollectiveKind::ReduceScatter, 200_000, data, &[passed]).unwrap();
        step.collective(rank, "norm", CollectiveKind::AllReduce, 4, 0, &[passed]).unwrap();
    }
    write(at, "mixed", step);
}
