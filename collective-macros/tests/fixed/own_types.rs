// Structs, enums and traits are not evaluated
// Use tuples, integers and closures.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let hops: Vec<(usize, usize)> = (1..ranks).map(|rank| (rank - 1, rank)).collect();
    for (from, to) in hops {
        p.chunk(from, Output, 0).copy_to(to, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
