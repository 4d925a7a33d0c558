//! What the validator says of traces by other writers, where a checkout has them next to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chakra_et::groups::Groups;
use chakra_et::validate::{Finding, Level, Options, Peers, Survey, validate};

fn reference(part: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference").join(part);
    if !path.is_dir() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// All prefixes of traces in a directory, and below.
fn prefixes(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(prefixes(&path));
        } else if let Some(prefix) = path.to_str().and_then(|path| path.strip_suffix(".0.et")) {
            found.insert(prefix.into());
        }
    }
    found
}

fn findings(prefix: &Path, options: &Options) -> Result<Vec<Finding>, String> {
    let survey = Survey::read(prefix, |_| ()).map_err(|error| error.to_string())?;
    Ok(validate(&survey, options))
}

/// The rules above notes that fire, each once.
fn rules(findings: &[Finding]) -> Vec<&'static str> {
    let mut rules: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.level() < Level::Note)
        .map(|finding| finding.rule.id)
        .collect();
    rules.dedup();
    rules
}

#[test]
fn edge_cases_are_judged_as_they_should_be() {
    let Some(samples) = reference("et-samples/edge") else { return };
    for (name, expected) in [
        ("ok", &[][..]),
        ("forward_ref", &[]),
        ("ids_2e63", &[]),
        ("unpacked_deps", &[]),
        ("huge_name_200k", &[]),
        ("unknown_fields", &[]),
        ("gzip", &["gzip"]),
        ("metadata_only", &["no-nodes"]),
        ("metadata_zero_length", &["empty-metadata"]),
        ("trailing_zero_byte", &["trailing-zeros"]),
        ("duplicate_deps", &["duplicate-dependence"]),
        ("duplicate_attr", &["duplicate-attribute"]),
        ("unknown_node_type_42", &["unknown-node-type"]),
        ("no_nodes_but_default_node", &["empty-node", "invalid-node"]),
        ("unset_oneof", &["mistyped-attribute", "attribute-without-value"]),
        ("dangling_data_dep", &["dangling-dependence"]),
        ("dangling_ctrl_dep", &["dangling-dependence"]),
        ("self_dep", &["self-dependence"]),
        ("cycle_all", &["cyclic-dependence", "no-root"]),
        ("cycle_partial", &["cyclic-dependence"]),
        ("duplicate_ids", &["duplicate-id"]),
        ("size_as_string", &["mistyped-attribute"]),
    ] {
        let found = findings(&samples.join(name), &Options::default());
        assert_eq!(found.map(|found| rules(&found)).as_deref(), Ok(expected), "{name}");
    }
    for name in [
        "truncated_last_node",
        "truncated_length_prefix",
        "garbage_ascii",
        "bad_utf8_name",
        "no_metadata_first_is_node",
        "empty_file",
    ] {
        assert!(findings(&samples.join(name), &Options::default()).is_err(), "{name}");
    }
}

#[test]
fn faults_that_people_reported_are_found() {
    let Some(fixtures) = reference("bug-reports/fixtures/et") else { return };
    let of = |name: &str, options: &Options| findings(&fixtures.join(name).join("t"), options).unwrap();
    let plain = Options::default();
    for (name, expected) in [
        ("D17_size_encodings", &["wrong-arm"][..]),
        ("D18_optional_attrs", &[]),
        ("D19_cycle", &["cyclic-dependence"]),
        ("D19_mixed_ctrl_data", &["cyclic-dependence", "no-root"]),
        ("D19_selfloop", &["self-dependence"]),
        ("D20_chain50k", &[]),
        ("D21_version_2", &["unknown-version"]),
        ("D22_absent_type", &["missing-attribute"]),
        ("D22_unknown_type", &["unknown-comm-type"]),
        ("D23_dangling", &["dangling-dependence"]),
        ("D24_dupid", &["duplicate-id"]),
        ("D24_sparse", &[]),
        ("D25_ctrl_only", &[]),
        ("D27_samekey", &["unordered-messages"]),
        ("D28_size_mismatch", &["size-mismatch"]),
        ("D30_zero", &["zero-size"]),
        ("D37_5GiB", &[]),
        ("D40_local_peers", &["foreign-end"]),
    ] {
        assert_eq!(rules(&of(name, &plain)), expected, "{name}");
    }
    let circle: Vec<u64> = of("D19_cycle", &plain)[0].related.iter().map(|at| at.node).collect();
    assert_eq!(circle, [1, 3, 2]);
    let groups = |pairs: &[(&str, &[u64])]| {
        let mut options = Options::default();
        let pairs = pairs.iter().map(|(name, members)| ((*name).to_owned(), members.to_vec()));
        options.groups = Some(Groups::new(pairs));
        options
    };
    let overlapping = groups(&[("1", &[0, 1, 2, 3, 4, 5, 6, 7]), ("2", &[4, 5, 6, 7])]);
    assert_eq!(rules(&of("D29_groups", &overlapping)), [""; 0]);
    let mut local = groups(&[("5", &[1, 3])]);
    local.peers = Peers::InGroup;
    assert_eq!(rules(&of("D40_local_peers", &local)), [""; 0]);
}

/// Each of these was looked at: what is an error in them stops ASTRA-sim or is no sound graph.
#[test]
fn real_traces_have_no_errors_but_those_that_are_known() {
    let Some(samples) = reference("et-samples") else { return };
    let mut judged = 0;
    for prefix in prefixes(&samples) {
        let name = prefix.strip_prefix(&samples).unwrap().display().to_string();
        if name.starts_with("edge") || name.starts_with("old_schema") {
            // No more than that they must not make it panic.
            let _ = findings(&prefix, &Options::default());
            continue;
        }
        let found = findings(&prefix, &Options::default()).unwrap();
        let errors: Vec<&str> =
            rules(&found.into_iter().filter(|finding| finding.level() == Level::Error).collect::<Vec<_>>());
        let expected: &[&str] = match name.as_str() {
            // Sizes only as chunk counts, and no collective size in the metadata.
            "algo_msccl_allgather_hier8_symbolic/algo" | "algo_msccl_ring8_symbolic/algo" => {
                &["missing-attribute"]
            }
            // Written by the generator without peer, tag and size.
            "generator_v1.0.0/one_comm_recv_node" | "generator_v1.0.0/one_comm_send_node" => {
                &["missing-attribute"]
            }
            // Known for control dependences on themselves and on nothing, and CPU nodes without their attributes.
            "pytorch_dirty_1r/chakra" => &[
                "dangling-dependence",
                "self-dependence",
                "cyclic-dependence",
                "missing-attribute",
                "comm-on-cpu",
            ],
            _ => &[],
        };
        assert_eq!(errors, expected, "{name}");
        judged += 1;
    }
    assert!(judged > 40, "{judged}");
}
