//! Symbolic execution in a given order: what every chunk ends with, and who wrote it last.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::layout::Layout;
use super::places;
use super::plan::{At, Plan};
use crate::ids::RankId;
use crate::schedule::{Place, Step};

/// What chunks hold, and how contents are added.
pub(super) trait Algebra {
    /// A content; compare for equality.
    type Content: Copy + PartialEq;
    /// Nobody has written.
    const EMPTY: Self::Content;
    /// What comes of reading what nobody has written, or what does not exist.
    const UNDEFINED: Self::Content;
    /// One rank's contribution to a logical chunk.
    fn own(&mut self, rank: RankId, chunk: u32) -> Self::Content;
    /// The sum; undefined if an operand is not defined.
    fn add(&mut self, a: Self::Content, b: Self::Content) -> Self::Content;
}

/// A read of a cell that nobody has written so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlyRead {
    pub(super) at: At,
    pub(super) cell: u32,
}

/// The end of an execution.
pub(super) struct Run<A: Algebra> {
    pub(super) algebra: A,
    memories: Vec<Memory<A::Content>>,
    /// In the order of execution.
    pub(super) early: Vec<EarlyRead>,
}

struct Memory<C> {
    layout: Layout,
    cells: Vec<(C, At)>,
    /// What computations put into cells, which are empty until then.
    computed: FxHashMap<usize, C>,
}

/// A cell that no step has written.
const NOBODY: At = At { process: u32::MAX, step: u32::MAX };

impl<A: Algebra> Run<A> {
    /// The first rank that holds a content anywhere, and where.
    pub(super) fn find(&self, is_it: impl Fn(A::Content) -> bool) -> Option<(RankId, Place)> {
        self.memories.iter().zip(0..).find_map(|(memory, rank)| {
            let cell = memory.cells.iter().position(|cell| is_it(cell.0))?;
            Some((RankId(rank), memory.layout.place(cell)))
        })
    }

    /// Place, content and last writer of a chunk of a rank's output.
    pub(super) fn output(
        &self,
        plan: &Plan<'_>,
        rank: RankId,
        index: u32,
    ) -> (Place, A::Content, Option<At>) {
        let (space, index) = plan.schedule.collective.locate_output(rank, index);
        let place = Place { buffer: super::layout::buffer(space), index };
        let memory = &self.memories[rank.index()];
        match memory.cells.get(memory.layout.range(place, 1).start) {
            Some((content, writer)) => (place, *content, Some(*writer).filter(|writer| *writer != NOBODY)),
            None => (place, A::EMPTY, None),
        }
    }
}

/// Runs the steps in the order given, which must be one that can happen.
pub(super) fn execute<A: Algebra>(plan: &Plan<'_>, order: &[At], mut algebra: A) -> Run<A> {
    let ranks = (0..plan.schedule.ranks.len() as u32).map(RankId);
    let mut memories: Vec<Memory<A::Content>> = ranks.map(|rank| memory(plan, rank, &mut algebra)).collect();
    let mut queues: Vec<VecDeque<A::Content>> = plan.connections.iter().map(|_| VecDeque::new()).collect();
    let mut early = Vec::new();
    let mut moved: Vec<A::Content> = Vec::new();
    for at in order {
        let process = &plan.processes[at.process as usize];
        let step = plan.step(*at);
        let memory = &mut memories[process.rank.index()];
        moved.clear();
        if step.work.is_some() {
            memory.compute(*at, step, &mut early, A::EMPTY, A::UNDEFINED);
            continue;
        }
        if step.kind.receives()
            && let Some(connection) = process.receives
        {
            let queue = &mut queues[connection as usize];
            // A message of another length is a finding of its own; what is missing is nothing that anybody wrote.
            moved.extend(queue.drain(..queue.len().min(step.count as usize)));
            moved.resize(step.count as usize, A::UNDEFINED);
        }
        if step.kind.reads_src() {
            let range = places::read(&memory.layout, step);
            let first = range.start;
            let mut read = |i: usize, cell: &(A::Content, At)| {
                if cell.0 == A::EMPTY {
                    early.push(EarlyRead { at: *at, cell: (first + i) as u32 });
                    return A::UNDEFINED;
                }
                cell.0
            };
            let cells = memory.cells[range].iter().enumerate();
            if step.kind.receives() {
                let present = cells.len();
                for (i, cell) in cells {
                    moved[i] = algebra.add(read(i, cell), moved[i]);
                }
                moved[present..].fill(A::UNDEFINED);
            } else {
                moved.extend(cells.map(|(i, cell)| read(i, cell)));
                moved.resize(step.count as usize, A::UNDEFINED);
            }
        }
        if step.kind.writes_dst() {
            let range = places::written(&memory.layout, step);
            let first = range.start;
            let into = step.kind.reduces() && !step.kind.receives();
            for (i, (cell, moved)) in memory.cells[range].iter_mut().zip(&moved).enumerate() {
                if into && cell.0 == A::EMPTY {
                    early.push(EarlyRead { at: *at, cell: (first + i) as u32 });
                }
                let content = if into { algebra.add(cell.0, *moved) } else { *moved };
                *cell = (content, *at);
            }
        }
        if step.kind.sends()
            && let Some(connection) = process.sends
        {
            queues[connection as usize].extend(&moved);
        }
    }
    Run { algebra, memories, early }
}

impl<C: Copy + PartialEq> Memory<C> {
    /// A computation needs what it reads; what it produces is this rank's own, whatever it read.
    fn compute(&mut self, at: At, step: &Step, early: &mut Vec<EarlyRead>, empty: C, undefined: C) {
        for cell in places::needed(&self.layout, step) {
            if self.cells[cell].0 == empty {
                early.push(EarlyRead { at, cell: cell as u32 });
            }
        }
        for cell in places::produced(&self.layout, step) {
            self.cells[cell] = (self.computed.get(&cell).copied().unwrap_or(undefined), at);
        }
    }
}

fn memory<A: Algebra>(plan: &Plan<'_>, rank: RankId, algebra: &mut A) -> Memory<A::Content> {
    let layout = Layout::new(plan.schedule, rank);
    let collective = &plan.schedule.collective;
    let mut cells = vec![(A::EMPTY, NOBODY); layout.cells()];
    for index in 0..collective.input_chunks_of(rank) as u32 {
        let (space, index_there) = collective.locate_input(rank, index);
        let place = Place { buffer: super::layout::buffer(space), index: index_there };
        let data = collective.input_data(rank, index);
        for cell in &mut cells[layout.range(place, 1)] {
            cell.0 = algebra.own(rank, data);
        }
    }
    for cell in &mut cells[layout.maybe_input(collective)] {
        cell.0 = algebra.own(rank, 0);
    }
    let mut computed = FxHashMap::default();
    for process in plan.first[rank.index()]..plan.first[rank.index() + 1] {
        for cell in plan.steps(process).iter().flat_map(|step| places::produced(&layout, step)) {
            let own = std::mem::replace(&mut cells[cell].0, A::EMPTY);
            if own != A::EMPTY {
                computed.insert(cell, own);
            }
        }
    }
    Memory { layout, cells, computed }
}
