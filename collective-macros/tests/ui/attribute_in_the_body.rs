use collective::prelude::*;

#[collective(all_gather, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    #[cfg(debug_assertions)]
    p.chunk(ranks - 1, Input, 0);
}

fn main() {
    let _ = wrong::RANKS_4;
}
