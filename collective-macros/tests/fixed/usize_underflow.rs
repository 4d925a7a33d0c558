// A number goes below zero
// As in a debug build of Rust. The rank before another around a ring is `(rank + ranks - 1) % ranks`.

use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    for index in 0..ranks {
        let mut sum = p.chunk(index, Input, index);
        for step in 1..ranks {
            sum = p.chunk((index + ranks - step) % ranks, Input, index).reduce(sum);
        }
        for step in 0..ranks - 1 {
            sum = sum.copy_to((index + ranks - step) % ranks, Input, index);
        }
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
