// The number of ranks is no parameter
// It is called `ranks`, as in `build(ranks = 4)`.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        p.chunk(0, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
