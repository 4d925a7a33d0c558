//! Four nodes of eight GPUs: when does a hierarchical all-reduce beat flat rings?
//!
//! The hierarchical algorithm is written below, and was checked while this file was compiled. Break it (say,
//! change `1..nodes` to `2..nodes`) and compile again: the compiler names the ranks whose data are missing, and
//! points at the lines that left them out.
//!
//! `cargo run --release --example hierarchical_allreduce`

use collective::algorithms::{allreduce_ring, allreduce_rotated_rings};
use collective::et::{self, EtOptions};
use collective::prelude::*;
use collective::sim::report::{algbw_gb_per_s, busbw_gb_per_s};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::{Bytes, Picos};
use collective::sim::{Model, Simulation};
use collective::{Schedule, Size};

const NODES: u32 = 4;
const GPUS: u32 = 8;

/// Reduce-scatter inside each node, a ring over the nodes for each GPU's piece, all-gather inside each node.
#[collective(all_reduce, in_place, build(ranks = 32, gpus = 8))]
fn hierarchical(p: &Program, ranks: usize, gpus: usize) {
    let nodes = ranks / gpus;
    // Piece g of the data, the chunks g * nodes .. (g + 1) * nodes, is the business of GPU g of each node.
    for rank in 0..ranks {
        let (node, gpu) = (rank / gpus, rank % gpus);
        let mut sum = p.chunks(rank, Input, gpu * nodes, nodes);
        for distance in 1..gpus {
            let other = node * gpus + (gpu + distance) % gpus;
            sum = sum.reduce(p.chunks(other, Input, gpu * nodes, nodes));
        }
    }
    for gpu in 0..gpus {
        for start in 0..nodes {
            let index = gpu * nodes + start;
            let mut sum = p.chunk(start * gpus + gpu, Input, index);
            for step in 1..nodes {
                sum = p.chunk((start + step) % nodes * gpus + gpu, Input, index).reduce(sum);
            }
            for step in 0..nodes - 1 {
                sum = sum.copy_to((start + step) % nodes * gpus + gpu, Input, index);
            }
        }
    }
    for rank in 0..ranks {
        let (node, gpu) = (rank / gpus, rank % gpus);
        let piece = p.chunks(rank, Input, gpu * nodes, nodes);
        for distance in 1..gpus {
            piece.copy_to(node * gpus + (gpu + distance) % gpus, Input, gpu * nodes);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Dimension 0: eight GPUs on the NVSwitch of a node. Dimension 1: one network card a GPU, and a switch for the
    // cards of the same number of all nodes (a rail). A message to another GPU of another node goes through the
    // NVSwitch first, then over that GPU's rail.
    let topology = Topology::new([
        Dimension::switch(GPUS, "450 GB/s".parse()?, "250 ns".parse()?),
        Dimension::switch(NODES, "50 GB/s".parse()?, "1500 ns".parse()?),
    ])?;
    let simulation = Simulation::new(&topology).model(Model::Fluid);
    let (ranks, gpus) = ((NODES * GPUS) as usize, GPUS as usize);

    // The rivals come from the library; they are traced, lowered and verified here, at run time.
    let one_ring = allreduce_ring::compile(ranks, 1)?;
    let all_cards = allreduce_rotated_rings::compile(ranks, gpus)?;
    let run = |schedule: &Schedule, size: Bytes| -> Result<Picos, Box<dyn std::error::Error>> {
        let graph = et::graph(schedule, &EtOptions::new(Size::bytes(size.0)))?;
        Ok(simulation.run(&graph)?.makespan)
    };

    println!("All-reduce on {NODES} nodes of {GPUS} GPUs (model fluid: cut-through, links shared fairly)");
    println!("  inside a node   NVSwitch, 450 GB/s a GPU, 250 ns a hop");
    println!("  between nodes   one card a GPU, 50 GB/s, 1500 ns a hop\n");
    println!("  A  one flat ring: every crossing between nodes goes over the same GPU's card");
    println!("  B  eight rotated rings: each crosses over another card, so that all eight are in use");
    println!("  C  hierarchical: this file's algorithm\n");
    println!(
        "{:>8} | {:^29} | {:^29} | {:^29} | best",
        "", "A  one ring", "B  eight rings", "C  hierarchical"
    );
    let columns = format!("{:>11} {:>8} {:>8}", "time us", "algbw", "busbw");
    println!("{:>8} | {columns} | {columns} | {columns} |", "size");
    let mut best_so_far = None;
    let mut changes = Vec::new();
    for exponent in (10..=30).step_by(2) {
        let size = Bytes(1 << exponent);
        let embedded = hierarchical::RANKS_32_GPUS_8.with_size(Size::bytes(size.0))?.graph()?;
        let times = [run(&one_ring, size)?, run(&all_cards, size)?, simulation.run(&embedded)?.makespan];
        let cells = times.map(|time| {
            let gb = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
            let algbw = gb(algbw_gb_per_s(size, time));
            let busbw = gb(busbw_gb_per_s("all_reduce", NODES * GPUS, size, time));
            format!("{:>11.3} {algbw:>8} {busbw:>8}", time.as_ns() / 1000.0)
        });
        let fastest = times.iter().min().copied();
        let best = ["A", "B", "C"][times.iter().position(|time| Some(*time) == fastest).unwrap_or(0)];
        println!("{:>8} | {} | {best}", size.to_string(), cells.join(" | "));
        if best_so_far != Some(best) {
            changes.push(format!("{best} from {size}"));
            best_so_far = Some(best);
        }
    }
    println!("\nFastest: {}. Bandwidths in GB/s (10^9 bytes).", changes.join(", "));
    Ok(())
}
