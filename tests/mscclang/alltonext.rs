//! Every rank sends its data to the next (`alltonext_forward`) or to the previous one (`alltonext_backward`): within a
//! node directly, between nodes over all GPUs of both.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::Traced;
use crate::figures::Row;

const GPUS: usize = 8;

/// A ring without its last link; `at` turns a position into a rank.
fn program(p: &Program, at: impl Fn(usize) -> usize) {
    for position in 1..p.ranks() {
        let (from, to) = (at(position - 1), at(position));
        (0..GPUS).for_each(|chunk| p.expect(to, chunk, from, chunk));
        if from / GPUS == to / GPUS {
            p.chunks(from, Input, 0, GPUS).on_channel(from % 2).copy_to(to, Output, 0);
            continue;
        }
        for gpu in 0..GPUS {
            let mut chunk = p.chunk(from, Input, gpu).on_channel(gpu % 2);
            for relay in [from, to].map(|end| end / GPUS * GPUS + gpu) {
                if relay != from && relay != to {
                    chunk = chunk.copy_to(relay, Scratch("relayed"), 0);
                }
            }
            chunk.copy_to(to, Output, gpu);
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [nodes, instances] = row.numbers();
    let ranks = nodes * GPUS;
    let setting = row.setting(CollectiveKind::Custom, instances, Replication::Blocked);
    let setting = Setting { chunks: Some(GPUS), ..setting };
    match row.program {
        "alltonext_forward" => setting.trace("", |p| program(p, |position| position)),
        _ => setting.trace("", |p| program(p, |position| ranks - 1 - position)),
    }
}
