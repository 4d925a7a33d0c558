//! What a node means: the typed view of a [`Node`], and nodes made from it.

use crate::attr::{self, AttrError};
use crate::figures::{self, Figure, Figures};
use crate::graph::{Op, Origin};
use crate::proto::{AttributeProto, Node, NodeType};

/// What the node does.
///
/// A send or receive needs its peer, `comm_tag` and `comm_size`. Some writers state no `comm_size` but how
/// many chunks of the collective a message has (`msg_chunk_cnt` of `total_chunk_cnt`); its size then
/// follows from `collective_size`, the size that the metadata states
/// ([`crate::metadata::collective_size`]). A literal `comm_size` wins. The figures of a computation are
/// optional and count as 0. Nodes of other types, also unknown ones, are [`Op::Other`].
///
/// # Errors
/// If an attribute that the type of the node needs is missing, or one is not a non-negative integer.
pub fn op(node: &Node, collective_size: Option<u64>) -> Result<Op, AttrError> {
    figures::op(node.r#type, node.duration_micros, &*node.attr, collective_size)
}

/// Where the node comes from, as far as it says so.
///
/// The step is read from `tb_id` and `local_time_step`, the line from `source_line` and `source_file` (an
/// index into the `source_files` of the metadata; 0 if absent). Others may use these names for something
/// else, so what does not fit counts as absent.
#[must_use]
pub fn origin(node: &Node) -> Origin {
    figures::origin(&*node.attr)
}

impl Figures for [AttributeProto] {
    type Error = AttrError;

    fn find(&self, figure: Figure) -> Result<Option<u64>, AttrError> {
        attr::find_u64(self, figure.name())
    }

    fn find_u32(&self, figure: Figure) -> Result<Option<u32>, AttrError> {
        attr::find_u32(self, figure.name())
    }

    fn has(&self, figure: Figure) -> bool {
        attr::find(self, figure.name()).is_some()
    }
}

/// A node that says what [`op`] and [`origin`] read, with the arms that every known reader accepts.
///
/// `deps` become data dependences (the older reader ignores the others); they must have no duplicates, or
/// that reader never starts the node. Names should contain the name of the node's type, as some tools
/// look for it, and neither comma nor `=`. Push further attributes to [`Node::attr`].
///
/// # Errors
/// If a figure does not fit its arm: 31 bits for peers and tags, 63 bits for sizes.
pub fn node(
    id: u64,
    name: impl Into<String>,
    op: Op,
    deps: Vec<u64>,
    origin: Origin,
) -> Result<Node, AttrError> {
    let mut node = Node { id, name: name.into(), data_deps: deps, ..Node::default() };
    let attrs = &mut node.attr;
    let node_type = match op {
        Op::Send { dst, tag, bytes } => {
            attrs.push(attr::int32_from("comm_dst", dst)?);
            attrs.push(attr::int32_from("comm_tag", tag)?);
            attrs.push(attr::int64_from("comm_size", bytes)?);
            NodeType::CommSendNode
        }
        Op::Recv { src, tag, bytes } => {
            attrs.push(attr::int32_from("comm_src", src)?);
            attrs.push(attr::int32_from("comm_tag", tag)?);
            attrs.push(attr::int64_from("comm_size", bytes)?);
            NodeType::CommRecvNode
        }
        Op::Coll { kind, bytes } => {
            attrs.push(attr::bool("is_cpu_op", false));
            attrs.push(attr::int64("comm_type", kind.into()));
            attrs.push(attr::int64_from("comm_size", bytes)?);
            NodeType::CommCollNode
        }
        Op::Comp { micros, ops, bytes } => {
            node.duration_micros = micros;
            attrs.push(attr::int64_from("num_ops", ops)?);
            attrs.push(attr::uint64("tensor_size", bytes));
            NodeType::CompNode
        }
        Op::Mem { store, bytes } => {
            attrs.push(attr::uint64("tensor_size", bytes));
            if store { NodeType::MemStoreNode } else { NodeType::MemLoadNode }
        }
        Op::Other { node_type } => {
            node.r#type = node_type;
            push_origin(attrs, origin)?;
            return Ok(node);
        }
    };
    node.set_type(node_type);
    push_origin(&mut node.attr, origin)?;
    Ok(node)
}

fn push_origin(attrs: &mut Vec<AttributeProto>, origin: Origin) -> Result<(), AttrError> {
    if let Some(step) = origin.step {
        attrs.push(attr::int32_from("tb_id", step.thread_block)?);
        attrs.push(attr::int32_from("local_time_step", step.step)?);
    }
    if let Some(source) = origin.source {
        attrs.push(attr::int32_from("source_line", source.line)?);
        if source.file > 0 {
            attrs.push(attr::int32("source_file", source.file.into()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{SourceRef, StepRef};

    fn typed(node_type: NodeType, attr: Vec<AttributeProto>) -> Node {
        Node { r#type: node_type.into(), attr, ..Node::default() }
    }

    #[test]
    fn a_node_made_from_an_operation_reads_as_that_operation() -> Result<(), AttrError> {
        let origin = Origin {
            step: Some(StepRef { thread_block: 0, step: 3 }),
            source: Some(SourceRef { file: 2, line: 17 }),
        };
        for op in [
            Op::Send { dst: 3, tag: 1, bytes: 1 << 40 },
            Op::Recv { src: 0, tag: 0, bytes: 0 },
            Op::Coll { kind: 7, bytes: 64 },
            Op::Comp { micros: 7, ops: 256, bytes: 1024 },
            Op::Mem { store: true, bytes: 9 },
            Op::Mem { store: false, bytes: 9 },
            Op::Other { node_type: 42 },
            Op::Other { node_type: 1 },
        ] {
            let node = node(5, "x", op, vec![1, 2], origin)?;
            assert_eq!(super::op(&node, None)?, op);
            assert_eq!(super::origin(&node), origin);
            assert_eq!((node.id, &node.data_deps[..]), (5, &[1, 2][..]));
        }
        Ok(())
    }

    #[test]
    fn a_send_needs_its_attributes() {
        let complete = [attr::int32("comm_dst", 1), attr::int32("comm_tag", 0), attr::int64("comm_size", 8)];
        for missing in 0..complete.len() {
            let mut attrs = complete.to_vec();
            let name = attrs.remove(missing).name;
            let error = op(&typed(NodeType::CommSendNode, attrs), None).unwrap_err();
            assert!(error.to_string().starts_with(&format!("attribute {name} is missing")), "{error}");
        }
    }

    #[test]
    fn negative_figures_are_errors() {
        for (node_type, name) in [
            (NodeType::CommSendNode, "comm_dst"),
            (NodeType::CommRecvNode, "comm_src"),
            (NodeType::CommSendNode, "comm_tag"),
            (NodeType::CommSendNode, "comm_size"),
            (NodeType::CommCollNode, "comm_type"),
            (NodeType::CompNode, "num_ops"),
            (NodeType::MemLoadNode, "tensor_size"),
        ] {
            let mut attrs = vec![attr::int64(name, -1)];
            attrs.extend(
                ["comm_src", "comm_dst", "comm_tag", "comm_size", "comm_type"].map(|n| attr::int64(n, 1)),
            );
            let error = op(&typed(node_type, attrs), None).unwrap_err();
            assert!(matches!(error, AttrError::OutOfRange { name: found, .. } if found == name), "{error}");
        }
    }

    fn symbolic(chunks: i32, total: i32) -> Node {
        let attrs = vec![
            attr::int32("comm_src", 1),
            attr::int32("comm_tag", 0),
            attr::int32("msg_chunk_cnt", chunks),
            attr::int32("total_chunk_cnt", total),
        ];
        typed(NodeType::CommRecvNode, attrs)
    }

    #[test]
    fn without_a_literal_size_it_follows_from_the_chunks() {
        let node = symbolic(2, 8);
        assert_eq!(op(&node, Some(1024)), Ok(Op::Recv { src: 1, tag: 0, bytes: 256 }));
        assert_eq!(op(&node, None), Err(AttrError::NoSize { missing: "collective_size" }));
    }

    #[test]
    fn a_literal_size_wins() {
        let mut node = symbolic(2, 8);
        node.attr.push(attr::int64("comm_size", 77));
        assert_eq!(op(&node, Some(1024)), Ok(Op::Recv { src: 1, tag: 0, bytes: 77 }));
    }

    #[test]
    fn a_size_that_is_no_whole_number_of_bytes_is_an_error() {
        for (chunks, total, collective) in [(1, 3, 1024), (1, 0, 1024), (4, 1, u64::MAX)] {
            let error = op(&symbolic(chunks, total), Some(collective)).unwrap_err();
            assert!(matches!(error, AttrError::UnevenSize { .. }), "{error}");
        }
    }

    #[test]
    fn figures_of_a_computation_are_optional_but_not_of_another_kind() {
        assert_eq!(
            op(&typed(NodeType::CompNode, vec![]), None),
            Ok(Op::Comp { micros: 0, ops: 0, bytes: 0 })
        );
        assert!(op(&typed(NodeType::CompNode, vec![attr::string("num_ops", "1")]), None).is_err());
    }

    #[test]
    fn an_origin_of_another_kind_counts_as_absent() {
        let mut node = typed(NodeType::CompNode, vec![attr::string("tb_id", "x")]);
        node.attr.push(attr::int32("local_time_step", 1));
        node.attr.push(attr::int32("source_line", -4));
        assert_eq!(origin(&node), Origin::default());
    }

    #[test]
    fn a_source_line_without_file_is_of_the_first_file() {
        let node = typed(NodeType::CompNode, vec![attr::int32("source_line", 9)]);
        assert_eq!(origin(&node).source, Some(SourceRef { file: 0, line: 9 }));
    }
}
