//! The critical path of a workload, as text and as JSON.

use std::collections::BTreeMap;

use collective::sim::units::Picos;
use collective::sim::workload::{PathKind, PathNode, WorkloadPath};
use serde_json::{Value, json};

use super::figures::{micros, percent, shortened};
use crate::json::nanoseconds;
use crate::output::table;

/// The longest steps that are shown.
const SHOWN: usize = 10;

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

/// The longest steps, in order of time.
fn longest(path: &WorkloadPath) -> Vec<&PathNode> {
    let mut steps: Vec<(usize, &PathNode)> = path.steps.iter().enumerate().collect();
    steps.sort_by_key(|(at, step)| (std::cmp::Reverse(time(step)), *at));
    steps.truncate(SHOWN);
    steps.retain(|(_, step)| time(step) > Picos::ZERO);
    steps.sort_by_key(|(at, _)| *at);
    steps.into_iter().map(|(_, step)| step).collect()
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
        micros(step.start),
        micros(time(step)),
    ]
}

/// What the makespan goes into, and the longest steps, or all.
pub(super) fn to_text(path: &WorkloadPath, all: bool) -> String {
    let shares = shares(path);
    let total = Picos(shares.values().map(|(time, _)| time.0).sum());
    let rows: Vec<Vec<String>> = shares
        .iter()
        .filter(|(_, (time, _))| *time > Picos::ZERO)
        .map(|((_, name), (time, count))| {
            let name = name.replace("late_start", "late start");
            vec![format!("  {name}"), micros(*time), percent(*time, total), steps(*count)]
        })
        .collect();
    let mut text = format!("\ncritical path: {}, us\n{}", steps(path.steps.len()), table(&rows));
    let shown = if all { path.steps.iter().collect() } else { longest(path) };
    if shown.is_empty() {
        return text;
    }
    let which = if all { "its steps" } else { "its longest steps" };
    let header = [which, "name", "node", "rank", "start us", "us"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(shown.into_iter().map(row));
    text.push_str(&table(&rows));
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
    let longest: Vec<Value> = longest(path).into_iter().map(step_json).collect();
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
