//! As a newcomer I run an example, and what it prints is so.
//!
//! Each example is a module here, and prints into a text of which a test claims something. The others of `examples/` have their tests
//! beside what they show: `tests/overlap.rs`, `tests/workloads/example.rs`.

#[path = "../../examples/build_time_errors.rs"]
#[allow(dead_code)]
mod build_time_errors;
#[path = "../../examples/compare_algorithms.rs"]
#[allow(dead_code)]
mod compare_algorithms;
#[path = "../../examples/custom_collective.rs"]
#[allow(dead_code)]
mod custom_collective;
#[path = "../../examples/determinism_report.rs"]
#[allow(dead_code)]
mod determinism_report;
#[path = "../../examples/export_to_runtime.rs"]
#[allow(dead_code)]
mod export_to_runtime;
#[path = "../../examples/import_msccl_xml.rs"]
#[allow(dead_code)]
mod import_msccl_xml;
#[cfg(feature = "topology-files")]
#[path = "../../examples/topology_from_toml.rs"]
#[allow(dead_code)]
mod topology_from_toml;

mod checked;
mod exchanged;
mod simulated;

/// What an example prints.
fn printed(show: impl FnOnce(&mut dyn std::io::Write) -> Result<(), Box<dyn std::error::Error>>) -> String {
    let mut out = Vec::new();
    show(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A folder of the test's own.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Each example begins with what it shows and says how to run it, and `docs/examples.md` has it with that command.
#[test]
fn the_page_of_examples_has_all_of_them() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/examples.md")).unwrap();
    let mut found = 0;
    for file in std::fs::read_dir(root.join("examples")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let (text, name) =
            (std::fs::read_to_string(&path).unwrap(), path.file_stem().unwrap().to_str().unwrap());
        let head: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let command = format!("--example {name}");
        assert!(head.contains(&command), "{name} does not say how to run it");
        assert!(page.contains(&format!("(../examples/{name}.rs)")) && page.contains(&command), "{name}");
        found += 1;
    }
    assert_eq!(page.matches("--example ").count(), found);
}
