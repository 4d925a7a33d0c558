use collective::prelude::*;

#[collective(all_reduce, build(ranks = 4), build(channels = 2))]
fn wrong(p: &Program, ranks: usize, channels: usize) {
    p.chunk(ranks - 1, Input, channels);
}

fn main() {
    let _ = wrong::DEF;
}
