// A rank does not exist
// Ranks count from 0; around a ring the next one is `(rank + 1) % ranks`.

use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
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

fn main() {
    assert!(right::compile(4).is_ok());
}
