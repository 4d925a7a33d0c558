//! Traces by other writers, where a checkout has them next to it. Nothing is tested where it has not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chakra_et::graph::Op;
use chakra_et::{NodeReader, RankWriter, load_trace, read_trace};

fn samples() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference/et-samples");
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

/// Ranks and nodes of each sample, as its index has them.
fn index(samples: &Path) -> Vec<(String, usize, usize)> {
    let text = std::fs::read_to_string(samples.join("INDEX.tsv")).unwrap();
    let row = |line: &str| {
        let mut columns = line.split('\t');
        let name = columns.next().unwrap().to_owned();
        let mut number = || columns.next().unwrap().parse().unwrap();
        (name, number(), number())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn good_traces_have_the_nodes_that_their_index_says() {
    let Some(samples) = samples() else { return };
    let mut read = 0;
    for (name, ranks, nodes) in index(&samples) {
        let special =
            ["edge", "old_schema", "generator", "pytorch_dirty", "perf", "astra_cfg", "json_feeder"];
        if special.iter().any(|special| name.starts_with(special)) || name.ends_with("symbolic") {
            continue;
        }
        for prefix in prefixes(&samples.join(&name)) {
            let graph = read_trace(&prefix).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((graph.rank_count(), graph.node_count()), (ranks, nodes), "{name}");
            read += 1;
        }
    }
    assert!(read > 20, "{read}");
}

#[test]
fn the_ring_of_eight_has_its_sends_receives_and_reductions() {
    let Some(samples) = samples() else { return };
    let graph = read_trace(prefixes(&samples.join("algo_msccl_ring8_fixed")).first().unwrap()).unwrap();
    let count = |wanted: fn(&Op) -> bool| {
        graph.ranks().iter().flat_map(|rank| rank.ops()).filter(|&op| wanted(op)).count()
    };
    assert_eq!(count(|op| matches!(op, Op::Send { bytes: 131_072, .. })), 112);
    assert_eq!(count(|op| matches!(op, Op::Recv { bytes: 131_072, .. })), 112);
    assert_eq!(count(|op| matches!(op, Op::Comp { micros: 7, .. })), 56);
}

#[test]
fn traces_that_lack_something_say_what() {
    let Some(samples) = samples() else { return };
    for (name, expected) in [
        ("algo_msccl_ring8_symbolic/algo", "attribute comm_size is missing"),
        ("generator_v1.0.0/one_comm_send_node", "attribute comm_dst is missing"),
        ("pytorch_dirty_1r/chakra", "attribute comm_type is missing"),
    ] {
        let error = read_trace(samples.join(name)).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn edge_cases_are_accepted_or_refused_as_they_should_be() {
    let Some(samples) = samples() else { return };
    let edge = |name: &str| load_trace(samples.join("edge").join(name));
    for (name, nodes, warnings) in [
        ("ok", 3, &[][..]),
        ("gzip", 3, &["gzip"]),
        ("forward_ref", 3, &[]),
        ("ids_2e63", 3, &[]),
        ("unpacked_deps", 4, &[]),
        ("huge_name_200k", 4, &[]),
        ("unknown_fields", 3, &[]),
        ("metadata_only", 0, &["no-nodes"]),
        ("metadata_zero_length", 3, &["empty-metadata"]),
        ("trailing_zero_byte", 3, &["trailing-zeros"]),
        ("duplicate_deps", 4, &["duplicate-dependence"]),
        ("duplicate_attr", 2, &["duplicate-attribute"]),
        ("unknown_node_type_42", 4, &["unknown-node-type"]),
        ("no_nodes_but_default_node", 1, &["empty-node"]),
    ] {
        let loaded = edge(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(loaded.graph.node_count(), nodes, "{name}");
        let found: Vec<&str> = loaded.warnings.iter().map(|warning| warning.kind.id()).collect();
        assert_eq!(found, warnings, "{name}");
        assert_eq!(loaded.graph.rank(0).cycle(), None, "{name}");
    }
    for (name, expected) in [
        ("truncated_last_node", "truncated?"),
        ("truncated_length_prefix", "truncated?"),
        ("garbage_ascii", "byte 0"),
        ("bad_utf8_name", "does not decode as a Node"),
        ("dangling_data_dep", "data dependence on id 99"),
        ("dangling_ctrl_dep", "control dependence on id 99"),
        ("self_dep", "itself"),
        ("duplicate_ids", "must be unique"),
        ("size_as_string", "comm_size is stored as string_val"),
        ("no_metadata_first_is_node", "the first message is a node"),
        ("empty_file", "the file is empty"),
        ("unset_oneof", "has no value"),
    ] {
        let error = edge(name).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    for (name, length) in [("cycle_all", 2), ("cycle_partial", 2)] {
        let cycle = edge(name).unwrap().graph.rank(0).cycle();
        assert_eq!(cycle.map(|cycle| cycle.len()), Some(length), "{name}");
    }
}

#[test]
fn an_attribute_without_value_is_no_fault_until_it_is_needed() {
    let Some(samples) = samples() else { return };
    let file = std::fs::File::open(samples.join("edge/unset_oneof.0.et")).unwrap();
    let mut reader = NodeReader::new(file).unwrap();
    assert_eq!(reader.by_ref().filter(|node| node.is_ok()).count(), 2);
    assert_eq!(reader.warnings()[0].kind.id(), "attribute-without-value");
}

#[test]
fn old_schemas_are_converted_or_named() {
    let Some(samples) = samples() else { return };
    let read = |name: &str| std::fs::read(samples.join("old_schema").join(name)).unwrap();
    for (name, nodes) in [("sample_v001.0.et", 3), ("twoCompNodesDependent.0.eg", 2)] {
        let graph =
            chakra_et::graph_from_bytes(&[read(name)]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(graph.node_count(), nodes, "{name}");
    }
    for (name, expected) in [
        ("sample_v002.0.et", "looks like schema 0.0.2:"),
        ("sample_v003.0.et", "looks like schema 0.0.3:"),
        ("sample_v003b.0.et", "looks like schema 0.0.3:"),
        ("sample_v003c.0.et", "looks like schema 0.0.3:"),
        ("sample_v003d.0.et", "looks like schema 0.0.3:"),
        ("sample_v003e.0.et", "looks like schema 0.0.3:"),
        ("sample_v004a.0.et", "looks like schema a draft of 0.0.4:"),
    ] {
        let error = NodeReader::new(&read(name)[..]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

/// Copies a file by way of its nodes.
fn copy(bytes: &[u8]) -> Vec<u8> {
    let mut reader = NodeReader::new(bytes).unwrap();
    let mut writer = RankWriter::copying(&reader).unwrap();
    for node in &mut reader {
        writer.copy(&node.unwrap()).unwrap();
    }
    writer.finish()
}

#[test]
fn a_copy_loses_nothing_even_of_what_is_not_canonical() {
    let Some(samples) = samples() else { return };
    for name in ["unknown_fields", "unpacked_deps", "unknown_node_type_42", "duplicate_attr", "unset_oneof"] {
        let bytes = std::fs::read(samples.join(format!("edge/{name}.0.et"))).unwrap();
        assert!(copy(&bytes) == bytes, "{name}");
    }
}

/// What other writers produce is canonical, so ours must give the same bytes.
#[test]
fn written_again_the_bytes_are_the_same() {
    let Some(samples) = samples() else { return };
    let mut files = 0;
    for (name, ..) in index(&samples) {
        if ["edge", "old_schema"].contains(&name.as_str()) {
            continue;
        }
        let of_prefix = |prefix: PathBuf| {
            let path = move |rank: usize| format!("{}.{rank}.et", prefix.display());
            (0..).map(path).take_while(|path| Path::new(path).exists())
        };
        for path in prefixes(&samples.join(&name)).into_iter().flat_map(of_prefix) {
            let bytes = std::fs::read(&path).unwrap();
            let mut reader = NodeReader::new(&bytes[..]).unwrap();
            let mut writer = RankWriter::new(reader.metadata()).unwrap();
            for node in &mut reader {
                let read = node.unwrap();
                assert!(read.wire.is_canonical(), "{path}");
                writer.node(&read.node).unwrap();
            }
            assert!(writer.finish() == bytes, "{path}");
            assert!(copy(&bytes) == bytes, "{path}");
            files += 1;
        }
    }
    assert!(files > 200, "{files}");
}
