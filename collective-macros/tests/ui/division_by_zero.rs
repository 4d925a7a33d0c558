use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4, nodes = 8))]
fn wrong(p: &Program, ranks: usize, nodes: usize) {
    let per_node = ranks / nodes;
    for rank in 0..ranks {
        p.chunk(rank % per_node, Input, 0);
    }
}

fn main() {
    let _ = wrong::RANKS_4_NODES_8;
}
