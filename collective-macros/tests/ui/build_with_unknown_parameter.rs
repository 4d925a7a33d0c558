use collective::prelude::*;

#[collective(all_gather, defaults(channels = 1), build(ranks = 4, channel = 2))]
fn wrong(p: &Program, ranks: usize, channels: usize) {
    p.chunk(ranks - 1, Input, 0).on_channel(channels);
}

fn main() {
    let _ = wrong::RANKS_4_CHANNEL_2;
}
