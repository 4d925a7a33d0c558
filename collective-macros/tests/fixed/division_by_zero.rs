// A number is divided by zero
// Here a node has 4 / 8 = 0 ranks. State what the parameters must satisfy.

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 8, nodes = 4))]
fn right(p: &Program, ranks: usize, nodes: usize) {
    if !p.require(nodes > 0 && ranks.is_multiple_of(nodes), "every node has as many ranks") {
        return;
    }
    let per_node = ranks / nodes;
    for rank in 1..ranks {
        let leader = rank / per_node * per_node;
        let from = if rank == leader { 0 } else { leader };
        p.chunk(from, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(8, 4).is_ok());
}
