use collective::prelude::*;

#[collective(build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0);
}

fn main() {
    let _ = wrong::RANKS_4;
}
