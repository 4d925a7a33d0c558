//! Traces as files: which are found, and that all are written or none.

mod common;

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use chakra_et::{WriteError, load_trace, read_trace, write_trace};
use common::{comp, file, gzip, send};

/// A rank with that many nodes.
fn rank(nodes: u64) -> Vec<u8> {
    file(&(0..nodes).map(|id| comp(id, &[])).collect::<Vec<_>>())
}

fn write(prefix: &Path, ranks: usize, nodes: u64) -> Result<(), WriteError> {
    write_trace(prefix, ranks, |_| Ok::<_, Infallible>(rank(nodes)))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_trace_is_written_into_new_directories_and_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("new/deep/ring");
    write_trace(&prefix, 12, |rank| Ok::<_, Infallible>(file(&[send(0, rank as i32, &[])]))).unwrap();
    let graph = read_trace(&prefix).unwrap();
    let peers: Vec<_> = graph
        .ranks()
        .iter()
        .map(|rank| match rank.op(0) {
            chakra_et::graph::Op::Send { dst, .. } => dst,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(peers, (0..12).collect::<Vec<_>>(), "rank 10 comes after rank 9");
    assert_eq!(names(&directory.path().join("new/deep")).len(), 12, "no temporaries are left");
}

#[test]
fn a_new_trace_replaces_the_old_one_and_its_higher_ranks_only() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("ring");
    write(&prefix, 4, 1).unwrap();
    write(&directory.path().join("ring.more"), 3, 1).unwrap();
    write(&prefix, 2, 5).unwrap();
    let expected = ["ring.0.et", "ring.1.et", "ring.more.0.et", "ring.more.1.et", "ring.more.2.et"];
    assert_eq!(names(directory.path()), expected);
    assert_eq!(read_trace(&prefix).unwrap().node_count(), 10);
}

#[test]
fn when_a_rank_cannot_be_made_the_old_trace_stays() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("ring");
    write(&prefix, 3, 1).unwrap();
    let result =
        write_trace(&prefix, 4, |number| if number == 2 { Err("no such step") } else { Ok(rank(5)) });
    assert_eq!(
        result.unwrap_err().to_string(),
        format!("{}: no such step", directory.path().join("ring.2.et").display())
    );
    assert_eq!(names(directory.path()), ["ring.0.et", "ring.1.et", "ring.2.et"]);
    assert_eq!(read_trace(&prefix).unwrap().node_count(), 3);
}

#[test]
fn when_a_file_cannot_be_replaced_the_old_trace_stays() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("ring");
    write(&prefix, 2, 1).unwrap();
    fs::create_dir(directory.path().join("ring.2.et")).unwrap();
    let error = write(&prefix, 4, 5).unwrap_err().to_string();
    assert!(error.contains("ring.2.et: cannot replace"), "{error}");
    assert_eq!(names(directory.path()), ["ring.0.et", "ring.1.et", "ring.2.et"]);
    fs::remove_dir(directory.path().join("ring.2.et")).unwrap();
    assert_eq!(read_trace(&prefix).unwrap().node_count(), 2);
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let blocked = directory.path().join("file");
    fs::write(&blocked, "x").unwrap();
    let error = write(&blocked.join("ring"), 1, 1).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: cannot make the directory", blocked.display())), "{error}");
}

#[test]
fn a_trace_without_ranks_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(write(&directory.path().join("ring"), 0, 1), Err(WriteError::NoRanks { .. })));
    assert!(matches!(write(Path::new(".."), 1, 1), Err(WriteError::NoPrefix { .. })));
}

#[test]
fn a_missing_rank_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("ring");
    write(&prefix, 4, 1).unwrap();
    fs::remove_file(directory.path().join("ring.2.et")).unwrap();
    let missing = directory.path().join("ring.2.et");
    assert_eq!(
        read_trace(&prefix).unwrap_err().to_string(),
        format!(
            "{} is missing: the trace has a file for rank 3, so it must have one for each rank below",
            missing.display()
        )
    );
}

#[test]
fn when_there_is_no_trace_the_pattern_and_what_to_give_instead_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let message = |prefix: &Path| read_trace(prefix).unwrap_err().to_string();

    let none = message(&path.join("ring"));
    assert_eq!(
        none,
        format!("no trace found: there is no file {}/ring.N.et or .et.gz (N = 0, 1, ...)", path.display())
    );
    assert!(message(&path.join("no/such/ring")).contains("no/such/ring.N.et"));

    write(&path.join("ring"), 1, 1).unwrap();
    let given_file = message(&path.join("ring.0.et"));
    let prefix = path.join("ring");
    assert!(
        given_file.ends_with(&format!("a prefix is expected, here {}", prefix.display())),
        "{given_file}"
    );
    let given_directory = message(path);
    assert!(given_directory.contains("is a directory: a prefix is expected, such as"), "{given_directory}");
    assert!(message(Path::new("/")).contains("a prefix is expected"));
}

#[test]
fn a_broken_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("ring");
    write(&prefix, 3, 1).unwrap();
    let broken = directory.path().join("ring.1.et");
    fs::write(&broken, b"\x04ab").unwrap();
    assert_eq!(
        read_trace(&prefix).unwrap_err().to_string(),
        format!(
            "{}: byte 0: a message of 4 bytes is announced, but only 2 follow (is the file truncated?)",
            broken.display()
        )
    );
}

#[test]
fn files_of_another_naming_are_named_when_there_is_no_trace() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for name in ["ring.0.eg", "ring.1.eg", "rank_0.et", "other.0.et"] {
        fs::write(path.join(name), rank(1)).unwrap();
    }
    let message = read_trace(path.join("ring")).unwrap_err().to_string();
    let names = ["rank_0.et", "ring.0.eg", "ring.1.eg"].map(|name| path.join(name).display().to_string());
    assert!(message.ends_with(&format!("; but there is {}", names.join(", "))), "{message}");
}

#[test]
fn compressed_files_are_read_where_there_are_no_others() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("ring");
    write(&prefix, 2, 5).unwrap();
    for number in [1, 2] {
        fs::write(directory.path().join(format!("ring.{number}.et.gz")), gzip(&rank(7))).unwrap();
    }
    let loaded = load_trace(&prefix).unwrap();
    let nodes: Vec<usize> = loaded.graph.ranks().iter().map(|rank| rank.len()).collect();
    assert_eq!(nodes, [5, 5, 7]);
    let kinds: Vec<_> = loaded.warnings.iter().map(|warning| warning.kind.id()).collect();
    assert_eq!(kinds, ["stray-file", "gzip"]);
    assert!(loaded.warnings[0].to_string().contains("ring.1.et.gz is not read"), "{}", loaded.warnings[0]);

    // A new trace of one rank must not be read with ranks of the old one.
    write(&prefix, 1, 3).unwrap();
    assert_eq!(names(directory.path()), ["ring.0.et"]);
    assert_eq!(load_trace(&prefix).unwrap().warnings, []);
}

#[test]
fn files_that_are_no_ranks_are_warned_of() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("ring");
    write(&prefix, 2, 1).unwrap();
    for name in ["ring.x.et", "ring.01.et", "ring.more.0.et", "ring.txt"] {
        fs::write(directory.path().join(name), "").unwrap();
    }
    let loaded = load_trace(&prefix).unwrap();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let expected = ["ring.01.et", "ring.x.et"].map(|name| {
        let path = directory.path().join(name);
        format!("stray-file: {} is not read: the part after the prefix is no rank", path.display())
    });
    assert_eq!(warnings, expected);
    assert_eq!(loaded.graph, read_trace(&prefix).unwrap());
}
