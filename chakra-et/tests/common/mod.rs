//! Traces that the tests make themselves.
// Each test binary uses some of these.
#![allow(dead_code)]

use std::io::Write;

use chakra_et::proto::{AttributeProto, GlobalMetadata, Node, NodeType};
use chakra_et::{Graph, RankWriter, ReadError, attr, graph_from_bytes};
use flate2::Compression;
use flate2::write::GzEncoder;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// A node with the given attributes.
pub(crate) fn node(id: u64, node_type: NodeType, data_deps: &[u64], attr: Vec<AttributeProto>) -> Node {
    let name = format!("{}_{id}", node_type.as_str_name());
    Node { id, name, r#type: node_type.into(), data_deps: data_deps.to_vec(), attr, ..Node::default() }
}

pub(crate) fn comp(id: u64, data_deps: &[u64]) -> Node {
    node(id, NodeType::CompNode, data_deps, vec![])
}

pub(crate) fn send(id: u64, dst: i32, data_deps: &[u64]) -> Node {
    let attrs =
        vec![attr::int32("comm_dst", dst), attr::int32("comm_tag", 0), attr::int64("comm_size", 1024)];
    node(id, NodeType::CommSendNode, data_deps, attrs)
}

/// The file of a rank with foreign metadata.
pub(crate) fn file(nodes: &[Node]) -> Vec<u8> {
    file_with(&GlobalMetadata { version: "0.0.4".into(), attr: vec![] }, nodes)
}

pub(crate) fn file_with(metadata: &GlobalMetadata, nodes: &[Node]) -> Vec<u8> {
    let mut writer = RankWriter::new(metadata).expect("the metadata can be encoded");
    for node in nodes {
        writer.node(node).expect("the node can be encoded");
    }
    writer.finish()
}

/// Reads one rank.
pub(crate) fn read(file: &[u8]) -> Result<Graph, ReadError> {
    graph_from_bytes(&[file])
}

/// The message of the error that reading one rank gives.
pub(crate) fn error(file: &[u8]) -> String {
    match read(file) {
        Ok(graph) => panic!("was read: {graph:?}"),
        Err(error) => error.to_string(),
    }
}
