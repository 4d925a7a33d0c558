use collective::prelude::*;

#[collective(all_reduce, defaults(channels = 1), build(ranks = 4), build(ranks = 4, channels = 1))]
fn wrong(p: &Program, ranks: usize, channels: usize) {
    p.chunk(ranks - 1, Input, channels);
}

fn main() {
    let _ = wrong::RANKS_4;
}
