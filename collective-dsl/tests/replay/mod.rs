//! Replays the traces of a schedule node by node, in random orders that their dependences and messages allow, and watches
//! who touches which chunk: what nodes claim to be the ends of a graph is held to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chakra_et::NodeReader;
use chakra_et::attr;
use chakra_et::proto::attribute_proto::Value;
use chakra_et::proto::{Node, NodeType};
use collective_dsl::et::{self, EtOptions, NodeOrder};
use collective_dsl::{Collective, RankId, Schedule, Size, Space};

/// A chunk of a rank's memory, by the buffer that really holds it.
type Cell = (u8, u32);

/// A node of the traces: its number is its place among all ranks' nodes.
struct Replayed {
    rank: usize,
    /// Its number in the rank's graph.
    number: u32,
    before: Vec<usize>,
    reads: Vec<Cell>,
    writes: Vec<Cell>,
}

/// Checks what [`et::chunk_nodes`] says of a schedule, for both orders of nodes.
pub(crate) fn check(schedule: &Schedule, seed: u64) {
    check_order(schedule, NodeOrder::ThreadBlock, seed);
    check_order(schedule, NodeOrder::Dataflow, seed);
}

/// The same for one order of nodes.
pub(crate) fn check_order(schedule: &Schedule, order: NodeOrder, seed: u64) {
    let claimed = et::chunk_nodes(schedule).unwrap();
    let nodes = nodes(schedule, order);
    let collective = &schedule.collective;
    let places = |count: fn(&Collective, RankId) -> usize,
                  place: fn(&Collective, RankId, u32) -> (Space, u32)| {
        let of_rank = |rank: u32| {
            let chunks = 0..count(collective, RankId(rank)) as u32;
            chunks.map(|chunk| cell(place(collective, RankId(rank), chunk))).collect()
        };
        (0..collective.ranks() as u32).map(of_rank).collect::<Vec<Vec<Cell>>>()
    };
    let inputs = places(Collective::input_chunks_of, Collective::locate_input);
    let outputs = places(Collective::output_chunks_of, Collective::locate_output);
    assert_eq!(lengths(&claimed.inputs), lengths(&inputs));
    assert_eq!(lengths(&claimed.outputs), lengths(&outputs));
    let mut random = Random(seed);
    let last = Memory::run(&nodes, &mut random, |_, _| {}).written;
    for _ in 0..3 {
        let mut first: BTreeMap<(usize, Cell), Vec<u32>> = BTreeMap::new();
        let mut done: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); schedule.ranks.len()];
        Memory::run(&nodes, &mut random, |memory, node| {
            let rank = node.rank;
            // Before the node: what lies there from the beginning is read, or, if nobody has read it, written over.
            let untouched = |cell: &&Cell| !memory.written.contains_key(&(rank, **cell));
            for cell in node.reads.iter().filter(untouched) {
                first.entry((rank, *cell)).or_default().push(node.number);
            }
            for cell in node.writes.iter().filter(untouched) {
                first.entry((rank, *cell)).or_insert_with(|| vec![node.number]);
            }
            // A chunk is what it will be exactly from when the nodes that are claimed to make it have run.
            for (chunk, cell) in outputs[rank].iter().enumerate() {
                let makers = &claimed.outputs[rank][chunk];
                let is_last = memory.written.get(&(rank, *cell)) == last.get(&(rank, *cell));
                let all_ran = makers.iter().all(|maker| done[rank].contains(maker));
                assert_eq!(is_last, all_ran, "rank {rank}, output {chunk} by {makers:?}: {schedule}");
            }
            done[rank].insert(node.number);
        });
        for (rank, cells) in inputs.iter().enumerate() {
            for (chunk, cell) in cells.iter().enumerate() {
                let mut found = first.get(&(rank, *cell)).cloned().unwrap_or_default();
                found.sort_unstable();
                found.dedup();
                let mut nodes = claimed.inputs[rank][chunk].clone();
                nodes.sort_unstable();
                assert_eq!(nodes, found, "rank {rank}, input {chunk}: {schedule}");
            }
        }
    }
}

fn lengths<T>(lists: &[Vec<T>]) -> Vec<usize> {
    lists.iter().map(Vec::len).collect()
}

/// Who wrote each chunk last.
struct Memory {
    written: BTreeMap<(usize, Cell), u32>,
}

impl Memory {
    /// Runs all nodes in a random order; `watch` sees each before it runs.
    fn run(nodes: &[Replayed], random: &mut Random, mut watch: impl FnMut(&Self, &Replayed)) -> Self {
        let mut memory = Self { written: BTreeMap::new() };
        let mut missing: Vec<usize> = nodes.iter().map(|node| node.before.len()).collect();
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            node.before.iter().for_each(|before| after[*before].push(at));
        }
        let mut ready: Vec<usize> = (0..nodes.len()).filter(|node| missing[*node] == 0).collect();
        let mut ran = 0;
        while !ready.is_empty() {
            let at = ready.swap_remove(random.below(ready.len()));
            let node = &nodes[at];
            watch(&memory, node);
            memory.written.extend(node.writes.iter().map(|cell| ((node.rank, *cell), node.number)));
            ran += 1;
            for next in &after[at] {
                missing[*next] -= 1;
                if missing[*next] == 0 {
                    ready.push(*next);
                }
            }
        }
        assert_eq!(ran, nodes.len(), "nodes wait for each other");
        memory
    }
}

/// A linear congruential generator: the test needs variety, not quality.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn cell((space, index): (Space, u32)) -> Cell {
    match space {
        Space::Input => (0, index),
        Space::Output => (1, index),
        Space::Scratch(_) => (2, index),
    }
}

/// The nodes as the traces have them, with the k-th RECV of a connection after its k-th SEND.
fn nodes(schedule: &Schedule, order: NodeOrder) -> Vec<Replayed> {
    let collective = &schedule.collective;
    let size = Size::bytes(4 * collective.logical_chunks() as u64);
    let traces = et::bytes(schedule, &EtOptions { order, ..EtOptions::new(size) }).unwrap();
    let mut all = Vec::new();
    let mut sends: BTreeMap<(u32, u32, u32), VecDeque<usize>> = BTreeMap::new();
    let mut receives: BTreeMap<(u32, u32, u32), VecDeque<usize>> = BTreeMap::new();
    for (rank, bytes) in traces.ranks().iter().enumerate() {
        let first = all.len();
        for (number, node) in (0..).zip(NodeReader::new(bytes.as_slice()).unwrap()) {
            let node = node.unwrap().node;
            assert_eq!(node.id, u64::from(number));
            let figure = |name| attr::find_u32(&node.attr, name).unwrap().unwrap();
            let me = rank as u32;
            let at = all.len();
            if node.r#type == NodeType::CommSendNode as i32 {
                sends.entry((me, figure("comm_dst"), figure("comm_tag"))).or_default().push_back(at);
            } else if node.r#type == NodeType::CommRecvNode as i32 {
                receives.entry((figure("comm_src"), me, figure("comm_tag"))).or_default().push_back(at);
            }
            let (reads, writes) = accesses(collective, RankId(me), &node);
            let before = node.data_deps.iter().map(|dep| first + *dep as usize).collect();
            all.push(Replayed { rank, number, before, reads, writes });
        }
    }
    for (connection, receives) in receives {
        let sends = &sends[&connection];
        assert_eq!(sends.len(), receives.len());
        for (send, receive) in sends.iter().zip(receives) {
            all[receive].before.push(*send);
        }
    }
    all
}

/// What a node reads and writes of its rank's memory.
fn accesses(collective: &Collective, rank: RankId, node: &Node) -> (Vec<Cell>, Vec<Cell>) {
    let Some(step) = attr::find_str(&node.attr, "step_type").unwrap() else { return (vec![], vec![]) };
    let real = |buffer: &str, index: u32| match buffer {
        "i" => cell(collective.locate_input(rank, index)),
        "o" => cell(collective.locate_output(rank, index)),
        _ => (2, index),
    };
    let place = |end| -> Vec<Cell> {
        let (buffer, offset) = match end {
            "src" => ("src_buf", "src_off"),
            _ => ("dst_buf", "dst_off"),
        };
        let buffer = attr::find_str(&node.attr, buffer).unwrap().unwrap();
        let figure = |name| attr::find_u32(&node.attr, name).unwrap().unwrap();
        let first = figure(offset);
        (first..first + figure("cnt")).map(|index| real(buffer, index)).collect()
    };
    let runs = |name: &str| -> Vec<Cell> {
        let Some(Value::Int32List(list)) = attr::find(&node.attr, name).and_then(|found| found.value.clone())
        else {
            return Vec::new();
        };
        let run = |run: &[i32]| {
            let (buffer, first, count) = (["i", "o", "s"][run[0] as usize], run[1] as u32, run[2] as u32);
            (first..first + count).map(|index| real(buffer, index)).collect::<Vec<_>>()
        };
        list.values.chunks(3).flat_map(run).collect()
    };
    let (sends, receives) =
        (node.r#type == NodeType::CommSendNode as i32, node.r#type == NodeType::CommRecvNode as i32);
    match (step, receives, sends) {
        ("s", _, _) => (place("src"), vec![]),
        ("r" | "rcs", true, _) => (vec![], place("dst")),
        ("rrc" | "rrcs", false, false) => (place("src"), place("dst")),
        ("rrs", false, false) => (place("src"), vec![]),
        ("cpy", _, _) => (place("src"), place("dst")),
        ("re", _, _) => ([place("src"), place("dst")].concat(), place("dst")),
        ("comp", _, _) => (runs("reads"), runs("writes")),
        _ => (vec![], vec![]),
    }
}
