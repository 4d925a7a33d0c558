use collective::prelude::*;

#[collective(
    all_gather,
    defaults(shift = 0),
    build(ranks = 2),
    build(ranks = 4, shift = 1),
    build(ranks = 8, shift = 1),
    build(ranks = 0)
)]
fn wrong(p: &Program, ranks: usize, shift: usize) {
    for rank in 0..ranks {
        for to in 0..ranks {
            p.chunk(rank, Input, 0).copy_to(to + shift, Output, rank);
        }
    }
}

fn main() {
    let _ = wrong::BUILDS;
}
