//! Reads the file of one rank into its compact graph.

use std::io::{Read, Seek};

use crate::diagnose::PendingRank;
use crate::error::{FileError, Place, Problem};
use crate::figures;
use crate::graph::assemble::{Assembler, Broken};
use crate::graph::{CollectiveInfo, Op, Origin, RankGraph};
use crate::hot::{HotNode, Unclear};
use crate::messages::{Messages, Schema, fail};
use crate::metadata;
use crate::node_reader::decode;
use crate::proto::{Node, NodeType};
use crate::view;
use crate::warning::Warnings;

/// What one file contributes.
pub(crate) struct Rank {
    pub(crate) graph: RankGraph,
    pub(crate) source_files: Vec<String>,
    pub(crate) info: Option<CollectiveInfo>,
    pub(crate) version: String,
    pub(crate) warnings: Warnings,
}

/// Reads a file; with `watch`, also looks for what there is to warn of in its nodes.
///
/// The quick way through a file keeps nothing that only an error message would need. So when the nodes make
/// no graph, the file is read a second time, in the thorough way, to say which and where.
pub(crate) fn read(mut input: impl Read + Seek, watch: bool) -> Result<Rank, FileError> {
    let mut messages = Messages::open(&mut input)?;
    let graph = match quick(&mut messages, watch)? {
        Ok(graph) => graph,
        Err(Broken) => {
            drop(messages);
            input.rewind().map_err(|error| fail(Place::default(), Problem::Io(error)))?;
            messages = Messages::open(&mut input)?;
            thorough(&mut messages)?
        }
    };
    Ok(Rank {
        graph,
        source_files: metadata::source_files(messages.metadata()).to_vec(),
        info: metadata::info(messages.metadata()),
        version: messages.metadata().version.clone(),
        warnings: messages.warnings,
    })
}

fn quick<R: Read>(messages: &mut Messages<R>, watch: bool) -> Result<Result<RankGraph, Broken>, FileError> {
    let schema = messages.schema();
    let collective_size = metadata::collective_size(messages.metadata());
    let source_files = metadata::source_files(messages.metadata()).len();
    let mut assembler = Assembler::default();
    let mut hot = HotNode::default();
    let mut id_0_taken = false;
    while let Some((mut place, message)) = messages.next()? {
        if message.is_empty() && id_0_taken {
            // Already clear, and a file may have as many of these as it has bytes.
            return Ok(Err(Broken));
        }
        let clear = match schema {
            Schema::Current => hot.decode(&message, watch),
            Schema::V0_0_1 => Err(Unclear),
        };
        let meaning = clear
            .and_then(|()| Ok((figures::op(hot.node_type, hot.micros, &hot.slots, collective_size)?, None)));
        let (op, node) = match meaning {
            Ok(meaning) => meaning,
            Err(Unclear) => {
                let (op, node) = slow(schema, &message, place, collective_size, &mut hot)?;
                (op, Some(node))
            }
        };
        let mut origin = match &node {
            Some(node) => view::origin(node),
            None => figures::origin(&hot.slots),
        };
        drop_foreign_source(&mut origin, source_files);
        let repeated = sort_without_duplicates(&mut hot.deps);
        place.id = Some(hot.id);
        if watch {
            let odd = repeated || hot.odd_attr || NodeType::try_from(hot.node_type).is_err();
            let node = match node {
                None if odd => Some(decode(schema, &message).map_err(|problem| fail(place, problem))?),
                node => node,
            };
            if let Some(node) = node {
                messages.warnings.node(place, &node);
            }
        }
        id_0_taken |= hot.id == 0;
        messages.decoded(hot.id);
        let pushed = assembler.push(hot.id, op, &hot.deps, origin);
        pushed.map_err(|error| fail(place, Problem::TooLarge(error)))?;
    }
    Ok(assembler.finish())
}

/// Decodes a node by prost.
#[cold]
fn slow(
    schema: Schema,
    message: &[u8],
    mut place: Place,
    collective_size: Option<u64>,
    hot: &mut HotNode,
) -> Result<(Op, Node), FileError> {
    let node = decode(schema, message).map_err(|problem| fail(place, problem))?;
    place.id = Some(node.id);
    let op = view::op(&node, collective_size);
    let op = op.map_err(|error| fail(place, Problem::Attr(Box::new(error))))?;
    hot.id = node.id;
    hot.node_type = node.r#type;
    hot.deps.clear();
    hot.deps.extend_from_slice(&node.data_deps);
    hot.deps.extend_from_slice(&node.ctrl_deps);
    Ok((op, node))
}

/// Forgets a source file that the metadata do not name.
pub(crate) fn drop_foreign_source(origin: &mut Origin, source_files: usize) {
    origin.source = origin.source.filter(|source| usize::from(source.file) < source_files);
}

/// Whether there were duplicates.
pub(crate) fn sort_without_duplicates(deps: &mut Vec<u64>) -> bool {
    if deps.is_sorted_by(|a, b| a < b) {
        return false;
    }
    let before = deps.len();
    deps.sort_unstable();
    deps.dedup();
    deps.len() < before
}

/// The same with prost and a record of every node.
pub(crate) fn thorough<R: Read>(messages: &mut Messages<R>) -> Result<RankGraph, FileError> {
    let schema = messages.schema();
    let collective_size = metadata::collective_size(messages.metadata());
    let source_files = metadata::source_files(messages.metadata()).len();
    let mut pending = PendingRank::new(collective_size, source_files);
    while let Some((mut place, message)) = messages.next()? {
        let node = decode(schema, &message).map_err(|problem| fail(place, problem))?;
        place.id = Some(node.id);
        pending.push(place, &node, message.is_empty())?;
        drop(message);
        messages.decoded(node.id);
    }
    pending.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::graph::{SourceRef, StepRef};
    use crate::proto::GlobalMetadata;
    use crate::{RankWriter, attr};

    /// Both ways must come to the same graph or the same error.
    fn check(bytes: &[u8]) -> Result<RankGraph, String> {
        let reference = Messages::open(bytes).and_then(|mut messages| thorough(&mut messages));
        let reference = reference.map_err(|error| error.to_string());
        for watch in [false, true] {
            let quick =
                read(Cursor::new(bytes), watch).map(|rank| rank.graph).map_err(|error| error.to_string());
            assert_eq!(quick, reference);
        }
        // The quick way must not lean on the thorough one for what is sound.
        if reference.is_ok() {
            let mut messages = Messages::open(bytes).unwrap();
            assert!(quick(&mut messages, false).unwrap().is_ok());
        }
        reference
    }

    fn any_op() -> impl Strategy<Value = Op> {
        let (small, large) = (0..1_u32 << 31, 0..1_u64 << 63);
        prop_oneof![
            (small.clone(), small.clone(), large.clone()).prop_map(|(dst, tag, bytes)| Op::Send {
                dst,
                tag,
                bytes
            }),
            (small.clone(), small, large.clone()).prop_map(|(src, tag, bytes)| Op::Recv { src, tag, bytes }),
            (any::<u64>(), large.clone(), any::<u64>()).prop_map(|(micros, ops, bytes)| Op::Comp {
                micros,
                ops,
                bytes
            }),
            (any::<u32>(), large).prop_map(|(kind, bytes)| Op::Coll { kind, bytes }),
            (any::<bool>(), any::<u64>()).prop_map(|(store, bytes)| Op::Mem { store, bytes }),
            prop_oneof![Just(1), Just(42), Just(-3)].prop_map(|node_type| Op::Other { node_type }),
        ]
    }

    fn any_origin() -> impl Strategy<Value = Origin> {
        let number = 0..1_u32 << 31;
        let step =
            (number.clone(), number.clone()).prop_map(|(thread_block, step)| StepRef { thread_block, step });
        let source = (0..3_u16, 1..1_u32 << 31).prop_map(|(file, line)| SourceRef { file, line });
        (proptest::option::of(step), proptest::option::of(source))
            .prop_map(|(step, source)| Origin { step, source })
    }

    /// The nodes of a rank as (id, operation, dependences, origin), in any order, with any gaps between ids.
    fn any_nodes() -> impl Strategy<Value = Vec<(u64, Op, Vec<u64>, Origin)>> {
        let ids = prop_oneof![
            (0..u64::MAX - 40, 1..20_usize)
                .prop_map(|(first, count)| (0..count as u64).map(|i| first + i).collect::<Vec<_>>()),
            proptest::collection::btree_set(any::<u64>(), 1..20).prop_map(|ids| ids.into_iter().collect()),
            proptest::collection::btree_set(0..40_u64, 1..20).prop_map(|ids| ids.into_iter().collect()),
        ];
        (ids, any::<bool>()).prop_flat_map(|(ids, shuffle)| {
            let order =
                if shuffle { Just(ids.clone()).prop_shuffle().boxed() } else { Just(ids.clone()).boxed() };
            let count = ids.len();
            let each =
                (any_op(), proptest::collection::vec(proptest::sample::select(ids), 0..4), any_origin());
            (order, proptest::collection::vec(each, count)).prop_map(|(ids, nodes)| {
                let node = |(id, (op, mut deps, origin)): (u64, (Op, Vec<u64>, Origin))| {
                    deps.retain(|&dep| dep != id);
                    (id, op, deps, origin)
                };
                ids.into_iter().zip(nodes).map(node).collect()
            })
        })
    }

    fn file(nodes: &[(u64, Op, Vec<u64>, Origin)]) -> Vec<u8> {
        let files = ["a", "b"].map(str::to_owned);
        let metadata = crate::metadata::write(None, &files).unwrap();
        let mut writer = RankWriter::new(&metadata).unwrap();
        for (id, op, deps, origin) in nodes {
            let mut node = view::node(*id, format!("n{id}"), *op, deps.clone(), *origin).unwrap();
            node.attr.push(attr::string("step_type", "s"));
            node.ctrl_deps = deps.iter().rev().take(1).copied().collect();
            writer.node(&node).unwrap();
        }
        writer.finish()
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_back(nodes in any_nodes()) {
            let graph = check(&file(&nodes)).unwrap();
            prop_assert_eq!(graph.len(), nodes.len());
            let mut sorted: Vec<u64> = nodes.iter().map(|node| node.0).collect();
            sorted.sort_unstable();
            for (number, &id) in sorted.iter().enumerate() {
                let number = number as u32;
                let (_, op, deps, origin) = nodes.iter().find(|node| node.0 == id).unwrap();
                prop_assert_eq!(graph.id(number), id);
                prop_assert_eq!(graph.find(id), Some(number));
                prop_assert_eq!(graph.op(number), *op);
                let mut deps: Vec<u32> = deps.iter().map(|dep| sorted.binary_search(dep).unwrap() as u32).collect();
                deps.sort_unstable();
                deps.dedup();
                prop_assert_eq!(graph.deps(number), deps);
                let mut expected = *origin;
                drop_foreign_source(&mut expected, 2);
                prop_assert_eq!(graph.origin(number), expected);
            }
        }

        #[test]
        fn damaged_files_are_judged_the_same_in_both_ways(
            nodes in any_nodes(),
            damage in proptest::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), 0..4_u8]), 1..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = file(&nodes);
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = check(&bytes);
            let _ = check(&bytes[..cut.index(bytes.len())]);
        }

        #[test]
        fn random_messages_are_judged_the_same_in_both_ways(
            messages in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![any::<u8>(), 0..9_u8, Just(0x08), Just(0x28)], 0..8), 0..8),
        ) {
            let mut bytes = file(&[]);
            for message in messages {
                bytes.push(message.len() as u8);
                bytes.extend(message);
            }
            let _ = check(&bytes);
        }
    }

    #[test]
    fn an_empty_message_is_a_node_unless_id_0_is_taken_and_the_file_ends() {
        let metadata = GlobalMetadata { version: "0.0.4".into(), attr: vec![] };
        let with = |rest: &[u8]| [&RankWriter::new(&metadata).unwrap().finish()[..], rest].concat();
        assert_eq!(check(&with(&[0])).unwrap().len(), 1);
        assert_eq!(check(&with(&[0, 0, 0])).unwrap().len(), 1);
        assert_eq!(check(&with(&[2, 0x18, 4, 0])).unwrap().len(), 1, "the first node has id 0");
        assert_eq!(check(&with(&[0, 2, 0x08, 1])).unwrap().len(), 2);
        assert_eq!(check(&with(&[2, 0x08, 1, 0])).unwrap().len(), 2);
        assert_eq!(
            check(&with(&[0, 0, 0, 2, 0x08, 1])).unwrap_err(),
            "byte 9, node 1 (id 0): the id is also that of node 0; ids must be unique within a rank"
        );
        assert!(check(&with(&[2, 0x18, 4, 0, 0, 5])).is_err(), "truncated after zeros");
    }
}
