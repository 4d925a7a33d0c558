// A chunk is read that nobody has written
// The data of a collective begins in `Input`. `Output` and scratch are empty until something is copied there.

use collective::prelude::*;

#[collective(all_gather, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        for to in 0..ranks {
            p.chunk(rank, Input, 0).copy_to(to, Output, rank);
        }
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
