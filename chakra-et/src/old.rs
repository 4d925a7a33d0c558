//! Converts nodes of schema 0.0.1, of early 2023, into those of today.
//!
//! That schema had no metadata and no attributes: whatever a node could say was a field of its own.

use prost::Message;

use crate::attr;
use crate::error::Problem;
use crate::metadata::VERSION;
use crate::proto::{AttributeProto, CollectiveCommType, GlobalMetadata, Node, NodeType};
use crate::schema::V0_0_1;

/// A node of schema 0.0.1.
#[derive(Clone, PartialEq, Message)]
struct OldNode {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(uint64, tag = "3")]
    node_type: u64,
    #[prost(uint64, repeated, tag = "4")]
    parent: Vec<u64>,
    #[prost(uint32, optional, tag = "5")]
    tensor_loc: Option<u32>,
    #[prost(uint64, optional, tag = "6")]
    tensor_size: Option<u64>,
    #[prost(uint64, tag = "7")]
    simulated_run_time: u64,
    #[prost(uint32, optional, tag = "8")]
    input_tensor_loc: Option<u32>,
    #[prost(uint64, optional, tag = "9")]
    input_tensor_size: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    output_tensor_loc: Option<u32>,
    #[prost(uint64, optional, tag = "11")]
    output_tensor_size: Option<u64>,
    #[prost(int64, optional, tag = "12")]
    num_ops: Option<i64>,
    #[prost(uint64, optional, tag = "13")]
    comm_type: Option<u64>,
    #[prost(bool, repeated, packed = "false", tag = "14")]
    involved_dim: Vec<bool>,
    #[prost(int32, optional, tag = "15")]
    communicator_id: Option<i32>,
    #[prost(int32, optional, tag = "16")]
    comm_src: Option<i32>,
    #[prost(int32, optional, tag = "17")]
    comm_dst: Option<i32>,
    // Stored as an unsigned integer by some; on the wire both are the same.
    #[prost(int64, optional, tag = "18")]
    comm_size: Option<i64>,
    #[prost(int32, optional, tag = "19")]
    comm_tag: Option<i32>,
    #[prost(int32, optional, tag = "20")]
    comm_priority: Option<i32>,
}

/// The metadata that a converted file is given.
pub(crate) fn metadata() -> GlobalMetadata {
    let attr = vec![attr::string("schema", "converted from 0.0.1")];
    GlobalMetadata { version: VERSION.to_owned(), attr }
}

/// Converts a node.
pub(crate) fn node(message: &[u8]) -> Result<Node, Problem> {
    let old = OldNode::decode(message)
        .map_err(|source| Problem::Decode { what: "Node of schema 0.0.1", source })?;
    let mut node = Node {
        id: old.id,
        name: old.name,
        data_deps: old.parent,
        duration_micros: old.simulated_run_time,
        ..Node::default()
    };
    node.set_type(node_type(old.node_type)?);
    let comm_type = old.comm_type.map(comm_type).transpose()?.flatten();
    let attrs = &mut node.attr;
    let mut add = |attr: Option<AttributeProto>| attrs.extend(attr);
    add(comm_type.map(|kind| attr::int64("comm_type", i32::from(kind).into())));
    add(old.comm_src.map(|value| attr::int32("comm_src", value)));
    add(old.comm_dst.map(|value| attr::int32("comm_dst", value)));
    add(old.comm_tag.map(|value| attr::int32("comm_tag", value)));
    add(old.comm_size.map(|value| attr::int64("comm_size", value)));
    add(old.comm_priority.map(|value| attr::int32("comm_priority", value)));
    // Communicator 0 was all ranks, which today is said by no group.
    add(old.communicator_id.filter(|&id| id != 0).map(|id| attr::string("pg_name", id.to_string())));
    add((!old.involved_dim.is_empty()).then(|| attr::bool_list("involved_dim", old.involved_dim)));
    add(old.num_ops.map(|value| attr::int64("num_ops", value)));
    add(old.tensor_loc.map(|value| attr::uint32("tensor_loc", value)));
    add(old.tensor_size.map(|value| attr::uint64("tensor_size", value)));
    add(old.input_tensor_loc.map(|value| attr::uint32("input_tensor_loc", value)));
    add(old.input_tensor_size.map(|value| attr::uint64("input_tensor_size", value)));
    add(old.output_tensor_loc.map(|value| attr::uint32("output_tensor_loc", value)));
    add(old.output_tensor_size.map(|value| attr::uint64("output_tensor_size", value)));
    Ok(node)
}

fn node_type(value: u64) -> Result<NodeType, Problem> {
    Ok(match value {
        0 => NodeType::InvalidNode,
        1 => NodeType::MemLoadNode,
        2 => NodeType::MemStoreNode,
        3 => NodeType::CompNode,
        4 => NodeType::CommSendNode,
        5 => NodeType::CommRecvNode,
        6 => NodeType::CommCollNode,
        _ => return Err(Problem::OldValue { version: V0_0_1, field: "node_type", value }),
    })
}

/// The kind of a collective; `None` for the value that says that there is none.
fn comm_type(value: u64) -> Result<Option<CollectiveCommType>, Problem> {
    Ok(Some(match value {
        0 => return Ok(None),
        1 => CollectiveCommType::AllReduce,
        2 => CollectiveCommType::AllToAll,
        3 => CollectiveCommType::AllGather,
        4 => CollectiveCommType::ReduceScatter,
        _ => return Err(Problem::OldValue { version: V0_0_1, field: "comm_type", value }),
    }))
}
