use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let order = [0, 2, 1];
    for rank in 0..ranks {
        p.chunk(order[rank], Input, 0);
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
