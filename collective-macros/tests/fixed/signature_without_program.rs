// The program is taken in another way
// The first parameter is `p: &Program`: recording changes it inside.

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
