//! What is known of a run that did not end.

use collective::sim::{PartialReport, Progress, StuckReport, WaitKind, WaitStep};
use serde_json::{Value, json};

use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// What a run that was interrupted had found out.
pub(super) fn interrupted_json(so_far: &PartialReport) -> Value {
    let Progress { time, finished, nodes, messages, bytes, .. } = so_far.progress;
    let ranks = so_far.finish.iter().enumerate();
    let ranks: Vec<Value> =
        ranks.map(|(rank, time)| json!({"rank": rank, "reached_ns": nanoseconds(*time)})).collect();
    json!({
        "verdict": "interrupted",
        "partial_time_ns": nanoseconds(time),
        "finished_nodes": finished,
        "nodes": nodes,
        "messages": messages,
        "bytes": bytes.0,
        "ranks": ranks,
    })
}

/// The same for people.
pub(super) fn interrupted_text(so_far: &PartialReport) -> String {
    let Progress { time, finished, nodes, messages, bytes, .. } = so_far.progress;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    table(&[
        row("time reached", units_shown::time_exact(time)),
        row("nodes finished", format!("{finished} of {nodes}")),
        row("messages", messages.to_string()),
        row("bytes sent", units_shown::size_exact(bytes)),
    ])
}

/// A run that cannot go on: who waits for whom.
pub(super) fn stuck_json(stuck: &StuckReport) -> Value {
    let receives: Vec<Value> = stuck
        .receives
        .iter()
        .map(|receive| {
            json!({
                "rank": receive.rank, "node": receive.node, "peer": receive.peer,
                "tag": receive.tag, "bytes": receive.bytes.0, "message": receive.to_string(),
            })
        })
        .collect();
    let cycles: Vec<Value> =
        stuck.cycles.iter().map(|cycle| json!({"rank": cycle.rank, "nodes": cycle.nodes})).collect();
    let circle = stuck.deadlock.as_ref().map(|circle| {
        let step = |step: &WaitStep| {
            let (kind, peer) = match step.kind {
                WaitKind::Send { dst } => ("send", Some(dst)),
                WaitKind::Receive { src } => ("receive", Some(src)),
                _ => ("compute", None),
            };
            json!({"rank": step.rank, "node": step.node, "kind": kind, "peer": peer})
        };
        circle.steps.iter().map(step).collect::<Vec<_>>()
    });
    json!({
        "verdict": "stuck",
        "partial_time_ns": nanoseconds(stuck.time),
        "unfinished_nodes": stuck.unfinished,
        "waiting": receives,
        "deadlock": circle,
        "dependence_cycles": cycles,
    })
}
