use collective::prelude::*;

#[collective(all_gather, build(ranks = 3))]
fn wrong(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
        p.chunk(rank, Input, 0).on_send_block(0).copy_to((rank + 1) % ranks, Output, rank);
        // Another peer needs another thread block.
        p.chunk(rank, Input, 0).on_send_block(0).copy_to((rank + 2) % ranks, Output, rank);
    }
}

fn main() {
    let _ = wrong::RANKS_3;
}
