//! The critical path, as text and as JSON.

use collective::sim::report::{CriticalPath, Shares, StepKind};
use collective::sim::units::Picos;
use serde_json::{Value, json};

use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// Rows of the table of source lines.
const SHOWN: usize = 10;

fn named(shares: &Shares) -> [(&'static str, Picos); 5] {
    [
        ("latency", shares.latency),
        ("bandwidth", shares.bandwidth),
        ("queueing", shares.queueing),
        ("waiting", shares.waiting),
        ("computing", shares.computing),
    ]
}

fn shares_json(shares: &Shares) -> Value {
    let fields = named(shares).map(|(name, time)| (format!("{name}_ns"), nanoseconds(time)));
    Value::Object(fields.into_iter().collect())
}

pub(super) fn to_json(path: &CriticalPath) -> Value {
    let lines = path.lines.iter().map(|line| {
        json!({
            "file": line.file, "line": line.line,
            "time_ns": nanoseconds(line.shares.total()), "shares": shares_json(&line.shares),
        })
    });
    let steps = path.steps.iter().map(|step| {
        let (kind, peer) = match step.kind {
            StepKind::Send { dst } => ("send", Some(dst)),
            StepKind::Receive { src } => ("receive", Some(src)),
            _ => ("compute", None),
        };
        json!({
            "rank": step.rank, "node": step.node, "kind": kind, "peer": peer,
            "start_ns": nanoseconds(step.start), "end_ns": nanoseconds(step.end),
        })
    });
    json!({
        "shares": shares_json(&path.shares),
        "lines": lines.collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
    })
}

pub(super) fn to_text(path: &CriticalPath) -> String {
    let total = path.shares.total();
    let percent = |time: Picos| format!("{:.1} %", time.0 as f64 / total.0.max(1) as f64 * 100.0);
    let sends = path.steps.iter().filter(|step| matches!(step.kind, StepKind::Send { .. })).count();
    let row = |name: String, time: Picos| vec![name, units_shown::time(time), percent(time)];
    let causes = named(&path.shares).into_iter().filter(|(_, time)| *time > Picos::ZERO);
    let causes: Vec<Vec<String>> = causes.map(|(name, time)| row(format!("  {name}"), time)).collect();
    let mut text =
        format!("\ncritical path: {} nodes, {sends} messages\n{}", path.steps.len(), table(&causes));
    if !path.lines.is_empty() {
        // The largest come first.
        let lines = path.lines.iter().take(SHOWN).filter(|line| line.shares.total() > Picos::ZERO);
        let mut lines: Vec<Vec<String>> =
            lines.map(|line| row(format!("  {}:{}", line.file, line.line), line.shares.total())).collect();
        let rest = path.lines.iter().skip(SHOWN).map(|line| line.shares.total().0).sum();
        if rest > 0 {
            lines.push(row(format!("  {} more lines", path.lines.len() - SHOWN), Picos(rest)));
        }
        text.push_str(&format!("by source line\n{}", table(&lines)));
    }
    text
}
