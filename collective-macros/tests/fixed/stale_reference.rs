// A reference is used after its data was overwritten
// A reference means the data at the moment when it was made. `reduce` and `copy_to` return the new one.

use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = 1, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let mut sum = p.chunk(0, Input, 0);
    for rank in 1..ranks {
        sum = sum.reduce(p.chunk(rank, Input, 0));
    }
    for rank in 1..ranks {
        sum.copy_to(rank, Input, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
