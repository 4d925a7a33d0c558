//! What is written and read again is the same schedule.

mod common;

use collective_dsl::et::{self, EtOptions};
use collective_dsl::msccl::{self, Target, XmlError, XmlOptions, limits};
use collective_dsl::verify::{smallest_slots, verify};
use collective_dsl::{Buffer, Collective, CollectiveKind, Program, Setting, Size, compile, lower};
use common::{meaning, program, random_ops, samples};
use proptest::prelude::*;

#[test]
fn programs_survive_every_target() {
    for schedule in samples() {
        verify(&schedule, schedule.protocol.slots()).unwrap();
        for target in Target::ALL {
            let text = msccl::write(&schedule, &XmlOptions::new(target)).unwrap();
            let imported = msccl::read(&text, "out.xml").unwrap();
            assert_eq!(meaning(&imported.schedule), meaning(&schedule), "{target}\n{text}");
            assert_eq!(imported.warnings, [], "{text}");
            let options = XmlOptions::from_header(target, &imported.header);
            assert_eq!(msccl::write(&imported.schedule, &options).unwrap(), text);
            verify(&imported.schedule, schedule.protocol.slots()).unwrap();
        }
    }
}

#[test]
fn an_imported_schedule_has_the_same_nodes_in_its_trace() {
    for schedule in samples() {
        let text = msccl::write(&schedule, &XmlOptions::default()).unwrap();
        let imported = msccl::read(&text, "out.xml").unwrap().schedule;
        // Twelve elements divide by the chunks of every sample but the one with eight.
        let options = EtOptions::new(Size::bytes(4 * 24));
        let (mut ours, mut theirs) =
            (et::graph(&schedule, &options).unwrap(), et::graph(&imported, &options).unwrap());
        assert_eq!(theirs.source_files, ["out.xml"]);
        for graph in [&mut ours, &mut theirs] {
            graph.source_files.clear();
        }
        assert_eq!(ours.node_count(), theirs.node_count());
        for (a, b) in ours.ranks().iter().zip(theirs.ranks()) {
            for id in 0..a.len() as u32 {
                assert_eq!((a.op(id), a.deps(id)), (b.op(id), b.deps(id)));
            }
        }
    }
}

#[test]
fn the_text_is_as_the_reference_writes_it() {
    let setting =
        Setting { in_place: true, chunks: Some(2), ..Setting::new("pair", CollectiveKind::AllReduce, 2) };
    let trace = setting.trace("", |p| {
        let there = p.chunks(0, Buffer::Input, 0, 2).copy_to(1, Buffer::Scratch("s"), 0);
        p.chunks(1, Buffer::Input, 0, 2).reduce(there);
        p.chunks(1, Buffer::Input, 0, 2).copy_to(0, Buffer::Input, 0);
    });
    let text = msccl::write(&compile(&trace.unwrap()).unwrap(), &XmlOptions::default()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..5],
        [
            r#"<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1">"#,
            r#"  <gpu id="0" i_chunks="2" o_chunks="0" s_chunks="0">"#,
            r#"    <tb id="0" send="1" recv="-1" chan="0">"#,
            r#"      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="1"/>"#,
            r#"    </tb>"#,
        ]
    );
    assert_eq!(
        lines[6],
        r#"      <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="0" deps="0" hasdep="0"/>"#
    );
    assert!(text.ends_with("    </tb>\n  </gpu>\n</algo>\n"));
}

#[test]
fn dialects_differ_in_the_header() {
    let setting = Setting::new("rs", CollectiveKind::ReduceScatter, 2);
    let trace = setting.trace("", |p| {
        for to in 0..2 {
            p.chunk(to, Buffer::Input, to).copy_to(to, Buffer::Output, 0);
            p.chunk(to, Buffer::Output, 0).reduce(p.chunk(1 - to, Buffer::Input, to));
        }
    });
    let schedule = compile(&trace.unwrap()).unwrap();
    let header = |target, min, max| {
        let options = XmlOptions { min_bytes: min, max_bytes: max, ..XmlOptions::new(target) };
        msccl::write(&schedule, &options).unwrap().lines().next().unwrap().to_owned()
    };
    assert!(header(Target::Msccl, None, None).ends_with(r#"coll="reduce_scatter" inplace="0">"#));
    assert!(
        header(Target::Executor, Some(64), Some(4096))
            .ends_with(r#"coll="reducescatter" inplace="0" outofplace="1" minBytes="64" maxBytes="4096">"#)
    );
    // 0 is no bound for the executors, and an empty range for microsoft/msccl.
    assert!(header(Target::Rccl, None, None).ends_with(r#"minBytes="0" maxBytes="0">"#));
    assert!(
        header(Target::Msccl, Some(1), Some(0)).ends_with(r#"minBytes="1" maxBytes="9223372036854775807">"#)
    );
    let options =
        XmlOptions { min_bytes: Some(4096), max_bytes: Some(1024), ..XmlOptions::new(Target::Rccl) };
    let error = msccl::write(&schedule, &options).unwrap_err();
    assert_eq!(error, XmlError::EmptyRange { min: 4096, max: 1024 });
}

#[test]
fn collectives_without_a_word_are_refused_or_custom() {
    let trace = Setting::new("pass", CollectiveKind::SendRecv, 2).trace("", |p| {
        p.chunk(0, Buffer::Input, 0).copy_to(1, Buffer::Output, 0);
    });
    let schedule = compile(&trace.unwrap()).unwrap();
    let error = msccl::write(&schedule, &XmlOptions::new(Target::Rccl)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the XML of rccl has no word for send-recv: with --target msccl it becomes a custom algorithm"
    );
    let text = msccl::write(&schedule, &XmlOptions::new(Target::Msccl)).unwrap();
    assert!(text.contains(r#"coll="custom""#));
    let imported = msccl::read(&text, "pass.xml").unwrap();
    assert!(imported.schedule.collective.is_unspecified());
    verify(&imported.schedule, 2).unwrap();
}

#[test]
fn all_to_all_v_is_custom_with_buffers_as_long_as_the_longest_or_refused() {
    let table = [vec![1, 3, 0], vec![0, 2, 1], vec![4, 0, 0]];
    let p = Program::new(Collective::all_to_all_v(&table).unwrap());
    for (from, row) in table.iter().enumerate() {
        for (to, count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
            let before: usize = row[..to].iter().sum();
            let at: usize = table[..from].iter().map(|row| row[to]).sum();
            p.chunks(from, Buffer::Input, before, *count).copy_to(to, Buffer::Output, at);
        }
    }
    let schedule = compile(&p.finish("exchange").unwrap()).unwrap();
    for target in [Target::Executor, Target::Rccl] {
        let error = msccl::write(&schedule, &XmlOptions::new(target)).unwrap_err().to_string();
        assert!(
            error.contains("has no word for all-to-all-v: its alltoallv takes the number of chunks"),
            "{error}"
        );
        assert!(error.contains("with --target msccl it becomes a custom algorithm"), "{error}");
    }
    let text = msccl::write(&schedule, &XmlOptions::new(Target::Msccl)).unwrap();
    // Five chunks come to ranks 0 and 1, four leave ranks 0 and 2.
    assert!(text.contains(r#"nchunksperloop="5" ngpus="3" coll="custom""#), "{text}");
    assert_eq!(text.matches(r#"i_chunks="5" o_chunks="5" s_chunks="0""#).count(), 3, "{text}");
    let imported = msccl::read(&text, "v.xml").unwrap();
    assert!(imported.schedule.collective.is_unspecified());
    assert_eq!(imported.warnings, []);
    let steps = |schedule| meaning(schedule).0.lines().skip(1).collect::<Vec<_>>().join("\n");
    assert_eq!(steps(&imported.schedule), steps(&schedule));
    verify(&imported.schedule, 2).unwrap();
}

#[test]
fn what_a_runtime_cannot_hold_is_refused_with_limit_rank_and_value() {
    let found = |chunks: usize, program: &dyn Fn(&Program), target: Target| -> Vec<String> {
        let p =
            Program::new(Collective::all_reduce(2).unwrap().with_chunks(chunks).unwrap().in_place().unwrap());
        program(&p);
        let schedule = lower(&p.finish("much").unwrap()).unwrap();
        let found = limits::check(&schedule, target);
        let refused = msccl::write(&schedule, &XmlOptions::new(target)).is_err();
        assert_eq!(refused, !found.is_empty());
        found.into_iter().map(|finding| finding.message).collect()
    };
    let steps = |p: &Program| {
        (0..300).for_each(|i| _ = p.chunk(0, Buffer::Input, i).copy_to(1, Buffer::Input, i));
    };
    let said = found(300, &steps, Target::Msccl);
    assert_eq!(said[0], "rank 0, tb0 has 300 steps (those that only wait included); msccl has at most 256");
    assert_eq!(said.len(), 2);
    let channels = |p: &Program| {
        (0..33).for_each(|i| _ = p.chunk(0, Buffer::Input, i).on_channel(i).copy_to(1, Buffer::Input, i));
    };
    assert_eq!(
        found(33, &channels, Target::Executor),
        ["there are 33 channels; msccl-executor has at most 32"]
    );
    assert_eq!(found(33, &channels, Target::Rccl), [""; 0]);
    let blocks = |p: &Program| {
        (0..65).for_each(|i| _ = p.chunk(0, Buffer::Input, i).on_channel(i).copy_to(1, Buffer::Input, i));
    };
    let said = found(65, &blocks, Target::Rccl);
    assert!(said.contains(&"rank 1 has 65 thread blocks; rccl has at most 64".to_owned()), "{said:?}");
    let count = |p: &Program| _ = p.chunks(0, Buffer::Input, 0, 100).copy_to(1, Buffer::Input, 0);
    assert_eq!(
        found(100, &count, Target::Msccl)[0],
        "rank 0, tb0, step 0 (s) moves 100 chunks; msccl moves at most 71: copy in several operations of at most 71 \
         chunks, or use larger chunks"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn random_programs_survive(
        ranks in 1usize..5,
        kind in 0usize..4,
        in_place in any::<bool>(),
        instances in 1u32..3,
        ops in random_ops(),
        target in 0usize..3,
    ) {
        let chunks = if kind == 0 { 5 } else { 2 };
        let mut collective = Collective::new(CollectiveKind::ALL[kind], ranks, chunks).unwrap();
        if in_place {
            collective = collective.in_place().unwrap();
        }
        let mut trace = program(&collective, &ops).finish("random").unwrap();
        trace.options.instances = instances;
        let schedule = lower(&trace).unwrap();
        let options = XmlOptions::new(Target::ALL[target]);
        let text = msccl::write(&schedule, &options).unwrap();
        let imported = msccl::read(&text, "random.xml").unwrap();
        prop_assert_eq!(meaning(&imported.schedule), meaning(&schedule), "{}", text);
        prop_assert_eq!(imported.warnings, []);
        prop_assert_eq!(smallest_slots(&imported.schedule), smallest_slots(&schedule));
        prop_assert_eq!(msccl::write(&imported.schedule, &options).unwrap(), text);
    }

    #[test]
    fn damaged_text_never_panics(
        sample in 0usize..12,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0usize..4), 1..6),
    ) {
        let schedules = samples();
        let schedule = &schedules[sample % schedules.len()];
        let text = msccl::write(schedule, &XmlOptions::default()).unwrap();
        judge(&damaged(text.into_bytes(), &damage));
    }
}

fn damaged(mut bytes: Vec<u8>, damage: &[(prop::sample::Index, u8, usize)]) -> String {
    for (at, byte, how) in damage {
        if bytes.is_empty() {
            break;
        }
        let at = at.index(bytes.len());
        match how {
            // Digits most of the time: that is where the meaning is.
            0 => {
                let digit = bytes[at..].iter().position(u8::is_ascii_digit).unwrap_or(0);
                bytes[at + digit] = b'0' + byte % 10;
            }
            1 => bytes[at] = *byte,
            2 => _ = bytes.remove(at),
            _ => bytes.insert(at, b"-<>\"9srcino"[usize::from(*byte) % 11]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Does with a text all that the command does.
fn judge(text: &str) {
    let Ok(imported) = msccl::read(text, "damaged.xml") else { return };
    let schedule = &imported.schedule;
    _ = verify(schedule, 2);
    _ = smallest_slots(schedule);
    _ = schedule.to_string();
    for target in Target::ALL {
        _ = msccl::write(schedule, &XmlOptions::from_header(target, &imported.header));
    }
    let options = EtOptions::new(Size::bytes(4 * 240));
    _ = et::graph(schedule, &options);
    _ = et::bytes(schedule, &options);
}

#[test]
fn no_damaged_byte_panics() {
    let text = msccl::write(&samples()[5], &XmlOptions::default()).unwrap();
    for byte in [0, b'<', b'&', b'"', b'-', b'9', b' ', b'/'] {
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = byte;
            judge(&String::from_utf8_lossy(&bytes));
        }
    }
}
