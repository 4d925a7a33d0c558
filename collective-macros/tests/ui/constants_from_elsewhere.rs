use collective::prelude::*;

const LAST: usize = 3;

// At run time these compare; they bind nothing.
#[collective(all_reduce, chunks = 1, build(ranks = 3))]
fn wrong(p: &Program, ranks: usize) {
    let root = match ranks {
        LAST => 2,
        _ => 0,
    };
    if let Some(LAST) = ranks.checked_sub(root) {
        p.chunk(root, Input, 0);
    }
    assert!(matches!(ranks, LAST));
}

fn main() {}
