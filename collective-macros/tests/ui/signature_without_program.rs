use collective::prelude::*;

#[collective(all_reduce, build(ranks = 4))]
fn wrong(p: &mut Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

fn main() {
    let _ = wrong::RANKS_4;
}
