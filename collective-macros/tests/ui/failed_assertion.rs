use collective::prelude::*;

#[collective(all_reduce, in_place, build(ranks = 4))]
fn wrong(p: &Program, ranks: usize) {
    assert!(ranks % 3 == 0, "three ranks a node");
    p.chunk(0, Input, 0);
}

fn main() {
    let _ = wrong::RANKS_4;
}
