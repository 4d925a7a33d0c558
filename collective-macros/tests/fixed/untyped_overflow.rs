// A number without a type is an i32
// As in Rust: nothing gives this literal another type.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let one = 1usize;
    assert_eq!((one << 40) % ranks, 0);
    for rank in 1..ranks {
        p.chunk(0, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
