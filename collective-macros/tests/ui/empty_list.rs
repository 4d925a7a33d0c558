use collective::prelude::*;

#[collective(all_gather, build(ranks = []), build(ranks = 8..=2), build(ranks = 2..))]
fn wrong(p: &Program, ranks: usize) {
    p.chunk(0, Input, 0).copy_to(ranks - 1, Output, 0);
}

fn main() {}
