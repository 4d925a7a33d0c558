use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = 1, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let first = p.chunk(0, Input, 0);
    for rank in 1..ranks {
        first.reduce(p.chunk(rank, Input, 0));
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
