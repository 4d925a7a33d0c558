// One thread block is to send to two ranks
// A thread block has one peer that it sends to and one that it receives from.

use collective::prelude::*;

#[collective(all_gather, build(ranks = 3))]
fn right(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
        p.chunk(rank, Input, 0).on_send_block(0).copy_to((rank + 1) % ranks, Output, rank);
        p.chunk(rank, Input, 0).on_send_block(1).copy_to((rank + 2) % ranks, Output, rank);
    }
}

fn main() {
    assert!(right::compile(3).is_ok());
}
