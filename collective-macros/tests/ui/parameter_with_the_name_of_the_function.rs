use collective::prelude::*;

#[collective(all_gather, build(ranks = 1, wrong = 1))]
fn wrong(p: &Program, ranks: usize, wrong: usize) {
    p.chunk(ranks - wrong, Input, 0).copy_to(0, Output, 0);
}

fn main() {}
