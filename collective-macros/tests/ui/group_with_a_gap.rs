use collective::prelude::*;

#[collective(all_reduce, in_place, chunks = 4, build(ranks = 2))]
fn wrong(p: &Program, ranks: usize) {
    for first in 0..ranks {
        let pair = p.chunk(0, Input, first).group(p.chunk(0, Input, first + 2));
        pair.copy_to(1, Scratch("in"), 0);
    }
}

fn main() {
    let _ = wrong::RANKS_2;
}
