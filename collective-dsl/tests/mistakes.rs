//! Every mistake gives one message that names the place and what was expected.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::{ChunkRef, Collective, Diagnostics, Program, Rule, compile};

fn all_reduce(ranks: usize) -> Program {
    Program::new(Collective::all_reduce(ranks).unwrap().in_place().unwrap())
}

/// Runs a program that must fail; returns its findings and the line that the first one names, counted from
/// the line of the call.
#[track_caller]
fn refused(p: Program, program: impl FnOnce(&Program)) -> Diagnostics {
    program(&p);
    let found = p.finish("test").and_then(|trace| compile(&trace));
    found.expect_err("the program must be refused")
}

#[track_caller]
fn refused_with(p: Program, rule: Rule, message: &str, program: impl FnOnce(&Program)) {
    let found = refused(p, program);
    assert_eq!(found.findings[0].rule, rule, "{found}");
    assert!(found.findings[0].message.contains(message), "wanted \"{message}\", got: {found}");
}

#[test]
fn places_that_do_not_exist() {
    refused_with(all_reduce(4), Rule::Bounds, "rank 4 does not exist: ranks go from 0 to 3", |p| {
        p.chunk(4, Input, 0);
    });
    refused_with(all_reduce(1), Rule::Bounds, "there is only rank 0", |p| {
        p.chunk(1, Input, 0);
    });
    refused_with(
        all_reduce(4),
        Rule::Bounds,
        "chunk 4 of input of rank 1 is out of range: it has 4 chunks, so indices go from 0 to 3",
        |p| {
            p.chunk(1, Input, 4);
        },
    );
    // Only the end of a range is outside.
    refused_with(all_reduce(4), Rule::Bounds, "chunks 2..5 of input of rank 0 are out of range", |p| {
        p.chunks(0, Input, 2, 3);
    });
    refused_with(all_reduce(4), Rule::Bounds, "are out of range", |p| {
        p.chunks(0, Input, usize::MAX, 2);
    });
    refused_with(all_reduce(4), Rule::Bounds, "chunks 3..5 of output of rank 2 are out of range", |p| {
        p.chunks(0, Input, 0, 2).copy_to(2, Output, 3);
    });
    refused_with(all_reduce(4), Rule::Malformed, "at least one chunk", |p| {
        p.chunks(0, Input, 0, 0);
    });
    refused_with(all_reduce(4), Rule::Malformed, "channel 70000 is out of range", |p| {
        p.chunk(0, Input, 0).on_channel(70_000).copy_to(1, Scratch("s"), 0);
    });
}

#[test]
fn data_that_nobody_has_written() {
    let out_of_place = || Program::new(Collective::all_reduce(2).unwrap());
    refused_with(
        out_of_place(),
        Rule::Uninitialised,
        "chunk 1 of output of rank 0 has never been written",
        |p| {
            p.chunk(0, Output, 1);
        },
    );
    refused_with(all_reduce(2), Rule::Uninitialised, "scratch \"tmp\" of rank 1 does not exist yet", |p| {
        p.chunk(1, Scratch("tmp"), 0);
    });
    refused_with(
        all_reduce(2),
        Rule::Uninitialised,
        "chunk 3 of scratch \"tmp\" of rank 1 has never been written: it has 1 chunk so far",
        |p| {
            p.chunk(0, Input, 0).copy_to(1, Scratch("tmp"), 0);
            p.chunk(1, Scratch("tmp"), 3);
        },
    );
    // A hole in a buffer that grew.
    refused_with(
        all_reduce(2),
        Rule::Uninitialised,
        "chunk 0 of scratch \"tmp\" of rank 1 has never been written",
        |p| {
            p.chunk(0, Input, 0).copy_to(1, Scratch("tmp"), 1);
            p.chunks(1, Scratch("tmp"), 0, 2);
        },
    );
}

#[test]
fn a_reference_whose_data_was_overwritten_names_both_places() {
    let found = refused(all_reduce(2), |p| {
        let old = p.chunk(0, Input, 0);
        p.chunk(1, Input, 0).copy_to(0, Input, 0);
        old.copy_to(1, Input, 1);
    });
    let finding = &found.findings[0];
    assert_eq!(finding.rule, Rule::Stale);
    let line = |site| found.sites.get(site).unwrap().line;
    let here = line(finding.site.unwrap());
    let related: Vec<u32> = finding.related.iter().map(|(site, _)| here - line(*site)).collect();
    assert_eq!(related, [2, 1], "made two lines above, overwritten one line above: {found}");
}

#[test]
fn operations_that_make_no_sense() {
    refused_with(all_reduce(2), Rule::Malformed, "chunk 0 of input of rank 0 is copied onto itself", |p| {
        p.chunk(0, Input, 0).copy_to(0, Input, 0);
    });
    refused_with(all_reduce(2), Rule::Malformed, "reduces a chunk into itself", |p| {
        p.chunk(0, Input, 0).reduce(p.chunk(0, Input, 0));
    });
    refused_with(all_reduce(4), Rule::Malformed, "source and destination overlap", |p| {
        p.chunks(0, Input, 0, 2).copy_to(0, Input, 1);
    });
    refused_with(all_reduce(4), Rule::Malformed, "2 chunks cannot be reduced into 1 chunk", |p| {
        p.chunk(0, Input, 0).reduce(p.chunks(1, Input, 0, 2));
    });
    refused_with(all_reduce(4), Rule::Malformed, "3 chunks cannot be split into 2 equal parts", |p| {
        let _ = p.chunks(0, Input, 0, 3).split(2);
    });
    refused_with(all_reduce(4), Rule::Malformed, "ask for different channels, 1 and 2", |p| {
        p.chunk(0, Input, 0).on_channel(1).reduce(p.chunk(1, Input, 0).on_channel(2));
    });
    let other = all_reduce(2);
    refused_with(all_reduce(2), Rule::Malformed, "belongs to another program", |p| {
        // Both borrows are as long as the shorter one.
        let mine: ChunkRef<'_> = p.chunk(0, Input, 0);
        mine.reduce(other.chunk(1, Input, 0));
    });
}

#[test]
fn a_lost_contribution_is_named_with_the_last_write() {
    // Rank 1 is skipped when chunk 0 goes around.
    let found = refused(all_reduce(3), |p| {
        for index in 0..3 {
            let mut sum = p.chunk(index, Input, index);
            for step in 1..3 {
                let rank = (index + step) % 3;
                if (index, rank) != (0, 1) {
                    sum = p.chunk(rank, Input, index).reduce(sum);
                }
            }
            for rank in (0..3).filter(|rank| *rank != sum.rank()) {
                sum.copy_to(rank, Input, index);
            }
        }
    });
    let text = found.to_string();
    assert!(
        text.contains(
            "all-reduce does not hold for ranks = 3: rank 0, chunk 0 ends with 2 of 3 contributions (rank 1 is missing); \
             this is the last write to it"
        ),
        "{text}"
    );
}

#[test]
fn a_doubled_contribution_is_named() {
    let text = refused(all_reduce(2), |p| {
        for index in 0..2 {
            let (rank, other) = (index, 1 - index);
            let first = p.chunk(rank, Input, index).reduce(p.chunk(other, Input, index));
            let sum = if index == 0 { first.reduce(p.chunk(other, Input, index)) } else { first };
            sum.copy_to(other, Input, index);
        }
    })
    .to_string();
    assert!(
        text.contains("rank 0, chunk 0 ends with all 2 contributions, but that of rank 1 twice"),
        "{text}"
    );
}

#[test]
fn chunks_in_the_wrong_place_are_named() {
    let p = Program::new(Collective::all_gather(2).unwrap());
    let text = refused(p, |p| {
        for rank in 0..2 {
            p.chunk(rank, Input, 0).copy_to(rank, Output, 1 - rank);
            p.chunk(rank, Input, 0).copy_to(1 - rank, Output, 1 - rank);
        }
    })
    .to_string();
    assert!(text.contains("rank 0, output chunk 0 ends with data of chunk 1, not data of chunk 0"), "{text}");
    let p = Program::new(Collective::all_gather(2).unwrap());
    let text = refused(p, |_| ()).to_string();
    assert!(
        text.contains("rank 0, output chunk 0 is never written: it should hold input chunk 0 of rank 0"),
        "{text}"
    );
}

#[test]
fn another_input_than_the_wanted_one_is_named_and_where_that_is() {
    let p = Program::new(Collective::custom(3, 2, 1).unwrap());
    let text = refused(p, |p| {
        p.expect(2, 0, 1, 0);
        p.chunk(0, Input, 0).copy_to(2, Output, 0);
    })
    .to_string();
    let words = "rank 2, output chunk 0 should hold input chunk 0 of rank 1, but holds input chunk 0 of rank 0; this is the \
                 last write to it; what it should hold is in input chunk 0 of rank 1 at the end";
    assert!(text.contains(words), "{text}");
}

#[test]
fn one_mistake_gives_one_message() {
    let found = refused(all_reduce(2), |p| {
        let wrong = p.chunk(9, Input, 0);
        let next = wrong.copy_to(0, Input, 0);
        p.chunk(1, Input, 0).reduce(next).copy_to(0, Input, 1);
    });
    assert_eq!(found.findings.len(), 1, "{found}");
}

#[test]
fn a_reference_from_a_mistake_still_counts_as_was_asked() {
    let found = refused(all_reduce(2), |p| {
        let wrong = p.chunks(7, Input, 0, 2);
        assert_eq!((wrong.rank(), wrong.count()), (7, 2));
        assert_eq!(wrong.split(2).len(), 2);
        assert_eq!(p.chunks(0, Input, 0, 2).split(5000)[2000].count(), 0);
    });
    assert_eq!(found.findings.len(), 2, "{found}");
}

#[test]
fn memory_is_bounded_whatever_a_program_asks_for() {
    let found = refused(all_reduce(8), |p| {
        for rank in 0..8 {
            p.chunk(rank, Input, 0).copy_to(rank, Scratch("far"), (1 << 24) - 1);
        }
    });
    assert!(found.to_string().contains("of all ranks have more than 67108864 chunks together"), "{found}");
    refused_with(all_reduce(8), Rule::Bounds, "a scratch buffer has at most 16777216 chunks", |p| {
        p.chunk(0, Input, 0).copy_to(0, Scratch("far"), 1 << 24);
    });
    assert!(Collective::all_reduce(10_000).is_err());
}

#[test]
fn a_parameter_that_the_program_refuses() {
    refused_with(all_reduce(3), Rule::Malformed, "an even number of ranks", |p| {
        p.require(p.ranks() % 2 == 0, "the algorithm needs an even number of ranks");
    });
}

/// A ring of four in which chunks 2 and 3 run the other way, all on one thread block: case D09.
fn two_ways(p: &Program, hinted: bool) {
    for (index, step) in [(0, 1), (1, 1), (2, 3), (3, 3)] {
        let mut sum = p.chunk(index, Input, index);
        for hop in 1..4 {
            let next = p.chunk((index + hop * step) % 4, Input, index);
            sum = if hinted { next.reduce(sum.on_send_block(0).on_recv_block(0)) } else { next.reduce(sum) };
        }
        for hop in 0..3 {
            let rank = (index + hop * step) % 4;
            sum = if hinted {
                sum.on_send_block(0).on_recv_block(0).copy_to(rank, Input, index)
            } else {
                sum.copy_to(rank, Input, index)
            };
        }
    }
}

#[test]
fn a_thread_block_asked_to_talk_to_two_peers() {
    let found = refused(all_reduce(4), |p| two_ways(p, true));
    let text = found.to_string();
    assert_eq!(found.findings[0].rule, Rule::Ownership);
    assert!(
        text.contains("thread block 0: ") && text.contains("peer") && text.contains("already set, asked for"),
        "{text}"
    );
    assert!(text.contains("that was asked for here"), "{text}");
    // Left to itself it compiles.
    let p = all_reduce(4);
    two_ways(&p, false);
    assert!(p.finish("two ways").and_then(|trace| compile(&trace)).is_ok());
}

#[test]
fn two_thread_blocks_on_one_connection() {
    refused_with(
        all_reduce(2),
        Rule::Ownership,
        "rank 0: thread blocks 0 and 1 would both send to rank 1 on channel 0",
        |p| {
            p.chunk(0, Input, 0).on_send_block(0).copy_to(1, Scratch("s"), 0);
            p.chunk(0, Input, 1).on_send_block(1).copy_to(1, Scratch("s"), 1);
        },
    );
}

#[test]
fn two_channels_in_one_thread_block() {
    refused_with(
        all_reduce(2),
        Rule::Ownership,
        "rank 0 thread block 0: channel 0 already set, asked for 1",
        |p| {
            p.chunk(0, Input, 0).on_send_block(0).copy_to(1, Scratch("s"), 0);
            p.chunk(0, Input, 1).on_channel(1).on_send_block(0).copy_to(1, Scratch("s"), 1);
        },
    );
}

#[test]
fn groups_of_chunks_that_are_no_neighbours() {
    refused_with(
        all_reduce(4),
        Rule::Malformed,
        "chunk 1 lies between the grouped chunks 0 and 2: only neighbours can be grouped",
        |p| {
            p.chunk(0, Input, 0).group(p.chunk(0, Input, 2));
        },
    );
    refused_with(
        all_reduce(4),
        Rule::Malformed,
        "chunk 1 is in both parts of the group: only neighbours can be grouped",
        |p| {
            p.chunks(0, Input, 0, 2).group(p.chunk(0, Input, 1));
        },
    );
    let between = "chunks 1 to 2 lie between the grouped chunks 0 and 3: only neighbours can be grouped";
    refused_with(all_reduce(4), Rule::Malformed, between, |p| {
        p.chunk(0, Input, 3).group(p.chunk(0, Input, 0));
    });
    let inside = "chunks 1 to 2 are in both parts of the group";
    refused_with(all_reduce(4), Rule::Malformed, inside, |p| {
        p.chunks(0, Input, 0, 4).group(p.chunks(0, Input, 1, 2));
    });
    refused_with(all_reduce(4), Rule::Malformed, "one buffer of one rank", |p| {
        p.chunk(0, Input, 0).group(p.chunk(1, Input, 1));
    });
}

#[test]
fn scratch_of_a_declared_size() {
    refused_with(all_reduce(2), Rule::Bounds, "it has 2 chunks, so indices go from 0 to 1", |p| {
        p.scratch(1, "tmp", 2);
        p.chunk(0, Input, 0).copy_to(1, Scratch("tmp"), 2);
    });
    refused_with(all_reduce(2), Rule::Malformed, "exists already", |p| {
        p.chunk(0, Input, 0).copy_to(1, Scratch("tmp"), 0);
        p.scratch(1, "tmp", 2);
    });
}

#[test]
fn ranks_outside_the_group() {
    let p = all_reduce(3).among(&[1, 3, 5]);
    refused_with(p, Rule::Bounds, "rank 2 is not in the group: its members are 1, 3, 5", |p| {
        p.chunk(1, Input, 0).copy_to(2, Input, 0);
    });
    refused_with(all_reduce(3).among(&[1, 3]), Rule::Malformed, "needs 3 different members", |_| ());
}

#[test]
fn buffers_that_a_rank_does_not_have() {
    let p = Program::new(Collective::new(collective_dsl::CollectiveKind::Broadcast, 3, 1).unwrap());
    refused_with(
        p,
        Rule::Bounds,
        "chunk 0 of input of rank 1 is out of range: in this broadcast it has none",
        |p| {
            p.chunk(1, Input, 0);
        },
    );
}

#[test]
fn a_fixed_collective_cannot_be_told_what_it_wants() {
    refused_with(all_reduce(2), Rule::Malformed, "only a custom collective", |p| p.expect(0, 0, 1, 0));
}
