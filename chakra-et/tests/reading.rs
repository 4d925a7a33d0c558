//! What is accepted and what is refused in the bytes of a trace.

mod common;

use chakra_et::graph::{CollectiveInfo, Op, Origin, SourceRef, StepRef};
use chakra_et::proto::{GlobalMetadata, Node, NodeType};
use chakra_et::{attr, frame, graph_from_bytes, metadata, view};
use common::{comp, error, file, file_with, gzip, node, read, send};
use proptest::prelude::*;

/// A small file with every kind of message part.
fn sample() -> Vec<u8> {
    file(&[send(0, 1, &[]), comp(1, &[0]), comp(2, &[0, 1])])
}

#[test]
fn operations_dependences_and_origins_survive_a_round_trip() {
    let mut info = CollectiveInfo::default();
    info.name = "ring".into();
    info.collective = "all_reduce".into();
    info.size_bytes = 2048;
    info.element_type = "f32".into();
    info.chunks = 2;
    let files = ["ring.rs".to_owned()];
    let metadata = metadata::write(Some(&info), &files).unwrap();
    let origin = Origin {
        step: Some(StepRef { thread_block: 1, step: 2 }),
        source: Some(SourceRef { file: 0, line: 33 }),
    };
    let ops = [
        Op::Send { dst: 1, tag: 3, bytes: 1024 },
        Op::Recv { src: 1, tag: 3, bytes: 1024 },
        Op::Comp { micros: 7, ops: 256, bytes: 1024 },
    ];
    let nodes: Vec<Node> = (0..3)
        .map(|id| view::node(id, format!("n{id}"), ops[id as usize], (0..id).collect(), origin).unwrap())
        .collect();
    let rank = file_with(&metadata, &nodes);

    let graph = graph_from_bytes(&[&rank, &rank]).unwrap();
    assert_eq!(graph.rank_count(), 2);
    assert_eq!(graph.rank(1).ops(), ops);
    assert_eq!(graph.rank(1).deps(2), [0, 1]);
    assert_eq!(graph.rank(0).origin(1), origin);
    assert_eq!(graph.source(1, 2), Some(("ring.rs", 33)));
    assert_eq!(graph.info, Some(info));
}

#[test]
fn nodes_are_numbered_by_ascending_id_and_references_may_point_forward() {
    let graph = read(&file(&[comp(30, &[10]), comp(10, &[20]), comp(20, &[])])).unwrap();
    let rank = graph.rank(0);
    assert_eq!((0..3).map(|node| rank.id(node)).collect::<Vec<_>>(), [10, 20, 30]);
    assert_eq!([rank.deps(0), rank.deps(1), rank.deps(2)], [&[1][..], &[], &[0]]);
}

#[test]
fn ids_may_use_all_64_bits() {
    let graph = read(&file(&[comp(u64::MAX, &[]), comp(1 << 63, &[u64::MAX])])).unwrap();
    assert_eq!(graph.rank(0).deps(0), [1]);
    assert_eq!(graph.rank(0).id(1), u64::MAX);
}

#[test]
fn data_and_control_dependences_are_merged_without_duplicates() {
    let mut last = comp(2, &[1, 0, 1]);
    last.ctrl_deps = vec![0, 1];
    let graph = read(&file(&[comp(0, &[]), comp(1, &[]), last])).unwrap();
    assert_eq!(graph.rank(0).deps(2), [0, 1]);
}

#[test]
fn a_broken_dependence_is_an_error_that_names_both_ids() {
    let dangling = file(&[comp(5, &[]), comp(7, &[99])]);
    assert_eq!(
        error(&dangling),
        "rank 0: byte 26, node 1 (id 7): the node has a data dependence on id 99, which no node of the rank has"
    );
    let mut control = comp(7, &[]);
    control.ctrl_deps = vec![99];
    assert!(error(&file(&[control])).contains("control dependence on id 99"));
    assert!(error(&file(&[comp(7, &[7])])).ends_with("the node has itself as a data dependence (id 7)"));
}

#[test]
fn an_id_that_occurs_twice_is_an_error_that_names_both_nodes() {
    let message = error(&file(&[comp(1, &[]), comp(3, &[]), comp(1, &[])]));
    assert!(message.contains("node 2 (id 1): the id is also that of node 0"), "{message}");
}

#[test]
fn any_integer_arm_will_do_and_the_first_attribute_of_a_name_wins() {
    let attrs = vec![
        attr::uint64("comm_dst", 1),
        attr::uint32("comm_tag", 2),
        attr::int32("comm_size", 3),
        attr::string("comm_size", "x"),
    ];
    let graph = read(&file(&[node(0, NodeType::CommSendNode, &[], attrs)])).unwrap();
    assert_eq!(graph.rank(0).op(0), Op::Send { dst: 1, tag: 2, bytes: 3 });
}

#[test]
fn an_attribute_of_the_wrong_kind_is_an_error_that_names_it() {
    let attrs =
        vec![attr::int32("comm_dst", 1), attr::int32("comm_tag", 0), attr::string("comm_size", "1024")];
    assert_eq!(
        error(&file(&[node(9, NodeType::CommSendNode, &[], attrs)])),
        "rank 0: byte 8, node 0 (id 9): attribute comm_size is stored as string_val; a non-negative integer is \
         expected"
    );
}

#[test]
fn a_missing_size_follows_from_the_size_in_the_metadata() {
    let attrs = ["comm_src", "comm_tag", "msg_chunk_cnt", "total_chunk_cnt"]
        .into_iter()
        .zip([1, 0, 2, 4])
        .map(|(name, value)| attr::int32(name, value))
        .collect();
    let nodes = [node(0, NodeType::CommRecvNode, &[], attrs)];
    let stated = GlobalMetadata { version: String::new(), attr: vec![attr::int64("collective_size", 4096)] };
    let graph = read(&file_with(&stated, &nodes)).unwrap();
    assert_eq!(graph.rank(0).op(0), Op::Recv { src: 1, tag: 0, bytes: 2048 });
    let message = error(&file(&nodes));
    assert!(message.contains("attribute comm_size is missing"), "{message}");
    assert!(message.contains("(missing: collective_size)"), "{message}");
}

#[test]
fn packed_and_unpacked_dependences_are_the_same() {
    let mut unpacked = file(&[comp(0, &[]), comp(1, &[])]);
    // {id 2, type COMP, ctrl_deps: 0, data_deps: 1, data_deps: 0} with one key for each value.
    unpacked.extend([10, 0x08, 2, 0x18, 4, 0x20, 0, 0x28, 1, 0x28, 0]);
    assert_eq!(read(&unpacked).unwrap().rank(0).deps(2), [0, 1]);
}

#[test]
fn unknown_fields_and_types_are_accepted() {
    // Metadata {version, field 7: varint}; a node {id 1, type 42, field 2046: bytes}.
    let bytes = [&[9, 0x0a, 5][..], b"0.0.4", &[0x38, 1], &[9, 0x08, 1, 0x18, 42, 0xf2, 0x7f, 2, b'a', b'b']]
        .concat();
    assert_eq!(read(&bytes).unwrap().rank(0).op(0), Op::Other { node_type: 42 });
}

#[test]
fn metadata_may_be_empty_but_not_absent() {
    let nodes = &sample()[8..];
    let with_empty = [&[0][..], nodes].concat();
    assert_eq!(read(&with_empty).unwrap().rank(0), read(&sample()).unwrap().rank(0));
    assert!(
        error(nodes)
            .ends_with("byte 0: the first message is a node; a trace begins with a GlobalMetadata message")
    );
    assert!(error(&[]).contains("rank 0: byte 0: the file is empty"));
}

#[test]
fn a_file_without_nodes_is_an_empty_rank() {
    assert!(read(&file(&[])).unwrap().rank(0).is_empty());
}

#[test]
fn gzip_is_recognised_and_may_have_several_members() {
    let plain = sample();
    let expected = read(&plain).unwrap();
    assert_eq!(read(&gzip(&plain)).unwrap(), expected);
    let members = [gzip(&plain[..13]), gzip(&plain[13..])].concat();
    assert_eq!(read(&members).unwrap(), expected);
}

#[test]
fn a_truncated_gzip_file_is_an_error() {
    let packed = gzip(&sample());
    for end in 1..packed.len() {
        read(&packed[..end]).unwrap_err();
    }
}

#[test]
fn offsets_in_a_gzip_file_are_said_to_be_those_after_decompression() {
    let message = error(&gzip(&file(&[comp(7, &[99])])));
    assert!(message.starts_with("rank 0: byte 8 after decompression, node 0 (id 7): "), "{message}");
}

#[test]
fn every_truncation_is_an_error_or_a_shorter_file() {
    let whole = sample();
    let ends: Vec<usize> = frame::frames(&whole)
        .map(|frame| frame.unwrap().0 as usize)
        .filter(|&offset| offset > 0)
        .chain([whole.len()])
        .collect();
    for end in 0..whole.len() {
        let result = read(&whole[..end]);
        match ends.iter().position(|&message_end| message_end == end) {
            Some(nodes) => assert_eq!(result.unwrap().rank(0).len(), nodes, "at {end}"),
            None => assert!(result.is_err(), "at {end}"),
        }
    }
}

#[test]
fn the_ranks_share_one_table_of_source_files() {
    let rank = |files: &[&str], used: u16| {
        let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        let origin = Origin { step: None, source: Some(SourceRef { file: used, line: 5 }) };
        let op = Op::Comp { micros: 0, ops: 0, bytes: 0 };
        let node = view::node(0, "COMP_NODE", op, vec![], origin).unwrap();
        file_with(&metadata::write(None, &files).unwrap(), &[node])
    };
    let graph =
        graph_from_bytes(&[rank(&["a", "b"], 1), rank(&["c", "b"], 1), rank(&["c"], 0), rank(&["c"], 1)])
            .unwrap();
    assert_eq!(graph.source_files, ["a", "b", "c"]);
    let sources: Vec<_> = (0..4).map(|rank| graph.source(rank, 0)).collect();
    assert_eq!(sources, [Some(("b", 5)), Some(("b", 5)), Some(("c", 5)), None], "the last names no file");
}

#[test]
fn ranks_that_describe_different_collectives_are_an_error() {
    let rank = |size| {
        let mut info = CollectiveInfo::default();
        info.size_bytes = size;
        file_with(&metadata::write(Some(&info), &[]).unwrap(), &[comp(0, &[])])
    };
    let error = graph_from_bytes(&[rank(1), rank(1), rank(2)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rank 2: its metadata describes another collective than that of rank 0 does"
    );
}

#[test]
fn of_several_broken_ranks_the_first_is_reported() {
    let good = sample();
    let error = graph_from_bytes(&[&good[..], b"", &good[..9], b""]).unwrap_err();
    assert!(error.to_string().starts_with("rank 1: "), "{error}");
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        // Past the metadata, too.
        let _ = read(&[&[0][..], &bytes].concat());
    }

    #[test]
    fn a_damaged_file_never_panics(at in 0..sample().len(), byte: u8) {
        let mut bytes = sample();
        bytes[at] = byte;
        let _ = read(&bytes);
        let mut packed = gzip(&sample());
        let at = at % packed.len();
        packed[at] = byte;
        let _ = read(&packed);
    }

    /// Any order of the nodes in the file gives the same graph.
    #[test]
    fn the_order_of_nodes_does_not_matter(
        edges in proptest::collection::vec((0..12_u64, 0..12_u64), 0..40),
        order in Just((0..12_u64).collect::<Vec<_>>()).prop_shuffle(),
        first in 0..u64::MAX - 400,
        gap in 1..30_u64,
    ) {
        let id = |node: u64| first + node * gap;
        let make = |node: u64| {
            let deps: Vec<u64> =
                edges.iter().filter(|&&(a, b)| a == node && b != node).map(|&(_, b)| id(b)).collect();
            // With an attribute, so that no node is a message of length 0.
            node_with_ops(id(node), &deps, node)
        };
        let sorted: Vec<Node> = (0..12).map(make).collect();
        let shuffled: Vec<Node> = order.iter().map(|&node| make(node)).collect();
        let graph = read(&file(&sorted)).unwrap();
        prop_assert_eq!(&read(&file(&shuffled)).unwrap(), &graph);
        for node in 0..12_u32 {
            let mut expected: Vec<u32> = edges
                .iter()
                .filter(|&&(a, b)| a == u64::from(node) && b != u64::from(node))
                .map(|&(_, b)| b as u32)
                .collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(graph.rank(0).deps(node), expected);
            prop_assert_eq!(graph.rank(0).id(node), id(node.into()));
        }
    }
}

fn node_with_ops(id: u64, deps: &[u64], ops: u64) -> Node {
    let op = Op::Comp { micros: 0, ops, bytes: 0 };
    view::node(id, "COMP_NODE", op, deps.to_vec(), Origin::default()).unwrap()
}
