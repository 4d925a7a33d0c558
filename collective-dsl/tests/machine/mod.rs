//! A machine that runs a trace operation by operation, in the order of the program: what its schedule must compute.

use std::collections::BTreeMap;

use collective_dsl::run::{Executor, Memory};
use collective_dsl::{MemoryBuffer, OpKind, Place, RankId, Schedule, Slice, Space, Trace};

/// What lies in each chunk that was written, one number a chunk.
pub(crate) type Chunks = BTreeMap<(u32, MemoryBuffer, u32), i64>;

/// The contents of an executor's memory.
pub(crate) fn contents(schedule: &Schedule, executor: &Executor<'_, i64>, memory: &Memory<i64>) -> Chunks {
    let collective = &schedule.collective;
    let mut chunks = Chunks::new();
    for (rank, of_rank) in (0..).map(RankId).zip(&schedule.ranks) {
        let sizes = [
            (MemoryBuffer::Input, collective.space_chunks(rank, Space::Input)),
            (MemoryBuffer::Output, collective.space_chunks(rank, Space::Output)),
            (MemoryBuffer::Scratch, of_rank.scratch_chunks as usize),
        ];
        for (buffer, size) in sizes {
            for index in 0..size as u32 {
                if let Some([value]) = executor.chunk(memory, rank, Place { buffer, index }) {
                    chunks.insert((rank.0, buffer, index), *value);
                }
            }
        }
    }
    chunks
}

/// Runs the program as written.
pub(crate) fn run_trace(trace: &Trace, mut memory: Chunks) -> Chunks {
    let cell = |slice: Slice, i: u32| {
        let (buffer, offset) = match slice.space {
            Space::Input => (MemoryBuffer::Input, 0),
            Space::Output => (MemoryBuffer::Output, 0),
            Space::Scratch(id) => {
                let before = &trace.scratch[slice.rank.index()][..usize::from(id)];
                (MemoryBuffer::Scratch, before.iter().map(|buffer| buffer.chunks).sum())
            }
        };
        (slice.rank.0, buffer, offset + slice.index + i)
    };
    for op in &trace.ops {
        for i in 0..op.count {
            let moved = memory[&cell(op.src, i)];
            let into = memory.entry(cell(op.dst, i)).or_insert(0);
            *into = match op.kind {
                OpKind::Copy => moved,
                OpKind::Reduce => into.wrapping_add(moved),
                OpKind::Compute(_) => unreachable!("it moves no chunk"),
            };
        }
    }
    memory
}
