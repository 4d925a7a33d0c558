use collective::prelude::*;

#[collective(all_gather, chunks = 72, build(ranks = [2, 3]), options(target = "rccl"))]
fn wrong(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        for to in 0..ranks {
            p.chunks(rank, Input, 0, 72).copy_to(to, Output, 72 * rank);
        }
    }
}

fn main() {}
