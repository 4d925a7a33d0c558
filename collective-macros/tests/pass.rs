//! What is evaluated at build time is, byte for byte, what the same function traces at run time.

// Generated items must not make the user's lints speak up.
#![deny(dead_code, missing_docs, non_camel_case_types, unreachable_pub)]

use collective::et::{EtOptions, bytes};
use collective::prelude::*;
use collective::{ElementType, Embedded, Protocol, RankId, Schedule, Size};

/// The embedded bytes are those of a fresh compile, at the size of the build and, rescaled, at others.
fn check(embedded: &Embedded, schedule: &Schedule) {
    let fresh = bytes(schedule, &EtOptions::new(Size::bytes(1 << 20))).unwrap();
    assert!(embedded.ranks().unwrap() == fresh.ranks(), "{}: the bytes differ", embedded.name);
    let sizes = [4 << 20, 4 * 1_000_003, 0, 4, 12, 4_000_012].map(Size::bytes).into_iter();
    // Every pair of an all-to-all has an equal part.
    let sizes = sizes.chain([Size::of(99_991, ElementType::F16), Size::of(8 * 1009, ElementType::Bf16)]);
    let mut possible = 0;
    for size in sizes {
        match (embedded.with_size(size), bytes(schedule, &EtOptions::new(size))) {
            (Ok(rescaled), Ok(fresh)) => {
                possible += 1;
                assert!(rescaled == fresh, "{}: the bytes differ for {size:?}", embedded.name);
            }
            (Err(_), Err(_)) => {}
            (rescaled, fresh) => {
                let (rescaled, fresh) = (rescaled.err(), fresh.err());
                panic!("{}: only one path refuses {size:?}: {rescaled:?}, {fresh:?}", embedded.name);
            }
        }
    }
    assert!(possible > 2, "{}: {possible} other sizes are possible", embedded.name);
}

/// The ring: reduce-scatter, then all-gather, on one buffer.
///
/// More about it.
#[collective(
    all_reduce,
    in_place,
    defaults(channels = 1),
    build(ranks = 8),
    build(ranks = 16, channels = 2),
    build(ranks = 1)
)]
pub fn allreduce_ring(p: &Program, ranks: usize, channels: usize) {
    for index in 0..ranks {
        let mut c = p.chunk(index, Input, index).on_channel(index % channels);
        for step in 1..ranks {
            c = p.chunk((index + step) % ranks, Input, index).reduce(c);
        }
        for step in 0..ranks - 1 {
            c = c.copy_to((index + step) % ranks, Input, index);
        }
    }
}

#[test]
fn the_ring_is_the_same_on_both_paths() {
    check(allreduce_ring::RANKS_8, &allreduce_ring::compile(8, 1).unwrap());
    check(allreduce_ring::RANKS_16_CHANNELS_2, &allreduce_ring::compile(16, 2).unwrap());
    check(allreduce_ring::RANKS_1, &allreduce_ring::compile(1, 1).unwrap());
}

/// Halving, then doubling, through scratch: helper functions, recursion, calls over several lines.
#[collective(all_reduce, in_place, build(ranks = 8), build(ranks = 16))]
#[rustfmt::skip]
fn halving_doubling(p: &Program, ranks: usize) {
    const SMALLEST: usize = 1;
    const INBOX: &str = "inbox";

    /// The first of the `distance` chunks that a rank keeps, when partners are `distance` apart.
    fn first(rank: usize, ranks: usize, distance: usize) -> usize {
        if distance == ranks {
            return 0;
        }
        let outer = first(rank, ranks, 2 * distance);
        match rank & distance {
            0 => outer,
            _ => outer + distance,
        }
    }

    fn add_inbox(p: &Program, own: ChunkRef<'_>, first: usize) {
        own.reduce(p.chunks(own.rank(), Scratch(INBOX), first, own.count()));
    }

    if !p.require(ranks.is_power_of_two(), "the number of ranks must be a power of two") {
        return;
    }
    let mut distance = ranks / 2;
    while distance >= SMALLEST {
        for rank in 0..ranks {
            let at = first(rank, ranks, distance);
            p
                .chunks(rank ^ distance, Input, at, distance)
                .copy_to(
                    rank,
                    Scratch(INBOX),
                    at,
                );
        }
        for rank in 0..ranks {
            let at = first(rank, ranks, distance);
            add_inbox(p, p.chunks(rank, Input, at, distance), at);
        }
        distance /= 2;
    }
    distance = SMALLEST;
    while distance < ranks {
        for rank in 0..ranks {
            let at = first(rank, ranks, distance);
            let _ = p.chunks(rank, Input, at, distance).copy_to(rank ^ distance, Input, at);
        }
        distance *= 2;
    }
}

#[test]
fn helper_functions_and_chains_over_lines_are_the_same_on_both_paths() {
    check(halving_doubling::RANKS_8, &halving_doubling::compile(8).unwrap());
    check(halving_doubling::RANKS_16, &halving_doubling::compile(16).unwrap());
    assert!(halving_doubling::compile(6).unwrap_err().to_string().contains("power of two"));
}

/// All-gather around a ring, with several calls on a line.
#[collective(all_gather, build(ranks = 6), build(ranks = 1))]
#[rustfmt::skip]
fn gather_ring(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        let mut c = p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
        for step in 1..ranks { c = c.copy_to((rank + step) % ranks, Output, rank); }
    }
}

/// The same in place: the copy onto the own output is none.
#[collective(all_gather, in_place, chunks = parts * 2, build(ranks = 5, parts = 2))]
fn gather_split(p: &Program, ranks: usize, parts: usize) {
    for rank in 0..ranks {
        for (i, part) in p.chunks(rank, Input, 0, p.input_chunks()).split(2 * parts).iter().enumerate() {
            let mut c = *part;
            for step in 1..ranks {
                c = c.on_channel(i % 2).copy_to((rank + step) % ranks, Output, rank * 2 * parts + i);
            }
        }
    }
}

#[test]
fn all_gather_is_the_same_on_both_paths() {
    check(gather_ring::RANKS_6, &gather_ring::compile(6).unwrap());
    check(gather_ring::RANKS_1, &gather_ring::compile(1).unwrap());
    check(gather_split::RANKS_5_PARTS_2, &gather_split::compile(5, 2).unwrap());
}

/// Reduce-scatter around a ring.
#[collective(reduce_scatter, in_place, chunks = 2, build(ranks = 4))]
fn scatter_in_place(p: &Program, ranks: usize) {
    for index in 0..p.input_chunks() {
        let owner = index / 2;
        let mut c = p.chunk((owner + 1) % ranks, Input, index);
        for step in 2..=ranks {
            c = p.chunk((owner + step) % ranks, Input, index).reduce(c);
        }
    }
}

/// Out of place: sums gather in scratch.
#[collective(reduce_scatter, out_of_place, build(ranks = 4), options(size = "1MiB", element_type = "f32"))]
fn scatter_out_of_place(p: &Program, ranks: usize) {
    for owner in (0..ranks).rev() {
        let mut sum = p.chunk((owner + 1) % ranks, Input, owner).copy_to(owner, Scratch("sum"), 0);
        for step in 2..=ranks {
            sum =
                sum.reduce(p.chunk((owner + step) % ranks, Input, owner).copy_to(owner, Scratch("in"), step));
        }
        sum.copy_to(owner, Output, 0);
    }
}

#[test]
fn reduce_scatter_is_the_same_on_both_paths() {
    check(scatter_in_place::RANKS_4, &scatter_in_place::compile(4).unwrap());
    check(scatter_out_of_place::RANKS_4, &scatter_out_of_place::compile(4).unwrap());
}

/// Out-of-place all-reduce through a tree, with most of the language.
#[collective(all_reduce, chunks = 4, build(ranks = 7))]
fn tree(p: &Program, ranks: usize) {
    fn children(rank: usize, ranks: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for child in [2 * rank + 1, 2 * rank + 2] {
            if child < ranks {
                found.push(child);
            }
        }
        found
    }
    let chunks = p.output_chunks();
    for rank in 0..ranks {
        p.chunks(rank, Input, 0, chunks).copy_to(rank, Output, 0);
    }
    for parent in (0..ranks).rev() {
        for (i, child) in children(parent, ranks).into_iter().enumerate() {
            let from =
                p.chunks(child, collective::Buffer::Output, 0, chunks).copy_to(parent, Scratch("in"), i * 4);
            p.chunks(parent, Output, 0, chunks).reduce(from);
        }
    }
    let mut next = vec![0; 1];
    let mut at = 0;
    let visited = loop {
        if at == next.len() {
            break at;
        }
        for &child in &children(next[at], ranks) {
            p.chunks(next[at], Output, 0, chunks).copy_to(child, Output, 0);
            next.push(child);
        }
        at += 1;
    };
    assert_eq!(visited, ranks, "every rank is in the tree");
}

#[test]
fn most_of_the_language_is_the_same_on_both_paths() {
    check(tree::RANKS_7, &tree::compile(7).unwrap());
}

#[test]
fn an_algorithm_may_stand_in_a_function() {
    // Tests cannot stand in a function.
    #[collective(all_reduce, in_place, build(ranks = 2), options(test = false))]
    fn exchange(p: &Program, ranks: usize) {
        for rank in 0..ranks {
            let sum = p.chunk(rank, Input, rank).reduce(p.chunk(1 - rank, Input, rank));
            sum.copy_to(1 - rank, Input, rank);
        }
    }
    check(exchange::RANKS_2, &exchange::compile(2).unwrap());
    assert_eq!(exchange::BUILDS, [exchange::RANKS_2]);
}

#[test]
fn the_definition_has_the_summary_and_the_defaults() {
    let def = allreduce_ring::DEF;
    assert_eq!(def.name, "allreduce_ring");
    assert_eq!(def.summary, "The ring: reduce-scatter, then all-gather, on one buffer.");
    assert_eq!(def.docs, format!("{}\n\nMore about it.", def.summary));
    assert!(def.in_place);
    assert_eq!(
        def.params.iter().map(|p| (p.name, p.default)).collect::<Vec<_>>(),
        [("ranks", None), ("channels", Some(1))]
    );
    assert_eq!(def.compile_with(&[("ranks", 4)]).unwrap(), allreduce_ring::compile(4, 1).unwrap());
    assert!((def.trace)(true, &[4]).unwrap_err().to_string().contains("wants 2 values: ranks, channels"));
}

#[test]
fn an_instance_names_its_parameters_and_its_source() {
    let embedded = allreduce_ring::RANKS_16_CHANNELS_2;
    assert_eq!(embedded.params, [("ranks", 16), ("channels", 2)]);
    assert_eq!(embedded.graph().unwrap().source_files, ["tests/pass.rs"]);
}

/// Calls within macros, whose tokens the compiler passes through.
#[collective(all_gather, build(ranks = 2))]
#[rustfmt::skip]
#[allow(clippy::useless_vec)]
fn gather_in_macros(p: &Program, ranks: usize) {
    let own = vec![
        p.chunk(0, Input, 0)
            .copy_to(0, Output, 0),
        p.chunk(1, Input, 0).copy_to(1, Output, 1),
    ];
    assert_eq!(
        own[0]
            .copy_to(1, Output, 0)
            .rank(),
        1
    );
    assert!(matches!(own[1].copy_to(0, Output, 1).count(), 1 if ranks == 2));
}

#[test]
fn calls_in_macros_have_the_same_lines_on_both_paths() {
    check(gather_in_macros::RANKS_2, &gather_in_macros::compile(2).unwrap());
}

/// Visible in part, with defaults only, in a module.
mod library {
    use collective::prelude::*;

    /// Everybody sends to everybody.
    #[collective(all_gather, defaults(ranks = 3, stride = 1), build())]
    pub(super) fn direct(p: &Program, mut ranks: usize, r#stride: usize) {
        ranks *= stride;
        for rank in 0..ranks {
            for to in 0..ranks {
                p.chunk(rank, Input, 0).copy_to((rank + to) % ranks, Output, rank);
            }
        }
    }
}

/// Buffers that are only in scope within the function.
mod bare {
    use collective::{Program, collective};

    /// At the top of the body.
    #[collective(all_gather, build(ranks = 2))]
    pub(super) fn at_the_top(p: &Program, ranks: usize) {
        use collective::Buffer::{Input, Output};
        for rank in 0..2 * ranks {
            p.chunk(rank / 2, Input, 0).copy_to(rank % 2, Output, rank / 2);
        }
    }

    /// In a block of its own.
    #[collective(all_gather, build(ranks = 2))]
    pub(super) fn inside(p: &Program, ranks: usize) {
        for rank in 0..2 * ranks {
            use collective::Buffer::{Input, Output};
            p.chunk(rank / 2, Input, 0).copy_to(rank % 2, Output, rank / 2);
        }
    }
}

#[test]
fn buffers_may_be_in_scope_anywhere() {
    check(bare::at_the_top::RANKS_2, &bare::at_the_top::compile(2).unwrap());
    check(bare::inside::RANKS_2, &bare::inside::compile(2).unwrap());
}

#[test]
fn defaults_alone_make_an_instance_too() {
    check(library::direct::DEFAULT, &library::direct::compile(3, 1).unwrap());
    assert!(std::ptr::eq(library::direct::DEFAULT, library::direct::BUILDS[0]));
}

/// Without a build the body may use all of Rust.
#[collective(all_reduce, in_place)]
fn only_at_run_time(p: &Program, ranks: usize) {
    (0..ranks).for_each(|rank| {
        let _ = p.chunk(rank, Input, 0);
    });
}

#[test]
fn without_a_build_the_body_may_use_all_of_rust() {
    assert!(only_at_run_time::trace(3).is_ok());
    assert!(only_at_run_time::BUILDS.is_empty());
}

/// The loops, patterns and operators that the algorithms above do not need.
#[collective(all_reduce, in_place, chunks = 1, build(ranks = 2, limit = 12))]
fn wide(p: &Program, ranks: usize, limit: usize) {
    let (mut a, mut b) = (1usize, limit);
    (a, b) = (b, a);
    let mut table = vec![vec![0; 3]; 2];
    table[1][2] = a;
    table[1][2] += 2 * b;
    let mut pair = (0, [true, false]);
    pair.1[1] ^= true;
    pair.0 = table[1][2] as i64 - 20;
    assert_eq!(pair.0, -6);
    assert!(pair.1.contains(&true) && !(0..5).contains(&a));
    let mut seen = Vec::new();
    'outer: for i in (0..10).rev().step_by(3) {
        for j in (i..=10).step_by(2) {
            if j % 4 == 3 {
                continue 'outer;
            }
            if i == 0 && j > 4 {
                break 'outer;
            }
            seen.push(i * 10 + j);
        }
    }
    assert_eq!(seen, [99, 66, 68, 70, 0, 2, 4]);
    let word = match (a, b) {
        (0 | 1, _) => 1,
        (n @ 10..=20, 1) if n.is_multiple_of(3) => n / 3,
        _ => 0,
    };
    assert!(matches!(word, 4), "word is {word}");
    assert_eq!(usize::MAX.count_ones() + 5usize.pow(2).ilog2() + 12u32.trailing_zeros(), 70);
    let rank = 'found: {
        if ranks > 1 {
            break 'found 1;
        }
        0
    };
    let sum = p.chunk(rank, Input, 0).reduce(p.chunk(0, Input, 0));
    sum.copy_to(0, Input, 0);
}

#[test]
fn the_rest_of_the_language_computes_as_rust_does() {
    check(wide::RANKS_2_LIMIT_12, &wide::compile(2, 12).unwrap());
}

/// Around the ring from any root, in two chunks.
#[collective(
    broadcast,
    in_place,
    root = first % ranks,
    chunks = 2,
    defaults(first = 0),
    build(ranks = 5, first = 8),
    build(ranks = 4)
)]
fn broadcast_ring(p: &Program, ranks: usize, first: usize) {
    for (i, part) in p.chunks(first % ranks, Input, 0, 2).split(2).into_iter().enumerate() {
        let mut c = part.copy_to(first % ranks, Output, i);
        for step in 1..ranks {
            c = c.copy_to((first + step) % ranks, Output, i);
        }
    }
}

/// To the last rank, in place there.
#[collective(gather, in_place, root = ranks - 1, build(ranks = 4))]
fn gather_at_last(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(ranks - 1, Output, rank);
    }
}

/// One message.
#[collective(send_recv, root = from, destination = from + 1, chunks = 3, build(ranks = 4, from = 1))]
fn one_message(p: &Program, ranks: usize, from: usize) {
    let next = from + 1;
    p.require(next < ranks, "there is no next rank");
    p.chunks(from, Input, 0, 3).copy_to(next, Output, 0);
}

#[test]
fn roots_and_destinations_are_the_same_on_both_paths() {
    check(broadcast_ring::RANKS_5_FIRST_8, &broadcast_ring::compile(5, 8).unwrap());
    check(broadcast_ring::RANKS_4, &broadcast_ring::compile(4, 0).unwrap());
    check(gather_at_last::RANKS_4, &gather_at_last::compile(4).unwrap());
    check(one_message::RANKS_4_FROM_1, &one_message::compile(4, 1).unwrap());
    assert_eq!(broadcast_ring::compile(5, 8).unwrap().collective.root(), RankId(3));
    let wrong = one_message::compile(4, 3).unwrap_err().to_string();
    assert!(wrong.contains("the destination 4 does not exist"), "{wrong}");
}

/// As many chunks as arithmetic of every kind gives.
#[collective(
    all_reduce,
    in_place,
    chunks = { let mut n = (ranks - 2) * 3; n += 1 << (ranks - 3); n.pow(2) - (2 * ranks) % 3 },
    build(ranks = 3)
)]
fn counted(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        let sum = p.chunks(0, Input, 0, p.input_chunks());
        sum.reduce(p.chunks(rank, Input, 0, p.input_chunks()));
    }
    for rank in 1..ranks {
        p.chunks(0, Input, 0, p.input_chunks()).copy_to(rank, Input, 0);
    }
}

#[test]
fn arguments_that_overflow_are_errors_at_run_time_too() {
    check(counted::RANKS_3, &counted::compile(3).unwrap());
    for ranks in [0, 1, 2, 36, 1_000_000] {
        let wrong = counted::compile(ranks).unwrap_err().to_string();
        assert!(wrong.contains("the value of `chunks` overflows for these parameters"), "{wrong}");
    }
}

/// Everybody to everybody.
#[collective(all_to_all, chunks = 2, build(ranks = 8))]
fn exchange_all(p: &Program, ranks: usize) {
    for from in 0..ranks {
        for to in 0..ranks {
            p.chunks(from, Input, 2 * to, 2).copy_to(to, Output, 2 * from);
        }
    }
}

#[test]
fn all_to_all_is_the_same_on_both_paths() {
    check(exchange_all::RANKS_8, &exchange_all::compile(8).unwrap());
}

/// Every rank hands its two chunks to the next, which also wants the sum of them.
#[collective(custom, chunks = 2, outputs = 3, build(ranks = 5))]
fn next_and_sum(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        let next = (rank + 1) % ranks;
        for i in 0..2 {
            p.expect(next, i, rank, i);
            p.expect(next, 2, rank, i);
        }
        p.scratch(next, "in", 2);
        let halves = [p.chunk(rank, Input, 1), p.chunk(rank, Input, 0)];
        let both = halves[0].group(halves[1]).copy_to(next, Scratch("in"), 0);
        both.copy_to(next, Output, 0);
        let sum = p.chunk(next, Scratch("in"), 0).copy_to(next, Output, 2);
        sum.reduce(p.chunk(next, Scratch("in"), 1));
    }
}

#[test]
fn custom_collectives_are_the_same_on_both_paths() {
    check(next_and_sum::RANKS_5, &next_and_sum::compile(5).unwrap());
}

/// Two replicas, each on a run of its own.
#[collective(
    all_gather,
    in_place,
    build(ranks = 8),
    options(protocol = "LL128", instances = 2, replication = "blocked")
)]
fn doubling_blocked(p: &Program, ranks: usize) {
    let mut distance = 1;
    while distance < ranks {
        for rank in 0..ranks {
            let held = rank / distance * distance;
            p.chunks(rank, Output, held, distance).copy_to(rank ^ distance, Output, held);
        }
        distance *= 2;
    }
}

/// Three replicas, each on a share of every chunk.
#[collective(all_reduce, in_place, build(ranks = 4), options(instances = 3, replication = "interleaved"))]
fn ring_interleaved(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut c = p.chunk(index, Input, index);
        for step in 1..ranks {
            c = p.chunk((index + step) % ranks, Input, index).reduce(c);
        }
        for step in 0..ranks - 1 {
            c = c.copy_to((index + step) % ranks, Input, index);
        }
    }
}

#[test]
fn instances_and_protocols_are_the_same_on_both_paths() {
    let blocked = doubling_blocked::compile(8).unwrap();
    check(doubling_blocked::RANKS_8, &blocked);
    assert_eq!((blocked.protocol, blocked.channel_count()), (Protocol::Ll128, 2));
    let interleaved = ring_interleaved::compile(4).unwrap();
    check(ring_interleaved::RANKS_4, &interleaved);
    assert_eq!((interleaved.protocol, interleaved.channel_count()), (Protocol::Simple, 3));
}

/// Sends on one thread block, receives on another.
#[collective(all_reduce, in_place, build(ranks = 2))]
fn hinted(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        let theirs = p.chunk(1 - rank, Input, rank).on_send_block(4);
        let sum = p.chunk(rank, Input, rank).on_recv_block(7).reduce(theirs);
        sum.on_recv_block(7).on_send_block(4).copy_to(1 - rank, Input, rank);
    }
}

#[test]
fn hints_are_the_same_on_both_paths() {
    let schedule = hinted::compile(2).unwrap();
    check(hinted::RANKS_2, &schedule);
    for rank in &schedule.ranks {
        let sides = rank.thread_blocks.iter().map(|block| (block.send.is_some(), block.recv.is_some()));
        assert_eq!(sides.collect::<Vec<_>>(), [(true, false), (false, true)]);
    }
}
