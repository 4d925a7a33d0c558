use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    p.chunks(0, Input, 0, ranks).reduce(p.chunks(1, Input, 0, ranks - 1));
}

fn main() {
    let _ = wrong::RANKS_4;
}
