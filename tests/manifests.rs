//! As somebody who publishes the crates I want their manifests, the changelog and the files for other hosts to say what is so.
#![cfg(feature = "topology-files")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The platform that this is built on.
fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    said.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// What Cargo knows of all packages of this platform; nothing is fetched, and those of others are not there on a new machine.
fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version=1", "--offline", "--locked", "--filter-platform", &host()]);
    command.current_dir(root());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn packages(metadata: &Value) -> &[Value] {
    metadata["packages"].as_array().unwrap()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

/// "1.89" and "1.89.0" are the same version.
fn version(text: &str) -> Vec<u32> {
    let mut parts: Vec<u32> = text.split('.').map(|part| part.parse().unwrap()).collect();
    parts.resize(3, 0);
    parts
}

#[test]
fn no_dependency_needs_a_newer_rust_than_we_say() {
    let metadata = metadata();
    let ours = version(env!("CARGO_PKG_RUST_VERSION"));
    let newer: Vec<String> = packages(&metadata)
        .iter()
        .filter(|package| package["rust_version"].as_str().is_some_and(|wanted| version(wanted) > ours))
        .map(|package| {
            format!(
                "{} {}: {}",
                text(package, "name"),
                text(package, "version"),
                text(package, "rust_version")
            )
        })
        .collect();
    assert!(newer.is_empty(), "these need more than {}: {newer:?}", env!("CARGO_PKG_RUST_VERSION"));
    // The pages that a user reads first say it as well.
    for page in ["README.md", "chakra-et/README.md", "sim-core/README.md", "collective-cli/README.md"] {
        let page = std::fs::read_to_string(root().join(page)).unwrap();
        assert!(page.contains(&format!("Rust {}", env!("CARGO_PKG_RUST_VERSION"))));
    }
}

#[test]
fn every_published_package_says_what_it_is() {
    let metadata = metadata();
    let own = packages(&metadata).iter().filter(|package| package["source"].is_null());
    let published: Vec<&Value> =
        own.filter(|package| package["publish"].as_array().is_none_or(|to| !to.is_empty())).collect();
    assert_eq!(published.len(), 6);
    for package in published {
        let name = text(package, "name");
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(!text(package, key).is_empty(), "{name} has no {key}");
        }
        for key in ["keywords", "categories"] {
            // A registry takes at most five.
            assert!((1..=5).contains(&package[key].as_array().unwrap().len()), "{name}: {key}");
        }
        let folder = Path::new(text(package, "manifest_path")).parent().unwrap();
        for file in [text(package, "readme"), "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(folder.join(file).is_file(), "{name} has no {file}");
        }
        // Nobody gets what he has not asked for; the command draws PNG as it is installed.
        let default = package["features"].get("default").and_then(Value::as_array);
        let expected: &[&str] = if name == "collective-cli" { &["png"] } else { &[] };
        let default: Vec<&str> = default.into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(default, expected, "the default features of {name}");
    }
}

#[test]
fn files_for_other_hosts_are_yaml_and_run_the_checks_of_this_repository() {
    for file in [".github/workflows/ci.yml", ".gitlab-ci.yml"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let yaml: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(yaml.is_object(), "{file}");
        for wanted in
            [".ci/run", env!("CARGO_PKG_RUST_VERSION"), "cargo publish --workspace --dry-run", "cargo doc"]
        {
            assert!(text.contains(wanted), "{file} has no {wanted}");
        }
    }
}

#[test]
fn the_changelog_has_this_version() {
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let heads: Vec<&str> = changelog.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let version = env!("CARGO_PKG_VERSION");
    assert!(heads.iter().any(|head| head.starts_with(&format!("[{version}]"))), "{heads:?}");
}
