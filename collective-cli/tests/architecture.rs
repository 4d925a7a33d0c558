//! The crates depend on each other only in the direction that ARCHITECTURE.md draws.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The workspace's own crates.
const OWN: [&str; 6] =
    ["chakra-et", "collective", "collective-cli", "collective-dsl", "collective-macros", "sim-core"];

/// The workspace's own crates that a crate depends on when it is used, not when it is tested.
fn dependencies(directory: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join(directory).join("Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
    let mut found = BTreeSet::new();
    let mut collect = |section: Option<&toml::Value>| {
        let names = section.and_then(toml::Value::as_table).into_iter().flat_map(|table| table.keys());
        found.extend(names.filter(|name| OWN.contains(&name.as_str())).cloned());
    };
    for section in ["dependencies", "build-dependencies"] {
        collect(manifest.get(section));
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        for target in targets.into_iter().flat_map(|targets| targets.values()) {
            collect(target.get(section));
        }
    }
    found
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_trace_format_depends_on_nothing_of_ours() {
    assert_eq!(dependencies("chakra-et"), set(&[]));
}

#[test]
fn simulator_and_language_meet_only_in_the_trace_format() {
    assert_eq!(dependencies("sim-core"), set(&["chakra-et"]));
    assert_eq!(dependencies("collective-dsl"), set(&["chakra-et"]));
}

#[test]
fn the_macro_knows_the_language_only() {
    assert_eq!(dependencies("collective-macros"), set(&["collective-dsl"]));
}

#[test]
fn the_library_has_no_dependencies_of_a_command() {
    assert_eq!(dependencies("."), set(&["chakra-et", "collective-dsl", "collective-macros", "sim-core"]));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(root).unwrap().parse().unwrap();
    let foreign: Vec<&String> =
        manifest["dependencies"].as_table().unwrap().keys().filter(|n| !OWN.contains(&n.as_str())).collect();
    // All light; those that read files only with the feature that reads topologies from TOML and YAML, too.
    let of_files = ["serde-saphyr", "serde_json", "toml"];
    let always: Vec<&String> =
        foreign.into_iter().filter(|name| !of_files.contains(&name.as_str())).collect();
    assert_eq!(always, ["num-rational", "rayon", "strsim", "thiserror"]);
    for name in of_files {
        assert_eq!(manifest["dependencies"][name]["optional"].as_bool(), Some(true), "{name}");
    }
}
