//! A ring all-reduce: written here, checked while this file was compiled, embedded in the binary, and
//! simulated for sizes from 1 KiB to 1 GiB on a ring of eight GPUs.
//!
//! `cargo run --release --example allreduce_ring`
//!
//! Try: write `1..ranks - 1` instead of `1..ranks`, and compile again.

use collective::Size;
use collective::prelude::*;
use collective::sim::report::{algbw_gb_per_s, busbw_gb_per_s};
use collective::sim::topology::{Dimension, Topology};
use collective::sim::units::Bytes;
use collective::sim::{Model, Simulation};

/// Each chunk travels once around the ring to be summed and once more to be handed out.
#[collective(all_reduce, in_place, build(ranks = 8))]
fn ring(p: &Program, ranks: usize) {
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topology = Topology::new([Dimension::ring(8, "50 GB/s".parse()?, "500 ns".parse()?)])?;
    let simulation = Simulation::new(&topology).model(Model::LinkQueue);

    println!("ring all-reduce, 8 GPUs on a ring of 50 GB/s links, 500 ns a hop\n");
    println!("{:>10} {:>15} {:>12} {:>12}", "size", "time", "algbw", "busbw");
    for exponent in (10..=30).step_by(2) {
        let size = Bytes(1 << exponent);
        let graph = ring::RANKS_8.with_size(Size::bytes(size.0))?.graph()?;
        let time = simulation.run(&graph)?.makespan;
        let gb = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3} GB/s"));
        println!(
            "{:>10} {:>15} {:>12} {:>12}",
            size.to_string(),
            format!("{:.3} us", time.as_ns() / 1000.0),
            gb(algbw_gb_per_s(size, time)),
            gb(busbw_gb_per_s("all_reduce", 8, size, time)),
        );
    }
    println!("\nThe bus bandwidth approaches the 50 GB/s of a link: the ring sends no byte twice over one.");
    Ok(())
}
