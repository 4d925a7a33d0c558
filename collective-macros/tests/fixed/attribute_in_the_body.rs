// An attribute could change what the code means
// Only attributes for lints and documentation may stand in the body.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        #[allow(clippy::identity_op)]
        let from = rank * 1 - 1;
        p.chunk(from, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
