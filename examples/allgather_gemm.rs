//! A product of matrices that needs gathered shards: what is it worth to begin with the first one?
//!
//! Each of eight GPUs holds a shard of the rows of X, and multiplies all of X with its own columns of W. *Coarse*, the
//! product begins when the all-gather around a ring is complete; *fine*, a rank begins with the tiles of its own shard, and goes
//! on with each tile that comes in. A computation that reads a chunk which has not arrived does not compile.
//!
//! `cargo run --release --example allgather_gemm`

use collective::Size;
use collective::et::{self, EtOptions, NodeOrder};
use collective::prelude::*;
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Picos;
use collective::sim::{Model, Simulation};

const RANKS: usize = 8;
/// Tiles of the shard of a rank.
const TILES: usize = 4;
/// Rows and columns of X, of 2 bytes a number.
const ROWS: usize = 8192;
const INNER: usize = 8192;
/// What a GPU multiplies, in floating-point operations a microsecond: 400 TFLOP/s.
const FLOPS_PER_MICRO: usize = 400_000_000;

/// The product with a tile takes `micros`. Tile `part * tiles + k` is the k-th of the shard of rank `part`.
#[collective(
    all_gather,
    in_place,
    chunks = tiles,
    build(ranks = 8, tiles = 4, micros = 11, coarse = [0, 1])
)]
pub(crate) fn allgather_gemm(p: &Program, ranks: usize, tiles: usize, micros: usize, coarse: usize) {
    for rank in 0..ranks {
        for k in 0..tiles {
            let own = p.chunk(rank, Input, k);
            if coarse == 0 {
                p.compute(rank, Cost::micros(micros)).reads(own);
            }
        }
    }
    for stage in 1..ranks {
        for rank in 0..ranks {
            let (part, left) = ((rank + ranks - stage) % ranks, (rank + ranks - 1) % ranks);
            for k in 0..tiles {
                let index = part * tiles + k;
                // All on one channel, so that tiles come one after the other.
                let shard = p.chunk(left, Output, index).on_channel(0).copy_to(rank, Output, index);
                if coarse == 0 {
                    p.compute(rank, Cost::micros(micros)).reads(shard);
                }
            }
        }
    }
    if coarse == 1 {
        for rank in 0..ranks {
            let all = p.chunks(rank, Output, 0, ranks * tiles);
            p.compute(rank, Cost::micros(micros * ranks * tiles)).reads(all);
        }
    }
}

/// The time by hand, for products of `c` and messages of `t`. Tile m of the others arrives at (m + 1)·t, so it is either the
/// computations alone, or the first tile from elsewhere, or the last one, that all wait for.
pub(crate) fn by_hand(ranks: u64, tiles: u64, c: u64, t: u64, coarse: bool) -> u64 {
    let (computing, sending) = (ranks * tiles * c, (ranks - 1) * tiles * t);
    if coarse || ranks == 1 {
        return computing + sending;
    }
    computing.max(t + (ranks - 1) * tiles * c).max(sending + c)
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Network cards of 400 Gb/s as a ring.
    let topology = Topology::new([Dimension::ring(RANKS as u32, "50 GB/s".parse()?, "1500 ns".parse()?)])?;
    let size = Size::bytes((ROWS * INNER * 2) as u64);
    let simulation = Simulation::new(&topology).model(Model::LinkQueue);
    let simulate = |micros: usize, coarse: bool| -> Result<Picos, Box<dyn std::error::Error>> {
        let schedule = allgather_gemm::compile(RANKS, TILES, micros, usize::from(coarse))?;
        let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(size) };
        Ok(simulation.run(&et::graph(&schedule, &options)?)?.makespan)
    };
    // A message is one tile: its bytes at 50 bytes a nanosecond, and the latency.
    let tile_bytes = ROWS * INNER * 2 / (RANKS * TILES);
    let t = (tile_bytes * 1000 / 50 + 1_500_000) as u64;
    let sending = (RANKS as u64 - 1) * TILES as u64 * t;
    println!(
        "X·W with {ROWS} × {INNER} numbers of X in shards on {RANKS} GPUs, each with N columns of W; an all-gather of"
    );
    println!(
        "{} MiB in {TILES} tiles a rank: {} us a message, {} us in all. Times in us.\n",
        size.in_bytes() >> 20,
        micros(t),
        micros(sending)
    );
    println!("      N | tile c |  c/t | product |  coarse |    fine | by hand | exposed | hidden");
    for columns in [2048, 4096, 8192, 16384, 32768] {
        let flops = 2 * (ROWS / (RANKS * TILES)) * INNER * columns;
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
            "{columns:>7} | {c:>6} | {:>4.2} | {:>7} | {:>7} | {:>7} | {:>7} | {:>7} | {:>5.1}%",
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
        "\nCoarse, all {} us of the all-gather are exposed. Fine, a rank computes with its own shard at once; from",
        micros(sending)
    );
    println!("about c = t on the messages come in while it computes, and the network costs nothing.");
    Ok(())
}

fn micros(picos: u64) -> String {
    format!("{:.1}", picos as f64 / 1e6)
}
