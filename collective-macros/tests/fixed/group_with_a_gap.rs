// Chunks that are not neighbours are grouped
// `group` joins two runs of which one ends where the other begins.

use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = 4, build(ranks = 2))]
fn right(p: &Program, ranks: usize) {
    for first in (0..4).step_by(2) {
        let pair = p.chunk(0, Input, first).group(p.chunk(0, Input, first + 1));
        let sum = p.chunks(ranks - 1, Input, first, 2).reduce(pair);
        sum.copy_to(0, Input, first);
    }
}

fn main() {
    assert!(right::compile(2).is_ok());
}
