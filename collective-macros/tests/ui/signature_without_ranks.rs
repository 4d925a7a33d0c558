use collective::prelude::*;

#[collective(all_reduce, build(nodes = 4))]
fn wrong(p: &Program, nodes: usize) {
    p.chunk(nodes - 1, Input, 0);
}

fn main() {
    let _ = wrong::BUILDS;
}
