//! All-gather around a ring; chunks take turns on the channels.

use collective_dsl::Buffer::{Input, Output};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::Traced;
use crate::figures::Row;

fn program(p: &Program, channels: usize) {
    for rank in 0..p.ranks() {
        let channel = rank % channels;
        let mut chunk = p.chunk(rank, Input, 0).on_channel(channel);
        for hop in 1..p.ranks() {
            // One thread block a channel, also where nothing is passed on: between two ranks.
            chunk = chunk.on_send_block(channel).on_recv_block(channel).copy_to(
                (rank + hop) % p.ranks(),
                Output,
                rank,
            );
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, channels, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllGather, instances, Replication::Interleaved);
    Setting { in_place: true, ..setting }.trace("", |p| program(p, channels))
}
