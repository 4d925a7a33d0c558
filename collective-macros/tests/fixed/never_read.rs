// Warning: data is copied and never read
// Printed by the compiler as the use of a deprecated constant; `#[allow(deprecated)]` on the function silences it. The
// wrong program has `#![deny(deprecated)]`, so that the warnings are errors.

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
