//! All-reduce of two halves: reduce-scatter within each, an exchange of half a block with the partner in the other,
//! all-gather. What arrives from the partner lies behind what arrived before, but the program adds what lies at the
//! beginning: right for halves of one rank only.

use collective_dsl::Buffer::{Input, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::allreduce_a100_allpairs::{all_gather, reduce_scatter};
use crate::common::{ONE, Traced, exchange};
use crate::figures::Row;

fn program(p: &Program) {
    let half = p.ranks() / 2;
    let block = 2 * p.ranks();
    for first in [0, half] {
        reduce_scatter(p, first, half, block);
    }
    // Each of two partners finishes one half of the block of both.
    let share = |rank: usize| rank % half * block + rank / half * block / 2;
    for rank in 0..p.ranks() {
        let partner = (rank + half) % p.ranks();
        let sums = p.chunks(rank, Input, share(partner), block / 2);
        exchange(sums, partner, ONE).copy_to(partner, Scratch("arrived"), (half - 1) * block);
    }
    for rank in 0..p.ranks() {
        for chunk in 0..block / 2 {
            p.chunk(rank, Input, share(rank) + chunk).reduce(p.chunk(rank, Scratch("arrived"), chunk));
        }
    }
    for rank in 0..p.ranks() {
        let partner = (rank + half) % p.ranks();
        let sums = p.chunks(rank, Input, share(rank), block / 2);
        exchange(sums, partner, ONE).copy_to(partner, Input, share(rank));
    }
    for first in [0, half] {
        all_gather(p, first, half, block);
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [ranks, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, chunks: Some(ranks * ranks), ..setting }.trace("", program)
}
