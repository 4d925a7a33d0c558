// The size does not divide among the ranks
// The embedded traces are for 1 MiB unless said; all-to-all needs equal parts.

use collective::prelude::*;

#[collective(all_to_all, build(ranks = 3), options(size = "3MiB"))]
fn right(p: &Program, ranks: usize) {
    for from in 0..ranks {
        for to in 0..ranks {
            p.chunk(from, Input, to).copy_to(to, Output, from);
        }
    }
}

fn main() {
    assert!(right::compile(3).is_ok());
}
