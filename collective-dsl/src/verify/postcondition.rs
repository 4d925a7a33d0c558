//! Compares the end of an execution with what the collective wants.

use smallvec::{SmallVec, smallvec};

use super::MAX_FINDINGS;
use super::execute::Run;
use super::plan::{At, Plan};
use super::values::{self, Value, Values};
use crate::collective::{Contributors, Wanted};
use crate::diagnostic::{Diagnostic, Location, Rule};
use crate::ids::{RankId, SiteId};
use crate::schedule::{MemoryBuffer, Place, Schedule};

/// A chunk that ends otherwise than the collective wants.
pub(super) struct Wrong {
    rank: RankId,
    index: u32,
    wanted: Wanted,
    place: Place,
    pub(super) value: Value,
    writer: Option<At>,
}

/// All wrong chunks, by rank and index.
pub(super) fn wrong<'a>(plan: &'a Plan<'_>, run: &'a Run<Values>) -> impl Iterator<Item = Wrong> + 'a {
    let collective = &plan.schedule.collective;
    let chunks = (0..collective.ranks() as u32)
        .map(RankId)
        .flat_map(move |rank| (0..collective.output_chunks_of(rank) as u32).map(move |index| (rank, index)));
    chunks.filter_map(move |(rank, index)| {
        let wanted = collective.wanted(rank, index)?;
        let (place, value, writer) = run.output(plan, rank, index);
        let right = is_wanted(plan.schedule, run, &wanted, value);
        (!right).then_some(Wrong { rank, index, wanted, place, value, writer })
    })
}

/// One finding for each source line that wrote a wrong chunk last: the same slip usually spoils a chunk on every rank,
/// so the others are only counted.
pub(super) fn by_line(
    plan: &Plan<'_>,
    run: &Run<Values>,
    wrong: impl Iterator<Item = Wrong>,
) -> Vec<Diagnostic> {
    let mut groups: Vec<(Option<SiteId>, Wrong, u32)> = Vec::new();
    for wrong in wrong {
        let site = wrong.writer.map(|writer| plan.step(writer).site);
        match groups.iter().position(|group| group.0 == site) {
            Some(known) => groups[known].2 += 1,
            None if groups.len() < MAX_FINDINGS => groups.push((site, wrong, 0)),
            None => {}
        }
    }
    let describe = |(_, wrong, more): &(_, Wrong, u32)| {
        let mut finding = describe(plan, run, wrong, true);
        match more {
            0 => {}
            1 => finding.message.push_str(" (likewise 1 more chunk)"),
            more => finding.message.push_str(&format!(" (likewise {more} more chunks)")),
        }
        finding
    };
    groups.iter().map(describe).collect()
}

fn is_wanted(schedule: &Schedule, run: &Run<Values>, wanted: &Wanted, value: Value) -> bool {
    let contents = run.algebra.contents(value);
    contents.len() == wanted.parts.len()
        && contents.iter().zip(&wanted.parts).all(|((chunk, got), (wanted_chunk, from))| {
            chunk == wanted_chunk
                && match from {
                    Contributors::AllAtLeastOnce => missing(got, &runs(schedule, from)).is_empty(),
                    _ => **got == runs(schedule, from)[..],
                }
        })
}

/// The wanted ranks as runs, as [`super::values`] keeps them.
fn runs(schedule: &Schedule, from: &Contributors) -> SmallVec<[values::Run; 1]> {
    let last = schedule.collective.ranks() as u32 - 1;
    match from {
        Contributors::One(rank) => smallvec![values::Run { first: rank.0, last: rank.0, count: 1 }],
        Contributors::All | Contributors::AllAtLeastOnce => {
            smallvec![values::Run { first: 0, last, count: 1 }]
        }
        Contributors::These(ranks) => {
            let mut runs: SmallVec<[values::Run; 1]> = SmallVec::new();
            let mut ranks = ranks.iter().map(|rank| rank.0).peekable();
            while let Some(rank) = ranks.next() {
                let mut count = 1;
                while ranks.next_if_eq(&rank).is_some() {
                    count += 1;
                }
                match runs.last_mut() {
                    Some(run) if run.last + 1 == rank && run.count == count => run.last = rank,
                    _ => runs.push(values::Run { first: rank, last: rank, count }),
                }
            }
            runs
        }
    }
}

/// Says what is wrong with a chunk; `elsewhere` if it shall look for what is wanted on other ranks, which takes long.
pub(super) fn describe(plan: &Plan<'_>, run: &Run<Values>, wrong: &Wrong, elsewhere: bool) -> Diagnostic {
    let schedule = plan.schedule;
    let collective = &schedule.collective;
    let Wrong { rank, index, wanted, place, value, writer } = wrong;
    let contents = run.algebra.contents(*value);
    let cell = if collective.is_in_place() {
        format!("rank {}, chunk {index}", rank.0)
    } else {
        format!("rank {}, output chunk {index}", rank.0)
    };
    let single = single(schedule, wanted);
    let same_chunks = contents.iter().map(|part| part.0).eq(wanted.parts.iter().map(|part| part.0));
    let mut what = if *value == Value::Undefined {
        format!("{cell} ends with what comes of reading what nobody wrote")
    } else if contents.is_empty() {
        match &single {
            Some(wanted) => format!("{cell} is never written: it should hold {wanted}"),
            None => format!("{cell} is never written"),
        }
    } else if let (true, Some(wanted), Some(got)) = (same_chunks, &single, held(schedule, &contents)) {
        format!(
            "{cell} should hold {wanted}, but {}holds {got}",
            if writer.is_some() { "" } else { "still " }
        )
    } else if same_chunks {
        let verb = if writer.is_some() { "ends with" } else { "still holds its input:" };
        let (mut got, mut total, mut faults, mut doubled) = (0, 0, Vec::new(), Vec::new());
        for ((_, present), (_, from)) in contents.iter().zip(&wanted.parts) {
            let wanted = runs(schedule, from);
            total += wanted.iter().map(|run| run.last - run.first + 1).sum::<u32>();
            let missing = missing(present, &wanted);
            got += wanted.iter().map(|run| run.last - run.first + 1).sum::<u32>() - missing.len() as u32;
            faults.extend(compare(present, &wanted, &missing));
            doubled.extend(repeated(present, &wanted));
        }
        if got == total && total > 1 && doubled.len() == faults.len() {
            format!("{cell} {verb} all {total} contributions, but {}", doubled.join(", "))
        } else {
            format!("{cell} {verb} {got} of {total} contributions ({})", faults.join(", "))
        }
    } else {
        let list = |chunks: Vec<u32>| match chunks[..] {
            [chunk] => format!("data of chunk {chunk}"),
            _ => {
                let chunks: Vec<String> = chunks.iter().map(u32::to_string).collect();
                format!("a sum of the chunks {}", chunks.join(", "))
            }
        };
        let got = list(contents.iter().map(|part| part.0).collect());
        format!("{cell} ends with {got}, not {}", list(wanted.parts.iter().map(|part| part.0).collect()))
    };
    if writer.is_some() {
        what.push_str("; this is the last write to it");
    } else if !contents.is_empty() {
        what.push_str("; nothing is ever written to it");
    }
    // What is wanted may be there, only not here: then it is the way that is missing, not a contribution.
    let holder = elsewhere.then(|| run.find(|value| is_wanted(schedule, run, wanted, value))).flatten();
    if let Some((other, place)) = holder.filter(|(other, _)| other != rank) {
        let place = match place.buffer {
            MemoryBuffer::Input => format!("input chunk {}", place.index),
            MemoryBuffer::Output => format!("output chunk {}", place.index),
            MemoryBuffer::Scratch => "scratch".to_owned(),
        };
        what.push_str(&match single {
            Some(_) => format!("; what it should hold is in {place} of rank {} at the end", other.0),
            None => format!("; rank {} holds all of it at the end, in {place}", other.0),
        });
    }
    let message = format!("{} does not hold for ranks = {}: {what}", collective.kind(), collective.ranks());
    match writer {
        Some(writer) => plan.finding(Rule::Wrong, *writer, message).at(plan.location(*writer).place(*place)),
        None => Diagnostic::new(Rule::Wrong, None, message).at(Location::rank(*rank).place(*place)),
    }
}

/// The one input chunk that is wanted, if it is one.
fn single(schedule: &Schedule, wanted: &Wanted) -> Option<String> {
    match &wanted.parts[..] {
        [(chunk, Contributors::One(rank))] => input(schedule, *chunk, *rank),
        [(chunk, Contributors::These(ranks))] => match ranks[..] {
            [rank] => input(schedule, *chunk, rank),
            _ => None,
        },
        _ => None,
    }
}

/// The one input chunk that is there, if it is one.
fn held(schedule: &Schedule, contents: &[(u32, &[values::Run])]) -> Option<String> {
    match contents {
        [(chunk, [run])] if run.first == run.last && run.count == 1 => {
            input(schedule, *chunk, RankId(run.first))
        }
        _ => None,
    }
}

/// A rank's part of a logical chunk by its name in the program.
fn input(schedule: &Schedule, chunk: u32, rank: RankId) -> Option<String> {
    let collective = &schedule.collective;
    let mut inputs = 0..collective.input_chunks_of(rank) as u32;
    let index = inputs.find(|index| collective.input_data(rank, *index) == chunk)?;
    Some(format!("input chunk {index} of rank {}", rank.0))
}

/// The contributions that are there in another number than is wanted.
fn repeated(present: &[values::Run], wanted: &[values::Run]) -> Vec<String> {
    let others = present.iter().map(|run| (run.count, other_counts(run, wanted)));
    let others = others.filter(|(_, ranks)| !ranks.is_empty());
    others
        .map(|(count, ranks)| match ranks[..] {
            [rank] => format!("that of rank {rank} {}", times(count)),
            _ => format!("those of ranks {} {}", listed(&ranks), times(count)),
        })
        .collect()
}

/// How often a rank's contribution is wanted.
fn wanted_count(rank: u32, wanted: &[values::Run]) -> u32 {
    wanted.iter().find(|run| (run.first..=run.last).contains(&rank)).map_or(0, |run| run.count)
}

/// The ranks that are wanted, but not as often.
fn other_counts(run: &values::Run, wanted: &[values::Run]) -> Vec<u32> {
    let is_other = |rank: &u32| {
        let count = wanted_count(*rank, wanted);
        count > 0 && count != run.count
    };
    (run.first..=run.last).filter(is_other).collect()
}

/// What is wrong with the contributions that are present.
fn compare(present: &[values::Run], wanted: &[values::Run], missing: &[u32]) -> Vec<String> {
    let mut faults = Vec::new();
    if !missing.is_empty() {
        faults.push(format!("{} missing", ranks_are(missing)));
    }
    for run in present {
        let strangers: Vec<u32> =
            (run.first..=run.last).filter(|rank| wanted_count(*rank, wanted) == 0).collect();
        if !strangers.is_empty() {
            faults.push(format!("{} not wanted here", ranks_are(&strangers)));
        }
        let other = other_counts(run, wanted);
        if !other.is_empty() {
            faults.push(format!("{} counted {}", ranks_are(&other), times(run.count)));
        }
    }
    faults
}

/// The wanted ranks of which no contribution is present.
fn missing(present: &[values::Run], wanted: &[values::Run]) -> Vec<u32> {
    // Both lists ascend, so one walk over the present runs serves all wanted ranks.
    let mut present = present.iter().peekable();
    let mut missing = Vec::new();
    for rank in wanted.iter().flat_map(|run| run.first..=run.last) {
        while present.next_if(|run| run.last < rank).is_some() {}
        if present.peek().is_none_or(|run| run.first > rank) {
            missing.push(rank);
        }
    }
    missing
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

/// "rank 1 is", "ranks 1, 2 are", "ranks 1, 2, 3 and 14 more are".
fn ranks_are(ranks: &[u32]) -> String {
    match ranks {
        [rank] => format!("rank {rank} is"),
        _ => format!("ranks {} are", listed(ranks)),
    }
}

/// The first of many.
fn listed(ranks: &[u32]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = ranks.iter().take(SHOWN).map(u32::to_string).collect();
    let more = ranks.len().saturating_sub(SHOWN);
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{tail}", shown.join(", "))
}
