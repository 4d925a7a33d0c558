//! Pass 6: dependences between the thread blocks of one rank.
//!
//! Steps come in the global order. Each waits for the last write of what it touches and, before a write,
//! for the reads since; of these waits only those stay that neither the order within the thread block nor
//! another wait implies (vector clocks over the thread blocks of the rank).

use std::ops::Range;

use smallvec::SmallVec;

use crate::clocks::Clocks;
use crate::ids::ThreadBlockId;
use crate::schedule::StepId;

#[derive(Clone, Default)]
struct Cell {
    writer: Option<StepId>,
    /// The latest reader in each thread block since the last write.
    readers: SmallVec<[StepId; 2]>,
}

/// Tracks one rank's memory while its steps are placed.
pub(super) struct Sync {
    cells: Vec<Cell>,
    clocks: Clocks,
}

impl Sync {
    pub(super) fn new(cells: usize, thread_blocks: usize) -> Self {
        Self { cells: vec![Cell::default(); cells], clocks: Clocks::new(thread_blocks) }
    }

    /// The thread block that last wrote a chunk.
    pub(super) fn last_writer(&self, cell: usize) -> Option<ThreadBlockId> {
        self.cells[cell].writer.map(|step| step.thread_block)
    }

    /// Places a step that reads and writes the given chunks; returns the steps that it must wait for.
    pub(super) fn place(
        &mut self,
        step: StepId,
        reads: impl IntoIterator<Item = Range<usize>>,
        writes: impl IntoIterator<Item = Range<usize>>,
    ) -> SmallVec<[StepId; 1]> {
        let mut waits: Vec<StepId> = Vec::new();
        for cell in reads.into_iter().flatten() {
            waits.extend(self.cells[cell].writer);
            let readers = &mut self.cells[cell].readers;
            match readers.iter_mut().find(|reader| reader.thread_block == step.thread_block) {
                Some(reader) => *reader = step,
                None => readers.push(step),
            }
        }
        for cell in writes.into_iter().flatten() {
            let cell = &mut self.cells[cell];
            waits.extend(cell.writer);
            waits.extend(cell.readers.iter().copied());
            cell.readers.clear();
            cell.writer = Some(step);
        }
        self.clocks.needed(step, waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(block: u32, step: u32) -> StepId {
        StepId { thread_block: ThreadBlockId(block), step }
    }

    #[test]
    fn a_wait_that_another_wait_implies_is_dropped() {
        let mut sync = Sync::new(2, 3);
        assert!(sync.place(at(0, 0), None, Some(0..1)).is_empty());
        assert_eq!(sync.place(at(1, 0), Some(0..1), Some(1..2))[..], [at(0, 0)]);
        // Needs both chunks; the writer of the second has already waited for the writer of the first.
        assert_eq!(sync.place(at(2, 0), Some(0..2), None)[..], [at(1, 0)]);
    }

    #[test]
    fn a_writer_waits_for_readers_in_other_thread_blocks() {
        let mut sync = Sync::new(1, 3);
        sync.place(at(0, 0), Some(0..1), None);
        sync.place(at(1, 0), Some(0..1), None);
        assert_eq!(sync.place(at(2, 0), None, Some(0..1))[..], [at(0, 0), at(1, 0)]);
        // The same thread block needs no wait on itself.
        assert!(sync.place(at(2, 1), None, Some(0..1)).is_empty());
    }
}
