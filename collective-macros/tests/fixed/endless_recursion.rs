// A recursion does not end
// Helper functions may call themselves, up to 200 calls deep.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    fn visit(p: &Program, rank: usize) {
        if rank < p.ranks() {
            p.chunk(0, Output, 0).copy_to(rank, Output, 0);
            visit(p, rank + 1);
        }
    }
    assert!(ranks > 0);
    visit(p, 1);
}

fn main() {
    assert!(right::compile(4).is_ok());
}
