//! All-reduce of two chunks on two pairs of ranks: reduce-scatter within each pair, exchange between the pairs, all-gather
//! within each pair. Among two ranks the other pair is the rank itself, and the program is wrong.

use collective_dsl::Buffer::{Input, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::{Traced, exchange};
use crate::figures::Row;

fn program(p: &Program) {
    let own = |rank: usize| p.chunk(rank, Input, rank % 2);
    let across = |rank: usize| (rank + 2) % p.ranks();
    for rank in 0..p.ranks() {
        let others = p.chunk(rank ^ 1, Input, rank % 2);
        own(rank).reduce(exchange(others, rank, (0, 2)));
    }
    for rank in 0..p.ranks() {
        exchange(own(rank), across(rank), (0, 2)).copy_to(across(rank), Scratch("other pair"), 0);
    }
    for rank in 0..p.ranks() {
        own(rank).reduce(p.chunk(rank, Scratch("other pair"), 0));
    }
    for rank in 0..p.ranks() {
        let sum = own(rank).on_channel(1);
        exchange(sum, rank ^ 1, (1, 2)).copy_to(rank ^ 1, Input, rank % 2);
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, chunks: Some(2), ..setting }.trace("", program)
}
