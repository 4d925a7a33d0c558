use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = 1, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    let mut sum = p.chunk(0, Input, 0);
    // One step short.
    for rank in 1..ranks - 1 {
        sum = p.chunk(rank, Input, 0).reduce(sum);
    }
    for rank in 0..ranks {
        if rank != sum.rank() {
            sum.copy_to(rank, Input, 0);
        }
    }
}

fn main() {
    let _ = wrong::RANKS_4;
}
