use collective::prelude::*;

#[collective(custom, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    // Every rank but the first is to have the data of the one before.
    for rank in 1..ranks {
        p.expect(rank, 0, rank - 1, 0);
    }
    for rank in 0..ranks - 1 {
        p.chunk(0, Input, 0).copy_to(rank + 1, Output, 0);
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
