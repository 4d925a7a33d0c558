//! Every mistake that a program can make is reported with its rule, at its source line, with what to do about it.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::{Collective, CollectiveKind, Program, Protocol, Rule, Setting, compile};

fn all_reduce(ranks: usize, chunks: usize) -> Program {
    let collective = Collective::new(CollectiveKind::AllReduce, ranks, chunks).unwrap();
    Program::new(collective.in_place().unwrap())
}

/// Runs a program whose first finding must break the rule at the line given and say so.
#[track_caller]
fn refused(p: Program, rule: Rule, line: u32, advice: &str, program: impl FnOnce(&Program)) {
    program(&p);
    let found = p.finish("test").and_then(|trace| compile(&trace)).expect_err("it must be refused");
    let first = &found.findings[0];
    let site =
        first.site.and_then(|site| found.sites.get(site)).unwrap_or_else(|| panic!("no line: {found}"));
    assert_eq!((first.rule, site.file.as_str(), site.line), (rule, file!(), line), "{found}");
    assert!(found.to_string().contains(advice), "wanted \"{advice}\", got: {found}");
}

#[test]
fn a_wrong_rank() {
    refused(all_reduce(4, 4), Rule::Bounds, line!() + 1, "ranks go from 0 to 3", |p| {
        p.chunk(0, Input, 0).copy_to(4, Input, 0);
    });
}

#[test]
fn an_index_out_of_range_also_only_at_its_end() {
    refused(all_reduce(4, 4), Rule::Bounds, line!() + 1, "indices go from 0 to 3", |p| {
        p.chunk(0, Input, 4);
    });
    refused(all_reduce(4, 4), Rule::Bounds, line!() + 1, "chunks 3..5 of input of rank 1", |p| {
        p.chunks(0, Input, 0, 2).copy_to(1, Input, 3);
    });
    // Below zero, as unsigned arithmetic makes it.
    refused(all_reduce(4, 4), Rule::Bounds, line!() + 1, "indices go from 0 to 3", |p| {
        p.chunk(0, Input, 0).copy_to(1, Input, 0_usize.wrapping_sub(1));
    });
}

#[test]
fn a_stale_reference() {
    refused(all_reduce(2, 2), Rule::Stale, line!() + 3, "or take a new one", |p| {
        let old = p.chunk(0, Input, 0);
        p.chunk(1, Input, 0).copy_to(0, Input, 0);
        old.copy_to(1, Input, 1);
    });
}

#[test]
fn a_missing_reduction() {
    refused(all_reduce(2, 1), Rule::Wrong, line!() + 2, "(rank 1 is missing)", |p| {
        // Copied back without having been added to.
        p.chunk(0, Input, 0).copy_to(1, Input, 0).copy_to(0, Input, 0);
    });
}

#[test]
fn channels_that_do_not_fit() {
    let advice = "a thread block has one channel: use another thread block";
    refused(all_reduce(2, 2), Rule::Ownership, line!() + 2, advice, |p| {
        p.chunk(0, Input, 0).on_send_block(0).copy_to(1, Scratch("s"), 0);
        p.chunk(0, Input, 1).on_channel(1).on_send_block(0).copy_to(1, Scratch("s"), 1);
    });
    let advice = "set it on one of them";
    refused(all_reduce(2, 2), Rule::Malformed, line!() + 1, advice, |p| {
        p.chunk(0, Input, 0).on_channel(1).reduce(p.chunk(1, Input, 0).on_channel(2));
    });
    let advice = "channels go from 0 to 65535";
    refused(all_reduce(2, 2), Rule::Malformed, line!() + 1, advice, |p| {
        p.chunk(0, Input, 0).on_channel(65_536).copy_to(1, Scratch("s"), 0);
    });
}

#[test]
fn too_many_channels_for_all_instances_say_how_many_there_are() {
    // The 65,536th channel: 4,096 instances of the 16 that the program names.
    let options = collective_dsl::Options { instances: 4096, protocol: Protocol::Ll, ..Default::default() };
    let setting = Setting { in_place: true, options, ..Setting::new("wide", CollectiveKind::AllReduce, 2) };
    let trace = setting.trace("", |p| {
        let sum = p.chunk(0, Input, 0).on_channel(15);
        p.chunk(1, Input, 0).reduce(sum);
    });
    let said = compile(&trace.unwrap()).unwrap_err().to_string();
    assert!(said.contains("4096 instances of 16 channels are more than 65535 channels"), "{said}");
}

#[test]
fn an_uninitialised_chunk() {
    let p = Program::new(Collective::new(CollectiveKind::AllReduce, 2, 2).unwrap());
    refused(p, Rule::Uninitialised, line!() + 1, "copy something into it first", |p| {
        p.chunk(0, Output, 1);
    });
    refused(all_reduce(2, 2), Rule::Uninitialised, line!() + 1, "copy something into it first", |p| {
        p.chunk(0, Scratch("s"), 0);
    });
}

#[test]
fn reductions_that_make_no_sense() {
    let advice = "both sides need the same number";
    refused(all_reduce(2, 4), Rule::Malformed, line!() + 1, advice, |p| {
        p.chunk(0, Input, 0).reduce(p.chunks(1, Input, 0, 2));
    });
    let advice = "if it is to count twice, reduce a copy of it in scratch";
    refused(all_reduce(2, 4), Rule::Malformed, line!() + 1, advice, |p| {
        p.chunk(0, Input, 0).reduce(p.chunk(0, Input, 0));
    });
    let advice = "reduce a copy in scratch";
    refused(all_reduce(2, 4), Rule::Malformed, line!() + 1, advice, |p| {
        p.chunks(0, Input, 0, 2).reduce(p.chunks(0, Input, 1, 2));
    });
}

#[test]
fn copies_that_make_no_sense() {
    let advice = "use the reference that `copy_to` or `reduce` returned";
    refused(all_reduce(2, 4), Rule::Malformed, line!() + 1, advice, |p| {
        p.chunk(0, Input, 0).copy_to(0, Input, 0);
    });
    let advice = "copy through scratch, or chunk by chunk in the right order";
    refused(all_reduce(2, 4), Rule::Malformed, line!() + 1, advice, |p| {
        p.chunks(0, Input, 0, 2).copy_to(0, Input, 1);
    });
}

#[test]
fn a_group_with_a_gap() {
    let advice = "chunk 1 lies between the grouped chunks 0 and 2: only neighbours can be grouped";
    refused(all_reduce(2, 4), Rule::Malformed, line!() + 1, advice, |p| {
        p.chunk(0, Input, 0).group(p.chunk(0, Input, 2));
    });
}

#[test]
fn a_rank_that_is_not_in_the_group() {
    let p = all_reduce(3, 3).among(&[1, 3, 5]);
    refused(p, Rule::Bounds, line!() + 1, "its members are 1, 3, 5", |p| {
        p.chunk(1, Input, 0).copy_to(2, Input, 0);
    });
}

#[test]
fn two_thread_blocks_on_one_connection() {
    let advice = "on channel 0: only one may; use another channel";
    refused(all_reduce(2, 2), Rule::Ownership, line!() + 2, advice, |p| {
        p.chunk(0, Input, 0).on_send_block(0).copy_to(1, Scratch("s"), 0);
        p.chunk(0, Input, 1).on_send_block(1).copy_to(1, Scratch("s"), 1);
    });
}

#[test]
fn two_peers_of_one_thread_block() {
    refused(all_reduce(3, 2), Rule::Ownership, line!() + 2, "use another thread block", |p| {
        p.chunk(0, Input, 0).on_send_block(0).copy_to(1, Scratch("s"), 0);
        p.chunk(0, Input, 1).on_send_block(0).copy_to(2, Scratch("s"), 1);
    });
}
