//! A small sweep from Rust: which all-reduce is fastest on 16 GPUs, and how much it matters on which network.
//!
//! Two networks of the same 16 GPUs are swept over the whole library; the rows go to standard output as comma-separated values if
//! asked for (`--csv`), else a table says what wins, and what the usual ring would cost instead.
//!
//! `cargo run --release --example sweep_to_csv -- --csv > out.csv`

use std::io::{self, Write};
use std::sync::Arc;

use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::{Bytes, Picos};
use collective::sim::{Conventions, Model};
use collective::sweep::{Network, Shard, Subject, Sweep, fields};
use collective::{CollectiveKind, Size, algorithms};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One switch for all, and two nodes of eight GPUs with a network card each.
    let flat = Topology::new([Dimension::switch(16, "50 GB/s".parse()?, "1500 ns".parse()?)])?;
    let nodes = Topology::new([
        Dimension::switch(8, "450 GB/s".parse()?, "250 ns".parse()?),
        Dimension::switch(2, "50 GB/s".parse()?, "1500 ns".parse()?),
    ])?;
    let network =
        |name: &str, topology| Network::new(name, Arc::new(topology), Model::Fluid, Conventions::Exact);
    let networks = [network("one switch", flat), network("two nodes", nodes)];
    let all_reduces = algorithms::all().filter(|algorithm| algorithm.def.kind == CollectiveKind::AllReduce);
    let sizes = (10..=30).step_by(2).map(|exponent| Size::bytes(1 << exponent));
    let sweep = Sweep::new(all_reduces.map(Subject::library), [16], sizes, networks)?;

    let is_csv = std::env::args().any(|argument| argument == "--csv");
    if is_csv {
        writeln!(io::stdout(), "algorithm,network,size_bytes,time_ns,status")?;
    }
    let mut times: Vec<Option<Picos>> = Vec::with_capacity(sweep.len());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    sweep.run(Shard::WHOLE, 0, threads, &|| false, |point, outcome| {
        if is_csv {
            let (label, size) = (sweep.unit_label(point.unit), sweep.sizes()[point.size].in_bytes());
            let time = outcome.as_ref().map_or(String::new(), |figures| figures.time.as_ns().to_string());
            let status = outcome.as_ref().map_or_else(|none| none.why.name(), |_| "ok");
            writeln!(
                io::stdout(),
                "\"{label}\",{},{size},{time},{status}",
                sweep.networks()[point.network].name
            )?;
        }
        times.push(outcome.ok().map(|figures| figures.time));
        Ok::<(), io::Error>(())
    })?;
    if is_csv {
        return Ok(());
    }

    let micros = |time: Picos| format!("{:.3}", time.as_ns() / 1000.0);
    let rings = fields(&sweep, &times, |unit| sweep.subject(unit).name() == "allreduce_ring");
    println!("{} points, model fluid; times in us", sweep.len());
    for (best, ring) in fields(&sweep, &times, |_| true).iter().zip(&rings) {
        println!("\n{}", sweep.networks()[best.network].name);
        println!("{:>8} {:>11} {:>11} {:>7}  fastest", "size", "best", "ring", "ratio");
        for (winner, ring) in best.winners.iter().zip(&ring.winners) {
            let ratio = ring.time.0 as f64 / winner.time.0.max(1) as f64;
            println!(
                "{:>8} {:>11} {:>11} {ratio:>6.1}×  {}",
                Bytes(winner.size.in_bytes()).to_string(),
                micros(winner.time),
                micros(ring.time),
                sweep.unit_label(winner.unit)
            );
        }
    }
    Ok(())
}
