//! What is written is read again as it was.

use super::*;
use proptest::prelude::*;

/// What a random workload is made of: for each node a kind, a figure, and what it depends on.
pub(crate) type Recipe = Vec<Vec<(u8, u32, Vec<prop::sample::Index>)>>;

pub(crate) fn recipe() -> impl Strategy<Value = Recipe> {
    let node = (0..7_u8, any::<u32>(), proptest::collection::vec(any::<prop::sample::Index>(), 0..3));
    proptest::collection::vec(proptest::collection::vec(node, 1..12), 1..6)
}

/// Builds what a recipe says. The groups overlap, and have roots.
pub(crate) fn build(recipe: &Recipe) -> Workload {
    let ranks = recipe.len() as u32;
    let mut builder = WorkloadBuilder::new(ranks);
    let mut all: Vec<(u32, Vec<u32>)> = vec![(0, (0..ranks).collect())];
    for name in 1..=ranks {
        let members: Vec<u32> = (0..ranks).filter(|rank| rank % name == 0).collect();
        let number = builder.group((name * 3).to_string(), members.iter().copied()).unwrap();
        all.push((number, members));
    }
    for (rank, nodes) in (0..).zip(recipe) {
        for (at, (kind, figure, deps)) in nodes.iter().enumerate() {
            let deps: Vec<u32> =
                if at == 0 { vec![] } else { deps.iter().map(|dep| dep.index(at) as u32).collect() };
            let (name, figure) = (format!("näme {figure}"), *figure);
            let bytes = u64::from(figure) << 20;
            let built = match kind {
                0 => builder.send(rank, name, figure >> 1, figure >> 3, bytes, &deps),
                1 => builder.recv(rank, name, figure >> 1, figure >> 3, bytes, &deps),
                2 => builder.memory(rank, name, figure % 2 == 0, figure % 3 == 0, bytes, &deps),
                3 => {
                    builder.compute_on(rank, name, Cost::operations(bytes, 9), figure % 2 == 0, figure, &deps)
                }
                4 => builder.compute(rank, "", Cost::micros(bytes), &deps),
                _ => {
                    let mine: Vec<_> = all.iter().filter(|(_, members)| members.contains(&rank)).collect();
                    let (group, members) = mine[figure as usize % mine.len()];
                    let kind = CollectiveKind::ALL[figure as usize % 10];
                    let root = if kind.has_root() { figure % members.len() as u32 } else { 0 };
                    builder.rooted(rank, name, kind, bytes, *group, root, &deps)
                }
            };
            built.unwrap();
        }
    }
    builder.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_written_workload_is_read_again_as_it_was(recipe in recipe()) {
        let workload = build(&recipe);
        let bytes = workload.to_bytes().unwrap();
        let loaded = load_bytes(&bytes, Some(&workload.communicators()), &ReadOptions::default()).unwrap();
        prop_assert_eq!(&loaded.workload, &workload);
        prop_assert_eq!(&loaded.warnings, &[]);
        prop_assert_eq!(&workload.clone().normalized(), &workload);
    }
}

#[test]
fn a_workload_is_written_to_files_with_its_groups() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("new/step");
    let mut builder = WorkloadBuilder::new(3);
    let late = builder.group("20", [0, 2]).unwrap();
    builder.group("3", [1]).unwrap();
    for rank in [0, 2] {
        builder.rooted(rank, "b", CollectiveKind::Broadcast, 1 << 30, late, 1, &[]).unwrap();
    }
    builder.compute(1, "idle", Cost::micros(0), &[]).unwrap();
    let workload = builder.finish();
    workload.write(&prefix).unwrap();
    let groups = workload.communicators();
    assert_eq!(workload::read(&prefix, Some(&groups)).unwrap(), workload.clone().normalized());
    assert_eq!(workload.groups_json().unwrap(), "{\"20\": [0, 2], \"3\": [1]}\n");
    #[cfg(feature = "json")]
    assert_eq!(Groups::from_json(&workload.groups_json().unwrap()).unwrap(), groups);
    let error = workload::read(directory.path().join("new/other"), None).unwrap_err().to_string();
    assert!(error.starts_with("no trace found"), "{error}");
    let error = workload::read(&prefix, None).unwrap_err().to_string();
    assert!(error.contains("step.0.et: rank 0, node 0 \"b\": who is in its group \"20\""), "{error}");
}
