//! A product of matrices feeds a reduce-scatter: what is it worth to send tile by tile?
//!
//! A layer Y = X·W is split along the inner dimension over eight GPUs. Each computes a product of its own that has the shape
//! of Y, and a reduce-scatter around a ring sums these up. *Coarse*, the collective begins when the product is there; *fine*,
//! each tile leaves as soon as it is computed, in the order in which the ring needs them. The computations are part of the
//! algorithm: compile this file with a tile sent before it is computed, and the compiler names the line.
//!
//! `cargo run --release --example gemm_reduce_scatter`

use collective::Size;
use collective::et::{self, EtOptions, NodeOrder};
use collective::prelude::*;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::{Model, Simulation};

const RANKS: usize = 8;
/// Tiles of the part of Y that a rank is to have.
const TILES: usize = 4;
/// Rows and columns of Y, of 2 bytes a number.
const ROWS: usize = 8192;
const COLUMNS: usize = 8192;
/// What a GPU multiplies, in floating-point operations a microsecond: 400 TFLOP/s.
const FLOPS_PER_MICRO: usize = 400_000_000;

/// A tile of the product takes `micros`. Tile `part * tiles + k` is the k-th of what rank `part` is to have in the end.
#[collective(
    reduce_scatter,
    in_place,
    chunks = tiles,
    build(ranks = 8, tiles = 4, micros = 11, coarse = [0, 1])
)]
pub(crate) fn gemm_reduce_scatter(p: &Program, ranks: usize, tiles: usize, micros: usize, coarse: usize) {
    if coarse == 1 {
        for rank in 0..ranks {
            p.compute(rank, Cost::micros(micros * ranks * tiles)).writes(Input, 0, ranks * tiles);
        }
    }
    let mut sums = Vec::new();
    for stage in 0..ranks {
        let mut next = Vec::new();
        for rank in 0..ranks {
            // What arrives from the left is summed up; a rank's own part comes last.
            let (part, left) = ((rank + ranks - 1 - stage) % ranks, (rank + ranks - 1) % ranks);
            for k in 0..tiles {
                let index = part * tiles + k;
                let tile = if coarse == 1 {
                    p.chunk(rank, Input, index)
                } else {
                    p.compute(rank, Cost::micros(micros)).writes(Input, index, 1)
                };
                // All on one channel, so that tiles leave one after the other, as they are computed.
                let tile = tile.on_channel(0);
                next.push(if stage == 0 { tile } else { tile.reduce(sums[left * tiles + k]) });
            }
        }
        sums = next;
    }
}

/// The time by hand, for tiles of `c` and messages of `t`. A rank sends (p − 1)·C messages one after the other, message m when
/// tile m is computed, so it is either the first tile that all wait for, or the last message, or the last tile.
pub(crate) fn by_hand(ranks: u64, tiles: u64, c: u64, t: u64, coarse: bool) -> u64 {
    let (computing, sending) = (ranks * tiles * c, (ranks - 1) * tiles * t);
    if coarse || ranks == 1 {
        return computing + sending;
    }
    computing.max(c + sending).max((ranks - 1) * tiles * c + t)
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // NVLink as a ring.
    let topology = Topology::new([Dimension::ring(RANKS as u32, "400 GB/s".parse()?, "500 ns".parse()?)])?;
    let size = Size::bytes((ROWS * COLUMNS * 2) as u64);
    let simulation = Simulation::new(&topology).model(Model::LinkQueue);
    let simulate = |micros: usize, coarse: bool| -> Result<Picos, Box<dyn std::error::Error>> {
        let schedule = gemm_reduce_scatter::compile(RANKS, TILES, micros, usize::from(coarse))?;
        let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(size) };
        Ok(simulation.run(&et::graph(&schedule, &options)?)?.makespan)
    };
    // A message is one tile: its bytes at 400 bytes a nanosecond, and the latency.
    let tile_bytes = ROWS * COLUMNS * 2 / (RANKS * TILES);
    let t = (tile_bytes * 1000 / 400 + 500_000) as u64;
    let sending = (RANKS as u64 - 1) * TILES as u64 * t;
    println!(
        "Y = X·W with {ROWS} × {COLUMNS} results on {RANKS} GPUs, split along the inner dimension K; a reduce-scatter of"
    );
    println!(
        "{} MiB in {TILES} tiles a rank: {} us a message, {} us in all. Times in us.\n",
        size.in_bytes() >> 20,
        micros(t),
        micros(sending)
    );
    println!("      K | tile c |  c/t | product |  coarse |    fine | by hand | exposed | hidden");
    for inner in [2048, 4096, 8192, 16384, 32768, 65536] {
        let flops = 2 * (ROWS / (RANKS * TILES)) * COLUMNS * (inner / RANKS);
        let c = (flops as f64 / FLOPS_PER_MICRO as f64).round().max(1.0) as usize;
        let (coarse, fine) = (simulate(c, true)?, simulate(c, false)?);
        let hand = |coarse| by_hand(RANKS as u64, TILES as u64, c as u64 * 1_000_000, t, coarse);
        if (coarse.0, fine.0) != (hand(true), hand(false)) {
            return Err(
                format!("simulated {coarse} and {fine}, by hand {} and {}", hand(true), hand(false)).into()
            );
        }
        let product = (RANKS * TILES * c) as u64 * 1_000_000;
        let exposed = fine.0 - product;
        println!(
            "{inner:>7} | {c:>6} | {:>4.2} | {:>7} | {:>7} | {:>7} | {:>7} | {:>7} | {:>5.1}%",
            c as f64 * 1e6 / t as f64,
            micros(product),
            micros(coarse.0),
            micros(fine.0),
            micros(hand(false)),
            micros(exposed),
            100.0 * (1.0 - exposed as f64 / sending as f64),
        );
    }
    println!(
        "\nCoarse, all {} us of the reduce-scatter are exposed. Fine, what stays is what cannot be hidden: up to",
        micros(sending)
    );
    println!("c = t the first tile and all messages, beyond it the last product and one message, if any.");
    Ok(())
}

fn micros(picos: u64) -> String {
    format!("{:.1}", picos as f64 / 1e6)
}
