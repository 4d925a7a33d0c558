use collective::prelude::*;

#[collective(all_gather, build(ranks = ))]
fn wrong(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0).copy_to(0, Output, 0);
}

#[collective(all_gather, build(ranks = 1), options(size = 0))]
fn no_bytes(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0).copy_to(0, Output, 0);
}

fn main() {}
