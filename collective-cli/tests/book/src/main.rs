use std::fs;

use collective::Size;
use collective::prelude::*;

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
    fs::create_dir_all("out")?;
    // Chakra traces out/ring.0.et … out/ring.7.et for 16 MiB, and MSCCL XML.
    ring::RANKS_8.with_size(Size::bytes(16 << 20))?.write("out/ring")?;
    fs::write("out/ring.xml", ring::RANKS_8.xml()?)?;
    println!("{} messages", ring::RANKS_8.schedule()?.message_count());
    Ok(())
}
