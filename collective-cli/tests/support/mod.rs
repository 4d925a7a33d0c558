//! Running the command.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const RING_YAML: &str =
    "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n";

pub(crate) fn collective(directory: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_collective"));
    command.current_dir(directory).args(arguments.split_whitespace()).output().unwrap()
}

/// Standard output of a run that must succeed.
#[track_caller]
pub(crate) fn succeeds(directory: &Path, arguments: &str) -> String {
    let output = collective(directory, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Standard error of a run that must end with the code given.
#[track_caller]
pub(crate) fn fails(directory: &Path, code: i32, arguments: &str) -> String {
    let output = collective(directory, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A directory with ASTRA-sim's ring of eight.
pub(crate) fn with_ring() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("ring.yml"), RING_YAML).unwrap();
    directory
}
