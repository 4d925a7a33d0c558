//! All-to-all by direct messages.

use collective_dsl::Buffer::{Input, Output};
use collective_dsl::{CollectiveKind, Program, Replication};

use crate::common::Traced;
use crate::figures::Row;

fn program(p: &Program) {
    for rank in 0..p.ranks() {
        for peer in 0..p.ranks() {
            p.chunk(rank, Input, peer).copy_to(peer, Output, rank);
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    row.setting(CollectiveKind::AllToAll, instances, Replication::Interleaved).trace("", program)
}
