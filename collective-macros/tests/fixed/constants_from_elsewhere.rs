// A constant from elsewhere is not seen
// The macro sees the function only: constants and helper functions stand in its body, or beside it in a
// `#[collective] mod`.

use collective::prelude::*;

#[collective(broadcast, in_place, root = 1, build(ranks = 3))]
fn right(p: &Program, ranks: usize) {
    const LAST: usize = 3;
    let root = match ranks {
        LAST => 1,
        _ => 0,
    };
    for rank in (0..ranks).filter(|&rank| rank != root) {
        p.chunk(root, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(3).is_ok());
}
