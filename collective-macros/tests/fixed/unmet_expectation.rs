// A custom collective does not get what it expects
// `expect` says what an output chunk must hold at the end; here the data came from another rank.

use collective::prelude::*;

#[collective(custom, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        p.expect(rank, 0, rank - 1, 0);
        p.chunk(rank - 1, Input, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
