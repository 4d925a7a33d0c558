//! Time and peak memory of tracing, of lowering and of verifying.
//!
//! ```text
//! cargo run --release --example lowering_cost -- ring 1024
//! ```
//!
//! Programs: `ring N`, `halving N`, `all_pairs N`, `hierarchical NODES GPUS`, `one_step N`.

use std::time::Instant;

use collective::prelude::*;
use collective::verify::{self, Settings};
use collective::{CollectiveKind, Diagnostics, Setting, Trace, algorithms, lower};

fn trace(program: &str, numbers: &[usize]) -> Result<Trace, Diagnostics> {
    let setting = |name, chunks| Setting {
        in_place: true,
        chunks: Some(chunks),
        ..Setting::new(name, CollectiveKind::AllReduce, numbers[0])
    };
    match (program, numbers) {
        ("ring", [ranks]) => algorithms::allreduce_ring::DEF.trace_with(&[("ranks", *ranks)]),
        ("halving", [ranks]) => {
            algorithms::allreduce_recursive_halving_doubling::DEF.trace_with(&[("ranks", *ranks)])
        }
        ("hierarchical", [nodes, gpus]) => {
            let values = [("ranks", nodes * gpus), ("gpus", *gpus)];
            algorithms::allreduce_hierarchical::DEF.trace_with(&values)
        }
        ("all_pairs", [ranks]) => setting("all_pairs", *ranks).trace("", all_pairs),
        ("one_step", [_]) => setting("one_step", 1).trace("", one_step),
        _ => {
            eprintln!("usage: lowering_cost ring|halving|all_pairs|one_step RANKS | hierarchical NODES GPUS");
            std::process::exit(2)
        }
    }
}

/// Every rank collects its chunk from all and sends the sum to all.
fn all_pairs(p: &Program) {
    let others = |rank| (1..p.ranks()).map(move |hop| (rank + hop) % p.ranks());
    for rank in 0..p.ranks() {
        let mut sum = p.chunk(rank, Input, rank);
        for peer in others(rank) {
            sum = sum.reduce(p.chunk(peer, Input, rank));
        }
        others(rank).for_each(|peer| _ = sum.copy_to(peer, Input, rank));
    }
}

/// Every rank collects everything from all.
fn one_step(p: &Program) {
    for rank in 0..p.ranks() {
        for hop in 1..p.ranks() {
            p.chunk((rank + hop) % p.ranks(), Input, 0).copy_to(rank, Scratch("arrived"), hop - 1);
        }
    }
    for rank in 0..p.ranks() {
        for from in 0..p.ranks() - 1 {
            p.chunk(rank, Input, 0).reduce(p.chunk(rank, Scratch("arrived"), from));
        }
    }
}

fn main() -> Result<(), Diagnostics> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let start = Instant::now();
    let trace = trace(words.first().map_or("", String::as_str), &numbers)?;
    let traced = start.elapsed();
    let schedule = lower(&trace)?;
    let lowered = start.elapsed() - traced;
    println!(
        "{}: {} operations; trace {:.3} s, lower {:.3} s, peak memory {}; {} steps on {} channels",
        words.join(" "),
        trace.ops.len(),
        traced.as_secs_f64(),
        lowered.as_secs_f64(),
        peak_memory().unwrap_or_else(|| "unknown".to_owned()),
        schedule.step_count(),
        schedule.channel_count(),
    );
    let start = Instant::now();
    verify::verify(&schedule, schedule.protocol.slots())?;
    let compiled = start.elapsed();
    let report = verify::check(&schedule, &Settings { reductions: true, ..Settings::default() });
    println!(
        "verify {:.4} s as when it is compiled, {:.4} s with everything: {}; peak memory {}",
        compiled.as_secs_f64(),
        (start.elapsed() - compiled).as_secs_f64(),
        report.verdict(),
        peak_memory().unwrap_or_else(|| "unknown".to_owned()),
    );
    Ok(())
}

/// Where the system tells it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(format!("{} MiB", kib.div_ceil(1024)))
}
