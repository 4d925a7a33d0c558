//! What the compiler says of wrong algorithms: one all-reduce, wrong in eight ways.
//!
//! With a `build(…)` each of these functions would be an error of the compiler, and this file would not compile. Here they have
//! none, so that the same checks happen when the example runs; it prints what they find as the compiler would. Race and deadlock cannot be
//! written in the language, since lowering a program gives it the waits and the order that it needs. They come from files, and are made
//! here by spoiling a right schedule.
//!
//! `cargo run --release --example build_time_errors`
//!
//! Try: let `one_step_short` below have the attribute that stands there as a comment, and compile again.

use std::error::Error;
use std::io::{self, Write};

use collective::msccl::{Target, limits};
use collective::prelude::*;
use collective::verify::{Settings, Slots, check};
use collective::{Diagnostic, Diagnostics, Schedule, Severity, compile};

/// Right: chunk i is summed once around the ring from rank i on, and handed out on the second round.
#[collective(all_reduce, in_place, build(ranks = 4))]
pub(crate) fn ring(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index);
        for step in 1..ranks {
            sum = p.chunk((index + step) % ranks, Input, index).reduce(sum);
        }
        for step in 0..ranks - 1 {
            sum = sum.copy_to((index + step) % ranks, Input, index);
        }
    }
}

/// The sum leaves a rank out.
#[collective(all_reduce, in_place)]
// #[collective(all_reduce, in_place, build(ranks = 4))]
fn one_step_short(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index);
        for step in 1..ranks - 1 {
            sum = p.chunk((index + step) % ranks, Input, index).reduce(sum);
        }
        for step in 0..ranks - 1 {
            sum = sum.copy_to((index + ranks - 1 + step) % ranks, Input, index);
        }
    }
}

/// The sum goes around once more and adds the first rank's share again.
#[collective(all_reduce, in_place)]
fn one_step_more(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index);
        for step in 1..=ranks {
            sum = p.chunk((index + step) % ranks, Input, index).reduce(sum);
        }
        for step in 1..ranks {
            sum = sum.copy_to((index + step) % ranks, Input, index);
        }
    }
}

/// There is no chunk `ranks`.
#[collective(all_reduce, in_place)]
fn one_chunk_too_far(p: &Program, ranks: usize) {
    for index in 1..=ranks {
        let mut sum = p.chunk(index % ranks, Input, index);
        for step in 1..ranks {
            sum = p.chunk((index + step) % ranks, Input, index).reduce(sum);
        }
        for step in 0..ranks - 1 {
            sum = sum.copy_to((index + step) % ranks, Input, index);
        }
    }
}

/// The first reference to the chunk is used after the sum has overwritten it.
#[collective(all_reduce, in_place, chunks = 1)]
fn stale_reference(p: &Program, ranks: usize) {
    let first = p.chunk(0, Input, 0);
    for rank in 1..ranks {
        first.reduce(p.chunk(rank, Input, 0));
    }
    for rank in 1..ranks {
        first.copy_to(rank, Input, 0);
    }
}

/// Scratch is read where nothing was put.
#[collective(all_reduce, in_place, chunks = 1)]
fn empty_scratch(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        p.chunk(rank, Input, 0).copy_to(0, Scratch("received"), rank);
    }
    let mut sum = p.chunk(0, Input, 0);
    for slot in 0..ranks - 1 {
        sum = sum.reduce(p.chunk(0, Scratch("received"), slot));
    }
    for rank in 1..ranks {
        sum.copy_to(rank, Input, 0);
    }
}

/// Right, but a channel for each chunk is more than any runtime has when there are many.
#[collective(all_reduce, in_place)]
fn a_channel_a_chunk(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index).on_channel(index);
        for step in 1..ranks {
            sum = p.chunk((index + step) % ranks, Input, index).on_channel(index).reduce(sum);
        }
        for step in 0..ranks - 1 {
            sum = sum.copy_to((index + step) % ranks, Input, index);
        }
    }
}

/// Right: rank 0 gets all data on one thread block for each rank, adds them on another, and hands out the sum.
#[collective(all_reduce, in_place, chunks = 1)]
fn star(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        p.chunk(rank, Input, 0).copy_to(0, Scratch("received"), rank - 1);
    }
    let mut sum = p.chunk(0, Input, 0);
    for slot in 0..ranks - 1 {
        sum = sum.reduce(p.chunk(0, Scratch("received"), slot));
    }
    for rank in 1..ranks {
        sum.copy_to(rank, Input, 0);
    }
}

/// A schedule in which no thread block waits for another.
fn without_waits(mut schedule: Schedule) -> Schedule {
    for block in schedule.ranks.iter_mut().flat_map(|rank| &mut rank.thread_blocks) {
        block.steps.iter_mut().for_each(|step| step.depends.clear());
    }
    schedule
}

/// A schedule in which every thread block does its last step first.
fn last_step_first(mut schedule: Schedule) -> Schedule {
    for block in schedule.ranks.iter_mut().flat_map(|rank| &mut rank.thread_blocks) {
        block.steps.rotate_right(1);
    }
    schedule
}

/// What the verifier finds, the first errors of it.
fn judged(schedule: &Schedule, slots: Slots) -> Result<(), Diagnostics> {
    check(schedule, &Settings { slots, ..Settings::default() }).errors().map_or(Ok(()), Err)
}

/// Within the limits of a runtime.
fn fits(schedule: Schedule, target: Target) -> Result<(), Diagnostics> {
    let found = limits::check(&schedule, target);
    if found.is_empty() {
        return Ok(());
    }
    Err(Diagnostics::new(schedule.name, found, schedule.sites))
}

/// What is wrong, and what the checks say.
pub(crate) fn mistakes() -> Vec<(&'static str, Result<(), Diagnostics>)> {
    let ring = || ring::compile(4);
    vec![
        ("the sum leaves a rank out", one_step_short::compile(4).map(drop)),
        ("the sum counts a rank twice", one_step_more::compile(4).map(drop)),
        ("a chunk that does not exist", one_chunk_too_far::compile(4).map(drop)),
        ("a reference that is out of date", stale_reference::compile(4).map(drop)),
        ("data that nobody has written", empty_scratch::compile(4).map(drop)),
        (
            "too many channels for the runtime",
            a_channel_a_chunk::compile(33).and_then(|it| fits(it, Target::Msccl)),
        ),
        (
            "race: nobody waits for what arrives",
            star::compile(4).and_then(|it| judged(&without_waits(it), Slots::Protocol)),
        ),
        (
            "deadlock: everybody first waits",
            ring().and_then(|it| judged(&last_step_first(it), Slots::Protocol)),
        ),
    ]
}

/// A finding as the compiler prints it: the message, and the line with the place underlined.
fn render(out: &mut dyn Write, found: &Diagnostics, finding: &Diagnostic) -> io::Result<()> {
    const SOURCE: &str = include_str!("build_time_errors.rs");
    writeln!(out, "error: {}", finding.message)?;
    let Some(site) = finding.site.and_then(|site| found.sites.get(site)) else { return Ok(()) };
    writeln!(out, "  --> examples/build_time_errors.rs:{}:{}", site.line, site.column)?;
    let Some(line) = SOURCE.lines().nth(site.line as usize - 1) else { return Ok(()) };
    let column = site.column.max(1) as usize - 1;
    // The place is a method name.
    let name = line.get(column..).unwrap_or("");
    let length = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len()).max(1);
    let number = site.line.to_string();
    let margin = " ".repeat(number.len());
    writeln!(out, "{margin} |\n{number} | {line}\n{margin} | {}{}", " ".repeat(column), "^".repeat(length))
}

pub(crate) fn show(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // The right one: nothing is found. It was checked when this file was compiled.
    compile(&ring::trace(4)?)?;
    for (number, (what, outcome)) in (1..).zip(mistakes()) {
        writeln!(out, "{number}. {what}\n")?;
        let Err(found) = outcome else {
            writeln!(out, "nothing was found\n")?;
            continue;
        };
        let errors: Vec<&Diagnostic> =
            found.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
        // A deadlock is one finding in as many parts as there are steps in it; of the others two will do.
        let shown = if errors[0].message.starts_with("(1/") { 4 } else { 2 };
        for finding in errors.iter().take(shown) {
            render(out, &found, finding)?;
            writeln!(out)?;
        }
        if errors.len() > shown {
            writeln!(out, "… and {} more\n", errors.len() - shown)?;
        }
    }
    writeln!(out, "docs/errors.md has each error of the compiler, with the program put right.")?;
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    show(&mut io::stdout().lock())
}
