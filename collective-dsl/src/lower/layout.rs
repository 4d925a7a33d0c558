//! Flat numbering of all chunks of a rank's memory: input, then output, then scratch in order of creation.

use std::ops::Range;

use crate::buffer::Space;
use crate::compute::{ChunkRun, Computation};
use crate::ids::RankId;
use crate::schedule::{MemoryBuffer, Place};
use crate::trace::{Slice, Trace};

/// Where the buffers of one rank begin in the flat numbering.
pub(super) struct RankLayout {
    input: u32,
    output: u32,
    /// Beginning of each scratch buffer within the rank's scratch, and the total last.
    scratch: Vec<u32>,
}

impl RankLayout {
    pub(super) fn new(trace: &Trace, rank: RankId) -> Self {
        let mut scratch = vec![0];
        let mut total = 0;
        for buffer in &trace.scratch[rank.index()] {
            total += buffer.chunks;
            scratch.push(total);
        }
        Self {
            input: trace.space_chunks(rank, Space::Input) as u32,
            output: trace.space_chunks(rank, Space::Output) as u32,
            scratch,
        }
    }

    pub(super) fn scratch_chunks(&self) -> u32 {
        self.scratch.last().copied().unwrap_or(0)
    }

    pub(super) fn cells(&self) -> usize {
        (self.input + self.output + self.scratch_chunks()) as usize
    }

    /// The first chunk of a slice in the flat numbering of its rank.
    pub(super) fn flat(&self, slice: Slice) -> usize {
        (match slice.space {
            Space::Input => slice.index,
            Space::Output => self.input + slice.index,
            Space::Scratch(id) => self.input + self.output + self.scratch[usize::from(id)] + slice.index,
        }) as usize
    }

    /// The chunks of a run in the flat numbering of its rank.
    pub(super) fn span(&self, run: ChunkRun<Slice>) -> Range<usize> {
        let from = self.flat(run.first);
        from..from + run.count as usize
    }

    /// A computation with places as a runtime sees them.
    pub(super) fn computation(&self, computation: &Computation<Slice>) -> Computation<Place> {
        let places = |runs: &[ChunkRun<Slice>]| {
            runs.iter().map(|run| ChunkRun { first: self.place(run.first), count: run.count }).collect()
        };
        let (reads, writes) = (places(&computation.reads), places(&computation.writes));
        Computation { cost: computation.cost, reads, writes }
    }

    /// The slice as a runtime sees it.
    pub(super) fn place(&self, slice: Slice) -> Place {
        match slice.space {
            Space::Input => Place { buffer: MemoryBuffer::Input, index: slice.index },
            Space::Output => Place { buffer: MemoryBuffer::Output, index: slice.index },
            Space::Scratch(id) => {
                let index = self.scratch[usize::from(id)] + slice.index;
                Place { buffer: MemoryBuffer::Scratch, index }
            }
        }
    }
}
