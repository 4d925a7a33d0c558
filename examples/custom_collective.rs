//! A collective of one's own: every rank hands its buffer to the next one (AllToNext).
//!
//! No library has it, though a pipeline of layers over many GPUs needs it after each micro-batch. What it must achieve is stated with
//! `expect`, and checked while this file is compiled, as for any other collective. The direct way sends each buffer in one message,
//! and where it leaves a node, over one network card. Here the last GPU of a node gives a share to each of its neighbours, all send over
//! their own cards, and the shares meet again on the other side (Cowan et al., "MSCCLang", ASPLOS 2023). Both are simulated.
//!
//! `cargo run --release --example custom_collective`
//!
//! Try: let the second loop of `relayed` begin at 1, and compile again.

use std::error::Error;
use std::io::{self, Write};

use collective::correctness;
use collective::et::{self, EtOptions};
use collective::sim::report::algbw_gb_per_s;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::{Bytes, Picos};
use collective::sim::{Model, Simulation};
use collective::{Schedule, Size};

const NODES: u32 = 4;
const GPUS: u32 = 8;

/// Two algorithms for one collective; they share what it is.
#[collective::collective]
pub(crate) mod to_next {
    use collective::prelude::*;

    /// Output chunk i of each rank must end with input chunk i of the rank before. What rank 0 ends with is open.
    fn wanted(p: &Program, ranks: usize) {
        for to in 1..ranks {
            for chunk in 0..p.input_chunks() {
                p.expect(to, chunk, to - 1, chunk);
            }
        }
    }

    /// Everything at once, on the shortest way.
    #[collective(custom, chunks = gpus, build(ranks = 32, gpus = 8))]
    pub(crate) fn direct(p: &Program, ranks: usize, gpus: usize) {
        wanted(p, ranks);
        for to in 1..ranks {
            p.chunks(to - 1, Input, 0, gpus).copy_to(to, Output, 0);
        }
    }

    /// Between nodes a share, one chunk, over the card of each GPU.
    #[collective(custom, chunks = gpus, build(ranks = 32, gpus = 8))]
    pub(crate) fn relayed(p: &Program, ranks: usize, gpus: usize) {
        wanted(p, ranks);
        for to in 1..ranks {
            let from = to - 1;
            if to % gpus != 0 {
                p.chunks(from, Input, 0, gpus).copy_to(to, Output, 0);
                continue;
            }
            for gpu in 0..gpus {
                // GPU `gpu` of the node that the data leave, and of the one that they come to.
                let (leaves, arrives) = (to - gpus + gpu, to + gpu);
                let mut share = p.chunk(from, Input, gpu);
                if leaves != from {
                    share = share.copy_to(leaves, Scratch("leaving"), 0);
                }
                if arrives != to {
                    share = share.copy_to(arrives, Scratch("arriving"), 0);
                }
                share.copy_to(to, Output, gpu);
            }
        }
    }
}

/// Eight GPUs on the NVSwitch of a node; a network card for each, and a switch for the cards of one number.
pub(crate) fn cluster() -> Result<Topology, Box<dyn Error>> {
    Ok(Topology::new([
        Dimension::switch(GPUS, "450 GB/s".parse()?, "250 ns".parse()?),
        Dimension::switch(NODES, "50 GB/s".parse()?, "1500 ns".parse()?),
    ])?)
}

/// When the last rank has its data.
pub(crate) fn time(schedule: &Schedule, size: Bytes, topology: &Topology) -> Result<Picos, Box<dyn Error>> {
    let graph = et::graph(schedule, &EtOptions::new(Size::bytes(size.0)))?;
    Ok(Simulation::new(topology).model(Model::Fluid).run(&graph)?.makespan)
}

pub(crate) fn show(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let topology = cluster()?;
    let (direct, relayed) =
        (to_next::direct::RANKS_32_GPUS_8.schedule()?, to_next::relayed::RANKS_32_GPUS_8.schedule()?);

    writeln!(
        out,
        "AllToNext: rank r's buffer goes to rank r + 1; {NODES} nodes of {GPUS} GPUs, model fluid"
    )?;
    writeln!(out, "  inside a node   NVSwitch, 450 GB/s a GPU, 250 ns a hop")?;
    writeln!(out, "  between nodes   one card a GPU, 50 GB/s, 1500 ns a hop\n")?;
    for (name, schedule) in [("direct", &direct), ("relayed", &relayed)] {
        let (messages, scratch) =
            (schedule.message_count(), schedule.ranks.iter().map(|rank| rank.scratch_chunks).max());
        writeln!(out, "  {name:<8} {messages:>3} messages, scratch of {} chunks", scratch.unwrap_or(0))?;
    }

    // The compiler has checked both for 32 ranks. For other numbers: verified, and run on real data in several orders.
    let parameters = [("ranks", vec![3, 6, 9, 12]), ("gpus", vec![1, 3])];
    let wrong = correctness::check(&to_next::relayed::DEF, &parameters);
    writeln!(out, "\nAlso right for 3, 6, 9 and 12 ranks, one or three on a node: {}\n", wrong.is_empty())?;

    writeln!(out, "{:>8} | {:^20} | {:^20} |", "", "direct", "relayed")?;
    writeln!(
        out,
        "{:>8} | {:>11} {:>8} | {:>11} {:>8} | gain",
        "size", "time us", "algbw", "time us", "algbw"
    )?;
    for exponent in (10..=30).step_by(2) {
        let size = Bytes(1 << exponent);
        let times = [time(&direct, size, &topology)?, time(&relayed, size, &topology)?];
        let cells = times.map(|time| {
            let algbw = algbw_gb_per_s(size, time).map_or("-".to_owned(), |value| format!("{value:.3}"));
            format!("{:>11.3} {algbw:>8}", time.as_ns() / 1000.0)
        });
        let gain = times[0].0 as f64 / times[1].0 as f64;
        writeln!(out, "{:>8} | {} | {gain:.2}x", size.to_string(), cells.join(" | "))?;
    }
    writeln!(
        out,
        "\nSmall buffers lose by the two further messages; large ones gain. At its limit the direct way takes S/50 ns for\n\
         S bytes, the other 2·(7/8)·S/450 ns in the NVSwitches and S/8/50 ns on the cards: 3.1 times less."
    )?;
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    show(&mut io::stdout().lock())
}
