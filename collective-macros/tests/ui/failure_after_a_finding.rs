use collective::prelude::*;

// What fails after a wrong call may only follow from it.
#[collective(all_reduce, chunks = 1, build(ranks = 3))]
fn wrong(p: &Program, ranks: usize) {
    let c = p.chunk(ranks, Input, 0);
    let none = c.count() - 1;
    p.chunk(ranks / none, Input, 0);
}

fn main() {}
