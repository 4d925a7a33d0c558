use collective::prelude::*;

#[collective(all_gather, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let one = 1;
    p.chunk((one << 40) as usize % ranks, Input, 0);
}

fn main() {
    let _ = wrong::RANKS_4;
}
