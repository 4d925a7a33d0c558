//! All-reduce around a ring: every chunk goes round once to be summed up and once more to be handed out. The programs
//! `allreduce_a100_ring` and `simple_allreduce_ring`, which leaves all to the compiler.

use collective_dsl::Buffer::Input;
use collective_dsl::{ChunkRef, CollectiveKind, Program, Replication, Setting};

use crate::common::Traced;
use crate::figures::Row;

fn program<'p>(p: &'p Program, channels: Option<usize>) {
    let ranks = p.ranks();
    for first in 0..ranks {
        // On each channel one thread block for both directions.
        let hint = |chunk: ChunkRef<'p>| match channels.map(|channels| first % channels) {
            Some(channel) => chunk.on_channel(channel).on_send_block(channel).on_recv_block(channel),
            None => chunk,
        };
        let mut sum = p.chunk(first, Input, first);
        for hop in 1..ranks {
            sum = p.chunk((first + hop) % ranks, Input, first).reduce(hint(sum));
        }
        for hop in 0..ranks - 1 {
            sum = hint(sum).copy_to((first + hop) % ranks, Input, first);
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let (channels, instances) = match *row.args {
        [_, channels, instances] => (Some(channels), instances),
        _ => (None, row.args[1]),
    };
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Interleaved);
    Setting { in_place: true, ..setting }.trace("", |p| program(p, channels))
}
