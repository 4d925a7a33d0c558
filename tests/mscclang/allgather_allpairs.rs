//! All-gather by direct messages, with one thread block for both directions between two ranks.

use collective_dsl::Buffer::{Input, Output};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::{ONE, Traced, exchange};
use crate::figures::Row;

fn program(p: &Program) {
    for rank in 0..p.ranks() {
        let chunk = p.chunk(rank, Input, 0);
        for peer in (0..p.ranks()).filter(|peer| *peer != rank) {
            exchange(chunk, peer, ONE).copy_to(peer, Output, rank);
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllGather, instances, Replication::Interleaved);
    Setting { in_place: true, ..setting }.trace("", program)
}
