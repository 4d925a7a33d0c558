//! A schedule that was written as Chakra traces is read back as it was, and what contradicts itself is refused.

mod common;

use chakra_et::proto::attribute_proto::Value;
use chakra_et::proto::{AttributeProto, GlobalMetadata, Node};
use chakra_et::{NodeReader, RankWriter, attr, metadata};
use collective_dsl::et::{self, EtOptions, NodeOrder, Original, Recovered, ReduceRate};
use collective_dsl::verify::{smallest_slots, verify};
use collective_dsl::{
    Buffer, Collective, CollectiveKind, ElementType, Options, Program, Protocol, Replication, Schedule,
    SiteId, Size, Trace, lower, msccl,
};
use common::{meaning, program, random_ops, samples};
use proptest::prelude::*;

/// Everything that a schedule says, without the numbers of its tables.
fn said(schedule: &Schedule) -> String {
    let line = |site: SiteId| schedule.sites.get(site).map(|site| format!("{}:{}", site.file, site.line));
    let (mut text, mixed) = meaning(schedule);
    text.push_str(&format!("{mixed:?}\n"));
    for step in schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks).flat_map(|block| &block.steps) {
        let fused = step.kind.receives() && step.kind.sends();
        text.push_str(&format!("{:?} {:?}\n", line(step.site), fused.then(|| line(step.send_site))));
    }
    text
}

fn original(ranks: &[Vec<u8>]) -> Original {
    match et::recover(ranks).unwrap() {
        Recovered::Full(original) => *original,
        Recovered::Opaque(why) => panic!("{why}"),
    }
}

/// Writes, reads and writes a schedule; the first two must agree in meaning, the last two in every byte.
#[track_caller]
fn survives(schedule: &Schedule, size: Size) {
    for order in [NodeOrder::ThreadBlock, NodeOrder::Dataflow] {
        let options = EtOptions { order, ..EtOptions::new(size) };
        let bytes = et::bytes(schedule, &options).unwrap();
        let read = original(bytes.ranks());
        let (ours, theirs) = (said(schedule), said(&read.schedule));
        assert!(ours == theirs, "{order:?}:\n{ours}\nis read as\n{theirs}");
        assert_eq!(read.schedule.collective, schedule.collective);
        assert_eq!(read.size, size);
        assert_eq!(read.order, order);
        // A file that no step names is not kept.
        let again = et::bytes(&read.schedule, &options).unwrap();
        assert!(schedule.step_count() == 0 || again == bytes, "{order:?}");
    }
}

fn compiled(program: Program, options: Options) -> Schedule {
    let trace = program.with_options(options).finish("program").unwrap();
    lower(&trace).unwrap()
}

#[test]
fn every_sample_survives_in_both_orders() {
    for schedule in samples() {
        for size in [Size::bytes(4 * 24), Size::bytes(1 << 20).with_type(ElementType::F16)] {
            let even_only = schedule.collective.kind() == CollectiveKind::AllToAll;
            let elements = size.elements().unwrap();
            if !even_only || elements.is_multiple_of(schedule.ranks.len() as u64) {
                survives(&schedule, size);
            }
        }
    }
    // 1,000,003 elements divide by nothing.
    survives(&samples()[0], Size::of(1_000_003, ElementType::F32));
}

/// One program for each kind that the samples do not have.
fn further_kinds() -> Vec<Program> {
    use Buffer::{Input, Output, Scratch};
    let mut programs = Vec::new();
    for place in [true, false] {
        for kind in [CollectiveKind::Gather, CollectiveKind::Scatter] {
            let collective = Collective::new(kind, 3, 2).unwrap().rooted(2).unwrap();
            let p = Program::new(if place { collective.in_place().unwrap() } else { collective });
            for rank in (0..3).filter(|rank| !(place && *rank == 2)) {
                if kind == CollectiveKind::Gather {
                    p.chunks(rank, Input, 0, 2).copy_to(2, Output, 2 * rank);
                } else {
                    p.chunks(2, Input, 2 * rank, 2).copy_to(rank, Output, 0);
                }
            }
            programs.push(p);
        }
    }
    let p = Program::new(Collective::new(CollectiveKind::SendRecv, 4, 3).unwrap().between(3, 1).unwrap());
    p.chunks(3, Input, 0, 3).copy_to(0, Scratch("relay"), 0).copy_to(1, Output, 0);
    programs.push(p);
    let p = Program::new(Collective::new(CollectiveKind::Barrier, 3, 1).unwrap());
    for rank in 0..3 {
        p.chunk(rank, Input, 0).copy_to(rank, Output, 0);
        (1..3).for_each(|hop| _ = p.chunk(rank, Output, 0).reduce(p.chunk((rank + hop) % 3, Input, 0)));
    }
    programs.push(p);
    let table = [vec![1, 3, 0], vec![0, 2, 1], vec![4, 0, 0]];
    let p = Program::new(Collective::all_to_all_v(&table).unwrap());
    for (from, row) in table.iter().enumerate() {
        for (to, count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
            let before: usize = row[..to].iter().sum();
            let at: usize = table[..from].iter().map(|row| row[to]).sum();
            p.chunks(from, Input, before, *count).copy_to(to, Output, at);
        }
    }
    programs.push(p);
    // Output chunk 1 of rank 1 is anything; chunk 0 a sum with one addend twice.
    let p = Program::new(Collective::custom(2, 3, 2).unwrap());
    let sum = p.chunk(0, Input, 2).copy_to(1, Output, 0).reduce(p.chunk(1, Input, 0));
    sum.reduce(p.chunk(1, Input, 0));
    for (rank, chunk) in [(0, 2), (1, 0), (1, 0)] {
        p.expect(1, 0, rank, chunk);
    }
    programs.push(p);
    programs
}

#[test]
fn every_kind_survives() {
    for p in further_kinds() {
        let schedule = compiled(p, Options::default());
        verify(&schedule, 2).unwrap();
        survives(&schedule, Size::of(3 * 8 * 5, ElementType::I64));
    }
}

#[test]
fn a_post_condition_is_checked_again() {
    let schedule = compiled(further_kinds().pop().unwrap(), Options::default());
    let bytes = et::bytes(&schedule, &EtOptions::new(Size::bytes(120))).unwrap();
    let mut read = original(bytes.ranks()).schedule;
    verify(&read, 2).unwrap();
    // Without its last step the sum lacks an addend.
    read.ranks[1].thread_blocks.iter_mut().for_each(|block| _ = block.steps.pop());
    assert!(verify(&read, 2).is_err());
}

#[test]
fn instances_protocols_and_hints_survive() {
    for protocol in Protocol::ALL {
        for replication in [Replication::Interleaved, Replication::Blocked] {
            for instances in [1, 3] {
                let options = Options { protocol, replication, instances, ..Options::default() };
                let p = Program::new(
                    Collective::all_reduce(4).unwrap().with_chunks(4).unwrap().in_place().unwrap(),
                );
                common::ring(&p, 2);
                survives(&compiled(p, options), Size::of(1_000_003, ElementType::F32));
            }
        }
    }
    let refined = Options { instances: 2, ..Options::default() };
    for p in further_kinds() {
        if p.collective().kind() != CollectiveKind::Barrier {
            survives(&compiled(p, refined), Size::of(3 * 16 * 5, ElementType::I8));
        }
    }
}

#[test]
fn an_imported_schedule_keeps_what_it_does_not_use() {
    // Thread block 1 of rank 0 is empty, and thread block 0 never receives.
    let text = r#"<algo name="odd" ngpus="2" nchunksperloop="2" nchannels="3" coll="custom" inplace="0" proto="LL128">
      <gpu id="0" i_chunks="2" o_chunks="2" s_chunks="7">
        <tb id="0" send="1" recv="1" chan="2"><step s="0" type="s" srcbuf="i" srcoff="0" cnt="2" hasdep="1"/></tb>
        <tb id="1" send="-1" recv="-1" chan="0"></tb>
        <tb id="2" send="-1" recv="-1" chan="0">
          <step s="0" type="nop" depid="0" deps="0"/>
          <step s="1" type="cpy" srcbuf="i" srcoff="1" dstbuf="s" dstoff="6" depid="0" deps="0"/></tb>
      </gpu>
      <gpu id="1" i_chunks="2" o_chunks="2">
        <tb id="0" send="-1" recv="0" chan="2"><step s="0" type="r" dstbuf="o" dstoff="0" cnt="2"/></tb>
      </gpu></algo>"#;
    let schedule = msccl::read(text, "odd.xml").unwrap().schedule;
    assert_eq!(schedule.ranks[0].thread_blocks[1].steps.len(), 0);
    let bytes = et::bytes(&schedule, &EtOptions::new(Size::bytes(8))).unwrap();
    let read = original(bytes.ranks()).schedule;
    assert!(read.collective.is_unspecified());
    assert_eq!(read.ranks[0].scratch_chunks, 7);
    assert_eq!(said(&read), said(&schedule));
    // Written as XML again, it is the same file as the schedule's own.
    let xml = |schedule: &Schedule| msccl::write(schedule, &msccl::XmlOptions::default()).unwrap();
    assert_eq!(xml(&read), xml(&schedule));
}

#[test]
fn durations_do_not_matter() {
    let schedule = samples().remove(0);
    let options =
        EtOptions { reduce_rate: ReduceRate::CollectiveApi, ..EtOptions::new(Size::bytes(1 << 20)) };
    let read = original(et::bytes(&schedule, &options).unwrap().ranks());
    assert_eq!(said(&read.schedule), said(&schedule));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn random_programs_survive(
        ranks in 1usize..5,
        kind in 0usize..4,
        in_place in any::<bool>(),
        instances in 1u32..3,
        ops in random_ops(),
        even in any::<bool>(),
    ) {
        let chunks = if kind == 0 { 5 } else { 2 };
        let mut collective = Collective::new(CollectiveKind::ALL[kind], ranks, chunks).unwrap();
        if in_place {
            collective = collective.in_place().unwrap();
        }
        let mut trace: Trace = program(&collective, &ops).finish("random").unwrap();
        trace.options.instances = instances;
        let schedule = lower(&trace).unwrap();
        // 60 elements a rank in 1 to 4 ranks and 10 or 4 chunks; or 13, where no chunks of different length are added.
        let even = even || !schedule.mixed.is_empty();
        let elements = if even { 960 } else { 13 * ranks as u64 };
        survives(&schedule, Size::of(elements, ElementType::F32));
        let bytes = et::bytes(&schedule, &EtOptions::new(Size::of(960, ElementType::F32))).unwrap();
        prop_assert_eq!(smallest_slots(&original(bytes.ranks()).schedule), smallest_slots(&schedule));
    }

    #[test]
    fn damaged_traces_never_panic(
        sample in 0usize..12,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0usize..3), 1..4),
    ) {
        let schedules = samples();
        let schedule = &schedules[sample % schedules.len()];
        let bytes = et::bytes(schedule, &EtOptions::new(Size::bytes(96))).unwrap();
        let mut ranks = bytes.ranks().to_vec();
        for (at, byte, how) in damage {
            let rank = at.index(ranks.len());
            let place = at.index(ranks[rank].len());
            match how {
                0 => ranks[rank][place] = byte,
                1 => ranks[rank][place] ^= 1 << (byte % 8),
                _ => ranks[rank].truncate(place),
            }
        }
        if let Ok(Recovered::Full(original)) = et::recover(&ranks) {
            _ = verify(&original.schedule, 2);
            _ = et::graph(&original.schedule, &EtOptions::new(original.size));
        }
    }
}

/// A trace of which one message or attribute is changed.
struct Edited {
    headers: Vec<GlobalMetadata>,
    nodes: Vec<Vec<Node>>,
}

/// The ring of four ranks, from which each test spoils one thing.
fn ring() -> Edited {
    let bytes = et::bytes(&samples()[0], &EtOptions::new(Size::bytes(4096))).unwrap();
    let mut edited = Edited { headers: Vec::new(), nodes: Vec::new() };
    for file in bytes.ranks() {
        let reader = NodeReader::new(&file[..]).unwrap();
        edited.headers.push(reader.metadata().clone());
        edited.nodes.push(reader.map(|node| node.unwrap().node).collect());
    }
    edited
}

impl Edited {
    fn files(&self) -> Vec<Vec<u8>> {
        let write = |(header, nodes): (&GlobalMetadata, &Vec<Node>)| {
            let mut writer = RankWriter::new(header).unwrap();
            nodes.iter().for_each(|node| writer.node(node).unwrap());
            writer.finish()
        };
        self.headers.iter().zip(&self.nodes).map(write).collect()
    }

    /// What is said of it when it is read.
    fn answer(&self) -> String {
        match et::recover(&self.files()) {
            Ok(Recovered::Full(_)) => "recovered".to_owned(),
            Ok(Recovered::Opaque(why)) => format!("opaque: {why}"),
            Err(error) => error.to_string(),
        }
    }
}

fn set(attrs: &mut Vec<AttributeProto>, new: AttributeProto) {
    match attrs.iter_mut().find(|known| known.name == new.name) {
        Some(known) => *known = new,
        None => attrs.push(new),
    }
}

fn spoilt(spoil: impl FnOnce(&mut Edited)) -> String {
    let mut edited = ring();
    spoil(&mut edited);
    edited.answer()
}

#[test]
fn order_in_the_file_and_ids_do_not_matter() {
    let mut edited = ring();
    for nodes in &mut edited.nodes {
        nodes.reverse();
        for node in nodes {
            node.id = node.id * 1_000_000_007 + 5;
            node.data_deps.iter_mut().for_each(|dep| *dep = *dep * 1_000_000_007 + 5);
            node.ctrl_deps = std::mem::take(&mut node.data_deps);
        }
    }
    let read = original(&edited.files());
    assert_eq!(said(&read.schedule), said(&samples()[0]));
    assert_eq!(read.order, NodeOrder::ThreadBlock);
}

#[test]
fn a_trace_that_contradicts_itself_is_refused_with_rank_and_node() {
    assert_eq!(ring().answer(), "recovered");
    for (node, name, value, message) in [
        (0, "src_off", 9, "it reaches beyond its buffer: i[9..10], but i has 4 chunk(s) there"),
        (
            0,
            "src_off",
            -1,
            "attribute src_off (int32_val) is -1; a non-negative integer below 2^32 is expected",
        ),
        (0, "cnt", 0, "it does not name as many chunks of the data as its cnt"),
        (0, "cnt", 1_000_000_000, "it does not name as many chunks of the data as its cnt"),
        (0, "data_chunk", 77, "it moves chunk 77 of the data: they go from 0 to 3"),
        (0, "comm_size", 12, "its message has 12 bytes: its chunks have 1024"),
        (0, "tb_id", 7, "tb_id is 7: the rank has 2 thread block(s)"),
        (0, "comm_tag", 5, "its tag is 5, but tb0 is on ch0"),
        (0, "comm_src", 9, "it receives from rank 9, but tb0 receives from rank 0"),
        (3, "comm_dst", 3, "it sends to rank 3, but tb1 sends to rank 2"),
        (14, "local_time_step", 5, "it is of step 5 of tb1, which has no step 3"),
        (2, "dst_off", 1, "node 0 is of the same step and says something else of it"),
    ] {
        let got = spoilt(|edited| set(&mut edited.nodes[1][node].attr, attr::int32(name, value)));
        assert_eq!(got, format!("rank 1, node {node}: {message}"));
    }
    // Reduced and stored is another step than reduced only, and has a part more than stored only.
    for (kind, message) in [
        ("rrcs", "recovered"),
        ("rcs", "rank 1, node 1: step 0 of tb0 is rcs: this COMP node is too much"),
        ("rrc", "rank 1, node 2: step 0 of tb0 is rrc: this SEND node is too much"),
        ("jump", "rank 1, node 0: step_type is unknown: jump"),
    ] {
        let got = spoilt(|edited| {
            edited.nodes[1][..3]
                .iter_mut()
                .for_each(|node| set(&mut node.attr, attr::string("step_type", kind)));
        });
        assert_eq!(got, message);
    }
    let got = spoilt(|edited| set(&mut edited.nodes[1][14].attr, attr::string("step_type", "rcs")));
    assert_eq!(got, "rank 1, node 14: step 3 of tb1 is rcs and has no SEND node");
}

#[test]
fn nodes_that_cannot_be_are_refused() {
    let got = spoilt(|edited| edited.nodes[1][3].data_deps.push(4096));
    assert_eq!(got, "rank 1, node 3: it depends on node 4096, which is missing");
    let got = spoilt(|edited| edited.nodes[1][3].id = 2);
    assert_eq!(got, "rank 1, node 2: another node has the same id");
    let got = spoilt(|edited| edited.nodes[1][0].data_deps.push(2));
    assert_eq!(got, "rank 1, node 0: it depends on node 2, which does not come before it in their step");
    // The same step twice.
    let got = spoilt(|edited| {
        let mut copy = edited.nodes[1][3].clone();
        copy.id = 900;
        edited.nodes[1].push(copy);
    });
    assert_eq!(got, "rank 1, node 900: step 0 of tb1 is s: this SEND node is too much");
}

#[test]
fn metadata_that_cannot_be_are_refused_with_their_rank() {
    let with = |rank: usize, new: AttributeProto| spoilt(|edited| set(&mut edited.headers[rank].attr, new));
    let list = |name: &str, values: &[i32]| AttributeProto {
        name: name.to_owned(),
        value: Some(Value::Int32List(chakra_et::proto::Int32List { values: values.to_vec() })),
        ..AttributeProto::default()
    };
    for (message, got) in [
        (
            "rank 2: its metadata describe another algorithm than those of rank 0",
            with(2, attr::string("protocol", "LL")),
        ),
        ("rank 1: in its metadata, there is no protocol \"fast\"", with(1, attr::string("protocol", "fast"))),
        (
            "rank 3: in its metadata, the operator is max; sum is expected",
            with(3, attr::string("operator", "max")),
        ),
        ("rank 0: in its metadata, thread_blocks are not a peer", with(0, list("thread_blocks", &[1, 2]))),
        (
            "rank 0: in its metadata, tb0 sends to rank 9: another rank from 0 to 3 is expected",
            with(0, list("thread_blocks", &[9, -1, 0])),
        ),
        ("rank 0: in its metadata, tb0 receives from rank 0", with(0, list("thread_blocks", &[1, 0, 0]))),
        (
            "rank 0: the scratch of all ranks has more than 67108864 chunks",
            with(0, attr::int32("scratch_chunks", i32::MAX)),
        ),
        ("rank 1: in its metadata, attribute scratch_chunks", with(1, attr::int32("scratch_chunks", -3))),
    ] {
        assert!(got.starts_with(message), "wanted \"{message}\", got \"{got}\"");
    }
    let got = spoilt(|edited| {
        edited.headers.iter_mut().for_each(|header| set(&mut header.attr, attr::int64("chunks", 9)));
    });
    assert!(
        got.contains("division_chunks 4 and chunks 9 do not fit all-reduce over 4 ranks: 4 and 4"),
        "{got}"
    );
    let got = spoilt(|edited| {
        edited.headers.pop();
        edited.nodes.pop();
    });
    assert!(got.starts_with("rank 0: in its metadata, tb0 receives from rank 3"), "{got}");
    assert!(et::recover::<Vec<u8>>(&[]).is_err());
    let error = et::recover(&[b"no trace".to_vec()]).unwrap_err().to_string();
    assert!(error.starts_with("rank 0: "), "{error}");
}

#[test]
fn traces_of_other_tools_hold_no_schedule_and_say_why() {
    let got = spoilt(|edited| edited.headers[0] = metadata::write(None, &[]).unwrap());
    assert_eq!(got, "opaque: rank 0: its metadata do not state a collective with its size and chunks");
    let got = spoilt(|edited| {
        edited.nodes[1][2].attr.retain(|attribute| attribute.name != "tb_id");
    });
    assert_eq!(
        got,
        "opaque: rank 1, node 2: it does not say which step it is a part of (tb_id, local_time_step, step_type)"
    );
    let bytes = et::bytes(&samples()[0], &EtOptions::new(Size::bytes(0))).unwrap();
    let Recovered::Opaque(why) = et::recover(bytes.ranks()).unwrap() else { panic!("there are no steps") };
    assert_eq!(why.to_string(), "rank 0: the trace was made for a size of 0, so that it has no steps");
}

#[test]
fn a_dependence_that_is_removed_is_gone() {
    // Whoever edits the graph finds the schedule as edited: rank 1 of the hierarchical sample waits across thread blocks.
    let schedule = samples().into_iter().find(|schedule| schedule.name == "hierarchical").unwrap();
    let rank = schedule.ranks.iter().position(|rank| {
        rank.thread_blocks.iter().flat_map(|block| &block.steps).any(|step| !step.depends.is_empty())
    });
    let rank = rank.unwrap();
    let bytes = et::bytes(&schedule, &EtOptions::new(Size::bytes(4096))).unwrap();
    let mut files = bytes.ranks().to_vec();
    let reader = NodeReader::new(&files[rank][..]).unwrap();
    let mut writer = RankWriter::new(reader.metadata()).unwrap();
    let nodes: Vec<Node> = reader.map(|node| node.unwrap().node).collect();
    let block = |id: u64| attr::find_u32(&nodes[id as usize].attr, "tb_id").unwrap();
    for node in &nodes {
        let mut node = node.clone();
        let own = block(node.id);
        node.data_deps.retain(|dep| block(*dep) == own);
        writer.node(&node).unwrap();
    }
    files[rank] = writer.finish();
    let read = original(&files).schedule;
    let mut steps = read.ranks[rank].thread_blocks.iter().flat_map(|block| &block.steps);
    assert!(steps.all(|step| step.depends.is_empty()));
}
