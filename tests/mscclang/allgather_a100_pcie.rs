//! All-gather of two halves: each rank exchanges with its partner in the other half, and both shares go round the
//! own half.

use collective_dsl::Buffer::{Input, Output};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::Traced;
use crate::figures::Row;

fn program(p: &Program) {
    let half = p.ranks() / 2;
    for rank in 0..p.ranks() {
        let own = p.chunk(rank, Input, 0);
        let partner = (rank + half) % p.ranks();
        let across = own.copy_to(partner, Output, rank);
        for share in [own, across] {
            let first = share.rank() / half * half;
            for peer in (first..first + half).filter(|peer| *peer != share.rank()) {
                share.copy_to(peer, Output, rank);
            }
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllGather, instances, Replication::Interleaved);
    Setting { in_place: true, ..setting }.trace("", program)
}
