//! All-gather by recursive doubling: what two ranks hold doubles with every exchange.

use collective_dsl::Buffer::Output;
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::{ONE, Traced, exchange};
use crate::figures::Row;

fn program(p: &Program) {
    let mut held = 1;
    while held < p.ranks() {
        for rank in 0..p.ranks() {
            let (peer, first) = (rank ^ held, rank / held * held);
            exchange(p.chunks(rank, Output, first, held), peer, ONE).copy_to(peer, Output, first);
        }
        held *= 2;
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllGather, instances, Replication::Interleaved);
    Setting { in_place: true, ..setting }.trace("", program)
}
