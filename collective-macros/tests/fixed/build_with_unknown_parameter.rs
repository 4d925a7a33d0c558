// A build names a parameter that the function does not have
// Often a slip of the pen: the message lists the parameters.

use collective::prelude::*;

#[collective(broadcast, in_place, defaults(channels = 1), build(ranks = 4, channels = 2))]
fn right(p: &Program, ranks: usize, channels: usize) {
    for rank in 1..ranks {
        p.chunk(0, Output, 0).on_channel(rank % channels).copy_to(rank, Output, 0);
    }
}

fn main() {
    assert!(right::compile(4, 2).is_ok());
}
