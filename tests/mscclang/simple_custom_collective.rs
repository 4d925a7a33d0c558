//! A collective of the program's own: ranks 1 and 2 end with the chunk of rank 0, sent to both (`star`) or from one to
//! the other (`chain`).

use collective_dsl::Buffer::{Input, Output};
use collective_dsl::{CollectiveKind, Program, Replication};

use crate::common::Traced;
use crate::figures::Row;

fn program(p: &Program, chain: bool) {
    let chunk = p.chunk(0, Input, 0);
    let copy = chunk.copy_to(1, Output, 0);
    (if chain { copy } else { chunk }).on_channel(1).copy_to(2, Output, 0);
    for rank in [1, 2] {
        p.expect(rank, 0, 0, 0);
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let setting = row.setting(CollectiveKind::Custom, 1, Replication::Interleaved);
    setting.trace("", |p| program(p, row.variant == "chain"))
}
