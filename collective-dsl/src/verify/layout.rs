//! A rank's memory as one row of cells: input, output and scratch, end to end.
//!
//! In place one buffer may be a window of the other; then both names lead to the same cells. Where nothing defines the
//! collective ([`Collective::is_unspecified`]), nothing says which cells those are: then the buffers are taken to be
//! apart, and to hold data both, so that nothing is refused that may be right.

use std::ops::Range;

use crate::buffer::Space;
use crate::collective::Collective;
use crate::ids::RankId;
use crate::schedule::{MemoryBuffer, Place, Schedule};

/// Where each buffer of a rank lies in its row of cells.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Input, output, scratch.
    begins: [usize; 3],
    ends: [usize; 3],
    /// Cells of input and output that are buffers of their own.
    real: [usize; 2],
    cells: usize,
}

impl Layout {
    pub(super) fn new(schedule: &Schedule, rank: RankId) -> Self {
        let collective = &schedule.collective;
        let apart = is_vague(collective);
        let (inputs, outputs) = if apart {
            (collective.input_chunks_of(rank), collective.output_chunks_of(rank))
        } else {
            (collective.space_chunks(rank, Space::Input), collective.space_chunks(rank, Space::Output))
        };
        let cells = inputs + outputs + schedule.ranks[rank.index()].scratch_chunks as usize;
        let mut layout = Self {
            begins: [0, inputs, inputs + outputs],
            ends: [inputs, inputs + outputs, cells],
            real: [inputs, outputs],
            cells,
        };
        let windows = [
            (0, collective.input_chunks_of(rank), collective.locate_input(rank, 0)),
            (1, collective.output_chunks_of(rank), collective.locate_output(rank, 0)),
        ];
        for (buffer, chunks, (space, first)) in windows {
            let other = if space == Space::Output { 1 } else { 0 };
            if chunks > 0 && other != buffer && !apart {
                let begin = if other == 1 { inputs } else { 0 } + first as usize;
                layout.begins[buffer] = begin;
                layout.ends[buffer] = begin + chunks;
            }
        }
        layout
    }

    /// The cells that hold data at the start although no input lies there by name.
    pub(super) fn maybe_input(&self, collective: &Collective) -> Range<usize> {
        if is_vague(collective) { self.begins[1]..self.ends[1] } else { 0..0 }
    }

    /// The cells that hold the rank's input at the start.
    pub(super) fn inputs(&self) -> Range<usize> {
        self.begins[0]..self.ends[0]
    }

    /// Number of cells.
    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// Chunks of a buffer.
    pub(super) fn chunks(&self, buffer: MemoryBuffer) -> usize {
        self.ends[buffer as usize] - self.begins[buffer as usize]
    }

    /// The cells of a run of chunks, as far as they exist.
    pub(super) fn range(&self, place: Place, count: u32) -> Range<usize> {
        let (begin, end) = (self.begins[place.buffer as usize], self.ends[place.buffer as usize]);
        let from = begin.saturating_add(place.index as usize).min(end);
        from..from.saturating_add(count as usize).min(end)
    }

    /// The buffer of a cell, by the name of the buffer that is no window.
    pub(super) fn place(&self, cell: usize) -> Place {
        let [inputs, outputs] = self.real;
        let (buffer, index) = if cell < inputs {
            (MemoryBuffer::Input, cell)
        } else if cell < inputs + outputs {
            (MemoryBuffer::Output, cell - inputs)
        } else {
            (MemoryBuffer::Scratch, cell - inputs - outputs)
        };
        Place { buffer, index: index as u32 }
    }
}

/// Whether the buffers share cells, but nobody says which.
fn is_vague(collective: &Collective) -> bool {
    collective.is_in_place() && collective.is_unspecified()
}

/// The buffer that a space of a collective is.
pub(super) fn buffer(space: Space) -> MemoryBuffer {
    match space {
        Space::Input => MemoryBuffer::Input,
        Space::Output => MemoryBuffer::Output,
        Space::Scratch(_) => MemoryBuffer::Scratch,
    }
}

/// "i[3]" or "i[3..5]".
pub(super) fn name(place: Place, count: usize) -> String {
    if count == 1 {
        return place.to_string();
    }
    format!("{}[{}..{}]", place.buffer.letter(), place.index, u64::from(place.index) + count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Protocol;
    use crate::schedule::RankSchedule;
    use crate::site::SiteTable;
    use crate::trace::DataTable;

    fn layout(collective: Collective, rank: u32) -> Layout {
        let rank_schedule = RankSchedule { thread_blocks: Vec::new(), scratch_chunks: 2 };
        let schedule = Schedule {
            name: String::new(),
            protocol: Protocol::Simple,
            ranks: vec![rank_schedule; collective.ranks()],
            data: DataTable::new(1),
            mixed: Vec::new(),
            sites: SiteTable::default(),
            collective,
        };
        Layout::new(&schedule, RankId(rank))
    }

    fn cells(layout: &Layout, buffer: MemoryBuffer, index: u32) -> Range<usize> {
        layout.range(Place { buffer, index }, 1)
    }

    #[test]
    fn windows_are_the_cells_of_the_buffer_that_holds_them() {
        use MemoryBuffer::{Input, Output, Scratch};
        // i[0] of rank 2 of an all-gather in place is o[2].
        let gather = layout(Collective::all_gather(3).unwrap().in_place().unwrap(), 2);
        assert_eq!((cells(&gather, Input, 0), gather.chunks(Input)), (2..3, 1));
        assert_eq!(cells(&gather, Output, 2), 2..3);
        assert_eq!(gather.place(2), Place { buffer: Output, index: 2 });
        assert_eq!((cells(&gather, Scratch, 1), cells(&gather, Scratch, 2)), (4..5, 5..5));
        // o[0] of rank 1 of a reduce-scatter in place is i[1]; of an all-reduce every o is the i.
        let scatter = layout(Collective::reduce_scatter(3).unwrap().in_place().unwrap(), 1);
        assert_eq!((cells(&scatter, Output, 0), scatter.cells()), (1..2, 5));
        let reduce = layout(Collective::all_reduce(3).unwrap().in_place().unwrap(), 1);
        assert_eq!((cells(&reduce, Output, 2), cells(&reduce, Output, 3)), (2..3, 3..3));
    }

    #[test]
    fn what_lies_outside_has_no_cells() {
        let row = layout(Collective::all_reduce(2).unwrap(), 0);
        let place = |index| Place { buffer: MemoryBuffer::Input, index };
        assert_eq!(row.range(place(1), 5), 1..2);
        assert_eq!(row.range(place(u32::MAX), u32::MAX).len(), 0);
        assert_eq!((name(place(1), 1), name(place(1), 3)), ("i[1]".to_owned(), "i[1..4]".to_owned()));
    }
}
