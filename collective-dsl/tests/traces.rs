//! What a compiled algorithm looks like as Chakra traces, by the rules of the format's readers.

use chakra_et::graph::{Graph, Op};
use chakra_et::proto::attribute_proto::Value;
use chakra_et::{NodeReader, attr};
use collective_dsl::Buffer::{Input, Output};
use collective_dsl::et::{self, EtOptions, ReduceRate};
use collective_dsl::{Collective, CollectiveKind, ElementType, Program, Schedule, Size, compile};

fn ring(ranks: usize) -> Schedule {
    let p = Program::new(Collective::all_reduce(ranks).unwrap().in_place().unwrap());
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index);
        for step in 1..ranks {
            sum = p.chunk((index + step) % ranks, Input, index).reduce(sum);
        }
        for step in 0..ranks - 1 {
            sum = sum.copy_to((index + step) % ranks, Input, index);
        }
    }
    compile(&p.finish("ring").unwrap()).unwrap()
}

fn graph(schedule: &Schedule, size: Size) -> Graph {
    et::graph(schedule, &EtOptions::new(size)).unwrap()
}

fn bytes_sent(graph: &Graph) -> u64 {
    let ops = graph.ranks().iter().flat_map(|rank| rank.ops());
    ops.map(|op| if let Op::Send { bytes, .. } = op { *bytes } else { 0 }).sum()
}

#[test]
fn the_ring_of_eight_has_the_nodes_of_the_published_converter() {
    let graph = graph(&ring(8), Size::bytes(1 << 20));
    let count = |wanted: fn(&Op) -> bool| {
        graph.ranks().iter().flat_map(|rank| rank.ops()).filter(|op| wanted(op)).count()
    };
    assert_eq!(count(|op| matches!(op, Op::Send { bytes: 131_072, .. })), 112);
    assert_eq!(count(|op| matches!(op, Op::Recv { bytes: 131_072, .. })), 112);
    assert_eq!(count(|op| matches!(op, Op::Comp { ops: 32_768, bytes: 131_072, .. })), 56);
    assert_eq!(graph.node_count(), 280);
    // One chain a rank: every node but the first depends on the one before.
    for rank in graph.ranks() {
        assert!(rank.deps(0).is_empty());
        for node in 1..rank.len() as u32 {
            assert_eq!(rank.deps(node), [node - 1]);
        }
    }
}

#[test]
fn files_follow_the_rules_that_every_known_reader_shares() {
    let traces = et::bytes(&ring(4), &EtOptions::new(Size::bytes(4096))).unwrap();
    for file in traces.ranks() {
        let reader = NodeReader::new(&file[..]).unwrap();
        assert_eq!(reader.metadata().version, "0.0.4");
        for (expected, node) in reader.enumerate() {
            let node = node.unwrap().node;
            assert_eq!(node.id, expected as u64, "ids ascend from 0");
            assert!(node.data_deps.iter().all(|dep| *dep < node.id), "parents first");
            assert!(node.data_deps.is_sorted_by(|a, b| a < b), "no duplicate dependences");
            assert!(node.ctrl_deps.is_empty());
            let arm = |name| attr::find(&node.attr, name).and_then(|attribute| attribute.value.clone());
            let token = match node.r#type {
                5 => {
                    assert!(matches!(arm("comm_dst"), Some(Value::Int32Val(_))));
                    assert_eq!(arm("comm_src"), None, "an algorithm does not name its own rank");
                    "COMM_SEND_NODE"
                }
                6 => {
                    assert!(matches!(arm("comm_src"), Some(Value::Int32Val(_))));
                    "COMM_RECV_NODE"
                }
                4 => {
                    assert!(matches!(arm("num_ops"), Some(Value::Int64Val(256))));
                    assert!(matches!(arm("tensor_size"), Some(Value::Uint64Val(1024))));
                    assert_eq!(arm("is_cpu_op"), Some(Value::BoolVal(false)));
                    "COMP_NODE"
                }
                other => panic!("node type {other}"),
            };
            if node.r#type != 4 {
                assert_eq!(arm("comm_size"), Some(Value::Int64Val(1024)));
                assert_eq!(arm("comm_tag"), Some(Value::Int32Val(0)));
                assert_eq!(arm("msg_chunk_cnt"), Some(Value::Int32Val(1)));
                assert_eq!(arm("total_chunk_cnt"), Some(Value::Int32Val(4)));
                assert!(matches!(arm("msg_chunk_idx"), Some(Value::Int32Val(0..4))));
            }
            assert!(node.name.contains(token) && !node.name.contains([',', '=']), "{}", node.name);
            assert!(matches!(arm("source_line"), Some(Value::Int32Val(1..))));
        }
    }
}

#[test]
fn the_graph_in_memory_is_the_graph_in_the_files() {
    for (ranks, size) in [(1, 64), (2, 64), (3, 4_000_012), (8, 0), (5, 4)] {
        let schedule = ring(ranks);
        let options =
            EtOptions { reduce_rate: ReduceRate::CollectiveApi, ..EtOptions::new(Size::bytes(size)) };
        let in_memory = et::graph(&schedule, &options).unwrap();
        let from_files = et::bytes(&schedule, &options).unwrap().graph().unwrap();
        assert_eq!(in_memory, from_files, "{ranks} ranks, {size} bytes");
    }
}

#[test]
fn no_element_is_lost_when_chunks_do_not_divide() {
    // Case D05: 1,000,003 floats over 8 ranks put 14 × 4,000,012 bytes on all links together.
    let uneven = Size::of(1_000_003, ElementType::F32);
    assert_eq!(bytes_sent(&graph(&ring(8), uneven)), 14 * 4_000_012);
    // Three of the eight chunks are empty; their messages stay, as they still order the steps.
    assert_eq!(bytes_sent(&graph(&ring(8), Size::of(5, ElementType::F32))), 14 * 20);
    let file = &et::bytes(&ring(8), &EtOptions::new(uneven)).unwrap().ranks()[0].clone();
    for node in NodeReader::new(&file[..]).unwrap() {
        assert!(
            attr::find(&node.unwrap().node.attr, "msg_chunk_cnt").is_none(),
            "no symbolic size when uneven"
        );
    }
}

#[test]
fn a_size_that_is_not_a_whole_number_of_elements_is_refused() {
    let error = et::graph(&ring(2), &EtOptions::new(Size::bytes(1_000_003))).unwrap_err();
    assert_eq!(error.to_string(), "a size of 1000003 bytes is not a whole number of f32 elements of 4 bytes");
    assert!(et::graph(&ring(2), &EtOptions::new(Size::bytes(6).with_type(ElementType::F16))).is_ok());
}

#[test]
fn an_idle_rank_and_an_empty_collective_have_one_node_that_does_nothing() {
    let idle = [Op::Comp { micros: 0, ops: 0, bytes: 0 }];
    assert_eq!(graph(&ring(1), Size::bytes(1024)).rank(0).ops(), idle);
    for rank in graph(&ring(4), Size::bytes(0)).ranks() {
        assert_eq!(rank.ops(), idle);
    }
}

#[test]
fn adding_pieces_of_unequal_size_is_refused_only_when_they_are_unequal() {
    // Adds chunk 1 to a copy of chunk 0 in scratch: equal as long as the size divides by two.
    let p = Program::new(Collective::new(CollectiveKind::AllReduce, 1, 2).unwrap());
    let copy = p.chunk(0, Input, 0).copy_to(0, collective_dsl::Buffer::Scratch("s"), 0);
    copy.reduce(p.chunk(0, Input, 1));
    p.chunks(0, Input, 0, 2).copy_to(0, Output, 0);
    let schedule = compile(&p.finish("mixed").unwrap()).unwrap();
    assert!(et::graph(&schedule, &EtOptions::new(Size::bytes(8))).is_ok());
    let error = et::graph(&schedule, &EtOptions::new(Size::bytes(12))).unwrap_err().to_string();
    assert!(error.contains("reduces 1 elements into 2") && error.contains("traces.rs:"), "{error}");
}

#[test]
fn the_collective_api_rate_is_seven_microseconds_for_an_eighth_of_a_mebibyte() {
    let options = |reduce_rate| EtOptions { reduce_rate, ..EtOptions::new(Size::bytes(1 << 20)) };
    let micros = |reduce_rate| {
        let graph = et::graph(&ring(8), &options(reduce_rate)).unwrap();
        let comp = graph.rank(0).ops().iter().find_map(|op| match op {
            Op::Comp { micros, .. } => Some(*micros),
            _ => None,
        });
        comp.unwrap()
    };
    assert_eq!(micros(ReduceRate::CollectiveApi), 7);
    assert_eq!(micros("collectiveapi".parse().unwrap()), 7);
    assert_eq!(micros("50GB/s".parse().unwrap()), 2);
    assert_eq!(micros("1GiB/s".parse().unwrap()), 122);
    assert_eq!(micros(ReduceRate::Free), 0);
    for wrong in ["fast", "50", "0GB/s", "-1GB/s", "50GB", "nanGB/s"] {
        assert!(wrong.parse::<ReduceRate>().is_err(), "{wrong}");
    }
}

#[test]
fn dataflow_order_waits_for_data_and_for_the_order_of_messages_only() {
    let dataflow = |schedule: &Schedule| {
        let options = EtOptions { order: et::NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(1 << 20)) };
        et::graph(schedule, &options).unwrap()
    };
    // A ring: the same nodes; but a receive waits for the receive before it, not for the delivery of a send.
    let (by_block, by_data) = (graph(&ring(4), Size::bytes(1 << 20)), dataflow(&ring(4)));
    for rank in 0..4 {
        let (blocks, data) = (by_block.rank(rank), by_data.rank(rank));
        assert_eq!(blocks.ops(), data.ops());
        let nodes = || 0..data.len() as u32;
        let is_recv = |node: &u32| matches!(data.op(*node), Op::Recv { .. });
        for recv in nodes().filter(is_recv).skip(1) {
            let earlier = nodes().filter(is_recv).filter(|node| *node < recv).max().unwrap();
            assert!(data.deps(recv).contains(&earlier));
        }
        let first = nodes().find(is_recv).unwrap();
        assert!(data.deps(first).is_empty() && !blocks.deps(first).is_empty());
        // Every sum waits for what has arrived.
        for comp in nodes().filter(|node| matches!(data.op(*node), Op::Comp { .. })) {
            assert!(data.deps(comp).contains(&(comp - 1)));
        }
    }
    // By hand: rank 0 sends its chunk away before another one overwrites it.
    let p = Program::new(Collective::custom(2, 1, 1).unwrap());
    p.chunk(0, Input, 0).copy_to(1, Output, 0);
    p.chunk(1, Input, 0).copy_to(0, Input, 0);
    p.expect(1, 0, 0, 0);
    let graph = dataflow(&compile(&p.finish("swap").unwrap()).unwrap());
    let rank = graph.rank(0);
    let recv = (0..2).find(|node| matches!(rank.op(*node), Op::Recv { .. })).unwrap();
    assert_eq!(rank.deps(recv), [1 - recv], "the receive waits for the send that reads the chunk");
}
