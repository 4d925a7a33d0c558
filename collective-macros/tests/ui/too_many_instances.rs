use collective::prelude::*;

#[collective(all_gather, build(ranks = 1..=20, channels = 1..=20))]
fn product(p: &Program, ranks: usize, channels: usize) {
    p.chunk(0, Input, 0).copy_to(ranks - 1, Output, channels);
}

#[collective(all_gather, build(ranks = 0..1000000000000))]
fn range(p: &Program, ranks: usize) {
    p.chunk(0, Input, 0).copy_to(ranks - 1, Output, 0);
}

fn main() {}
