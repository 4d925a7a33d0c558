use collective::prelude::*;

#[collective(
    all_reduce,
    inplace,
    all_gather,
    defaults(channel = 1, channels = 1, channels = 2),
    build(ranks = 4 + 4),
    options(size = "1 potato", element_type = "f33", protocol = "LL")
)]
fn wrong(p: &Program, ranks: usize, channels: usize) {
    p.chunk(ranks - 1, Input, channels);
}

fn main() {
    let _ = wrong::DEF;
}
