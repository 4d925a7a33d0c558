#![deny(deprecated)]

use collective::prelude::*;

#[collective(broadcast, in_place, build(ranks = 4), build(ranks = 8))]
fn wasteful(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        p.scratch(rank, "spare", 1);
        p.chunk(0, Output, 0).copy_to(rank, Scratch("in"), 0);
        p.chunk(0, Output, 0).copy_to(rank, Output, 0);
        p.chunk(rank - 1, Output, 0).on_channel(200).copy_to(rank, Output, 0);
    }
}

#[allow(deprecated)]
#[collective(broadcast, in_place, build(ranks = 4))]
fn silenced(p: &Program, ranks: usize) {
    for rank in 1..ranks {
        p.chunk(0, Output, 0).copy_to(rank, Scratch("in"), 0);
        p.chunk(0, Output, 0).copy_to(rank, Output, 0);
    }
}

fn main() {
    let _ = (wasteful::RANKS_4, silenced::RANKS_4);
}
