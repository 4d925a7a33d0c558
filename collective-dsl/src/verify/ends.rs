//! Where the data of a collective enter its schedule, and where they leave it.

use smallvec::SmallVec;

use super::layout::{self, Layout};
use super::places;
use super::plan::Plan;
use super::progress::{Progress, Unit};
use crate::buffer::Space;
use crate::diagnostic::Diagnostics;
use crate::ids::RankId;
use crate::schedule::{Place, Schedule, Step, StepId, StepKind};

/// Which steps of a rank are the first to touch its input, and which are the last to write its output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ends {
    /// By rank and chunk of the rank's input: the steps that read what lies there at the start. Where nobody reads it,
    /// the first that writes over it, if there is one.
    pub first: Vec<Vec<SmallVec<[StepId; 1]>>>,
    /// By rank and chunk of the rank's output: the last step that writes the chunk; none if it is there from the
    /// beginning.
    pub last: Vec<Vec<Option<StepId>>>,
}

/// The ends of a schedule.
///
/// They are those of one order in which the steps can happen, and of any other, if the schedule has no races: accesses
/// to one chunk then come in one order, reads between two writes aside. Whether that is so, and whether the output is right, [`super::verify`]
/// says.
///
/// ```
/// use collective_dsl::verify::ends;
/// use collective_dsl::{Buffer::{Input, Output}, Collective, Program, compile};
///
/// // Rank 0 has its own chunk in place from the beginning, and receives the other.
/// let p = Program::new(Collective::all_gather(2)?.in_place()?);
/// for rank in 0..2 {
///     p.chunk(rank, Input, 0).copy_to(1 - rank, Output, rank);
/// }
/// let ends = ends(&compile(&p.finish("pair")?)?)?;
/// assert_eq!(ends.first[0][0].len(), 1);
/// assert!(ends.last[0][0].is_none() && ends.last[0][1].is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The schedule does not run to its end, with any number of slots.
pub fn ends(schedule: &Schedule) -> Result<Ends, Diagnostics> {
    super::progress(schedule, u32::MAX)?;
    let plan = Plan::new(schedule);
    let order = Progress::run(&plan, u32::MAX, Unit::Message, true).order();
    let mut memories: Vec<Memory> =
        (0..schedule.ranks.len() as u32).map(|rank| Memory::new(schedule, RankId(rank))).collect();
    for at in order {
        let process = &plan.processes[at.process as usize];
        let id = StepId { thread_block: process.id, step: at.step };
        memories[process.rank.index()].step(id, plan.step(at));
    }
    let (first, last) =
        memories.iter().zip(0..).map(|(memory, rank)| memory.ends(schedule, RankId(rank))).unzip();
    Ok(Ends { first, last })
}

/// A rank's cells, and who touched them.
struct Memory {
    layout: Layout,
    cells: Vec<Cell>,
}

#[derive(Clone, Default)]
struct Cell {
    /// Who has read before anybody wrote.
    readers: SmallVec<[StepId; 1]>,
    first_writer: Option<StepId>,
    last_writer: Option<StepId>,
}

impl Memory {
    fn new(schedule: &Schedule, rank: RankId) -> Self {
        let layout = Layout::new(schedule, rank);
        Self { layout, cells: vec![Cell::default(); layout.cells()] }
    }

    /// A step reads before it writes.
    fn step(&mut self, id: StepId, step: &Step) {
        let Self { layout, cells } = self;
        let written = places::written(layout, step);
        let added_to = if step.kind == StepKind::Reduce { written.clone() } else { 0..0 };
        let read = places::read(layout, step).chain(added_to).chain(places::needed(layout, step));
        for cell in read {
            let cell = &mut cells[cell];
            if cell.first_writer.is_none() && !cell.readers.contains(&id) {
                cell.readers.push(id);
            }
        }
        for cell in written.chain(places::produced(layout, step)) {
            let cell = &mut cells[cell];
            cell.first_writer.get_or_insert(id);
            cell.last_writer = Some(id);
        }
    }

    fn cell(&self, (space, index): (Space, u32)) -> Option<&Cell> {
        let place = Place { buffer: layout::buffer(space), index };
        self.cells.get(self.layout.range(place, 1)).and_then(<[Cell]>::first)
    }

    fn ends(&self, schedule: &Schedule, rank: RankId) -> (Vec<SmallVec<[StepId; 1]>>, Vec<Option<StepId>>) {
        let collective = &schedule.collective;
        let first = (0..collective.input_chunks_of(rank) as u32).map(|index| {
            let Some(cell) = self.cell(collective.locate_input(rank, index)) else { return SmallVec::new() };
            if cell.readers.is_empty() {
                cell.first_writer.into_iter().collect()
            } else {
                cell.readers.clone()
            }
        });
        let last = (0..collective.output_chunks_of(rank) as u32)
            .map(|index| self.cell(collective.locate_output(rank, index))?.last_writer);
        (first.collect(), last.collect())
    }
}
