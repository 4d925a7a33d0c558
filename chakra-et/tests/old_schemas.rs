//! Files of schemas before today's: one is converted, the others are named.

mod common;

use chakra_et::graph::Op;
use chakra_et::proto::{Node, NodeType};
use chakra_et::{NodeReader, attr, load_bytes};
use common::{error, read};

/// A message with its length.
fn message(fields: &[u8]) -> Vec<u8> {
    [&[fields.len() as u8], fields].concat()
}

/// {id 0, name "N", node_type COMP, simulated_run_time 5}
const COMP: [u8; 9] = [0x08, 0, 0x12, 1, b'N', 0x18, 3, 0x38, 5];

/// Nodes of 0.0.1: a computation, and one of each kind of communication, with every field.
fn old_file() -> Vec<u8> {
    // {id 1, node_type SEND, parent 0, parent 0, comm_src 0, comm_dst 1, comm_size 128, comm_tag 7}
    let send = [0x08, 1, 0x18, 4, 0x20, 0, 0x80, 1, 0, 0x88, 1, 1, 0x90, 1, 0x80, 1, 0x98, 1, 7];
    // {id 2, node_type COLL, comm_type ALL_TO_ALL, involved_dim true, false, communicator_id 3, comm_size 64,
    // comm_priority 9}
    let coll = [0x08, 2, 0x18, 6, 0x68, 2, 0x70, 1, 0x70, 0, 0x78, 3, 0x90, 1, 64, 0xa0, 1, 9];
    // {id 3, node_type MEM_LOAD, parent 1, parent 2, tensor_loc 1, tensor_size 300, num_ops 5}
    let load = [0x08, 3, 0x18, 1, 0x20, 1, 0x20, 2, 0x28, 1, 0x30, 0xac, 2, 0x60, 5];
    [message(&COMP), message(&send), message(&coll), message(&load)].concat()
}

#[test]
fn a_file_of_0_0_1_is_converted_with_a_warning() {
    let loaded = load_bytes(&[old_file()]).unwrap();
    let rank = loaded.graph.rank(0);
    assert_eq!(
        rank.ops(),
        [
            Op::Comp { micros: 5, ops: 0, bytes: 0 },
            Op::Send { dst: 1, tag: 7, bytes: 128 },
            Op::Coll { kind: 6, bytes: 64 },
            Op::Mem { store: false, bytes: 300 },
        ]
    );
    assert_eq!((rank.deps(1), rank.deps(3)), (&[0][..], &[1, 2][..]));
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["rank 0: converted: the file is of schema 0.0.1 and was converted"]);
}

#[test]
fn converted_nodes_have_the_attributes_of_today() {
    let file = old_file();
    let reader = NodeReader::new(&file[..]).unwrap();
    let nodes: Vec<Node> = reader.map(|read| read.unwrap().node).collect();
    assert_eq!(nodes[0].name, "N");
    assert_eq!(nodes[2].r#type(), NodeType::CommCollNode);
    assert_eq!(
        nodes[2].attr,
        [
            attr::int64("comm_type", 6),
            attr::int64("comm_size", 64),
            attr::int32("comm_priority", 9),
            attr::string("pg_name", "3"),
            attr::bool_list("involved_dim", [true, false]),
        ]
    );
    assert_eq!(
        nodes[3].attr,
        [attr::int64("num_ops", 5), attr::uint32("tensor_loc", 1), attr::uint64("tensor_size", 300)]
    );
}

#[test]
fn a_file_of_0_0_1_may_have_one_node() {
    assert_eq!(read(&message(&COMP)).unwrap().rank(0).len(), 1);
}

#[test]
fn faults_of_old_files_are_errors_with_their_place() {
    let strange_type = [old_file(), message(&[0x08, 4, 0x18, 9])].concat();
    assert_eq!(
        error(&strange_type),
        "rank 0: byte 65, node 4 (id 4): the node of schema 0.0.1 has node_type 9, which that schema does not define"
            .replace(" (id 4)", "")
    );
    let mut truncated = old_file();
    truncated.pop();
    assert!(
        error(&truncated).contains("node 3: a message of 15 bytes is announced"),
        "{}",
        error(&truncated)
    );
    let one_and_a_half = [message(&COMP), vec![5, 0x08]].concat();
    assert!(error(&one_and_a_half).contains("byte 10, node 1: a message of 5 bytes is announced"));
}

#[test]
fn other_old_schemas_are_named() {
    // {id 1, attribute {name "a", type 1, field 5: varint}}
    let node = message(&[0x08, 1, 0x5a, 7, 0x0a, 1, b'a', 0x10, 1, 0x28, 9]);
    assert_eq!(
        error(&node),
        "rank 0: byte 0: looks like schema 0.0.2: no metadata message comes first; only 0.0.1 and 0.0.4 / 1.0.0 are \
         read"
    );
}
