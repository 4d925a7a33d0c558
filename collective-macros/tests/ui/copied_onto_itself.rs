use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Input, 0);
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
