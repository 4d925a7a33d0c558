// An output chunk is never written
// Nothing moves data to this chunk: here every rank gets the part of one other rank only.

use collective::prelude::*;

#[collective(all_gather, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        let mut c = p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
        for step in 1..ranks {
            c = c.copy_to((rank + step) % ranks, Output, rank);
        }
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
