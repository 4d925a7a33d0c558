//! All-reduce by recursive halving (reduce-scatter) and doubling (all-gather).

use collective_dsl::Buffer::Input;
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::{ONE, Traced, exchange};
use crate::figures::Row;

fn program(p: &Program) {
    // Rank r keeps, of the run of `2 * count` chunks around chunk r, the `count` on its own side.
    let run = |rank: usize, count: usize| rank / count * count;
    let mut count = p.ranks() / 2;
    while count > 0 {
        for rank in 0..p.ranks() {
            let first = run(rank, count);
            let others = p.chunks(rank ^ count, Input, first, count);
            p.chunks(rank, Input, first, count).reduce(exchange(others, rank, ONE));
        }
        count /= 2;
    }
    count = 1;
    while count < p.ranks() {
        for rank in 0..p.ranks() {
            let first = run(rank, count);
            let sums = p.chunks(rank, Input, first, count);
            exchange(sums, rank ^ count, ONE).copy_to(rank ^ count, Input, first);
        }
        count *= 2;
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, ..setting }.trace("", program)
}
