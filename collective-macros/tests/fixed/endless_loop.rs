// A loop does not end
// An evaluation that takes too many steps is stopped, at the loop that is most likely to blame.

use collective::prelude::*;

#[collective(all_gather, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let mut rank = 0;
    while rank < ranks {
        for to in 0..ranks {
            p.chunk(rank, Input, 0).copy_to(to, Output, rank);
        }
        rank += 1;
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
