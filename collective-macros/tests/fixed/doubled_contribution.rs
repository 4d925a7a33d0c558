// A contribution is counted twice
// The sum went back to a rank whose data it already had.

use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = 1, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let mut sum = p.chunk(0, Input, 0);
    for rank in 1..ranks {
        sum = p.chunk(rank, Input, 0).reduce(sum);
    }
    for rank in 0..ranks - 1 {
        sum.copy_to(rank, Input, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
