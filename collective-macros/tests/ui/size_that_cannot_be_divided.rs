use collective::prelude::*;

#[collective(all_to_all, build(ranks = 3))]
fn wrong(p: &Program, ranks: usize) {
    for from in 0..ranks {
        for to in 0..ranks {
            p.chunk(from, Input, to).copy_to(to, Output, from);
        }
    }
}

fn main() {
    let _ = wrong::RANKS_3;
}
