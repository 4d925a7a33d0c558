// The parameters are not what the algorithm needs
// `p.require` states it, at build time and at run time; the build must keep to it.

use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4), build(ranks = 8))]
fn right(p: &Program, ranks: usize) {
    if !p.require(ranks.is_power_of_two(), "the number of ranks must be a power of two") {
        return;
    }
    let mut distance = 1;
    while distance < ranks {
        for rank in 0..ranks {
            p.chunks(rank, Input, 0, ranks).copy_to(rank ^ distance, Scratch("in"), 0);
        }
        for rank in 0..ranks {
            p.chunks(rank, Input, 0, ranks).reduce(p.chunks(rank, Scratch("in"), 0, ranks));
        }
        distance *= 2;
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
