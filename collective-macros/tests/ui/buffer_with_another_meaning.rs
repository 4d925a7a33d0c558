use collective::Buffer::{Input as Output, Output as Input, Scratch};
use collective::prelude::{Program, collective};

#[collective(all_gather, build(ranks = 1))]
fn wrong(p: &Program, ranks: usize) {
    p.chunk(ranks - 1, Input, 0).copy_to(0, Scratch("in"), 0).copy_to(0, Output, 0);
}

fn main() {}
