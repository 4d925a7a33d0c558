//! Compares the end of an execution with what the collective wants.

use super::MAX_FINDINGS;
use super::execute::Run;
use super::values::{self, Value};
use crate::collective::Contributors;
use crate::diagnostic::{Diagnostic, Rule};
use crate::ids::RankId;
use crate::schedule::Schedule;

/// The wrong chunks, at most one for each source line: the same slip usually spoils a chunk on every rank.
pub(super) fn check(schedule: &Schedule, run: &Run) -> Vec<Diagnostic> {
    let collective = &schedule.collective;
    // Each wanted content is looked up once, not once a rank.
    let mut findings: Vec<Diagnostic> = Vec::new();
    for rank in 0..collective.ranks() as u32 {
        for index in 0..collective.output_chunks() as u32 {
            let (value, writer) = run.output(schedule, RankId(rank), index);
            if is_wanted(schedule, run, RankId(rank), index, value) {
                continue;
            }
            if findings.iter().any(|finding| finding.site == writer) {
                continue;
            }
            findings.push(describe(schedule, run, RankId(rank), index));
            if findings.len() == MAX_FINDINGS {
                return findings;
            }
        }
    }
    findings
}

fn is_wanted(schedule: &Schedule, run: &Run, rank: RankId, index: u32, value: Value) -> bool {
    let wanted = schedule.collective.wanted(rank, index);
    let Value::Sum { chunk, .. } = value else { return false };
    let (first, last) = bounds(schedule, wanted.from);
    chunk == wanted.chunk
        && matches!(run.values.contents(value)[..], [(_, &[run])] if run == values::Run { first, last, count: 1 })
}

fn bounds(schedule: &Schedule, from: Contributors) -> (u32, u32) {
    match from {
        Contributors::One(rank) => (rank.0, rank.0),
        Contributors::All => (0, schedule.collective.ranks() as u32 - 1),
    }
}

fn describe(schedule: &Schedule, run: &Run, rank: RankId, index: u32) -> Diagnostic {
    let collective = &schedule.collective;
    let (value, writer) = run.output(schedule, rank, index);
    let wanted = collective.wanted(rank, index);
    let (first, last) = bounds(schedule, wanted.from);
    let contents = run.values.contents(value);
    let cell = if collective.is_in_place() {
        format!("rank {}, chunk {index}", rank.0)
    } else {
        format!("rank {}, output chunk {index}", rank.0)
    };
    let mut what = match contents[..] {
        [] => format!("{cell} is never written"),
        [(chunk, runs)] if chunk == wanted.chunk => {
            let total = last - first + 1;
            let got: u32 = runs
                .iter()
                .filter(|r| r.last >= first && r.first <= last)
                .map(|r| overlap(r, first, last))
                .sum();
            let missing = missing(runs, first, last);
            let mut faults = Vec::new();
            if !missing.is_empty() {
                faults.push(format!("{} missing", ranks_are(&missing)));
            }
            for run in runs {
                let within = run.first.max(first)..=run.last.min(last);
                if run.count > 1 {
                    faults.push(format!(
                        "{} counted {}",
                        ranks_are(&within.collect::<Vec<_>>()),
                        times(run.count)
                    ));
                }
                let strangers: Vec<u32> =
                    (run.first..=run.last).filter(|r| *r < first || *r > last).collect();
                if !strangers.is_empty() {
                    faults.push(format!("{} not wanted here", ranks_are(&strangers)));
                }
            }
            let verb = if writer.is_some() { "ends with" } else { "still holds its input:" };
            format!("{cell} {verb} {got} of {total} contributions ({})", faults.join(", "))
        }
        [(chunk, _)] => format!("{cell} ends with data of chunk {chunk}, not of chunk {}", wanted.chunk),
        _ => {
            let chunks: Vec<String> = contents.iter().map(|(chunk, _)| chunk.to_string()).collect();
            format!("{cell} ends with a sum of different chunks ({})", chunks.join(", "))
        }
    };
    if writer.is_some() {
        what.push_str("; this is the last write to it");
    } else if !contents.is_empty() {
        what.push_str("; nothing is ever written to it");
    }
    let message = format!("{} does not hold for ranks = {}: {what}", collective.kind(), collective.ranks());
    Diagnostic::new(Rule::Wrong, writer, message)
}

/// Number of ranks of a run within the wanted ones.
fn overlap(run: &values::Run, first: u32, last: u32) -> u32 {
    run.last.min(last) - run.first.max(first) + 1
}

fn missing(runs: &[values::Run], first: u32, last: u32) -> Vec<u32> {
    (first..=last).filter(|rank| !runs.iter().any(|run| (run.first..=run.last).contains(rank))).collect()
}

fn times(count: u32) -> String {
    if count == 2 { "twice".to_owned() } else { format!("{count} times") }
}

/// "rank 1 is", "ranks 1, 2 are", "ranks 1, 2, 3 and 14 more are".
fn ranks_are(ranks: &[u32]) -> String {
    const SHOWN: usize = 4;
    if let [rank] = ranks {
        return format!("rank {rank} is");
    }
    let shown: Vec<String> = ranks.iter().take(SHOWN).map(u32::to_string).collect();
    let more = ranks.len().saturating_sub(SHOWN);
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("ranks {}{tail} are", shown.join(", "))
}
