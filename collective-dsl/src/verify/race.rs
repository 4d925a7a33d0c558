//! Accesses to one cell, one of them a write, that nothing orders.
//!
//! Steps are walked in one order in which they can happen. Each cell knows its last write and the reads since; a read
//! must come after the write, a write after both, in every run. If these neighbours are all ordered, so are all
//! accesses to the cell. What the rank's own thread blocks order is found on the way ([`super::clocks`]); the rest
//! may be ordered through other ranks, which is asked together at the end ([`super::reach`]).

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::clocks::Clocks;
use super::execute::EarlyRead;
use super::layout::{self, Layout};
use super::places::{self, verb};
use super::plan::{At, Plan};
use super::reach;
use super::report::Found;
use crate::diagnostic::{Diagnostic, Rule};
use crate::ids::RankId;

/// Ranks are walked in parallel from this many steps on.
const WORTH_THREADS: usize = 1 << 15;

/// Reads of one cell before its first write that are followed; of more the others are only like these.
const EARLY_OF_A_CELL: usize = 4;

/// What the walk over all accesses finds.
#[derive(Default)]
pub(super) struct Races {
    pub(super) races: Found,
    /// Reads that come before every write in every run.
    pub(super) uninitialised: Found,
}

/// Two accesses to a cell that the rank itself does not order, by positions in the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Conflict {
    first: u32,
    second: u32,
    cell: u32,
    writes: (bool, bool),
}

/// Finds the races, and tells which of the early reads are more than that.
pub(super) fn check(plan: &Plan<'_>, order: &[At], early: &[EarlyRead]) -> Races {
    let ranks = plan.schedule.ranks.len();
    let mut positions: Vec<Vec<u32>> = vec![Vec::new(); ranks];
    for (position, at) in (0..).zip(order) {
        positions[plan.processes[at.process as usize].rank.index()].push(position);
    }
    let mut early_of: Vec<FxHashMap<u32, Vec<u32>>> = vec![FxHashMap::default(); ranks];
    if !early.is_empty() {
        let position_of: FxHashMap<At, u32> = order.iter().copied().zip(0..).collect();
        for read in early {
            let of_rank = &mut early_of[plan.processes[read.at.process as usize].rank.index()];
            let of_cell = of_rank.entry(read.cell).or_default();
            let position = position_of[&read.at];
            if of_cell.len() < EARLY_OF_A_CELL && of_cell.last() != Some(&position) {
                of_cell.push(position);
            }
        }
    }
    let walk = |rank: usize| Walk::new(plan, order, rank, &early_of[rank]).run(&positions[rank]);
    let conflicts: Vec<Vec<Conflict>> = if order.len() < WORTH_THREADS {
        (0..ranks).map(walk).collect()
    } else {
        (0..ranks).into_par_iter().map(walk).collect()
    };
    let mut conflicts = conflicts.concat();
    conflicts.sort_unstable();
    conflicts.dedup();
    let mut pairs: Vec<reach::Pair> = conflicts.iter().map(|c| (c.first, c.second)).collect();
    pairs.dedup();
    let ordered = reach::ordered(plan, order, &pairs);
    let is_race = |conflict: &Conflict| {
        // A shift within a step is one whatever comes before.
        conflict.first == conflict.second
            || pairs.binary_search(&(conflict.first, conflict.second)).is_ok_and(|pair| !ordered[pair])
    };
    conflicts.retain(is_race);
    let uninitialised = uninitialised(plan, order, &early_of, &conflicts);
    Races { races: describe(plan, order, &conflicts), uninitialised }
}

/// The walk over the accesses of one rank.
struct Walk<'p> {
    plan: &'p Plan<'p>,
    order: &'p [At],
    layout: Layout,
    clocks: Clocks,
    early: &'p FxHashMap<u32, Vec<u32>>,
    cells: Vec<Cell>,
    /// Reads since the last write, as lists: position, and the read before it.
    reads: Vec<(u32, u32)>,
    conflicts: Vec<Conflict>,
}

/// No access, or the end of a list.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Cell {
    /// Position of the last write.
    write: u32,
    /// The latest read since, in the list of reads.
    read: u32,
}

impl<'p> Walk<'p> {
    fn new(plan: &'p Plan<'p>, order: &'p [At], rank: usize, early: &'p FxHashMap<u32, Vec<u32>>) -> Self {
        let layout = Layout::new(plan.schedule, RankId(rank as u32));
        let blocks = plan.schedule.ranks[rank].thread_blocks.len();
        Self {
            plan,
            order,
            clocks: Clocks::new(blocks),
            early,
            cells: vec![Cell { write: NONE, read: NONE }; layout.cells()],
            reads: Vec::new(),
            conflicts: Vec::new(),
            layout,
        }
    }

    fn run(mut self, positions: &[u32]) -> Vec<Conflict> {
        let layout = self.layout;
        for &position in positions {
            let at = self.order[position as usize];
            let step = self.plan.step(at);
            let block = self.plan.processes[at.process as usize].id.0;
            if !step.depends.is_empty() {
                self.clocks.begin(block, at.step, &step.depends);
            }
            let (read, written) = (places::read(&layout, step), places::written(&layout, step));
            read.clone().for_each(|cell| self.read(position, cell));
            if places::shifts(&layout, step) {
                let cell = read.start.max(written.start) as u32;
                let writes = (false, true);
                self.conflicts.push(Conflict { first: position, second: position, cell, writes });
            }
            written.for_each(|cell| self.write(position, cell));
            if step.work.is_some() {
                places::needed(&layout, step).for_each(|cell| self.read(position, cell));
                places::produced(&layout, step).for_each(|cell| self.write(position, cell));
            }
        }
        self.conflicts
    }

    fn read(&mut self, position: u32, cell: usize) {
        let Cell { write, read } = self.cells[cell];
        self.compare(write, position, cell, (true, false));
        self.reads.push((position, read));
        self.cells[cell].read = self.reads.len() as u32 - 1;
    }

    fn write(&mut self, position: u32, cell: usize) {
        let Cell { write, mut read } = self.cells[cell];
        if read == NONE {
            // Where there are reads they are between.
            self.compare(write, position, cell, (true, true));
        }
        while read != NONE {
            let (reader, before) = self.reads[read as usize];
            self.compare(reader, position, cell, (false, true));
            read = before;
        }
        for reader in self.early.get(&(cell as u32)).into_iter().flatten() {
            if *reader < position {
                self.compare(*reader, position, cell, (false, true));
            }
        }
        self.cells[cell] = Cell { write: position, read: NONE };
    }

    /// Notes two accesses unless the rank orders them.
    fn compare(&mut self, first: u32, second: u32, cell: usize, writes: (bool, bool)) {
        if first == NONE || first == second {
            return;
        }
        let (a, b) = (self.order[first as usize], self.order[second as usize]);
        if a.process == b.process {
            return;
        }
        let block = |at: At| self.plan.processes[at.process as usize].id.0;
        if !self.clocks.covers(block(b), block(a), a.step) {
            self.conflicts.push(Conflict { first, second, cell: cell as u32, writes });
        }
    }
}

/// One finding for each two steps, with all the chunks that they race for.
fn describe(plan: &Plan<'_>, order: &[At], conflicts: &[Conflict]) -> Found {
    let same = |a: &Conflict, b: &Conflict| (a.first, a.second) == (b.first, b.second);
    // By place in the schedule, not by the order in which steps happened to run.
    let mut groups: Vec<(At, At, &[Conflict])> = conflicts
        .chunk_by(same)
        .map(|group| (order[group[0].second as usize], order[group[0].first as usize], group))
        .collect();
    groups.sort_unstable_by_key(|(second, first, _)| (*second, *first));
    let mut found = Found::default();
    for (second, first, group) in groups {
        found.push(|| describe_pair(plan, first, second, group));
    }
    found
}

fn describe_pair(plan: &Plan<'_>, first: At, second: At, group: &[Conflict]) -> Diagnostic {
    let layout = Layout::new(plan.schedule, plan.processes[first.process as usize].rank);
    let cells: Vec<usize> = group.iter().map(|conflict| conflict.cell as usize).collect();
    let location = plan.location(second).place(layout.place(cells[0]));
    let what = runs(&layout, &cells);
    if first == second {
        let message = format!(
            "{} writes {what} while it reads it as another chunk: what it reads depends on how far it is",
            plan.name(second)
        );
        return plan.finding(Rule::Race, second, message).at(location);
    }
    let (kind, other) = (plan.step(second).kind, plan.step(first).kind);
    let block = plan.processes[first.process as usize].id;
    let message = format!(
        "{} {} {what}, and {block}, step {} ({}) {} it: nothing orders them; add a dependence of one on the other, \
         such as {}.{} after {block}.{}",
        plan.name(second),
        verb(kind, group[0].writes.1),
        first.step,
        other.name(),
        verb(other, group[0].writes.0),
        plan.processes[second.process as usize].id,
        second.step,
        first.step,
    );
    let related = format!("the other access: {} {} it", plan.name(first), verb(other, group[0].writes.0));
    plan.finding(Rule::Race, second, message).at(location).with_related(plan.step(first).site, related)
}

/// "s[0], i[2..4]"
fn runs(layout: &Layout, cells: &[usize]) -> String {
    const SHOWN: usize = 4;
    let mut runs: Vec<(crate::schedule::Place, usize)> = Vec::new();
    for cell in cells {
        let place = layout.place(*cell);
        match runs.last_mut() {
            Some((first, count))
                if first.buffer == place.buffer && first.index as usize + *count == place.index as usize =>
            {
                *count += 1;
            }
            _ => runs.push((place, 1)),
        }
    }
    let mut names: Vec<String> =
        runs.iter().take(SHOWN).map(|(place, count)| layout::name(*place, *count)).collect();
    if runs.len() > SHOWN {
        names.push(format!("{} more", runs.len() - SHOWN));
    }
    names.join(", ")
}

/// The computation of the rank of a step that produces a cell, if one does.
fn producer(plan: &Plan<'_>, layout: &Layout, at: At, cell: usize) -> Option<At> {
    let rank = plan.processes[at.process as usize].rank.index();
    let steps = (plan.first[rank]..plan.first[rank + 1])
        .flat_map(|process| (0..plan.steps(process).len() as u32).map(move |step| At { process, step }));
    steps.into_iter().find(|at| places::produced(layout, plan.step(*at)).any(|produced| produced == cell))
}

/// The early reads that race with no write: they come before every one.
fn uninitialised(
    plan: &Plan<'_>,
    order: &[At],
    early: &[FxHashMap<u32, Vec<u32>>],
    races: &[Conflict],
) -> Found {
    if early.iter().all(FxHashMap::is_empty) {
        return Found::default();
    }
    // A write that may come before them.
    let writes = races.iter().filter(|race| race.writes.1 && race.first != race.second);
    let racing: FxHashSet<(u32, u32)> = writes.map(|race| (race.first, race.cell)).collect();
    // By step and cell.
    let mut reads: Vec<(At, u32)> = Vec::new();
    for (cell, positions) in early.iter().flatten() {
        let certain = positions.iter().filter(|position| !racing.contains(&(**position, *cell)));
        reads.extend(certain.map(|position| (order[*position as usize], *cell)));
    }
    reads.sort_unstable();
    let mut found = Found::default();
    for (at, cell) in reads {
        found.push(|| {
            let layout = Layout::new(plan.schedule, plan.processes[at.process as usize].rank);
            let place = layout.place(cell as usize);
            let producer = producer(plan, &layout, at, cell as usize);
            let what = match producer {
                Some(_) => "is read before it is produced",
                None => "is read but has never been written",
            };
            let message = format!("{}: {place} {what}", plan.name(at));
            let finding = plan.finding(Rule::Uninitialised, at, message).at(plan.location(at).place(place));
            match producer {
                Some(by) => {
                    finding.with_related(plan.step(by).site, format!("{} produces it", plan.name(by)))
                }
                None => finding,
            }
        });
    }
    found
}
