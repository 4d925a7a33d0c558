use collective::prelude::*;

#[collective(all_gather, build(ranks = [2, 4, 2, 8, 4]))]
fn in_a_list(p: &Program, ranks: usize) {
    p.chunk(0, Input, 0).copy_to(ranks - 1, Output, 0);
}

#[collective(all_gather, build(ranks = 2..=8), build(ranks = [16, 8, 4]))]
fn in_two_builds(p: &Program, ranks: usize) {
    p.chunk(0, Input, 0).copy_to(ranks - 1, Output, 0);
}

fn main() {}
