// Two runs of different length are reduced
// `reduce` adds chunk by chunk, so both sides have the same number.

use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let mut sum = p.chunks(0, Input, 0, ranks);
    for rank in 1..ranks {
        sum = sum.reduce(p.chunks(rank, Input, 0, ranks));
    }
    for rank in 1..ranks {
        sum.copy_to(rank, Input, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
