use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = ranks - 2, build(ranks = 1))]
fn wrong(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

fn main() {
    let _ = wrong::RANKS_1;
}
