use collective::prelude::*;

fn next(rank: usize, ranks: usize) -> usize {
    (rank + 1) % ranks
}

#[collective(all_gather, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(next(rank, ranks), Output, rank);
    }
}

fn main() {}
