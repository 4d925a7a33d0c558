//! All-reduce of two chunks along two lines of four ranks, one for each chunk: sums come down a line and go up again.

use collective_dsl::Buffer::Input;
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::Traced;
use crate::figures::Row;

fn program(p: &Program) {
    for (chunk, line) in [[3, 2, 1, 0], [2, 3, 0, 1]].into_iter().enumerate() {
        let mut sum = p.chunk(line[0], Input, chunk).on_channel(chunk);
        for rank in &line[1..] {
            sum = p.chunk(*rank, Input, chunk).reduce(sum);
        }
        for rank in line[..3].iter().rev() {
            sum = sum.copy_to(*rank, Input, chunk);
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, chunks: Some(2), ..setting }.trace("", program)
}
