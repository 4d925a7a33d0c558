// A parameter has no value
// Every parameter after the program has a value in `build(…)` or in `defaults(…)`.

use collective::prelude::*;

#[collective(broadcast, in_place, defaults(channels = 1), build(ranks = 4), build(ranks = 4, channels = 2))]
fn right(p: &Program, ranks: usize, channels: usize) {
    for rank in 1..ranks {
        p.chunk(0, Output, 0).on_channel(rank % channels).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4, 2).is_ok());
}
