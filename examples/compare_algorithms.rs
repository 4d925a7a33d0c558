//! Which all-reduce is the fastest on this network, and from which size on is it another?
//!
//! Every algorithm of the library takes part, with each choice of its parameters that makes sense for 16 GPUs, and one that is
//! written here. Between two sizes with different winners the border is searched for.
//!
//! `cargo run --release --example compare_algorithms`
//!
//! Try: make the network between the nodes slower, and see which algorithms move up.

use std::error::Error;
use std::io::{self, Write};

use collective::CollectiveKind;
use collective::Size;
use collective::compare::{Candidate, Comparison, compare};
use collective::et::{EtOptions, NodeOrder};
use collective::prelude::*;
use collective::sim::report::busbw_gb_per_s;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Bytes;
use collective::sim::{Model, Simulation};

/// GPUs of a node, and nodes.
const GPUS: u32 = 8;
const NODES: u32 = 2;

/// Own: pairs across the nodes first, then the GPUs of a node among themselves. Each GPU ends with the sum of all after two
/// exchanges of everything, which takes few steps and many bytes.
#[collective(all_reduce, in_place, chunks = 1, build(ranks = 16, gpus = 8))]
pub(crate) fn pairs_first(p: &Program, ranks: usize, gpus: usize) {
    let nodes = ranks / gpus;
    // All send what they have, then all add what has come; it waits in scratch from chunk `first` on.
    let exchange = |members: Vec<usize>, first: usize| {
        for to in members.clone() {
            for (slot, from) in members.iter().enumerate() {
                if *from != to {
                    p.chunk(*from, Input, 0).copy_to(to, Scratch("received"), first + slot);
                }
            }
        }
        for to in members.clone() {
            for (slot, from) in members.iter().enumerate() {
                if *from != to {
                    p.chunk(to, Input, 0).reduce(p.chunk(to, Scratch("received"), first + slot));
                }
            }
        }
    };
    for gpu in 0..gpus {
        exchange((0..nodes).map(|node| node * gpus + gpu).collect(), 0);
    }
    for node in 0..nodes {
        exchange((0..gpus).map(|gpu| node * gpus + gpu).collect(), nodes);
    }
}

/// All candidates at sizes from 1 KiB to 1 GiB.
pub(crate) fn comparison() -> Result<Comparison, Box<dyn Error>> {
    let topology = Topology::new([
        Dimension::switch(GPUS, "450 GB/s".parse()?, "250 ns".parse()?),
        Dimension::switch(NODES, "50 GB/s".parse()?, "1500 ns".parse()?),
    ])?;
    let ranks = (GPUS * NODES) as usize;
    let (mut candidates, left_out) = Candidate::of_the_library(CollectiveKind::AllReduce, ranks);
    for one in left_out {
        eprintln!("left out: {}: {}", one.label, one.why);
    }
    let schedule = pairs_first::RANKS_16_GPUS_8.schedule()?;
    candidates.push(Candidate { label: "pairs_first (of this file)".to_owned(), schedule });
    let sizes: Vec<Size> = (10..=30).step_by(2).map(|exponent| Size::bytes(1 << exponent)).collect();
    // A node of a graph waits for the data that it needs, not for its thread block: the algorithms themselves are compared.
    let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(sizes[0]) };
    Ok(compare(&Simulation::new(&topology).model(Model::Fluid), &candidates, &sizes, &options))
}

pub(crate) fn show(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let comparison = comparison()?;
    let label = |row: usize| comparison.rows[row].label.as_str();
    writeln!(
        out,
        "All-reduce on {NODES} nodes of {GPUS} GPUs: {} candidates, model fluid",
        comparison.rows.len()
    )?;
    writeln!(out, "  inside a node   NVSwitch, 450 GB/s a GPU, 250 ns a hop")?;
    writeln!(out, "  between nodes   one card a GPU, 50 GB/s, 1500 ns a hop\n")?;
    writeln!(out, "{:>8} | {:>10} {:>8} | {:<48} | the second", "size", "time us", "busbw", "the fastest")?;
    for (at, size) in comparison.sizes.iter().enumerate() {
        let ranking = comparison.ranking(at);
        let (Some((first, time)), second) = (ranking.first().copied(), ranking.get(1)) else { continue };
        let size = Bytes(size.in_bytes());
        let busbw = busbw_gb_per_s("all_reduce", GPUS * NODES, size, time);
        let busbw = busbw.map_or("-".to_owned(), |value| format!("{value:.2}"));
        let second = second.map_or("-".to_owned(), |(row, other)| {
            format!("{} (+{:.1}%)", label(*row), 100.0 * (other.0 as f64 / time.0 as f64 - 1.0))
        });
        let time = format!("{:.3}", time.as_ns() / 1000.0);
        writeln!(out, "{:>8} | {time:>10} {busbw:>8} | {:<48} | {second}", size.to_string(), label(first))?;
    }

    writeln!(out, "\nFrom where to where, the borders searched for between two sizes of the table:\n")?;
    for stretch in comparison.stretches() {
        let [from, until] = [stretch.from, stretch.until].map(|size| Bytes(size.in_bytes()).to_string());
        writeln!(out, "  {from:>12} to {until:<12} {}", label(stretch.row))?;
    }

    // What a fixed choice would cost: the largest factor by which it is behind the fastest at any size.
    let behind = |row: usize| {
        let ratios = (0..comparison.sizes.len()).filter_map(|at| {
            let time = comparison.rows[row].times[at].as_ref().ok()?;
            Some(time.0 as f64 / comparison.best(at)?.1.0 as f64)
        });
        ratios.fold(1.0, f64::max)
    };
    let mut fixed: Vec<(usize, f64)> = (0..comparison.rows.len()).map(|row| (row, behind(row))).collect();
    fixed.sort_by(|a, b| a.1.total_cmp(&b.1));
    writeln!(out, "\nIf one had to do for all sizes, at worst so many times slower than the fastest:\n")?;
    let own = fixed.iter().position(|(row, _)| label(*row).starts_with("pairs_first"));
    for (place, (row, worst)) in fixed.iter().enumerate() {
        if place < 3 || Some(place) == own || place + 1 == fixed.len() {
            writeln!(out, "  {:>3}. {worst:>7.2}x  {}", place + 1, label(*row))?;
        }
    }
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    show(&mut io::stdout().lock())
}
