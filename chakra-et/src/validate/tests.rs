//! Every rule, on an input that breaks it.

use crate::groups::Groups;
use crate::proto::{AttributeProto, CollectiveCommType, GlobalMetadata, Node, NodeType};
use crate::{RankWriter, attr};

use super::*;

fn node(id: u64, node_type: NodeType, deps: &[u64], attr: Vec<AttributeProto>) -> Node {
    let name = format!("n{id}");
    Node { id, name, r#type: node_type.into(), data_deps: deps.to_vec(), attr, ..Node::default() }
}

fn comp(id: u64, deps: &[u64]) -> Node {
    node(id, NodeType::CompNode, deps, vec![])
}

fn message(id: u64, node_type: NodeType, peer: i32, tag: i32, bytes: i64, deps: &[u64]) -> Node {
    let peer_name = if node_type == NodeType::CommSendNode { "comm_dst" } else { "comm_src" };
    let attrs =
        vec![attr::int32(peer_name, peer), attr::int32("comm_tag", tag), attr::int64("comm_size", bytes)];
    node(id, node_type, deps, attrs)
}

fn send(id: u64, dst: i32, tag: i32, bytes: i64, deps: &[u64]) -> Node {
    message(id, NodeType::CommSendNode, dst, tag, bytes, deps)
}

fn recv(id: u64, src: i32, tag: i32, bytes: i64, deps: &[u64]) -> Node {
    message(id, NodeType::CommRecvNode, src, tag, bytes, deps)
}

fn coll(id: u64, kind: CollectiveCommType, bytes: i64, group: &str, deps: &[u64]) -> Node {
    let mut attrs = vec![
        attr::bool("is_cpu_op", false),
        attr::int64("comm_type", i32::from(kind).into()),
        attr::int64("comm_size", bytes),
    ];
    if !group.is_empty() {
        attrs.push(attr::string("pg_name", group));
    }
    node(id, NodeType::CommCollNode, deps, attrs)
}

fn with(mut node: Node, attribute: AttributeProto) -> Node {
    node.attr.retain(|attr| attr.name != attribute.name);
    node.attr.push(attribute);
    node
}

fn without(mut node: Node, name: &str) -> Node {
    node.attr.retain(|attr| attr.name != name);
    node
}

fn file(nodes: &[Node]) -> Vec<u8> {
    let metadata = GlobalMetadata { version: "0.0.4".into(), attr: vec![] };
    let mut writer = RankWriter::new(&metadata).unwrap();
    nodes.iter().for_each(|node| writer.node(node).unwrap());
    writer.finish()
}

fn findings_with(ranks: &[Vec<Node>], options: &Options) -> Vec<Finding> {
    let files: Vec<Vec<u8>> = ranks.iter().map(|nodes| file(nodes)).collect();
    validate(&Survey::from_bytes(&files).unwrap(), options)
}

fn findings(ranks: &[Vec<Node>]) -> Vec<Finding> {
    findings_with(ranks, &Options::default())
}

/// The findings as `rule: text`.
fn said(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {finding}", finding.rule.id)).collect()
}

#[track_caller]
fn expect(ranks: &[Vec<Node>], expected: &[&str]) {
    assert_eq!(said(&findings(ranks)), expected);
}

/// The rules that fire on one rank, whose messages go to a second rank that is not looked at.
#[track_caller]
fn rules_of(nodes: Vec<Node>, expected: &[&str]) {
    let findings = findings(&[nodes, vec![comp(0, &[])]]);
    let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, expected, "{:?}", said(&findings));
}

const ALL_REDUCE: CollectiveCommType = CollectiveCommType::AllReduce;
const ALL_GATHER: CollectiveCommType = CollectiveCommType::AllGather;

#[test]
fn the_list_of_rules_is_in_the_documentation_and_ids_are_unique() {
    let list = include_str!("rules.md");
    let rows = RULES.iter().map(|rule| format!("| `{}` | {} | {} |", rule.id, rule.level, rule.summary));
    let expected: Vec<String> = rows.collect();
    assert_eq!(list.lines().skip(2).collect::<Vec<_>>(), expected);
    let ids: std::collections::BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len());
    assert!(RULES.is_sorted_by_key(|rule| rule.level), "errors first");
}

#[test]
fn a_sound_trace_has_no_findings() {
    expect(
        &[
            vec![send(0, 1, 0, 8, &[]), send(1, 1, 0, 8, &[0]), coll(2, ALL_REDUCE, 64, "", &[1])],
            vec![recv(0, 0, 0, 8, &[]), recv(1, 0, 0, 8, &[0]), coll(2, ALL_REDUCE, 64, "", &[])],
        ],
        &[],
    );
}

#[test]
fn dependences_on_nothing_on_oneself_and_twice() {
    let mut control = comp(3, &[]);
    control.ctrl_deps = vec![99];
    expect(
        &[vec![comp(1, &[1]), comp(2, &[1, 1, 98]), control]],
        &[
            "dangling-dependence: rank 0: node 2 \"n2\": it has a data dependence on id 98, which no node of the rank has",
            "dangling-dependence: rank 0: node 3 \"n3\": it has a control dependence on id 99, which no node of the rank has",
            "self-dependence: rank 0: node 1 \"n1\": it has itself as a data dependence",
            "duplicate-dependence: rank 0: node 2 \"n2\": it depends on id 1 more than once, and the older feeder then never starts it",
            "control-dependences: rank 0: 1 dependence(s) are control dependences, which the older feeder ignores; write data dependences for it",
        ],
    );
}

#[test]
fn the_shortest_circle_is_printed_and_nodes_outside_are_not_blamed() {
    // 1 -> 3 -> 2 -> 1 with the shortcut 2 -> 3; 9 waits for the circle, 10 for nothing.
    let nodes = vec![comp(1, &[3]), comp(2, &[1, 3]), comp(3, &[2]), comp(9, &[1]), comp(10, &[])];
    let found = findings(&[nodes]);
    assert_eq!(
        said(&found),
        [
            "cyclic-dependence: rank 0: 2 nodes wait for one another: node 2 \"n2\" needs node 3 \"n3\" needs node 2"
        ]
    );
    assert_eq!(found[0].related, [NodeRef { rank: 0, node: 2 }, NodeRef { rank: 0, node: 3 }]);
}

#[test]
fn a_circle_of_both_kinds_of_dependences_leaves_no_root() {
    let mut first = comp(1, &[]);
    first.ctrl_deps = vec![2];
    rules_of(vec![first, comp(2, &[1])], &["cyclic-dependence", "no-root", "control-dependences"]);
}

#[test]
fn ids_must_be_unique() {
    expect(
        &[vec![comp(5, &[]), comp(4, &[5]), comp(5, &[])]],
        &[
            "duplicate-id: rank 0: node 5 \"n5\": the id is also that of node 5 \"n5\", which is node 0 of the file; ids must be unique within a rank",
        ],
    );
}

#[test]
fn an_absent_kind_of_collective_is_no_all_reduce() {
    let absent = without(coll(1, ALL_REDUCE, 8, "", &[]), "comm_type");
    expect(
        &[vec![absent]],
        &[
            "missing-attribute: rank 0: node 1 \"n1\": attribute comm_type is missing; a non-negative integer below 2^32 is expected",
        ],
    );
    let unknown = with(coll(1, ALL_REDUCE, 8, "", &[]), attr::int64("comm_type", 42));
    expect(
        &[vec![unknown]],
        &["unknown-comm-type: rank 0: node 1 \"n1\": comm_type 42 is none that the format defines (0 to 9)"],
    );
}

#[test]
fn every_type_needs_its_attributes() {
    for name in ["comm_dst", "comm_tag", "comm_size"] {
        let rules = if name == "comm_size" {
            vec!["missing-attribute", "unmatched-send"]
        } else {
            vec!["missing-attribute"]
        };
        rules_of(vec![without(send(0, 1, 0, 8, &[]), name)], &rules);
    }
    for name in ["comm_src", "comm_tag"] {
        rules_of(vec![without(recv(0, 1, 0, 8, &[]), name)], &["missing-attribute"]);
    }
    rules_of(vec![node(0, NodeType::MemLoadNode, &[], vec![])], &["missing-attribute", "memory-node"]);
    let symbolic = vec![attr::int32("msg_chunk_cnt", 1), attr::int32("total_chunk_cnt", 4)];
    let mut nodes = [without(send(0, 1, 0, 8, &[]), "comm_size")];
    nodes[0].attr.extend(symbolic);
    let metadata = GlobalMetadata { version: "0.0.4".into(), attr: vec![attr::int64("collective_size", 64)] };
    let mut writer = RankWriter::new(&metadata).unwrap();
    writer.node(&nodes[0]).unwrap();
    let survey = Survey::from_bytes(&[writer.finish(), file(&[recv(0, 0, 0, 16, &[])])]).unwrap();
    let found = validate(&survey, &Options::default());
    assert_eq!(found.iter().map(|finding| finding.rule.id).collect::<Vec<_>>(), ["symbolic-size"]);
}

#[test]
fn attributes_of_another_kind() {
    for attribute in [
        attr::string("comm_size", "8"),
        attr::int64("comm_size", -8),
        attr::string("is_cpu_op", "no"),
        attr::int32("pg_name", 3),
        attr::int32("involved_dim", 1),
        attr::string("comm_priority", "1"),
    ] {
        let name = attribute.name.clone();
        let found = findings(&[vec![with(coll(0, ALL_REDUCE, 8, "", &[]), attribute)]]);
        assert_eq!(found[0].rule.id, "mistyped-attribute", "{name}");
        assert!(found[0].message.contains(&name), "{}", found[0].message);
    }
    rules_of(vec![with(comp(0, &[]), attr::string("num_ops", "1"))], &["mistyped-attribute"]);
}

#[test]
fn odd_attributes() {
    let mut twice = comp(0, &[]);
    twice.attr = vec![attr::int32("x", 1), attr::int32("x", 2), attr::int32("x", 3)];
    rules_of(vec![twice], &["duplicate-attribute"]);
    let empty = AttributeProto { name: "x".into(), ..AttributeProto::default() };
    rules_of(vec![with(comp(0, &[]), empty)], &["attribute-without-value"]);
    expect(
        &[vec![with(comp(0, &[]), attr::int32("num_ops", 1))]],
        &[
            "wrong-arm: rank 0: node 0 \"n0\": attribute num_ops is not stored as int64_val, so the older feeder reads 0",
        ],
    );
}

#[test]
fn what_stops_astra_sim() {
    let alone = |node: Node, rules: &[&str]| {
        let found = findings(&[vec![node]]);
        assert_eq!(found.iter().map(|finding| finding.rule.id).collect::<Vec<_>>(), rules);
    };
    alone(with(coll(0, ALL_REDUCE, 8, "", &[]), attr::bool("is_cpu_op", true)), &["comm-on-cpu"]);
    alone(with(coll(0, ALL_REDUCE, 8, "", &[]), attr::bool_list("involved_dim", [])), &["involved-dim"]);
    alone(with(coll(0, ALL_REDUCE, 8, "", &[]), attr::bool_list("involved_dim", [false])), &["involved-dim"]);
    alone(with(coll(0, ALL_REDUCE, 8, "", &[]), attr::bool_list("involved_dim", [true])), &[]);
    alone(coll(0, ALL_REDUCE, 0, "", &[]), &["zero-size"]);
    alone(coll(0, ALL_REDUCE, 1 << 61, "", &[]), &["implausible-size"]);
    alone(coll(0, CollectiveCommType::Gather, 8, "", &[]), &["unsupported-collective"]);
    alone(node(0, NodeType::MetadataNode, &[], vec![]), &["metadata-node"]);
    alone(node(0, NodeType::InvalidNode, &[], vec![]), &["invalid-node"]);
    alone(Node { r#type: 42, ..comp(0, &[]) }, &["unknown-node-type"]);
    alone(Node { name: "a,b".into(), ..comp(0, &[]) }, &["name-characters"]);
    alone(send(0, 0, 0, 8, &[]), &["self-message"]);
    // What is alone but names others is one rank of several.
    alone(send(0, 1, 0, 8, &[]), &["other-ranks-missing"]);
    alone(with(comp(0, &[]), attr::int32("num_ops", 0)), &[]);
    let pair = |tag, bytes| [vec![send(0, 1, tag, bytes, &[])], vec![recv(0, 0, tag, bytes, &[])]];
    let rules = |ranks: &[Vec<Node>]| findings(ranks).iter().map(|f| f.rule.id).collect::<Vec<_>>();
    assert_eq!(rules(&pair(500_000_000, 8)), ["tag-out-of-range"; 2]);
    assert_eq!(rules(&pair(499_999_999, 8)), [""; 0]);
    assert_eq!(rules(&pair(0, 0)), ["zero-size"; 2]);
}

#[test]
fn an_algorithm_has_sends_receives_and_computations_only() {
    let memory = node(1, NodeType::MemLoadNode, &[], vec![attr::uint64("tensor_size", 8)]);
    let ranks = [vec![send(0, 1, 0, 8, &[]), memory], vec![recv(0, 0, 0, 8, &[])]];
    let rules: Vec<&str> = findings(&ranks).iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, ["algorithm-node-type", "memory-node"]);
}

#[test]
fn what_the_reader_warns_of_is_found() {
    let whole = file(&[comp(0, &[]), comp(1, &[])]);
    let rules = |files: &[Vec<u8>]| {
        let found = validate(&Survey::from_bytes(files).unwrap(), &Options::default());
        found.iter().map(|finding| finding.rule.id).collect::<Vec<_>>()
    };
    assert_eq!(rules(&[file(&[])]), ["no-nodes"]);
    assert_eq!(rules(&[[&[0][..], &whole[8..]].concat()]), ["empty-metadata"]);
    assert_eq!(rules(&[[&whole[..], &[0]].concat()]), ["trailing-zeros"]);
    assert_eq!(rules(&[[&file(&[comp(1, &[])])[..], &[0]].concat()]), ["empty-node", "invalid-node"]);
    let other = GlobalMetadata { version: "1.0.0".into(), attr: vec![] };
    let mut writer = RankWriter::new(&other).unwrap();
    writer.node(&comp(0, &[])).unwrap();
    assert_eq!(rules(&[whole.clone(), writer.finish()]), ["versions-differ"]);
    let future = GlobalMetadata { version: "9".into(), attr: vec![] };
    let mut writer = RankWriter::new(&future).unwrap();
    writer.node(&comp(0, &[])).unwrap();
    assert_eq!(rules(&[writer.finish()]), ["unknown-version"]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &whole).unwrap();
    assert_eq!(rules(&[encoder.finish().unwrap()]), ["gzip"]);
    // Schema 0.0.1: {id 0, name "N", node_type 3, simulated_run_time 5}.
    assert_eq!(rules(&[vec![9, 0x08, 0, 0x12, 1, b'N', 0x18, 3, 0x38, 5]]), ["converted"]);
}

#[test]
fn stray_files_are_found() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("t.0.et"), file(&[comp(0, &[])])).unwrap();
    std::fs::write(directory.path().join("t.x.et"), "").unwrap();
    let survey = Survey::read(directory.path().join("t"), |_| ()).unwrap();
    let found = validate(&survey, &Options::default());
    assert_eq!((found.len(), found[0].rule.id), (1, "stray-file"));
}

#[test]
fn messages_that_never_meet() {
    expect(
        &[vec![send(3, 1, 7, 8, &[])], vec![recv(4, 0, 8, 8, &[])]],
        &[
            "unmatched-receive: rank 1: node 4 \"n4\" waits for a message from rank 0 with tag 8 and 8 bytes, which never sends it",
            "unmatched-send: rank 0: node 3 \"n3\" sends a message to rank 1 with tag 7 and 8 bytes, which never receives it",
        ],
    );
    expect(
        &[vec![send(3, 1, 7, 8, &[])], vec![recv(4, 0, 7, 8, &[]), recv(5, 0, 7, 8, &[4])]],
        &[
            "unmatched-receive: rank 1: node 5 \"n5\" waits for a message from rank 0 with tag 7 and 8 bytes, of which 1 are sent and 2 received",
        ],
    );
}

#[test]
fn a_difference_in_size_names_both_nodes() {
    let found = findings(&[vec![send(3, 1, 7, 3_000_000, &[])], vec![recv(4, 0, 7, 2_000_000, &[])]]);
    assert_eq!(
        said(&found),
        [
            "size-mismatch: rank 0: node 3 \"n3\" sends 3000000 bytes to rank 1 with tag 7, but node 4 \"n4\" of rank 1 expects 2000000"
        ]
    );
    assert_eq!(found[0].related, [NodeRef { rank: 1, node: 4 }]);
}

#[test]
fn sizes_may_come_in_another_order_but_that_is_told() {
    let ranks = [
        vec![send(0, 1, 0, 8, &[]), send(1, 1, 0, 16, &[0])],
        vec![recv(0, 0, 0, 16, &[]), recv(1, 0, 0, 8, &[0])],
    ];
    let rules: Vec<&str> = findings(&ranks).iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, ["size-order"]);
}

#[test]
fn peers_are_ranks_of_the_trace() {
    expect(
        &[vec![send(0, 5, 0, 8, &[])], vec![recv(0, 9, 0, 8, &[])]],
        &[
            "peer-out-of-range: rank 0: node 0 \"n0\": it sends to rank 5, but the trace has 2 rank(s)",
            "peer-out-of-range: rank 1: node 0 \"n0\": it receives from rank 9, but the trace has 2 rank(s)",
        ],
    );
    let foreign = with(recv(0, 0, 0, 8, &[]), attr::int32("comm_dst", 0));
    expect(
        &[vec![send(0, 1, 0, 8, &[])], vec![foreign]],
        &["foreign-end: rank 1: node 0 \"n0\": its comm_dst is 0, but it is on rank 1"],
    );
}

#[test]
fn peers_may_be_positions_in_the_group() {
    let on_group = |node: Node, own: AttributeProto| with(with(node, own), attr::string("pg_name", "5"));
    let idle = || vec![comp(0, &[])];
    let ranks = [
        idle(),
        vec![on_group(send(0, 1, 3, 1000, &[]), attr::int32("comm_src", 0))],
        idle(),
        vec![on_group(recv(0, 0, 3, 1000, &[]), attr::int32("comm_dst", 1))],
    ];
    let mut options =
        Options { groups: Some(Groups::new([("5".to_owned(), vec![1, 3])])), peers: Peers::InGroup };
    assert_eq!(said(&findings_with(&ranks, &options)), [""; 0]);
    options.peers = Peers::Global;
    let global = said(&findings_with(&ranks, &options));
    assert!(
        global.contains(
            &"foreign-end: rank 3: node 0 \"n0\": its comm_dst is 1, but it is on rank 3".to_owned()
        )
    );
    // A position that the group does not have.
    options.peers = Peers::InGroup;
    let far = [idle(), vec![with(send(0, 2, 3, 8, &[]), attr::string("pg_name", "5"))], idle(), idle()];
    assert_eq!(
        said(&findings_with(&far, &options)),
        ["peer-out-of-range: rank 1: node 0 \"n0\": it sends to position 2 of a group of 2"]
    );
}

#[test]
fn messages_of_one_key_should_be_ordered() {
    let ranks = |deps: &[u64]| {
        [
            vec![send(0, 1, 0, 8, &[]), comp(1, &[0]), send(2, 1, 0, 8, &[1])],
            vec![recv(0, 0, 0, 8, &[]), comp(1, &[0]), recv(2, 0, 0, 8, deps)],
        ]
    };
    expect(&ranks(&[1]), &[]);
    expect(
        &ranks(&[]),
        &[
            "unordered-messages: rank 1: node 0 \"n0\" and node 2 \"n2\" both receive with tag 0 from rank 0, and no dependence orders them",
        ],
    );
}

#[test]
fn a_search_that_would_be_too_long_is_given_up() {
    // Behind the second message lies a wide net of nodes, none of which leads to the first.
    let width = 100;
    let mut sender = vec![send(0, 1, 0, 8, &[])];
    let mut below: Vec<u64> = (1..=width).collect();
    sender.extend(below.iter().map(|&id| comp(id, &[])));
    let mut id = width;
    for _ in 0..60 {
        let layer: Vec<u64> = (0..width)
            .map(|_| {
                id += 1;
                id
            })
            .collect();
        sender.extend(layer.iter().map(|&id| comp(id, &below)));
        below = layer;
    }
    sender.push(send(id + 1, 1, 0, 8, &below));
    let receiver = vec![recv(0, 0, 0, 8, &[]), recv(1, 0, 0, 8, &[0])];
    let rules: Vec<&str> = findings(&[sender, receiver]).iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, ["order-unchecked"]);
}

#[test]
fn group_files_are_judged() {
    let group = |name: &str, members: &[u64]| (name.to_owned(), members.to_vec());
    let groups = Groups::new([
        group("0", &[0]),
        group("1", &[]),
        group("2", &[1, 0]),
        group("3", &[0, 7]),
        group("4", &[1, 1]),
        group("x", &[0]),
    ]);
    let options = Options { groups: Some(groups), ..Options::default() };
    assert_eq!(
        said(&findings_with(&[vec![comp(0, &[])], vec![comp(0, &[])]], &options)),
        [
            "group-key: group \"0\": the key 0 stands for all ranks; keys begin at 1",
            "group-key: group \"x\": the key is no positive decimal number",
            "group-empty: group \"1\": it has no members",
            "group-rank-out-of-range: group \"3\": rank 7 is a member, but the trace has 2 ranks",
            "group-duplicate-member: group \"4\": rank 1 is a member twice",
            "group-unsorted: group \"2\": its members [1, 0] do not ascend; ASTRA-sim then confuses them",
        ]
    );
}

#[test]
fn a_rank_must_be_a_member_of_the_groups_that_it_uses() {
    let ranks = |group: &str| {
        [vec![coll(0, ALL_REDUCE, 8, group, &[]), coll(1, ALL_REDUCE, 8, group, &[])], vec![comp(0, &[])]]
    };
    let options = Options { groups: Some(Groups::new([("1".to_owned(), vec![1])])), ..Options::default() };
    let rules = |group: &str, options: &Options| {
        let found = findings_with(&ranks(group), options);
        found.iter().map(|finding| finding.rule.id).collect::<Vec<_>>()
    };
    let found = findings_with(&ranks("1"), &options);
    assert!(said(&found)[0].starts_with(
        "not-a-member: rank 0: node 0 \"n0\": rank 0 is no member of group \"1\", which is [1] (the first of 2 nodes)"
    ));
    assert_eq!(rules("2", &options), ["unknown-group"]);
    assert_eq!(rules("2", &Options::default()), ["groups-unchecked"]);
    assert_eq!(rules("tp", &Options::default()), ["group-name", "groups-unchecked"]);
}

#[test]
fn the_ranks_of_a_group_issue_the_same_collectives() {
    expect(
        &[
            vec![coll(0, ALL_REDUCE, 8, "", &[]), coll(1, ALL_REDUCE, 8, "", &[0])],
            vec![coll(5, ALL_REDUCE, 8, "", &[]), coll(6, ALL_GATHER, 8, "", &[5])],
            vec![coll(0, ALL_REDUCE, 8, "", &[])],
        ],
        &[
            "collective-mismatch: rank 1: node 6 \"n6\" is ALL_GATHER of 8 bytes, number 2 of the rank on the group of all ranks, where rank 0 has node 1 \"n1\", ALL_REDUCE of 8 bytes",
            "collective-mismatch: rank 2: it issues 1 collective(s) on the group of all ranks, but rank 0 issues 2",
        ],
    );
}

fn overlapping() -> Options {
    let group = |name: &str, members: &[u64]| (name.to_owned(), members.to_vec());
    let groups = Groups::new([group("1", &[0, 1]), group("2", &[0, 1])]);
    Options { groups: Some(groups), ..Options::default() }
}

#[test]
fn overlapping_groups_in_different_order_are_a_deadlock() {
    let rank = |first: &str, second: &str, deps: &[u64]| {
        vec![coll(0, ALL_REDUCE, 8, first, &[]), comp(1, &[0]), coll(2, ALL_REDUCE, 8, second, deps)]
    };
    let found = findings_with(&[rank("1", "2", &[1]), rank("2", "1", &[1])], &overlapping());
    assert_eq!(
        said(&found),
        ["deadlock: ranks wait for one another: \
             on rank 1, ALL_REDUCE of 8 bytes on group \"1\" comes after ALL_REDUCE of 8 bytes on group \"2\"; \
             on rank 0, ALL_REDUCE of 8 bytes on group \"2\" comes after ALL_REDUCE of 8 bytes on group \"1\""]
    );
    // Where dependences leave the order open, it is the way of issuing them that decides.
    let found = findings_with(&[rank("1", "2", &[1]), rank("2", "1", &[])], &overlapping());
    assert_eq!(
        said(&found),
        ["collective-order: issued one at a time, collectives meet in different order: \
             rank 1 issues ALL_REDUCE of 8 bytes on group \"2\" before ALL_REDUCE of 8 bytes on group \"1\"; \
             rank 0 issues ALL_REDUCE of 8 bytes on group \"1\" before ALL_REDUCE of 8 bytes on group \"2\""]
    );
    // The same order is none, also where a rank is in one group only.
    assert_eq!(findings_with(&[rank("1", "2", &[1]), rank("1", "2", &[1])], &overlapping()), []);
}

#[test]
fn receives_before_the_sends_that_others_wait_for_are_a_deadlock() {
    let rank = |peer: i32| vec![recv(0, peer, 0, 8, &[]), send(1, peer, 0, 8, &[0])];
    expect(
        &[rank(1), rank(0)],
        &["deadlock: ranks wait for one another: \
             node 0 \"n0\" of rank 0 receives what node 1 \"n1\" of rank 1 sends; \
             on rank 1, node 1 \"n1\" comes after node 0 \"n0\"; \
             node 0 \"n0\" of rank 1 receives what node 1 \"n1\" of rank 0 sends; \
             on rank 0, node 1 \"n1\" comes after node 0 \"n0\""],
    );
}

#[test]
fn collectives_over_some_dimensions_are_left_out() {
    let partial =
        |bytes| with(coll(0, ALL_REDUCE, bytes, "", &[]), attr::bool_list("involved_dim", [true, false]));
    expect(&[vec![partial(8)], vec![partial(16)]], &[]);
}
