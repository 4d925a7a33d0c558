// An assertion fails
// `assert!`, `assert_eq!`, `panic!` and their like are evaluated; their message is part of the error.

use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = 1, build(ranks = 6))]
fn right(p: &Program, ranks: usize) {
    assert!(ranks.is_multiple_of(3), "three ranks a node");
    let mut sum = p.chunk(0, Input, 0);
    for rank in 1..ranks {
        sum = p.chunk(rank, Input, 0).reduce(sum);
    }
    for rank in 0..ranks - 1 {
        sum.copy_to(rank, Input, 0);
    }
}

fn main() {
    assert!(right::compile(6).is_ok());
}
