use collective::prelude::*;

#[collective(broadcast, root = ranks / 2 * 2, build(ranks = 3), build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let root = ranks / 2 * 2;
    for rank in 0..ranks {
        p.chunk(root, Input, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
