use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk((rank - 1) % ranks, Input, rank).reduce(p.chunk(rank, Input, rank));
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
