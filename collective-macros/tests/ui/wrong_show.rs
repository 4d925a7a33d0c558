use collective::prelude::*;

#[collective(all_gather, show = "picture")]
fn wrong(p: &Program, ranks: usize) {
    p.chunk(0, Input, 0).copy_to(ranks - 1, Output, 0);
}

#[collective(all_gather, show = true, options(target = "nccl", embed = "1GiB", test = 1, fusion = "no"))]
fn more(p: &Program, ranks: usize) {
    p.chunk(0, Input, 0).copy_to(ranks - 1, Output, 0);
}

fn main() {}
