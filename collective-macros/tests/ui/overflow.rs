use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let mut seed = 1u32;
    for rank in 0..ranks {
        seed = seed * 69_069 + 1;
        p.chunk(rank, Input, seed as usize % ranks);
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
