//! What is read, and what is refused.

use chakra_et::proto::GlobalMetadata;
use proptest::prelude::*;

use super::common::{file_with, gzip};
use super::*;

#[test]
fn a_step_is_read_with_groups_streams_names_and_ids() {
    let rank = |rank: u64| {
        let mut kernel = comp(40, &[]);
        kernel.attr = vec![attr::bool("is_cpu_op", false), attr::int64("stream", 7), attr::int64("tid", 1)];
        let mut host = comp(7, &[]);
        host.attr = vec![attr::int32("is_cpu_op", 1), attr::int64("tid", -3)];
        host.duration_micros = 5;
        let mut load = node(3, NodeType::MemLoadNode, &[], vec![attr::uint64("tensor_size", 64)]);
        load.attr.push(attr::uint32("tensor_loc", 2));
        let group = if rank.is_multiple_of(2) { "12" } else { "5" };
        // Not in the order of the ids.
        file(&[coll(90, 0, 1024, Some(group), &[40]), kernel, host, coll(91, 4, 0, Some("0"), &[90]), load])
    };
    let groups = groups(&[("12", &[0, 2]), ("5", &[1, 3])]);
    let workload = from_bytes(&[rank(0), rank(1), rank(2), rank(3)], Some(&groups)).unwrap();
    let names: Vec<&str> = workload.groups().iter().map(|group| group.name.as_str()).collect();
    // Ascending by value, not as texts.
    assert_eq!(names, ["", "5", "12"]);
    let of = workload.rank(3);
    let ids: Vec<u64> = (0..5).map(|node| of.graph().id(node)).collect();
    assert_eq!(ids, [3, 7, 40, 90, 91]);
    assert_eq!(of.name(3), "COMM_COLL_NODE_90");
    assert_eq!((of.traits(3).group, of.traits(4).group), (1, 0));
    assert_eq!(workload.rank(2).traits(3).group, 2);
    assert!(of.traits(0).remote && of.traits(1).on_cpu && !of.traits(2).on_cpu);
    // A negative thread is replaced by its order.
    assert_eq!((of.traits(1).stream, of.traits(2).stream), (0, 7));
    assert_eq!(of.graph().deps(3), [2]);
}

#[test]
fn groups_may_be_named_by_integers_and_compressed_files_do() {
    let mut sum = coll(0, 0, 8, None, &[]);
    sum.attr.push(attr::int32("pg_name", 5));
    let bytes = gzip(&file(&[sum]));
    let workload = from_bytes(&[bytes], Some(&groups(&[("5", &[0])]))).unwrap();
    assert_eq!(workload.rank(0).traits(0).group, 1);
    let mut sum = coll(0, 0, 8, None, &[]);
    sum.attr.push(attr::uint64("pg_name", 0));
    let workload = from_bytes(&[file(&[sum])], None).unwrap();
    assert_eq!(workload.rank(0).traits(0).group, 0);
}

#[test]
fn a_group_that_nobody_knows_is_an_error_that_says_which_there_are() {
    let rank = || file(&[comp(1, &[]), coll(2, 0, 8, Some("7"), &[1])]);
    assert_eq!(
        message(from_bytes(&[rank()], Some(&groups(&[("5", &[0]), ("10", &[0])])))),
        "rank 0: rank 0, node 2 \"COMM_COLL_NODE_2\": who is in its group \"7\" (pg_name) is not known: the group \
         file has \"5\", \"10\""
    );
    assert!(
        message(from_bytes(&[rank()], None))
            .ends_with("is not known: no group file was given, and the trace describes no process groups")
    );
}

#[test]
fn a_rank_on_a_group_without_it_is_an_error() {
    let ranks = [file(&[coll(2, 0, 8, Some("7"), &[])]), file(&[coll(4, 0, 8, Some("7"), &[])])];
    assert_eq!(
        message(from_bytes(&ranks, Some(&groups(&[("7", &[0])])))),
        "rank 1: rank 1, node 4 \"COMM_COLL_NODE_4\": its rank is no member of its group \"7\" (pg_name), which has \
         the ranks 0"
    );
}

#[test]
fn members_that_are_no_ranks_matter_where_the_group_is_used() {
    let ranks = [file(&[coll(2, 0, 8, Some("7"), &[])])];
    let error = message(from_bytes(&ranks, Some(&groups(&[("7", &[0, 1])]))));
    assert!(error.ends_with("cannot be: its member 1 is no rank of the trace, which has 1"), "{error}");
    let error = message(from_bytes(&ranks, Some(&groups(&[("7", &[0, 0])]))));
    assert!(error.ends_with("cannot be: it has rank 0 twice"), "{error}");
    let given = groups(&[("7", &[0]), ("8", &[0, 1])]);
    let loaded = load_bytes(&ranks, Some(&given), &ReadOptions::default()).unwrap();
    assert_eq!(loaded.workload.groups().len(), 2);
    assert_eq!(
        loaded.warnings[0].to_string(),
        "group-left-out: group \"8\" is left out: its member 1 is no rank of the trace, which has 1"
    );
}

#[test]
fn group_0_is_that_of_all_ranks_and_nothing_else() {
    let ranks = [file(&[coll(2, 0, 8, Some("0"), &[])]), file(&[comp(1, &[])])];
    assert!(from_bytes(&ranks, Some(&groups(&[("0", &[1, 0])]))).is_ok());
    let error = message(from_bytes(&ranks, Some(&groups(&[("0", &[0])]))));
    assert!(
        error.ends_with(
            "it stands for all ranks of the trace, which are 2, but has 1 members in the group file"
        ),
        "{error}"
    );
}

#[test]
fn roots_are_positions_of_the_group() {
    let rooted = |root: i32| {
        let mut node = coll(2, 5, 8, Some("7"), &[]);
        node.attr.push(attr::int32("root", root));
        file(&[node])
    };
    let given = groups(&[("7", &[0, 1])]);
    let workload = from_bytes(&[rooted(1), rooted(1)], Some(&given)).unwrap();
    assert_eq!(workload.rank(0).traits(0).root, 1);
    let error = message(from_bytes(&[rooted(1), rooted(2)], Some(&given)));
    assert!(
        error.ends_with("its root is position 2 of group \"7\", which has 2 member(s), counted from 0"),
        "{error}"
    );
    assert!(message(from_bytes(&[rooted(-1), rooted(0)], Some(&given))).contains("attribute root"));
    // An all-reduce has none, whatever the attribute means there.
    let mut sum = coll(2, 0, 8, None, &[]);
    sum.attr.push(attr::int32("root", 9));
    assert_eq!(from_bytes(&[file(&[sum])], None).unwrap().rank(0).traits(0).root, 0);
}

#[test]
fn what_is_no_collective_of_the_format_is_an_error_with_its_place() {
    let error = |node: Node| message(from_bytes(&[file(&[comp(1, &[]), node])], None));
    assert_eq!(
        error(coll(2, 10, 8, None, &[])),
        "rank 0: byte 26, node 1 (id 2): attribute comm_type (int64_val) is 10; a kind of the format, 0 to 9, is \
         expected"
    );
    assert!(error(coll(2, 0, -8, None, &[])).contains("attribute comm_size (int64_val) is -8"));
    let mut without = coll(2, 0, 8, None, &[]);
    without.attr.retain(|attr| attr.name != "comm_size");
    assert!(error(without).contains("attribute comm_size is missing"));
    let mut text = comp(2, &[]);
    text.attr.push(attr::string("is_cpu_op", "no"));
    assert!(error(text).contains("attribute is_cpu_op is stored as string_val"));
}

#[test]
fn broken_dependences_are_errors_or_dropped_with_a_warning() {
    let mut own = comp(3, &[3, 1]);
    own.ctrl_deps = vec![99];
    let ranks = [file(&[comp(1, &[]), own, comp(5, &[98])])];
    assert_eq!(
        message(from_bytes(&ranks, None)),
        "rank 0: byte 26, node 1 (id 3): the node has itself as a data dependence (id 3); reading with \
         `drop_dangling` leaves out such dependences"
    );
    let mut options = ReadOptions::default();
    options.drop_dangling = true;
    let loaded = load_bytes(&ranks, None, &options).unwrap();
    assert_eq!(loaded.workload.rank(0).graph().deps(1), [0]);
    assert_eq!(loaded.warnings.len(), 1);
    assert_eq!((loaded.warnings[0].kind.id(), loaded.warnings[0].count), ("dropped-dependence", 3));
    // An id that occurs twice stays an error.
    let twice = [file(&[comp(1, &[]), comp(1, &[7])])];
    assert!(message(load_bytes(&twice, None, &options)).contains("ids must be unique"));
}

#[test]
fn files_that_are_cut_off_are_errors() {
    let whole = file(&[comp(1, &[]), coll(2, 0, 8, None, &[1])]);
    for length in 1..whole.len() {
        let cut = from_bytes(&[&whole[..length]], None);
        assert!(cut.is_err() || cut.unwrap().node_count() < 2, "{length}");
    }
}

#[test]
fn dimensions_are_ignored_with_a_warning() {
    let with = |dims: [bool; 2]| {
        let mut sum = coll(1, 0, 8, None, &[]);
        sum.attr.push(attr::bool_list("involved_dim", dims));
        load_bytes(&[file(&[sum.clone(), Node { id: 2, ..sum }])], None, &ReadOptions::default())
            .unwrap()
            .warnings
    };
    assert_eq!(with([true, true]), []);
    let warnings = with([true, false]);
    assert_eq!((warnings[0].kind.id(), warnings[0].count), ("involved-dim", 2));
}

#[test]
fn what_launches_a_collective_on_the_cpu_is_no_collective() {
    let mut launch = node(1, NodeType::CommCollNode, &[], vec![attr::bool("is_cpu_op", true)]);
    launch.duration_micros = 85;
    let ranks = [file(&[launch, coll(2, 0, 8, None, &[1])])];
    let loaded = load_bytes(&ranks, None, &ReadOptions::default()).unwrap();
    assert_eq!(loaded.warnings[0].kind.id(), "host-collective");
    assert_eq!(
        loaded.workload.rank(0).graph().op(0),
        chakra_et::graph::Op::Comp { micros: 85, ops: 0, bytes: 0 }
    );
    assert!(loaded.workload.rank(0).traits(0).on_cpu);
}

#[cfg(feature = "json")]
#[test]
fn process_groups_of_the_trace_count_where_no_file_is_given() {
    let list = r#"[{"pg_name": "7", "ranks": [0, 1]}, {"pg_name": "8", "ranks": [0, 63]}]"#;
    let inputs = Some(chakra_et::proto::IoInfo {
        values: format!("['{list}']"),
        ..chakra_et::proto::IoInfo::default()
    });
    let init = Node {
        id: 1,
        name: "## process_group:init ##".into(),
        r#type: NodeType::MetadataNode.into(),
        inputs,
        ..Node::default()
    };
    let ranks = [file(&[init, coll(2, 0, 8, Some("7"), &[])]), file(&[coll(2, 0, 8, Some("7"), &[])])];
    let loaded = load_bytes(&ranks, None, &ReadOptions::default()).unwrap();
    assert_eq!(loaded.workload.groups()[1].members, [0, 1]);
    assert_eq!(loaded.warnings[0].kind.id(), "group-left-out");
}

#[test]
fn old_files_are_read_with_their_communicators() {
    // Schema 0.0.1, by hand: id 1, type COMP (3); id 2, type COLL (6), parent 1, all-reduce (1), communicator 5,
    // size 300.
    let bytes = [
        &[6, 0x08, 1, 0x12, 0, 0x18, 3][..],
        &[14, 0x08, 2, 0x12, 0, 0x18, 6, 0x20, 1, 0x68, 1, 0x78, 5, 0x90, 0x01],
    ]
    .concat();
    let mut bytes = bytes;
    // The size takes two bytes more than the message above has.
    let length = 7;
    bytes[length] += 2;
    bytes.extend([0xac, 0x02]);
    let workload = from_bytes(&[bytes], Some(&groups(&[("5", &[0])]))).unwrap();
    assert_eq!(workload.rank(0).traits(1).group, 1);
    assert_eq!(workload.rank(0).graph().op(1), chakra_et::graph::Op::Coll { kind: 0, bytes: 300 });
}

#[test]
fn other_versions_of_other_ranks_are_a_warning() {
    let other = GlobalMetadata { version: "1.0.0".into(), attr: vec![] };
    let ranks = [file(&[comp(1, &[])]), file_with(&other, &[comp(1, &[])])];
    let loaded = load_bytes(&ranks, None, &ReadOptions::default()).unwrap();
    assert_eq!(loaded.warnings[0].kind.id(), "versions-differ");
}

/// Nodes with dependences on any of few ids, some of which no node has.
fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let node = (0..9_u64, proptest::collection::vec(0..10_u64, 0..3), 0..4_u8);
    let node = node.prop_map(|(id, deps, kind)| match kind {
        0 => common::send(id, 1, &deps),
        1 => coll(id, 2, 300, None, &deps),
        _ => comp(id, &deps),
    });
    proptest::collection::vec(node, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is wrong with a file is said as by the reader of algorithms, and what is not is the same graph.
    #[test]
    fn broken_files_give_the_errors_that_they_give_elsewhere(
        nodes in nodes(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..2),
        cut in proptest::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = file(&nodes);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        match (from_bytes(&[&bytes], None), chakra_et::graph_from_bytes(&[&bytes])) {
            // A kind that is none is an error here only.
            (Err(error), _) if error.to_string().contains("comm_type (") => {}
            (Ok(workload), Ok(graph)) => prop_assert_eq!(workload.rank(0).graph(), graph.rank(0)),
            (Err(LoadError::Trace { error }), Err(other)) => prop_assert_eq!(error.to_string(), other.to_string()),
            (workload, graph) => prop_assert!(false, "{:?} but {:?}", workload, graph),
        }
        let mut options = ReadOptions::default();
        options.drop_dangling = true;
        if let Err(error) = load_bytes(&[&bytes], None, &options) {
            let error = error.to_string();
            prop_assert!(!error.contains("dependence on id") && !error.contains("has itself as"), "{}", error);
        }
    }
}
