//! Reduce-scatter among the first half of the ranks, a copy of each block of sums to the second half, all-gather among
//! that: around rings (`pipeline_a100_ring`) or by direct messages (`pipeline_a100_allpairs`). As an all-reduce this is wrong.

use collective_dsl::Buffer::Input;
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::allreduce_a100_allpairs::{all_gather, reduce_scatter};
use crate::common::Traced;
use crate::figures::Row;

fn ring(p: &Program, channels: usize) {
    let half = p.ranks() / 2;
    for chunk in 0..half {
        let mut sum = p.chunk(chunk, Input, chunk).on_channel(chunk % channels);
        for hop in 1..half {
            sum = p.chunk((chunk + hop) % half, Input, chunk).reduce(sum);
        }
        let owner = sum.rank();
        for hop in 0..half {
            sum = sum.copy_to(half + (owner + hop) % half, Input, chunk);
        }
    }
}

fn all_pairs(p: &Program) {
    let half = p.ranks() / 2;
    reduce_scatter(p, 0, half, half);
    for rank in 0..half {
        let sums = p.chunks(rank, Input, rank * half, half).on_channel(rank % 2);
        sums.copy_to(half + rank, Input, rank * half);
    }
    all_gather(p, half, half, half);
}

pub(crate) fn trace(row: &Row) -> Traced {
    match *row.args {
        [half, channels, instances] => {
            let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Interleaved);
            Setting { in_place: true, chunks: Some(half), ..setting }.trace("", |p| ring(p, channels))
        }
        _ => {
            let [half, instances] = row.numbers();
            let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
            Setting { in_place: true, chunks: Some(half * half), ..setting }.trace("", all_pairs)
        }
    }
}
