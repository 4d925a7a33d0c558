// A number is too large for its type
// Numbers do not wrap unless they are told to.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let mut seed = 1u32;
    for rank in 1..ranks {
        seed = seed.wrapping_mul(69_069).wrapping_add(1);
        p.chunk(seed as usize % rank, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
