//! The memory of all ranks: chunks of the sizes that the collective's data have, and what lies in them.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::data::Data;
use super::{Element, RunError};
use crate::buffer::Space;
use crate::collective::{Collective, CollectiveKind};
use crate::ids::RankId;
use crate::schedule::{MemoryBuffer, Place, Schedule};
use crate::size::SizeError;

/// Where the chunks of each rank lie, for a number of elements.
#[derive(Debug)]
pub(super) struct Layout {
    /// Per rank the first chunk of input, output and scratch, and the end: of those that are buffers of their own.
    begins: Vec<[usize; 4]>,
    /// Per rank the chunks that input, output and scratch name: in place one may be a window of another.
    names: Vec<[Range<usize>; 3]>,
    /// Where each chunk's elements begin; one more at the end.
    offsets: Vec<usize>,
}

impl Layout {
    /// The layout of a schedule's buffers.
    ///
    /// An input chunk has the size of its data, an output chunk that of what the post-condition wants there, a scratch
    /// chunk, and an output chunk where anything will do, the largest that there is.
    ///
    /// # Errors
    /// A size that the collective cannot have, or that takes more than `limit` bytes.
    pub(super) fn new<T: Element>(schedule: &Schedule, elements: u64, limit: u64) -> Result<Self, RunError> {
        let collective = &schedule.collective;
        collective.division().check(elements).map_err(SizeError::Indivisible)?;
        let largest = (0..collective.logical_chunks() as u32)
            .map(|chunk| collective.elements(elements, chunk))
            .max()
            .unwrap_or(0);
        let mut chunks: u128 = 0;
        let mut begins = Vec::with_capacity(schedule.ranks.len());
        for (rank, of_rank) in (0..).map(RankId).zip(&schedule.ranks) {
            let (inputs, outputs) = if is_vague(collective) {
                (collective.input_chunks_of(rank), collective.output_chunks_of(rank))
            } else {
                (collective.space_chunks(rank, Space::Input), collective.space_chunks(rank, Space::Output))
            };
            let input = chunks;
            let output = input + inputs as u128;
            let scratch = output + outputs as u128;
            chunks = scratch + u128::from(of_rank.scratch_chunks);
            begins.push([input, output, scratch, chunks].map(|begin| begin as usize));
        }
        // What is kept of a chunk beside its elements.
        let kept = (size_of::<usize>() + size_of::<Cell>()) as u128;
        let what = "the memory of all ranks";
        let fits = |needed: u128| {
            if needed <= u128::from(limit) { Ok(()) } else { Err(RunError::TooLarge { what, needed, limit }) }
        };
        fits(2 * chunks * kept)?;
        let mut sizes = vec![0_u64; chunks as usize];
        for (rank, begins) in (0..).map(RankId).zip(&begins) {
            let mut at_least = |space: Space, index: u32, size: u64| {
                let begin = if space == Space::Output { begins[1] } else { begins[0] };
                let chunk = &mut sizes[begin + index as usize];
                *chunk = size.max(*chunk);
            };
            for index in 0..collective.input_chunks_of(rank) as u32 {
                let (space, at) = collective.locate_input(rank, index);
                at_least(space, at, collective.elements(elements, collective.input_data(rank, index)));
            }
            for index in 0..collective.output_chunks_of(rank) as u32 {
                let (space, at) = collective.locate_output(rank, index);
                at_least(space, at, output_elements(collective, elements, rank, index).unwrap_or(largest));
            }
            let free = if is_vague(collective) { begins[1] } else { begins[2] };
            sizes[free..begins[3]].fill(largest);
        }
        let total: u128 = sizes.iter().map(|size| u128::from(*size)).sum();
        // The start is kept, each execution works on a copy, and the result may be wanted of every element.
        fits(
            2 * (chunks * kept + total * size_of::<T>() as u128)
                + u128::from(elements) * size_of::<T::Exact>() as u128,
        )?;
        let mut offsets = Vec::with_capacity(sizes.len() + 1);
        let mut offset = 0;
        for size in sizes {
            offsets.push(offset);
            // The sum is within the limit.
            offset += size as usize;
        }
        offsets.push(offset);
        let ranks = (0..).map(RankId).zip(&begins);
        let names = ranks.map(|(rank, begins)| names(collective, rank, begins)).collect();
        Ok(Self { begins, names, offsets })
    }

    /// The chunks of a run, or how many the buffer has if it leaves it.
    pub(super) fn run(
        &self,
        rank: RankId,
        place: Place,
        count: u32,
    ) -> Result<std::ops::Range<usize>, usize> {
        let buffer = match place.buffer {
            MemoryBuffer::Input => 0,
            MemoryBuffer::Output => 1,
            MemoryBuffer::Scratch => 2,
        };
        let Range { start, end } = self.names[rank.index()][buffer];
        let from = start.saturating_add(place.index as usize);
        let to = from.saturating_add(count as usize);
        if to <= end { Ok(from..to) } else { Err(end - start) }
    }

    fn capacity(&self, chunk: usize) -> usize {
        self.offsets[chunk + 1] - self.offsets[chunk]
    }
}

/// Whether input and output share memory, but nobody says how. Then they are taken to be apart, and to hold data both, so
/// that nothing is refused that may be right.
fn is_vague(collective: &Collective) -> bool {
    collective.is_in_place() && collective.is_unspecified()
}

/// The chunks that each buffer of a rank names.
fn names(collective: &Collective, rank: RankId, begins: &[usize; 4]) -> [Range<usize>; 3] {
    let mut names = [begins[0]..begins[1], begins[1]..begins[2], begins[2]..begins[3]];
    let windows = [
        (collective.input_chunks_of(rank), collective.locate_input(rank, 0), Space::Input),
        (collective.output_chunks_of(rank), collective.locate_output(rank, 0), Space::Output),
    ];
    for (name, (chunks, (space, first), own)) in names.iter_mut().zip(windows) {
        if chunks > 0 && space != own && !is_vague(collective) {
            let begin = begins[usize::from(space == Space::Output)] + first as usize;
            *name = begin..begin + chunks;
        }
    }
    names
}

/// Elements of an output chunk: of what it is to hold; `None` where anything will do.
pub(super) fn output_elements(
    collective: &Collective,
    elements: u64,
    rank: RankId,
    index: u32,
) -> Option<u64> {
    let wanted = collective.wanted(rank, index)?;
    wanted.parts.iter().map(|(chunk, _)| collective.elements(elements, *chunk)).max()
}

/// What lies in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Number of elements.
    pub(super) length: usize,
    /// The most operations that a contribution in it went through.
    pub(super) depth: u32,
}

/// Why data do not fit where they are to go.
pub(super) enum Misfit {
    /// Nobody has written the chunk that is read.
    Empty,
    /// So many elements meet so many.
    Sizes(usize, usize),
}

/// The contents of all buffers of all ranks.
#[derive(Clone, Debug)]
pub(super) struct Cells<T> {
    /// `None` where nobody has written.
    cells: Vec<Option<Cell>>,
    elements: Vec<T>,
    /// What computations put into chunks of the input, which nobody has written until then.
    computed: Arc<FxHashMap<usize, (Cell, Vec<T>)>>,
}

impl<T: Element> Cells<T> {
    /// The start: inputs written, all else not.
    pub(super) fn start(schedule: &Schedule, layout: &Layout, elements: u64, data: Data) -> Self {
        let collective = &schedule.collective;
        let mut start = Self {
            cells: vec![None; layout.offsets.len() - 1],
            elements: vec![T::default(); layout.offsets.last().copied().unwrap_or(0)],
            computed: Arc::default(),
        };
        for rank in (0..collective.ranks() as u32).map(RankId) {
            let mut position = 0;
            for index in 0..collective.input_chunks_of(rank) as u32 {
                let (space, at) = collective.locate_input(rank, index);
                let chunk = layout.begins[rank.index()][usize::from(space == Space::Output)] + at as usize;
                let length = collective.elements(elements, collective.input_data(rank, index)) as usize;
                let begin = layout.offsets[chunk];
                for element in &mut start.elements[begin..begin + length] {
                    *element = data.input(rank.0, position);
                    position += 1;
                }
                start.cells[chunk] = Some(Cell { length, depth: 0 });
            }
            if is_vague(collective) {
                for chunk in layout.names[rank.index()][1].clone() {
                    let (begin, length) = (layout.offsets[chunk], layout.capacity(chunk));
                    for element in &mut start.elements[begin..begin + length] {
                        *element = data.input(rank.0, position);
                        position += 1;
                    }
                    start.cells[chunk] = Some(Cell { length, depth: 0 });
                }
            }
        }
        start.hold_back(schedule, layout);
        start
    }

    /// Takes out of memory what computations produce.
    fn hold_back(&mut self, schedule: &Schedule, layout: &Layout) {
        let mut computed = FxHashMap::default();
        for (rank, of_rank) in (0..).map(RankId).zip(&schedule.ranks) {
            let steps = of_rank.thread_blocks.iter().flat_map(|block| &block.steps);
            for run in steps.flat_map(|step| &step.work).flat_map(|work| &work.writes) {
                for chunk in layout.run(rank, run.first, run.count).into_iter().flatten() {
                    let own = self.get(layout, chunk).map(|(cell, elements)| (cell, elements.to_vec()));
                    computed.extend(own.map(|own| (chunk, own)));
                    self.cells[chunk] = None;
                }
            }
        }
        self.computed = Arc::new(computed);
    }

    /// A computation produces a chunk; says whether it is one of the input.
    pub(super) fn compute(&mut self, layout: &Layout, chunk: usize) -> bool {
        let Some((cell, elements)) = self.computed.get(&chunk) else { return false };
        let begin = layout.offsets[chunk];
        self.elements[begin..begin + cell.length].copy_from_slice(elements);
        self.cells[chunk] = Some(*cell);
        true
    }

    /// The elements of a chunk and what is known of them, if it was written.
    pub(super) fn get(&self, layout: &Layout, chunk: usize) -> Option<(Cell, &[T])> {
        let cell = self.cells[chunk]?;
        let begin = layout.offsets[chunk];
        Some((cell, &self.elements[begin..begin + cell.length]))
    }

    pub(super) fn write(
        &mut self,
        layout: &Layout,
        chunk: usize,
        cell: Cell,
        elements: &[T],
    ) -> Result<(), Misfit> {
        if cell.length > layout.capacity(chunk) {
            return Err(Misfit::Sizes(cell.length, layout.capacity(chunk)));
        }
        let begin = layout.offsets[chunk];
        self.elements[begin..begin + cell.length].copy_from_slice(elements);
        self.cells[chunk] = Some(cell);
        Ok(())
    }
}

/// The number of elements that an execution really has: the token of a barrier has room for one of each rank.
pub(super) fn real_elements(collective: &Collective, elements: u64) -> u64 {
    match collective.kind() {
        CollectiveKind::Barrier => elements.max(collective.ranks() as u64),
        _ => elements,
    }
}
