//! Data dependences between the nodes of one rank: read after write, write after read, write after write.

use std::ops::Range;

use smallvec::SmallVec;

use crate::buffer::Space;
use crate::ids::RankId;
use crate::schedule::{MemoryBuffer, Place, Schedule};

#[derive(Clone, Default)]
struct Cell {
    writer: Option<u32>,
    /// Nodes that have read since the last write.
    readers: SmallVec<[u32; 2]>,
}

/// A rank's memory: who touched each chunk last.
pub(super) struct Hazards {
    cells: Vec<Cell>,
    output: u32,
    scratch: u32,
}

impl Hazards {
    pub(super) fn new(schedule: &Schedule, rank: usize) -> Self {
        let id = RankId(rank as u32);
        let output = schedule.collective.space_chunks(id, Space::Input) as u32;
        let scratch = output + schedule.collective.space_chunks(id, Space::Output) as u32;
        let cells = scratch + schedule.ranks[rank].scratch_chunks;
        Self { cells: vec![Cell::default(); cells as usize], output, scratch }
    }

    fn cells(&self, place: Place, count: u32) -> Range<usize> {
        let base = match place.buffer {
            MemoryBuffer::Input => 0,
            MemoryBuffer::Output => self.output,
            MemoryBuffer::Scratch => self.scratch,
        };
        let begin = (base + place.index) as usize;
        // A schedule that reaches beyond its buffers is the verifier's business.
        begin.min(self.cells.len())..(begin + count as usize).min(self.cells.len())
    }

    /// A node reads chunks: it waits for who wrote them.
    pub(super) fn read(&mut self, place: Place, count: u32, node: u32, waits: &mut SmallVec<[u32; 2]>) {
        let cells = self.cells(place, count);
        for cell in &mut self.cells[cells] {
            waits.extend(cell.writer);
            cell.readers.push(node);
        }
    }

    /// A node writes chunks: it waits for who wrote them and for who has read that.
    pub(super) fn write(&mut self, place: Place, count: u32, node: u32, waits: &mut SmallVec<[u32; 2]>) {
        let cells = self.cells(place, count);
        for cell in &mut self.cells[cells] {
            // Readers have waited for the writer themselves.
            if cell.readers.is_empty() {
                waits.extend(cell.writer);
            }
            waits.extend(cell.readers.drain(..));
            cell.writer = Some(node);
        }
        // A node that reads what it writes does not wait for itself.
        waits.retain(|wait| *wait != node);
    }
}
