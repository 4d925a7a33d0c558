// An argument of the attribute goes below zero
// The expressions of `chunks`, `root` and the others follow the same rules as the body.

use collective::prelude::*;

#[collective(broadcast, in_place, chunks = ranks.saturating_sub(2).max(1), build(ranks = 2))]
fn right(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        p.chunk(0, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(2).is_ok());
}
