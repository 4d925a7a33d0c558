// A list has no such element
// As in Rust, where it would panic.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4))]
fn right(p: &Program, ranks: usize) {
    let order: Vec<usize> = (1..ranks).rev().collect();
    for &rank in &order {
        p.chunk(0, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4).is_ok());
}
