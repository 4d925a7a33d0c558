use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = 1, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let mut sum = p.chunk(0, Input, 0);
    for rank in 1..ranks {
        sum = p.chunk(rank, Input, 0).reduce(sum);
    }
    let twice = p.chunk(0, Input, 0).reduce(sum);
    for rank in 1..ranks {
        twice.copy_to(rank, Input, 0);
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
