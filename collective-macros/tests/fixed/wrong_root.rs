// The root does not exist
// `root = …` is computed from the parameters of each build.

use collective::prelude::*;

#[collective(broadcast, root = ranks / 2, build(ranks = 3), build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let root = ranks / 2;
    for rank in 0..ranks {
        p.chunk(root, Input, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
