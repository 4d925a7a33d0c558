//! What is accepted with a warning, by either way of reading.

mod common;

use chakra_et::proto::{AttributeProto, GlobalMetadata, Node, NodeType};
use chakra_et::{NodeReader, attr, graph_from_bytes, load_bytes};
use common::{comp, file, file_with, gzip, node, send};

/// The warnings of both ways, which must be the same, without the kind's explanation.
fn warnings(file: &[u8]) -> Vec<String> {
    let loaded = load_bytes(&[file]).unwrap();
    assert_eq!(loaded.graph, graph_from_bytes(&[file]).unwrap(), "warnings must not change the result");
    let mut reader = NodeReader::new(file).unwrap();
    reader.by_ref().for_each(|node| drop(node.unwrap()));
    let loaded: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let streamed: Vec<String> =
        reader.warnings().iter().map(|warning| format!("rank 0: {warning}")).collect();
    assert_eq!(loaded, streamed);
    loaded
}

fn one_warning(file: &[u8], expected: &str) {
    let warnings = warnings(file);
    assert!(matches!(&warnings[..], [one] if one.contains(expected)), "{warnings:?} for {expected}");
}

fn with_version(version: &str) -> Vec<u8> {
    file_with(&GlobalMetadata { version: version.into(), attr: vec![] }, &[comp(0, &[])])
}

#[test]
fn sound_files_have_none() {
    assert_eq!(warnings(&file(&[send(0, 1, &[]), comp(1, &[0])])), [""; 0]);
    assert_eq!(warnings(&with_version("1.0.0")), [""; 0]);
    let schema = vec![attr::string("schema", "1.0.2-chakra.0.0.4")];
    let metadata = GlobalMetadata { version: String::new(), attr: schema };
    assert_eq!(warnings(&file_with(&metadata, &[comp(0, &[])])), [""; 0]);
}

#[test]
fn the_first_of_a_kind_is_given_with_the_number_of_all() {
    let nodes = [comp(0, &[]), comp(1, &[0, 0]), comp(2, &[]), comp(3, &[1, 2, 1])];
    one_warning(
        &file(&nodes),
        "rank 0: byte 24, node 1 (id 1): duplicate-dependence: the node depends on id 0 more than once",
    );
    assert!(warnings(&file(&nodes))[0].ends_with(" (the first of 2)"));
}

#[test]
fn a_dependence_in_both_lists_is_a_duplicate() {
    let mut both = comp(1, &[0]);
    both.ctrl_deps = vec![0];
    one_warning(&file(&[comp(0, &[]), both]), "duplicate-dependence");
}

#[test]
fn odd_attributes_are_warned_of() {
    let with = |attrs| file(&[node(0, NodeType::CompNode, &[], attrs)]);
    one_warning(
        &with(vec![attr::int32("a", 1), attr::int32("b", 1), attr::int32("a", 2)]),
        "duplicate-attribute: the node has several attributes \"a\"",
    );
    one_warning(&with(vec![attr::int64("num_ops", 1), attr::int64("num_ops", 2)]), "duplicate-attribute");
    let without = AttributeProto { name: "x".into(), ..AttributeProto::default() };
    one_warning(&with(vec![without]), "attribute-without-value: the attribute \"x\" has no value");
}

#[test]
fn an_attribute_without_value_is_an_error_once_it_is_needed() {
    let attrs = vec![
        attr::int32("comm_dst", 1),
        attr::int32("comm_tag", 0),
        AttributeProto { name: "comm_size".into(), ..AttributeProto::default() },
    ];
    let bytes = file(&[node(0, NodeType::CommSendNode, &[], attrs)]);
    assert!(common::error(&bytes).contains("attribute comm_size has no value"));
    let mut reader = NodeReader::new(&bytes[..]).unwrap();
    assert!(reader.by_ref().all(|node| node.is_ok()));
    assert_eq!(reader.warnings()[0].kind.id(), "attribute-without-value");
}

#[test]
fn unknown_types_and_versions_are_warned_of() {
    let strange = Node { id: 1, r#type: 42, ..Node::default() };
    one_warning(&file(&[strange]), "unknown-node-type: the node has type 42");
    one_warning(&with_version("9.9.9-future"), "rank 0: byte 0: unknown-version: version \"9.9.9-future\"");
    // An unknown field only: there is something, but no version.
    one_warning(&[&[2, 0x38, 1][..], &file(&[comp(0, &[])])[8..]].concat(), "unknown-version: version \"\"");
}

#[test]
fn messages_without_bytes_are_warned_of() {
    let whole = file(&[comp(0, &[]), comp(1, &[])]);
    one_warning(&[&[0][..], &whole[8..]].concat(), "byte 0: empty-metadata");
    one_warning(
        &[&whole[..], &[0, 0]].concat(),
        "trailing-zeros: the file ends with 2 message(s) of length 0",
    );
    one_warning(&[&file(&[comp(1, &[])])[..], &[0]].concat(), "node 1 (id 0): empty-node");
    one_warning(&[&file(&[])[..], &[0]].concat(), "byte 8, node 0 (id 0): empty-node");
    one_warning(&file(&[]), "no-nodes");
}

#[test]
fn compression_is_warned_of() {
    one_warning(&gzip(&with_version("0.0.4")), "rank 0: gzip");
}

#[test]
fn ranks_of_different_versions_are_warned_of() {
    let loaded = load_bytes(&[with_version("0.0.4"), with_version("0.0.4"), with_version("1.0.0")]).unwrap();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["rank 2: versions-differ: the version is \"1.0.0\", but that of rank 0 is \"0.0.4\""]
    );
}
