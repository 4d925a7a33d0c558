use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 0))]
fn wrong(p: &Program, ranks: usize) {
    p.chunk(ranks, Input, 0);
}

fn main() {
    let _ = wrong::RANKS_0;
}
