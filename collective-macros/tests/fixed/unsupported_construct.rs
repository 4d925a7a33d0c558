// Something is not evaluated at build time
// `docs/rust-subset.md` lists what is, and what to write instead of the rest. A function without `build(…)` may use all
// of Rust, and is checked at run time.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    const STEPS: usize = 3;
    fn next(rank: usize, ranks: usize) -> usize {
        (rank + 1) % ranks
    }
    let mut c = p.chunk(0, Output, 0);
    for rank in 0..STEPS * 3 / 2 - 1 {
        c = c.copy_to(next(rank, ranks), Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
