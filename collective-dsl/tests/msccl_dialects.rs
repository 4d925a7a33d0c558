//! Every dialect of MSCCL XML that is in use is read, and what a file gets wrong is said with its place.

use collective_dsl::msccl::{
    self, Imported, Parent, Placement, ReadOptions, Target, XmlError, XmlOptions, limits,
};
use collective_dsl::verify::{smallest_slots, verify};
use collective_dsl::{CollectiveKind, Protocol, RankId, Rule, Schedule};

/// A file from its `algo` attributes and its gpus.
fn file(attributes: &str, gpus: &[&str]) -> String {
    let mut text = format!("<algo {attributes}>\n");
    for (id, gpu) in gpus.iter().enumerate() {
        text.push_str(&format!("<gpu id=\"{id}\" s_chunks=\"2\">\n{gpu}\n</gpu>\n"));
    }
    text.push_str("</algo>\n");
    text
}

#[track_caller]
fn read(text: &str) -> Imported {
    msccl::read(text, "f.xml").unwrap()
}

#[track_caller]
fn refused(text: &str) -> String {
    msccl::read(text, "f.xml").unwrap_err().to_string()
}

/// The rule and message of the first finding.
#[track_caller]
fn verdict(schedule: &Schedule, slots: u32) -> (Rule, String) {
    let found = verify(schedule, slots).unwrap_err();
    (found.findings[0].rule, found.to_string())
}

fn warnings(imported: &Imported) -> Vec<String> {
    imported.warnings.iter().map(ToString::to_string).collect()
}

/// An all-gather of two ranks, out of place, from this text of a rank's send, receive and copy.
fn gather(attributes: &str) -> String {
    let rank = |peer: usize, own: usize| {
        format!(
            "<tb id=\"0\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">\n\
             <step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"{own}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n\
             <step s=\"1\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"{peer}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n\
             <step s=\"2\" type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"{own}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n</tb>"
        )
    };
    file(attributes, &[&rank(1, 0), &rank(0, 1)])
}

const GATHER: &str =
    r#"name="g" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="0""#;

#[test]
fn the_plain_dialect_is_read_without_a_warning() {
    let imported = read(&gather(GATHER));
    let schedule = &imported.schedule;
    assert_eq!((schedule.name.as_str(), schedule.protocol), ("g", Protocol::Ll));
    assert_eq!(schedule.collective.kind(), CollectiveKind::AllGather);
    assert_eq!((schedule.collective.chunks(), schedule.collective.is_in_place()), (1, false));
    assert_eq!(warnings(&imported), [""; 0]);
    verify(schedule, 1).unwrap();
    // Lines of the file stand in for lines of a program.
    let step = &schedule.ranks[1].thread_blocks[0].steps[1];
    assert_eq!(schedule.sites.get(step.site).unwrap().to_string(), "f.xml:12");
}

#[test]
fn order_of_attributes_comments_and_a_declaration_do_not_matter() {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- one -->\n<!-- two -->\n{}",
        gather(r#"coll='allgather' inplace = "0" ngpus="2" nchunksperloop="2" name="a()=,b""#)
            .replace("/>", " />")
            .replace("<tb", "<!-- inside --><tb")
    );
    let imported = read(&text);
    assert_eq!((imported.schedule.name.as_str(), imported.schedule.protocol), ("a()=,b", Protocol::Simple));
    verify(&imported.schedule, 1).unwrap();
}

#[test]
fn the_old_form_with_op_buf_and_off_is_read() {
    // No collective, protocol, ranks or chunks; one place a step; count and waits only where there are any.
    let rank = |peer: usize| {
        format!(
            "<tb id=\"0\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\"><op step=\"0\" type=\"s\" buf=\"i\" off=\"0\"/>\
             <op step=\"1\" type=\"rrc\" buf=\"i\" off=\"0\"/></tb>"
        )
    };
    let text = format!(
        "<algo name=\"old\" nchannels=\"1\"><gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\">{}</gpu><gpu id=\"1\" \
         i_chunks=\"1\" o_chunks=\"1\">{}</gpu></algo>",
        rank(1),
        rank(0)
    );
    let imported = read(&text);
    assert!(imported.schedule.collective.is_unspecified());
    assert_eq!(imported.schedule.message_count(), 2);
    assert!(warnings(&imported)[0].contains("coll is missing: there is no post-condition"));
    verify(&imported.schedule, 1).unwrap();
}

#[test]
fn both_words_for_reduce_scatter_are_one_collective() {
    for word in ["reduce_scatter", "reducescatter"] {
        let attributes = format!(r#"ngpus="1" nchunksperloop="1" coll="{word}" inplace="1""#);
        assert_eq!(read(&file(&attributes, &[""])).schedule.collective.kind(), CollectiveKind::ReduceScatter);
    }
    let error = refused(&file(r#"ngpus="1" nchunksperloop="1" coll="scan""#, &[""]));
    assert!(error.starts_with("f.xml:1: algo: attribute coll is \"scan\": expected allreduce, "), "{error}");
}

#[test]
fn unknown_attributes_and_elements_survive() {
    let text =
        gather(&format!("{GATHER} outofplace=\"0\" colour=\"x &lt; y\" minBytes=\"64\" maxBytes=\"0\""))
            .replace("type=\"cpy\"", "algostep=\"7\" type=\"cpy\"")
            .replace("<tb id", "<note k=\"v\"><deep/></note><tb nthreads=\"64\" id")
            .replace("<gpu id=\"1\"", "<gpu hue=\"2\" id=\"1\"");
    let imported = read(&text);
    let extras = &imported.header.extras;
    assert_eq!(extras.algorithm, [("colour".to_owned(), "x < y".to_owned())]);
    assert_eq!(extras.steps[&(1, 0, 2)], [("algostep".to_owned(), "7".to_owned())]);
    assert_eq!(extras.elements[&Parent::Rank(0)], ["<note k=\"v\">\n  <deep/>\n</note>\n"]);
    assert_eq!((imported.header.min_bytes, imported.header.max_bytes), (Some(64), Some(0)));
    for target in Target::ALL {
        let options = XmlOptions::from_header(target, &imported.header);
        let again = msccl::write(&imported.schedule, &options).unwrap();
        for kept in [
            "colour=\"x &lt; y\"",
            "outofplace=\"0\"",
            "hue=\"2\"",
            "<deep/>",
            "nthreads=\"64\"",
            "algostep=\"7\"",
        ] {
            assert!(again.contains(kept), "{kept}\n{again}");
        }
        assert_eq!(read(&again).header.extras, imported.header.extras);
    }
}

#[test]
fn ranges_that_contain_no_size_are_said() {
    // Case D07.
    let empty = gather(&format!("{GATHER} minBytes=\"0\" maxBytes=\"0\""));
    assert!(warnings(&read(&empty))[0].contains("would never choose it"));
    let unlimited = gather(&format!("{GATHER} outofplace=\"1\" minBytes=\"0\" maxBytes=\"0\""));
    assert_eq!(warnings(&read(&unlimited)), [""; 0]);
    let error = refused(&gather(&format!("{GATHER} minBytes=\"4096\" maxBytes=\"1024\"")));
    assert_eq!(error, "f.xml:1: algo: minBytes 4096 is more than maxBytes 1024: no size lies between them");
}

#[test]
fn control_characters_are_refused() {
    // XML 1.0, production 2: of the characters below a space only tab, line feed and carriage return.
    for (character, code) in [("\0", "U+0000"), ("&#27;", "U+001B")] {
        let error = refused(&gather(&GATHER.replace("\"g\"", &format!("\"a{character}b\""))));
        assert!(error.contains(&format!("attribute name: XML has no character {code}")), "{error}");
    }
    assert_eq!(read(&gather(&GATHER.replace("\"g\"", "\"a&#9;b\""))).schedule.name, "a\tb");
}

#[test]
fn gpus_and_thread_blocks_may_stand_in_any_order_and_have_gaps() {
    let text = r#"<algo ngpus="2" nchunksperloop="1" coll="broadcast" inplace="0" nchannels="1">
      <gpu id="1" i_chunks="0" o_chunks="1"><tb id="9" send="-1" recv="0" chan="0"><step type="r" dstbuf="o" dstoff="0"/></tb></gpu>
      <gpu id="0" i_chunks="1" o_chunks="1">
        <tb id="7" send="-1" recv="-1" chan="0"><step type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0"/></tb>
        <tb id="2" send="1" recv="-1" chan="0"><step type="s" srcbuf="o" srcoff="0" depid="7" deps="0"/></tb>
        <tb id="4" send="-1" recv="-1" chan="0"></tb>
      </gpu></algo>"#;
    let imported = read(text);
    let blocks = &imported.schedule.ranks[0].thread_blocks;
    assert_eq!(blocks.iter().map(|block| block.steps.len()).collect::<Vec<_>>(), [1, 0, 1]);
    // Thread block 7 is now the third.
    assert_eq!(blocks[0].steps[0].depends[0].thread_block.0, 2);
    assert!(warnings(&imported)[0].contains("have gaps, which runtimes refuse"), "{:?}", warnings(&imported));
    verify(&imported.schedule, 1).unwrap();
    let again = msccl::write(&imported.schedule, &XmlOptions::default()).unwrap();
    assert_eq!(read(&again).schedule.ranks[0].thread_blocks.len(), 3);
}

#[test]
fn waits_go_through_nops_and_flags_are_mended() {
    // Thread block 2 waits for two others; its deps count the nop of thread block 1. No flag is set (case D04).
    let rank = "<tb id=\"0\" send=\"-1\" recv=\"-1\" chan=\"0\"><step s=\"0\" type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" hasdep=\"0\"/></tb>\
        <tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\"><step s=\"0\" type=\"nop\" depid=\"0\" deps=\"0\" cnt=\"0\"/><step s=\"1\" type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"s\" dstoff=\"1\" hasdep=\"0\"/></tb>\
        <tb id=\"2\" send=\"-1\" recv=\"-1\" chan=\"0\"><step s=\"0\" type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" cnt=\"0\" depid=\"0\" deps=\"0\" hasdep=\"1\"/>\
        <step s=\"1\" type=\"cpy\" srcbuf=\"s\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" depid=\"1\" deps=\"1\"/></tb>";
    let imported = read(&file(r#"ngpus="1" nchunksperloop="1" coll="allreduce" inplace="0""#, &[rank]));
    let blocks = &imported.schedule.ranks[0].thread_blocks;
    let depends = |block: usize| -> Vec<(u32, u32)> {
        blocks[block].steps[0].depends.iter().map(|on| (on.thread_block.0, on.step)).collect()
    };
    assert_eq!((depends(1), depends(2)), (vec![(0, 0)], vec![(0, 0), (1, 0)]));
    verify(&imported.schedule, 1).unwrap();
    let said = warnings(&imported).join("\n");
    assert!(said.contains("gpu 0, tb 0, step 0: is awaited but has hasdep=\"0\""), "{said}");
    assert!(said.contains("has hasdep=\"1\" but nothing waits for it"), "{said}");
    let again = msccl::write(&imported.schedule, &XmlOptions::default()).unwrap();
    assert_eq!(again.matches("hasdep=\"1\"").count(), 2);
    assert_eq!(again.matches("type=\"nop\"").count(), 1);
    assert_eq!(read(&again).warnings, []);
}

#[test]
fn initial_copies_come_first_out_of_place_and_mean_nothing_in_place() {
    let rank = |peer: usize, own: usize| {
        format!(
            "<copy i_off=\"0\" o_off=\"{own}\"/><tb id=\"0\" send=\"{peer}\" recv=\"{peer}\" chan=\"0\">\
             <step type=\"s\" srcbuf=\"o\" srcoff=\"{own}\"/><step type=\"r\" dstbuf=\"o\" dstoff=\"{peer}\"/></tb>"
        )
    };
    let text = |place: usize| {
        let attributes = format!(r#"ngpus="2" nchunksperloop="2" coll="allgather" inplace="{place}""#);
        file(&attributes, &[&rank(1, 0), &rank(0, 1)])
    };
    let apart = read(&text(0)).schedule;
    let blocks = &apart.ranks[1].thread_blocks;
    assert_eq!((blocks.len(), blocks[0].steps[0].depends[0].thread_block.0), (2, 1));
    verify(&apart, 1).unwrap();
    let together = read(&text(1));
    assert_eq!(together.schedule.ranks[1].thread_blocks.len(), 1);
    assert!(warnings(&together)[0].contains("<copy> means nothing in place"));
    verify(&together.schedule, 1).unwrap();
}

#[test]
fn windows_of_in_place_buffers_have_two_names() {
    // Case D14: in place `i[0]` of rank r is `o[r]`; a copy from one to the other does nothing.
    let imported = read(&gather(&GATHER.replace("inplace=\"0\"", "inplace=\"1\"")));
    verify(&imported.schedule, 1).unwrap();
    let copy = &imported.schedule.ranks[1].thread_blocks[0].steps[2];
    assert_eq!((copy.src, copy.dst.to_string()), (copy.dst, "o[1]".to_owned()));
    // Beyond the window there is nothing, although the buffer behind it goes on.
    let text = gather(&GATHER.replace("inplace=\"0\"", "inplace=\"1\"")).replacen(
        "srcbuf=\"i\" srcoff=\"0\"",
        "srcbuf=\"i\" srcoff=\"1\"",
        1,
    );
    let (rule, message) = verdict(&read(&text).schedule, 1);
    assert_eq!(rule, Rule::Bounds);
    assert!(message.contains("rank 0, tb0, step 0 (s) reaches beyond its buffer: i[1..2]"), "{message}");
}

#[test]
fn a_file_for_both_places_is_read_in_the_one_asked_for() {
    let text = gather(&format!("{} outofplace=\"1\"", GATHER.replace("inplace=\"0\"", "inplace=\"1\"")));
    for (placement, in_place) in [(Placement::InPlace, true), (Placement::OutOfPlace, false)] {
        let imported = msccl::read_with(&text, "f.xml", &ReadOptions { placement }).unwrap();
        assert_eq!(imported.schedule.collective.is_in_place(), in_place);
        verify(&imported.schedule, 1).unwrap();
        let options = XmlOptions::from_header(Target::Rccl, &imported.header);
        let again = msccl::write(&imported.schedule, &options).unwrap();
        assert!(again.contains("inplace=\"1\" outofplace=\"1\""));
    }
}

#[test]
fn the_operand_of_a_receive_and_reduce_is_local() {
    // Rank 1 adds to i[1] and stores at o[0], as runtimes read it.
    let text = file(
        r#"ngpus="2" nchunksperloop="1" coll="reduce" inplace="0""#,
        &[
            "<tb id=\"0\" send=\"1\" recv=\"-1\" chan=\"0\"><step type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\"/></tb>",
            "<tb id=\"0\" send=\"-1\" recv=\"0\" chan=\"0\"><step type=\"rrc\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\"/></tb>",
        ],
    );
    let imported = read(&text);
    assert_eq!(imported.schedule.collective.root(), RankId(1));
    assert!(warnings(&imported)[0].contains("rrc adds to i[0] but stores at o[0]"));
    verify(&imported.schedule, 1).unwrap();
}

#[test]
fn what_steps_say_of_the_other_end_is_compared_and_not_used() {
    let text = gather(GATHER).replacen("dstbuf=\"o\" dstoff=\"0\"", "dstbuf=\"s\" dstoff=\"1\"", 1);
    let imported = read(&text);
    assert_eq!(
        warnings(&imported),
        [
            "line 4: this send names s[1] at rank 1, but the step that it meets there has o[0]; the order on the connection counts"
        ]
    );
    verify(&imported.schedule, 1).unwrap();
}

#[test]
fn malformed_files_are_refused_with_line_place_and_attribute() {
    let step = |step: &str| {
        file(GATHER, &[&format!("<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n<step {step}/></tb>"), ""])
    };
    let error = refused(&step(r#"type="s" srcbuf="i" srcoff="x""#));
    assert_eq!(
        error,
        "f.xml:4: gpu 0, tb 0, step 0: attribute srcoff is \"x\": expected a whole number from -16777216 to 16777216"
    );
    let cases = [
        (step(r#"type="r" dstoff="0""#), "attribute dstbuf is missing: a step r needs it"),
        (step(r#"type="s" srcbuf="q" srcoff="0""#), "attribute srcbuf is \"q\": expected i, o or s"),
        (step(r#"type="jump""#), "attribute type is \"jump\": expected s, r, rcs"),
        (step(r#"type="ra""#), "residual add"),
        (step(r#"type="s" srcbuf="i" srcoff="0" cnt="0""#), "attribute cnt is \"0\""),
        (step(r#"type="s" srcbuf="i" srcoff="0" hasdep="2""#), "attribute hasdep is \"2\": expected 0 or 1"),
        (
            file(&GATHER.replace("nchunksperloop=\"2\"", "nchunksperloop=\"3\""), &["", ""]),
            "needs a multiple of 2",
        ),
        (file(&GATHER.replace("proto=\"LL\"", "proto=\"LL64\""), &["", ""]), "expected Simple, LL or LL128"),
        (file(GATHER, &["", "", ""]), "expected an id from 0 to 1"),
        (file(GATHER, &["<tb id=\"0\"/><tb id=\"0\"/>", ""]), "there is another tb with this id"),
        (
            file(GATHER, &["<tb id=\"0\" chan=\"1\"/>", ""]),
            "attribute chan is 1: expected less than nchannels = 1",
        ),
        (file(GATHER, &["<tb id=\"0\" send=\"-2\"/>", ""]), "attribute send is \"-2\""),
        (file("ngpus=\"3000\" nchunksperloop=\"9999\" coll=\"allreduce\"", &[]), "expected at most 33554432"),
        ("<algo/>".to_owned(), "there is no gpu"),
        ("<algos/>".to_owned(), "expected the root element <algo>"),
        ("<msccl_algos><load path=\"x\"/></msccl_algos>".to_owned(), "list of algorithms for MSCCL_CONFIG"),
    ];
    for (text, wanted) in cases {
        let error = refused(&text);
        assert!(error.starts_with("f.xml:") && error.contains(wanted), "{error}\nis not about {wanted}");
    }
}

#[test]
fn faults_of_a_schedule_are_read_and_left_to_the_verifier() {
    let one = |first: &str, second: &str| read(&file(GATHER, &[first, second])).schedule;
    let block = |attributes: &str, step: &str| format!("<tb id=\"0\" {attributes}><step {step}/></tb>");
    let copy = r#"type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0""#;
    let cases = [
        (block("send=\"9\"", ""), Rule::Malformed, "rank 0, tb0: sends to rank 9, which does not exist"),
        (block("recv=\"0\"", ""), Rule::Malformed, "rank 0, tb0: receives from itself"),
        (
            block("", "type=\"s\" srcbuf=\"i\" srcoff=\"0\""),
            Rule::Malformed,
            "rank 0, tb0, step 0 (s): its thread block has no peer to send to",
        ),
        (block("", "type=\"r\" dstbuf=\"o\" dstoff=\"0\""), Rule::Malformed, "has no peer to receive from"),
        (
            block("", &format!("{copy} depid=\"5\" deps=\"0\"")),
            Rule::Malformed,
            "rank 0, tb0, step 0 (cpy): waits for tb5, which does not exist",
        ),
        (
            block("", &format!("{copy} depid=\"0\" deps=\"4\"")),
            Rule::Malformed,
            "waits for step 4 of tb0, which has 1 step(s)",
        ),
        (
            block("", &format!("{copy} depid=\"0\" deps=\"0\"")),
            Rule::Deadlock,
            "rank 0, tb0, step 0 (cpy) waits for tb0.0",
        ),
        (
            block("", &copy.replace("srcoff=\"0\"", "srcoff=\"3\"")),
            Rule::Bounds,
            "i[3..4], but i has 1 chunk(s)",
        ),
        (
            block("", &copy.replace("srcbuf=\"i\"", "srcbuf=\"s\"")),
            Rule::Uninitialised,
            "rank 0, tb0, step 0 (cpy): s[0] is read",
        ),
        (block("send=\"1\"", "type=\"s\" srcbuf=\"i\" srcoff=\"0\""), Rule::Unmatched, "rank 0"),
        (
            block("recv=\"1\"", "type=\"r\" dstbuf=\"o\" dstoff=\"0\""),
            Rule::Unmatched,
            "rank 0, tb0, step 0 (r)",
        ),
        (block("", copy), Rule::Wrong, "rank 0, output chunk 1 is never written"),
    ];
    for (first, rule, message) in cases {
        let first = first.replace("<step />", "");
        let schedule = one(&first, "");
        let (found, said) = verdict(&schedule, 1);
        assert_eq!(found, rule, "{said}");
        assert!(said.contains(message), "{said}\nis not about {message}");
        // Nothing else panics on it either.
        _ = (smallest_slots(&schedule), limits::check(&schedule, Target::Rccl), schedule.to_string());
    }
    // Two thread blocks that own one side, and a message that meets a receive of another length.
    let send = block("send=\"1\"", "type=\"s\" srcbuf=\"i\" srcoff=\"0\"");
    let (rule, _) = verdict(&one(&format!("{send}{}", send.replace("id=\"0\"", "id=\"1\"")), ""), 1);
    assert_eq!(rule, Rule::Ownership);
    let (rule, said) =
        verdict(&one(&send, &block("recv=\"0\"", "type=\"r\" dstbuf=\"o\" dstoff=\"0\" cnt=\"2\"")), 1);
    assert_eq!(rule, Rule::Unmatched);
    assert!(said.contains("rank 1, tb0, step 0 (r): a message of 1 chunk(s) meets a receive of 2"), "{said}");
}

/// The one verdict on an access outside its buffer, whoever finds it: the reader before the beginning, the verifier
/// beyond the end.
fn outside(first: &str) -> String {
    let text = file(
        FOUR,
        &[
            first,
            "<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\"><step type=\"s\" srcbuf=\"i\" srcoff=\"0\" cnt=\"2\"/></tb>",
        ],
    );
    match msccl::read(&text, "f.xml") {
        Ok(imported) => {
            let (rule, said) = verdict(&imported.schedule, 8);
            assert_eq!(rule, Rule::Bounds, "{said}");
            said
        }
        Err(XmlError::Refused(found)) => {
            assert!(found.findings.iter().all(|finding| finding.rule == Rule::Bounds), "{found}");
            assert!(found.to_string().starts_with("f.xml:"), "{found}");
            found.findings[0].message.clone()
        }
        Err(error) => panic!("{error}"),
    }
}

const FOUR: &str = r#"ngpus="2" nchunksperloop="4" coll="allreduce" inplace="0" nchannels="1""#;

#[test]
fn accesses_outside_a_buffer_name_rank_thread_block_step_buffer_index_and_size() {
    // Case D08, and what no runtime checks: an offset below zero, scratch, both operands of a receive and reduce.
    let block = |step: &str| {
        format!(
            "<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\"><step type=\"nop\"/><step {step} cnt=\"2\"/></tb>"
        )
    };
    for (step, message) in [
        (
            r#"type="s" srcbuf="i" srcoff="3""#,
            "rank 0, tb0, step 0 (s) reaches beyond its buffer: i[3..5], but i has 4 chunk(s) there",
        ),
        (
            r#"type="s" srcbuf="i" srcoff="-1""#,
            "rank 0, tb0, step 0 (s) reaches beyond its buffer: i[-1..1], but i has 4 chunk(s) there",
        ),
        (
            r#"type="r" dstbuf="o" dstoff="3""#,
            "(r) reaches beyond its buffer: o[3..5], but o has 4 chunk(s) there",
        ),
        (
            r#"type="r" dstbuf="o" dstoff="-2""#,
            "(r) reaches beyond its buffer: o[-2..0], but o has 4 chunk(s) there",
        ),
        (
            r#"type="r" dstbuf="s" dstoff="6""#,
            "(r) reaches beyond its buffer: s[6..8], but s has 2 chunk(s) there",
        ),
        (
            r#"type="cpy" srcbuf="i" srcoff="0" dstbuf="s" dstoff="-7""#,
            "(cpy) reaches beyond its buffer: s[-7..-5], but s has 2 chunk(s) there",
        ),
        (
            r#"type="rrc" srcbuf="i" srcoff="3" dstbuf="i" dstoff="0""#,
            "(rrc) reaches beyond its buffer: i[3..5]",
        ),
        (
            r#"type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="3""#,
            "(rrc) reaches beyond its buffer: i[3..5]",
        ),
        (
            r#"type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="-1""#,
            "(rrc) reaches beyond its buffer: i[-1..1]",
        ),
    ] {
        let said = outside(&block(step));
        assert!(said.contains(message), "{said}\nis not about {message}");
    }
    // What a step does not use may be anything.
    let unused = block(r#"type="r" srcbuf="i" srcoff="-1" dstbuf="s" dstoff="0""#);
    assert!(msccl::read(&file(FOUR, &[&unused, ""]), "f.xml").is_ok());
}

#[test]
fn a_file_without_a_range_of_sizes_has_none() {
    // Case D07: nothing is taken for granted, and nothing is written that was not there.
    let imported = read(&gather(GATHER));
    assert_eq!((imported.header.min_bytes, imported.header.max_bytes), (None, None));
    let options = XmlOptions::from_header(Target::Msccl, &imported.header);
    assert!(!msccl::write(&imported.schedule, &options).unwrap().contains("Bytes"));
    // For a runtime that needs a range: from 0, without a bound.
    let options = XmlOptions::from_header(Target::Executor, &imported.header);
    let text = msccl::write(&imported.schedule, &options).unwrap();
    assert!(text.lines().next().unwrap().contains(r#"minBytes="0" maxBytes="0""#), "{text}");
}

#[test]
fn channels_beyond_the_header_are_refused_and_exported_as_they_are() {
    // Case D15.
    let tb = "<tb id=\"0\" send=\"-1\" recv=\"-1\" chan=\"3\"><step type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\"/></tb>";
    let attributes = r#"ngpus="1" nchunksperloop="1" coll="allreduce" inplace="0""#;
    let error = refused(&file(&format!("{attributes} nchannels=\"2\""), &[tb]));
    assert!(error.contains("gpu 0, tb 0: attribute chan is 3: expected less than nchannels = 2"), "{error}");
    let imported = read(&file(&format!("{attributes} nchannels=\"9\""), &[tb]));
    let text = msccl::write(&imported.schedule, &XmlOptions::default()).unwrap();
    assert!(text.contains("nchannels=\"4\""), "{text}");
}

#[test]
fn words_that_say_too_little_are_read_without_a_post_condition() {
    for (word, unsaid) in [
        ("send", "who send is between"),
        ("recv", "who recv is between"),
        ("alltoallv", "how much each pair of ranks exchanges"),
    ] {
        let imported = read(&file(
            &format!("ngpus=\"2\" nchunksperloop=\"2\" coll=\"{word}\" inplace=\"0\""),
            &["", ""],
        ));
        assert_eq!(imported.schedule.collective.kind(), CollectiveKind::Custom);
        assert!(imported.schedule.collective.is_unspecified());
        let said = warnings(&imported).join("\n");
        assert!(said.contains(unsaid) && said.contains("without a post-condition"), "{said}");
    }
}

#[test]
fn a_missing_gpu_does_nothing() {
    let imported = read(&file(
        &GATHER.replace("ngpus=\"2\"", "ngpus=\"1\"").replace("inplace=\"0\"", "inplace=\"1\""),
        &[""],
    ));
    verify(&imported.schedule, 1).unwrap();
    let imported = read(&file(GATHER, &[""]));
    assert!(warnings(&imported)[0].contains("there is no gpu 1 of 2"));
    assert_eq!(imported.schedule.ranks.len(), 2);
}
