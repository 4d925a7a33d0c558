//! Faults that people reported for tools of this kind, each with a small schedule: cases D01 to D16, D44 and D46. The verdicts are
//! from the reports, not from this verifier.

mod compact;

use collective_dsl::Buffer::{Input, Output};
use collective_dsl::run::{RunOptions, run};
use collective_dsl::verify::{PostCondition, Settings, Slots, check, unflagged};
use collective_dsl::{
    Collective, CollectiveKind, MemoryBuffer, Program, RankId, Rule, Setting, Severity, compile, lower, msccl,
};
use compact::{expect, judge, judge_with, read, xml};

const ALL_REDUCE: &str = r#"coll="allreduce" nchunksperloop="1" inplace="1""#;
const GATHER_2: &str = r#"coll="allgather" nchunksperloop="2" inplace="0""#;
const GATHER_4: &str = r#"coll="allgather" nchunksperloop="4" inplace="0""#;

/// Three ranks send each other all they have; `sums` adds up what has arrived.
fn all_pairs(sums: &str) -> collective_dsl::verify::Report {
    let rank = |a: usize, b: usize| {
        [format!("send={a} recv={a}: s i0; r s0"), format!("send={b} recv={b}: s i0; r s1; {sums}")]
    };
    let ranks = [rank(1, 2), rank(0, 2), rank(0, 1)];
    let ranks: Vec<Vec<&str>> = ranks.iter().map(|rank| rank.iter().map(String::as_str).collect()).collect();
    let ranks: Vec<&[&str]> = ranks.iter().map(Vec::as_slice).collect();
    judge(ALL_REDUCE, &ranks)
}

#[test]
fn d01_chained_local_reductions_add_each_source_once() {
    let report = all_pairs("re s0 i0 @0.1; re s1 i0");
    expect(&report, "pass", &[]);
    assert_eq!(report.post_condition, PostCondition::Holds);
    // Rank 0 adds rank 1 first, rank 2 adds rank 0 first.
    let orders = report.reductions.unwrap();
    assert!(!orders.same_everywhere());
    assert_eq!(
        orders.to_string(),
        "chunk 0: 2 different orders\n  ranks 0, 1: (r0 + r1) + r2\n  rank 2: (r0 + r2) + r1\n"
    );

    let report = all_pairs("re s0 i0 @0.1; re s0 i0");
    expect(
        &report,
        "wrong",
        &[
            "rank 0, chunk 0 ends with 2 of 3 contributions (rank 2 is missing, rank 1 is counted twice)",
            "rank 1, chunk 0 ends with 2 of 3 contributions (rank 2 is missing, rank 0 is counted twice)",
            "rank 2, chunk 0 ends with 2 of 3 contributions (rank 1 is missing, rank 0 is counted twice)",
        ],
    );
    assert_eq!(report.post_condition, PostCondition::Fails);
    let at = report.findings[0].at;
    assert_eq!((at.rank, at.buffer, at.index), (Some(RankId(0)), Some(MemoryBuffer::Input), Some(0)));
    let lost = all_pairs("re s0 i0 @0.1");
    expect(&lost, "wrong", &["rank 2 is missing", "rank 2 is missing", "rank 1 is missing"]);
}

#[test]
fn d02_an_order_through_another_rank_is_one() {
    let rank_0: &[&str] = &["send=1: cpy i0 s0; s s0", "recv=1 chan=1: r o1; cpy i0 s0; cpy s0 o0"];
    let answer = |waits: &str| format!("send=0 chan=1: s i0 {waits}; cpy i0 o1");
    let ok = judge(GATHER_2, &[rank_0, &["recv=0: r o0", &answer("@0.0")]]);
    expect(&ok, "pass", &[]);
    let broken = judge(GATHER_2, &[rank_0, &["recv=0: r o0", &answer("")]]);
    assert_eq!(broken.verdict().name(), "race");
    assert!(broken.findings.iter().all(|finding| finding.at.rank == Some(RankId(0))));
    let place = |finding: &collective_dsl::Diagnostic| (finding.at.buffer, finding.at.index);
    assert!(broken.findings.iter().any(|it| place(it) == (Some(MemoryBuffer::Scratch), Some(0))));
    let said = &broken.findings[0].message;
    assert!(said.contains("nothing orders them; add a dependence") && said.contains("s[0]"), "{said}");
    // Both accesses have their lines.
    assert!(broken.findings[0].site.is_some() && broken.findings[0].related.len() == 1);
}

#[test]
fn d03_a_spoiled_all_to_all_fails() {
    let attributes = r#"coll="alltoall" nchunksperloop="3" inplace="0""#;
    let rank = |own: usize, a: usize, b: usize, first: usize, second: usize| {
        [
            format!("send={a} recv={a}: s i{first}; r o{a}"),
            format!("send={b} recv={b}: s i{second}; r o{b}"),
            format!(": cpy i{own} o{own}"),
        ]
    };
    for (swapped, verdict, messages) in [
        (false, "pass", &[][..]),
        (
            true,
            "wrong",
            &[
                "rank 1, output chunk 0 ends with data of chunk 2",
                "rank 2, output chunk 0 ends with data of chunk 1",
            ],
        ),
    ] {
        let (first, second) = if swapped { (2, 1) } else { (1, 2) };
        let ranks = [rank(0, 1, 2, first, second), rank(1, 0, 2, 0, 2), rank(2, 0, 1, 0, 1)];
        let ranks: Vec<Vec<&str>> =
            ranks.iter().map(|rank| rank.iter().map(String::as_str).collect()).collect();
        let ranks: Vec<&[&str]> = ranks.iter().map(Vec::as_slice).collect();
        expect(&judge(attributes, &ranks), verdict, messages);
    }
}

#[test]
fn d04_a_forgotten_flag_is_repaired_and_a_lost_dependence_is_a_race() {
    let rank = |peer: usize, wait: &str| {
        [format!("send={peer} recv={peer}: s i0; r s0"), format!(": re s0 i0 {wait}")]
    };
    let text = |wait: &str| {
        let (a, b) = (rank(1, wait), rank(0, wait));
        xml(ALL_REDUCE, &[&[&a[0], &a[1]], &[&b[0], &b[1]]])
    };
    let imported = read(&text("@0.1").replace("hasdep=\"1\"", "hasdep=\"0\""));
    let mut report = check(&imported.schedule, &Settings::default());
    report.add(unflagged(&imported));
    expect(
        &report,
        "pass",
        &["rank 0, tb0, step 1 (r) is awaited but its hasdep is 0", "rank 1, tb0, step 1 (r)"],
    );
    assert!(report.findings.iter().all(|it| it.severity == Severity::Warning && it.rule == Rule::Hasdep));
    let written = msccl::write(&imported.schedule, &msccl::XmlOptions::default()).unwrap();
    assert_eq!(written.matches("hasdep=\"1\"").count(), 2, "{written}");
    assert_eq!(unflagged(&read(&text("@0.1"))), []);

    let lost = check(&read(&text("")).schedule, &Settings::default());
    assert_eq!(lost.verdict().name(), "race");
    let of_rank_0: Vec<_> = lost
        .findings
        .iter()
        .filter(|it| it.at.rank == Some(RankId(0)))
        .map(|it| (it.rule, it.at.buffer.unwrap(), it.at.index.unwrap()))
        .collect();
    assert!(of_rank_0.contains(&(Rule::Race, MemoryBuffer::Scratch, 0)), "{of_rank_0:?}");
    assert!(of_rank_0.contains(&(Rule::Race, MemoryBuffer::Input, 0)), "{of_rank_0:?}");
    assert!(
        of_rank_0.iter().all(|it| it.0 == Rule::Race),
        "a read that may come too early is the same fault"
    );
}

#[test]
fn d06_a_reduce_scatter_may_leave_rubbish_elsewhere() {
    let attributes = r#"coll="reducescatter" nchunksperloop="4" inplace="1""#;
    let report = judge(
        attributes,
        &[&["send=1 recv=1: s i2*2; r s0*2; re s0 i0*2"], &["send=0 recv=0: s i0*2; r s0*2; re s0 i2*2"]],
    );
    expect(&report, "pass", &[]);
    assert_eq!(report.post_condition, PostCondition::Holds);
}

#[test]
fn d08_both_ends_of_a_run_lie_in_the_buffer() {
    let attributes = r#"coll="reducescatter" nchunksperloop="4" inplace="1""#;
    let right = "send=0 recv=0: s i0*2; r s0*2; re s0 i2*2";
    let report = judge(attributes, &[&["send=1 recv=1: s i3*2; r s0*2; re s0 i0*2"], &[right]]);
    assert_eq!(report.verdict().name(), "bounds");
    let first = &report.findings[0];
    assert!(
        first.message.contains("rank 0, tb0, step 0 (s) reaches beyond its buffer: i[3..5], but i has 4")
    );
    assert_eq!(
        (first.at.step, first.at.buffer, first.at.index),
        (Some(0), Some(MemoryBuffer::Input), Some(4))
    );
    // Scratch, and the operand of a reduction; both are listed.
    let report = judge(
        attributes,
        &[&["scratch=1", "send=1 recv=1: s i2*2; r s0*2; rrc i4 i0; re s0 i0*2"], &[right]],
    );
    let bounds: Vec<&str> =
        report.findings.iter().filter(|it| it.rule == Rule::Bounds).map(|it| it.message.as_str()).collect();
    assert_eq!(bounds.len(), 3, "{bounds:#?}");
    assert!(bounds[0].contains("step 1 (r)") && bounds[0].contains("s[0..2], but s has 1"), "{bounds:#?}");
    assert!(bounds[1].contains("step 2 (rrc)") && bounds[1].contains("i[4..5], but i has 4"), "{bounds:#?}");
}

#[test]
fn d10_sizes_are_those_of_all_ranks_together() {
    let collective = Collective::all_gather(8).unwrap().with_chunks(2).unwrap();
    let sizes = |elements| (0..16).map(|chunk| collective.elements(elements, chunk)).collect::<Vec<_>>();
    // Two elements a rank are one a chunk; three are two and one, and none is lost.
    assert_eq!(sizes(16), [1; 16]);
    assert_eq!(sizes(24), [2, 1].repeat(8));
    let p = Program::new(collective.clone());
    for from in 0..8 {
        for to in 0..8 {
            p.chunks(from, Input, 0, 2).copy_to(to, Output, 2 * from);
        }
    }
    let schedule = compile(&p.finish("direct").unwrap()).unwrap();
    for elements in [16, 24] {
        let report = run(&schedule, &RunOptions { elements, ..RunOptions::default() }).unwrap();
        assert!(report.is_right());
        assert_eq!(report.comparison.compared, 8 * elements);
    }
}

#[test]
fn d11_every_chunk_is_told_apart() {
    let rank = |peer: usize, second: usize| {
        let (there, own) = (2 * peer, 2 - 2 * peer);
        format!("send={peer} recv={peer}: s i0; s i{second}; r o{there}; r o{}; cpy i0 o{own}*2", there + 1)
    };
    let (a, b) = (rank(1, 1), rank(0, 1));
    let right: &[&[&str]] = &[&[&a], &[&b]];
    expect(&judge(GATHER_4, right), "pass", &[]);
    let (a, b) = (rank(1, 0), rank(0, 0));
    let report = judge(GATHER_4, &[&[&a], &[&b]]);
    expect(
        &report,
        "wrong",
        &[
            "rank 0, output chunk 3 ends with data of chunk 2",
            "rank 1, output chunk 1 ends with data of chunk 0",
        ],
    );
    // Case D12: two sends in a row need two slots.
    for (slots, verdict) in [(0, "deadlock"), (1, "deadlock"), (2, "pass"), (8, "pass")] {
        let report = judge_with(GATHER_4, right, Slots::Limited(slots));
        assert_eq!((report.verdict().name(), report.min_slots), (verdict, Some(2)), "{slots} slots");
    }
}

#[test]
fn d12_both_sides_send_first() {
    let ranks: &[&[&str]] =
        &[&["send=1 recv=1: s i0; r o1; cpy i0 o0"], &["send=0 recv=0: s i0; r o0; cpy i0 o1"]];
    for slots in [Slots::Limited(1), Slots::Protocol, Slots::Unlimited] {
        expect(&judge_with(GATHER_2, ranks, slots), "pass", &[]);
    }
    let report = judge_with(GATHER_2, ranks, Slots::Limited(0));
    expect(
        &report,
        "deadlock",
        &[
            "(1/2) rank 0, tb0, step 0 (s) waits for rank 1 to take its message",
            "(2/2) rank 1, tb0, step 0 (s) waits for rank 0 to take its message; 1 slot a connection is enough",
        ],
    );
    assert_eq!(report.post_condition, PostCondition::NotChecked);
}

#[test]
fn d13_circles_of_waits_are_listed_step_by_step() {
    let rank = |r: usize| {
        let (next, before) = ((r + 1) % 4, (r + 3) % 4);
        let chunk = |hops: usize| (r + 4 - hops) % 4;
        format!(
            "send={next} recv={before}: r o{}; s i0; r o{}; s o{}; r o{}; s o{}; cpy i0 o{r}",
            chunk(1),
            chunk(2),
            chunk(1),
            chunk(3),
            chunk(2)
        )
    };
    let ranks: Vec<String> = (0..4).map(rank).collect();
    let blocks: Vec<[&str; 1]> = ranks.iter().map(|rank| [rank.as_str()]).collect();
    let ranks: Vec<&[&str]> = blocks.iter().map(|blocks| &blocks[..]).collect();
    for slots in [Slots::Limited(0), Slots::Limited(1), Slots::Limited(8), Slots::Unlimited] {
        let report = judge_with(GATHER_4, &ranks, slots);
        expect(
            &report,
            "deadlock",
            &[
                "(1/4) rank 0, tb0, step 0 (r) waits for a message of rank 3",
                "(2/4) rank 3, tb0, step 0 (r) waits for a message of rank 2",
                "(3/4) rank 2, tb0, step 0 (r) waits for a message of rank 1",
                "(4/4) rank 1, tb0, step 0 (r) waits for a message of rank 0; no number of slots is enough",
            ],
        );
        assert_eq!(report.min_slots, None);
    }
    let report = judge(
        GATHER_2,
        &[
            &["send=1: s i0 @1.0", "recv=1: r o1 @0.0", ": cpy i0 o0"],
            &["send=0: s i0", "recv=0: r o0", ": cpy i0 o1"],
        ],
    );
    expect(
        &report,
        "deadlock",
        &["(1/2) rank 0, tb0, step 0 (s) waits for tb1.0", "(2/2) rank 0, tb1, step 0 (r) waits for tb0.0"],
    );
}

#[test]
fn d14_the_input_is_a_window_of_the_output() {
    let attributes = r#"coll="allgather" nchunksperloop="3" inplace="1""#;
    let rank = |r: usize, own: &str, last: usize| {
        let (next, before) = ((r + 1) % 3, (r + 2) % 3);
        format!("send={next} recv={before}: s {own}; rcs o{before}; r o{last}")
    };
    let all = |own: &dyn Fn(usize) -> String, last: &dyn Fn(usize) -> usize| {
        let ranks: Vec<String> = (0..3).map(|r| rank(r, &own(r), last(r))).collect();
        let blocks: Vec<[&str; 1]> = ranks.iter().map(|rank| [rank.as_str()]).collect();
        judge(attributes, &blocks.iter().map(|blocks| &blocks[..]).collect::<Vec<_>>())
    };
    expect(&all(&|r| format!("o{r}"), &|r| (r + 1) % 3), "pass", &[]);
    expect(&all(&|_| "i0".to_owned(), &|r| (r + 1) % 3), "pass", &[]);
    let clobbered = all(&|r| format!("o{r}"), &|r| r);
    assert_eq!((clobbered.verdict().name(), clobbered.findings.len()), ("wrong", 6));
    assert!(
        clobbered.findings[0]
            .message
            .contains("rank 0, chunk 0 ends with data of chunk 1, not data of chunk 0")
    );
    assert!(clobbered.findings[1].message.contains("rank 0, chunk 1 is never written"));
}

#[test]
fn d15_limits_of_a_runtime_are_a_rule_of_their_own() {
    let text = xml(
        r#"coll="allgather" nchunksperloop="2" inplace="0" nchannels="2""#,
        &[&["chan=3: cpy i0 o0"], &[]],
    );
    let error = msccl::read(&text, "t.xml").unwrap_err().to_string();
    assert!(
        error.contains("t.xml:3: gpu 0, tb 0: attribute chan is 3: expected less than nchannels = 2"),
        "{error}"
    );
    // A step of 100 chunks.
    let attributes = r#"coll="allreduce" nchunksperloop="100" inplace="1""#;
    let schedule = read(&xml(
        attributes,
        &[&["send=1 recv=1: s i0*100; rrc i0*100"], &["send=0 recv=0: s i0*100; rrc i0*100"]],
    ))
    .schedule;
    // Both ranks send first: a message a slot is no trouble, a chunk a slot would be.
    let warnings = [
        "if every chunk took a slot of its own: (1/2) rank 0",
        "if every chunk took a slot of its own: (2/2) rank 1",
    ];
    expect(&check(&schedule, &Settings::default()), "pass", &warnings);
    expect(&check(&schedule, &Settings { slots: Slots::Unlimited, ..Settings::default() }), "pass", &[]);
    let report = check(&schedule, &Settings { target: Some(msccl::Target::Rccl), ..Settings::default() });
    assert_eq!(report.verdict().name(), "limit");
    assert!(report.findings[0].message.contains("moves 100 chunks; rccl moves at most 71"));
    assert_eq!(report.post_condition, PostCondition::Holds, "a limit keeps nothing else from being judged");
}

#[test]
fn d44_rings_of_every_size() {
    for ranks in [1, 2, 3, 5, 6, 7, 9] {
        let setting = Setting { in_place: true, ..Setting::new("ring", CollectiveKind::AllReduce, ranks) };
        let trace = setting.trace("", |p| {
            for chunk in 0..ranks {
                let mut sum = p.chunk(chunk, Input, chunk);
                for hop in 1..ranks {
                    sum = p.chunk((chunk + hop) % ranks, Input, chunk).reduce(sum);
                }
                for hop in 0..ranks - 1 {
                    sum = sum.copy_to((chunk + hop) % ranks, Input, chunk);
                }
            }
        });
        let schedule = compile(&trace.unwrap()).unwrap();
        let report = check(&schedule, &Settings { reductions: true, ..Settings::default() });
        expect(&report, "pass", &[]);
        assert!(report.reductions.unwrap().same_everywhere(), "{ranks} ranks: one rank adds, all get copies");
    }
}

#[test]
fn d46_roots_other_than_0_and_inputs_that_are_kept() {
    for kind in [CollectiveKind::Broadcast, CollectiveKind::Reduce] {
        for in_place in [false, true] {
            let setting = Setting { root: Some(2), in_place, ..Setting::new("rooted", kind, 4) };
            let trace = setting.trace("", |p| {
                if kind == CollectiveKind::Broadcast {
                    for rank in (0..4).filter(|rank| !(in_place && *rank == 2)) {
                        p.chunk(2, Input, 0).copy_to(rank, Output, 0);
                    }
                    return;
                }
                if !in_place {
                    p.chunk(2, Input, 0).copy_to(2, Output, 0);
                }
                for rank in [0, 1, 3] {
                    p.chunk(2, Output, 0).reduce(p.chunk(rank, Input, 0));
                }
            });
            let report = check(&lower(&trace.unwrap()).unwrap(), &Settings::default());
            expect(&report, "pass", &[]);
            assert_eq!(report.post_condition, PostCondition::Holds);
        }
    }
    // Right, but the caller's input is gone.
    let attributes = r#"coll="allreduce" nchunksperloop="1" inplace="0""#;
    let report = judge(
        attributes,
        &[&["send=1 recv=1: s i0; rrc i0; cpy i0 o0"], &["send=0 recv=0: s i0; rrc i0; cpy i0 o0"]],
    );
    expect(
        &report,
        "pass",
        &["rank 0, tb0, step 1 (rrc) writes to i[0]", "rank 1, tb0, step 1 (rrc) writes to i[0]"],
    );
    assert!(report.findings.iter().all(|it| (it.rule, it.severity) == (Rule::Input, Severity::Warning)));
}
