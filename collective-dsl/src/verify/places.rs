//! What each step reads and writes: whether it is there, and may be touched.

use std::ops::Range;

use super::layout::{self, Layout};
use super::plan::{At, Plan};
use super::report::Found;
use crate::diagnostic::{Diagnostic, Rule};
use crate::ids::RankId;
use crate::schedule::{MemoryBuffer, Place, Step, StepKind};

/// The cells that a step reads to move them, as far as they exist; what `re` adds to is only in [`written`].
pub(super) fn read(layout: &Layout, step: &Step) -> Range<usize> {
    if step.kind.reads_src() { layout.range(step.src, step.count) } else { 0..0 }
}

/// The cells that a step writes with what it moves, as far as they exist. A copy onto itself, as between two names of one chunk in place,
/// writes none.
pub(super) fn written(layout: &Layout, step: &Step) -> Range<usize> {
    if !step.kind.writes_dst() {
        return 0..0;
    }
    let cells = layout.range(step.dst, step.count);
    if step.kind == StepKind::Copy && cells == layout.range(step.src, step.count) { 0..0 } else { cells }
}

/// The cells that a computation reads, as far as they exist.
pub(super) fn needed(layout: &Layout, step: &Step) -> impl Iterator<Item = usize> {
    let computed = step.work.iter().flat_map(|work| &work.reads);
    computed.flat_map(|run| layout.range(run.first, run.count))
}

/// The cells that a computation produces, as far as they exist.
pub(super) fn produced(layout: &Layout, step: &Step) -> impl Iterator<Item = usize> {
    let computed = step.work.iter().flat_map(|work| &work.writes);
    computed.flat_map(|run| layout.range(run.first, run.count))
}

/// Whether a step writes what it reads as another chunk: then it depends on the order of its own threads.
pub(super) fn shifts(layout: &Layout, step: &Step) -> bool {
    let (read, written) = (read(layout, step), written(layout, step));
    read.start != written.start && read.start < written.end && written.start < read.end
}

/// Accesses beyond a buffer, and, as warnings, writes to the input of a collective out of place.
pub(super) fn check(plan: &Plan<'_>) -> (Found, Found) {
    let schedule = plan.schedule;
    let (mut beyond, mut input) = (Found::default(), Found::default());
    for rank in 0..schedule.ranks.len() {
        let layout = Layout::new(schedule, RankId(rank as u32));
        let inputs = layout.inputs();
        for process in plan.first[rank]..plan.first[rank + 1] {
            for (s, step) in (0..).zip(plan.steps(process)) {
                let at = At { process, step: s };
                let reaches = |place: Place, count: u32| {
                    u64::from(place.index) + u64::from(count) > layout.chunks(place.buffer) as u64
                };
                let outside = |place: Place| reaches(place, step.count);
                for run in step.work.iter().flat_map(|work| work.reads.iter().chain(&work.writes)) {
                    if reaches(run.first, run.count) {
                        beyond.push(|| describe(plan, &layout, at, run.first, run.count));
                    }
                }
                for cell in produced(&layout, step).filter(|cell| !inputs.contains(cell)).take(1) {
                    beyond.push(|| {
                        let place = layout.place(cell);
                        let message = format!(
                            "{} computes {place}, which is no chunk of the rank's input: only those can be computed",
                            plan.name(at)
                        );
                        plan.finding(Rule::Bounds, at, message).at(plan.location(at).place(place))
                    });
                }
                if step.kind.reads_src() && outside(step.src) {
                    beyond.push(|| describe(plan, &layout, at, step.src, step.count));
                }
                // A reduction in place reaches beyond its buffer once.
                let same = step.kind.reads_src() && step.src == step.dst;
                if step.kind.writes_dst() && !same && outside(step.dst) {
                    beyond.push(|| describe(plan, &layout, at, step.dst, step.count));
                }
                if step.kind.writes_dst()
                    && step.dst.buffer == MemoryBuffer::Input
                    && !schedule.collective.is_in_place()
                {
                    input.push(|| {
                        let message = format!(
                            "{} writes to {}: out of place the input is the caller's, who expects it back unchanged",
                            plan.name(at),
                            layout::name(step.dst, step.count as usize),
                        );
                        let finding = plan.finding(Rule::Input, at, message).as_warning();
                        finding.at(plan.location(at).place(step.dst))
                    });
                }
            }
        }
    }
    (beyond, input)
}

fn describe(plan: &Plan<'_>, layout: &Layout, at: At, place: Place, count: u32) -> Diagnostic {
    let chunks = layout.chunks(place.buffer);
    let end = u64::from(place.index) + u64::from(count);
    let letter = place.buffer.letter();
    let message = format!(
        "{} reaches beyond its buffer: {letter}[{}..{end}], but {letter} has {chunks} chunk(s) there",
        plan.name(at),
        place.index,
    );
    // The first chunk that is not there.
    let index = place.index.max(u32::try_from(chunks).unwrap_or(u32::MAX));
    plan.finding(Rule::Bounds, at, message).at(plan.location(at).place(Place { index, ..place }))
}

/// How a step touches a place: "reads", "writes", or "adds to".
pub(super) fn verb(kind: StepKind, writes: bool) -> &'static str {
    match (writes, kind) {
        (false, _) => "reads",
        (true, StepKind::Reduce) => "adds to",
        (true, StepKind::Compute) => "produces",
        (true, _) => "writes",
    }
}
