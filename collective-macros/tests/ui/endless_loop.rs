use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let mut rank = 0;
    while rank < ranks {
        p.chunk(rank, Input, 0);
        rank = (rank + 1) % ranks;
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
