//! A workload that does not come to its end, as JSON.

use collective::sim::workload::{StuckWorkload, Wait, WorkloadError};
use serde_json::{Value, json};

use crate::json::nanoseconds;

/// Who waits for whom.
pub(super) fn stuck_json(stuck: &StuckWorkload) -> Value {
    let wait = |wait: &Wait| json!({"rank": wait.rank, "node": wait.node, "name": wait.name, "what": wait.what, "why": wait.why});
    json!({
        "verdict": "stuck",
        "partial_time_ns": nanoseconds(stuck.time),
        "unfinished_nodes": stuck.unfinished,
        "nodes": stuck.nodes,
        "is_deadlock": stuck.is_circle,
        "waits": stuck.waits.iter().map(wait).collect::<Vec<_>>(),
    })
}

/// What the ranks do not agree on.
pub(super) fn refused_json(error: &WorkloadError) -> Value {
    let verdict = match error {
        WorkloadError::Simulation(_) => "size-mismatch",
        _ => "collectives-differ",
    };
    json!({"verdict": verdict, "message": error.to_string()})
}
