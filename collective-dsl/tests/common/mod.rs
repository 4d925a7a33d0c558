//! What the tests of formats share.
#![allow(dead_code, reason = "each test binary uses a part")]

use collective_dsl::{Buffer, Collective, CollectiveKind, MixedReduction, Program, Schedule, Setting, lower};
use proptest::prelude::*;

/// A schedule without its source lines, and with data by logical chunk instead of by number: what must not change when
/// it is written and read.
pub(crate) fn meaning(schedule: &Schedule) -> (String, Vec<(u32, u32)>) {
    let chunks = |data| format!("{:?}", schedule.data.chunks(data).collect::<Vec<_>>());
    let mut text = format!("{} {:?} {:?}\n", schedule.name, schedule.collective, schedule.protocol);
    for rank in &schedule.ranks {
        text.push_str(&format!("rank scratch {}\n", rank.scratch_chunks));
        for block in &rank.thread_blocks {
            text.push_str(&format!("  {:?} {:?} {}\n", block.send, block.recv, block.channel));
            for step in &block.steps {
                let (kind, data, depends) = (step.kind.name(), chunks(step.data), &step.depends);
                text.push_str(&format!(
                    "    {kind} {} {} {} {data} {depends:?}\n",
                    step.src, step.dst, step.count
                ));
            }
        }
    }
    // By single chunks: how many an operation adds at once is not kept when it is divided among instances.
    let pairs = |mixed: &MixedReduction| {
        let from: Vec<u32> = schedule.data.chunks(mixed.from).collect();
        schedule.data.chunks(mixed.into).zip(from).collect::<Vec<_>>()
    };
    let mut mixed: Vec<(u32, u32)> = schedule.mixed.iter().flat_map(pairs).collect();
    mixed.retain(|(into, from)| into != from);
    mixed.sort();
    mixed.dedup();
    (text, mixed)
}

/// A ring all-reduce in place.
pub(crate) fn ring(p: &Program, channels: usize) {
    let n = p.ranks();
    for chunk in 0..n {
        for hop in 0..n - 1 {
            let (from, to) = ((chunk + hop) % n, (chunk + hop + 1) % n);
            let moved = p.chunk(from, Buffer::Input, chunk).on_channel(chunk % channels);
            p.chunk(to, Buffer::Input, chunk).reduce(moved);
        }
        for hop in n - 1..2 * n - 2 {
            let (from, to) = ((chunk + hop) % n, (chunk + hop + 1) % n);
            p.chunk(from, Buffer::Input, chunk).on_channel(chunk % channels).copy_to(
                to,
                Buffer::Input,
                chunk,
            );
        }
    }
}

/// Recursive halving, then doubling, in place.
pub(crate) fn halving_doubling(p: &Program) {
    let n = p.ranks();
    let owned = |rank: usize, size: usize| rank / size * size;
    let mut size = n;
    while size > 1 {
        let half = size / 2;
        for rank in 0..n {
            let peer = rank ^ half;
            let mine = owned(rank, half);
            let theirs = p.chunks(peer, Buffer::Input, mine, half).copy_to(rank, Buffer::Scratch("in"), 0);
            p.chunks(rank, Buffer::Input, mine, half).reduce(theirs);
        }
        size = half;
    }
    while size < n {
        for rank in 0..n {
            p.chunks(rank, Buffer::Input, owned(rank, size), size).copy_to(
                rank ^ size,
                Buffer::Input,
                owned(rank, size),
            );
        }
        size *= 2;
    }
}

/// All-reduce within nodes of `local` ranks, between them, and within them again, through scratch.
pub(crate) fn hierarchical(p: &Program, local: usize) {
    let n = p.ranks();
    let nodes = n / local;
    for node in 0..nodes {
        for chunk in 0..local {
            let owner = node * local + chunk;
            for other in (0..local).filter(|other| *other != chunk) {
                let moved = p.chunk(node * local + other, Buffer::Input, chunk);
                p.chunk(owner, Buffer::Input, chunk).reduce(moved);
            }
        }
    }
    for chunk in 0..local {
        for node in 1..nodes {
            let moved = p.chunk(node * local + chunk, Buffer::Input, chunk).copy_to(
                chunk,
                Buffer::Scratch("x"),
                node,
            );
            p.chunk(chunk, Buffer::Input, chunk).reduce(moved);
        }
        for node in 1..nodes {
            p.chunk(chunk, Buffer::Input, chunk).copy_to(node * local + chunk, Buffer::Input, chunk);
        }
    }
    for node in 0..nodes {
        for chunk in 0..local {
            for other in (0..local).filter(|other| *other != chunk) {
                p.chunk(node * local + chunk, Buffer::Input, chunk).copy_to(
                    node * local + other,
                    Buffer::Input,
                    chunk,
                );
            }
        }
    }
}

/// Programs as the library has them, and some of each other kind of collective.
pub(crate) fn samples() -> Vec<Schedule> {
    use CollectiveKind::*;
    let in_place = |name, kind, ranks, chunks| Setting {
        in_place: true,
        chunks: Some(chunks),
        ..Setting::new(name, kind, ranks)
    };
    let mut traces = vec![
        in_place("ring", AllReduce, 4, 4).trace("", |p| ring(p, 2)),
        in_place("halving & \"doubling\"", AllReduce, 8, 8).trace("", halving_doubling),
        in_place("hierarchical", AllReduce, 6, 3).trace("", |p| hierarchical(p, 3)),
    ];
    for place in [true, false] {
        let setting = |name, kind| Setting { in_place: place, root: None, ..Setting::new(name, kind, 3) };
        traces.push(setting("gather", AllGather).trace("", |p| {
            for (from, to) in (0..3).flat_map(|from| (0..3).map(move |to| (from, to))) {
                if !(place && from == to) {
                    p.chunk(from, Buffer::Input, 0).copy_to(to, Buffer::Output, from);
                }
            }
        }));
        traces.push(setting("scatter", ReduceScatter).trace("", |p| {
            for to in 0..3 {
                if !place {
                    p.chunk(to, Buffer::Input, to).copy_to(to, Buffer::Output, 0);
                }
                for from in (0..3).filter(|from| *from != to) {
                    p.chunk(to, Buffer::Output, 0).reduce(p.chunk(from, Buffer::Input, to));
                }
            }
        }));
        let rooted = Setting { root: Some(1), ..setting("broadcast", Broadcast) };
        traces.push(rooted.trace("", |p| {
            for to in (0..3).filter(|to| !(place && *to == 1)) {
                p.chunk(1, Buffer::Input, 0).copy_to(to, Buffer::Output, 0);
            }
        }));
        let rooted = Setting { root: Some(2), ..setting("reduce", Reduce) };
        traces.push(rooted.trace("", |p| {
            if !place {
                p.chunk(2, Buffer::Input, 0).copy_to(2, Buffer::Output, 0);
            }
            (0..2).for_each(|from| _ = p.chunk(2, Buffer::Output, 0).reduce(p.chunk(from, Buffer::Input, 0)));
        }));
    }
    traces.push(Setting::new("exchange", AllToAll, 3).trace("", |p| {
        for (from, to) in (0..3).flat_map(|from| (0..3).map(move |to| (from, to))) {
            p.chunk(from, Buffer::Input, to).copy_to(to, Buffer::Output, from);
        }
    }));
    traces.into_iter().map(|trace| lower(&trace.unwrap()).unwrap()).collect()
}

/// One random operation; numbers are taken modulo what exists.
pub(crate) type RandomOp = (bool, (usize, usize, usize), (usize, usize, usize), usize, usize);

pub(crate) fn random_ops() -> impl Strategy<Value = Vec<RandomOp>> {
    let place = || (0usize..5, 0usize..3, 0usize..6);
    prop::collection::vec((any::<bool>(), place(), place(), 1usize..3, 0usize..2), 1..40)
}

/// A program of those operations that are allowed, each tried after the others.
pub(crate) fn program(collective: &Collective, ops: &[RandomOp]) -> Program {
    let buffer = |n: usize| [Buffer::Input, Buffer::Output, Buffer::Scratch("s")][n];
    let build = |ops: &[RandomOp]| {
        let p = Program::new(collective.clone());
        for (reduce, from, to, count, channel) in ops {
            let source = p.chunks(from.0 % p.ranks(), buffer(from.1), from.2, *count).on_channel(*channel);
            let target = to.0 % p.ranks();
            if *reduce {
                p.chunks(target, buffer(to.1), to.2, *count).reduce(source);
            } else {
                source.copy_to(target, buffer(to.1), to.2);
            }
        }
        p
    };
    let mut good: Vec<RandomOp> = Vec::new();
    for op in ops {
        good.push(*op);
        if build(&good).finish("trial").is_err() {
            good.pop();
        }
    }
    build(&good)
}
