//! The critical path of a workload, as text and as JSON.

use std::collections::BTreeMap;

use collective::sim::units::Picos;
use collective::sim::workload::{PathKind, PathNode, WorkloadPath};
use serde_json::{Value, json};

use super::figures::{percent, shortened};
use crate::commands::simulate::PathShown;
use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// The longest steps that are shown.
const SHOWN: usize = 10;

/// Where the path is asked for, the longest, and of the first and the last so many each.
const ASKED_FOR: usize = 20;
const ENDS: usize = 3;

/// What the time on the path goes into, in the order of the report.
fn cause(kind: &PathKind) -> (u8, &'static str) {
    match kind {
        PathKind::Compute => (0, "computing"),
        PathKind::Memory => (1, "memory"),
        PathKind::Collective { kind, .. } => (2, kind.name()),
        PathKind::Message => (3, "messages"),
        PathKind::LateStart => (4, "late_start"),
        _ => (5, "other"),
    }
}

fn time(step: &PathNode) -> Picos {
    Picos(step.finish.0 - step.start.0)
}

/// By cause, the time and the number of steps.
fn shares(path: &WorkloadPath) -> BTreeMap<(u8, &'static str), (Picos, usize)> {
    let mut shares = BTreeMap::new();
    for step in &path.steps {
        let (sum, count) = shares.entry(cause(&step.kind)).or_insert((Picos::ZERO, 0));
        *sum = Picos(sum.0 + time(step).0);
        *count += 1;
    }
    shares
}

/// The longest steps, by index in order of time.
fn longest(path: &WorkloadPath, most: usize) -> Vec<usize> {
    let mut steps: Vec<usize> = (0..path.steps.len()).collect();
    steps.sort_by_key(|at| (std::cmp::Reverse(time(&path.steps[*at])), *at));
    steps.truncate(most);
    steps.retain(|at| time(&path.steps[*at]) > Picos::ZERO);
    steps.sort_unstable();
    steps
}

/// The longest steps with the first and the last ones, in order of time.
fn with_ends(path: &WorkloadPath) -> Vec<usize> {
    let count = path.steps.len();
    let mut steps = longest(path, ASKED_FOR);
    steps.extend((0..count.min(ENDS)).chain(count.saturating_sub(ENDS)..count));
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn what(step: &PathNode) -> String {
    match &step.kind {
        PathKind::Collective { kind, group } if group.is_empty() => format!("{} of all ranks", kind.name()),
        PathKind::Collective { kind, group } => format!("{} on {group:?}", kind.name()),
        PathKind::LateStart => "starts late".to_owned(),
        PathKind::Message => "message".to_owned(),
        kind => cause(kind).1.to_owned(),
    }
}

fn row(step: &PathNode) -> Vec<String> {
    let ranks =
        if step.rank == step.to { step.rank.to_string() } else { format!("{}→{}", step.rank, step.to) };
    let named = step.kind != PathKind::LateStart;
    vec![
        shortened(&what(step), 30),
        if named { shortened(&step.name, 22) } else { String::new() },
        if named { step.node.to_string() } else { String::new() },
        ranks,
        units_shown::time(step.start),
        units_shown::time(time(step)),
    ]
}

/// Rows of some steps in order of time, and where they are not the longest alone, of how many lie between.
fn rows(path: &WorkloadPath, shown: &[usize], gaps: bool) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut next = 0;
    for at in shown {
        if gaps && *at > next {
            let between = &path.steps[next..*at];
            let sum = Picos(between.iter().map(|step| time(step).0).sum());
            let start = between.first().map_or(Picos::ZERO, |step| step.start);
            let mut row = vec![format!("… {}", steps(between.len()))];
            row.resize(4, String::new());
            row.extend([units_shown::time(start), units_shown::time(sum)]);
            rows.push(row);
        }
        rows.push(row(&path.steps[*at]));
        next = at + 1;
    }
    rows
}

/// What the makespan goes into, and the longest steps, with the first and the last ones where they are asked for, or all.
pub(super) fn to_text(path: &WorkloadPath, asked_for: Option<PathShown>) -> String {
    let shares = shares(path);
    let total = Picos(shares.values().map(|(time, _)| time.0).sum());
    let of_causes: Vec<Vec<String>> = shares
        .iter()
        .filter(|(_, (time, _))| *time > Picos::ZERO)
        .map(|((_, name), (time, count))| {
            let name = name.replace("late_start", "late start");
            vec![format!("  {name}"), units_shown::time(*time), percent(*time, total), steps(*count)]
        })
        .collect();
    let mut text = format!("\ncritical path: {}\n{}", steps(path.steps.len()), table(&of_causes));
    let (which, shown) = match asked_for {
        None => ("its longest steps", longest(path, SHOWN)),
        Some(PathShown::Longest) => ("its first, last and longest steps", with_ends(path)),
        Some(PathShown::All) => ("its steps", (0..path.steps.len()).collect()),
    };
    if shown.is_empty() {
        return text;
    }
    let header = [which, "name", "node", "rank", "start", "time"];
    let mut cells = vec![header.map(str::to_owned).to_vec()];
    cells.extend(rows(path, &shown, asked_for.is_some()));
    text.push_str(&table(&cells));
    text
}

fn steps(count: usize) -> String {
    format!("{count} step{}", if count == 1 { "" } else { "s" })
}

fn step_json(step: &PathNode) -> Value {
    let group = match &step.kind {
        PathKind::Collective { group, .. } => Some(group),
        _ => None,
    };
    json!({
        "kind": cause(&step.kind).1,
        "group": group,
        "rank": step.rank,
        "node": step.node,
        "name": step.name,
        "to_rank": step.to,
        "start_ns": nanoseconds(step.start),
        "end_ns": nanoseconds(step.finish),
    })
}

/// The same; all steps where they are asked for.
pub(super) fn to_json(path: &WorkloadPath, all: bool) -> Value {
    let shares = shares(path);
    let shares = shares.iter().map(|((_, name), (time, count))| {
        ((*name).to_owned(), json!({"time_ns": nanoseconds(*time), "steps": count}))
    });
    let longest: Vec<Value> = longest(path, SHOWN).into_iter().map(|at| step_json(&path.steps[at])).collect();
    let mut value = json!({
        "shares": Value::Object(shares.collect()),
        "step_count": path.steps.len(),
        "longest": longest,
    });
    if all {
        value["steps"] = path.steps.iter().map(step_json).collect();
    }
    value
}
