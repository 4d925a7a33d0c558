//! What determines the time.

use std::collections::HashMap;

use collective::sim::report::{Shares, StepKind};
use collective::sim::units::Picos;

use super::words;
use crate::picture::{Cause, Chain, ChainLine, ChainStep};
use crate::recording::{Recording, Step};

/// Rows of the division by source line.
const MOST_LINES: usize = 10;

const CAUSES: [Cause; 5] = [
    Cause { colour: "#d1d5db", text: "waiting" },
    Cause { colour: "#d55e00", text: "queueing" },
    Cause { colour: "#56b4e9", text: "latency" },
    Cause { colour: "#0072b2", text: "bandwidth" },
    Cause { colour: "#009e73", text: "computing" },
];

/// In the order of the causes.
fn shares(shares: &Shares) -> Vec<Picos> {
    vec![shares.waiting, shares.queueing, shares.latency, shares.bandwidth, shares.computing]
}

/// The critical path.
pub(crate) fn path(recording: &Recording, title: &str, subtitle: &str) -> Chain {
    let mut ranks: Vec<u32> = recording.path.steps.iter().map(|step| step.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    // Only looked up.
    let known: HashMap<(u32, u64), &Step> =
        recording.steps.iter().map(|step| ((step.rank, step.node), step)).collect();
    let steps = recording.path.steps.iter().map(|step| {
        let what = match (known.get(&(step.rank, step.node)), step.kind) {
            (Some(step), _) => words::step(recording, step),
            (None, StepKind::Send { dst }) => format!("rank {}: send to rank {dst}", step.rank),
            (None, StepKind::Receive { src }) => format!("rank {}: receive from rank {src}", step.rank),
            (None, _) => format!("rank {}: compute", step.rank),
        };
        let parts = CAUSES.iter().zip(shares(&step.shares)).filter(|(_, time)| time.0 > 0);
        let parts: Vec<String> =
            parts.map(|(cause, time)| format!("{} {}", cause.text, words::time(time))).collect();
        ChainStep {
            row: ranks.binary_search(&step.rank).unwrap_or(0),
            start: step.start,
            shares: shares(&step.shares),
            tooltip: format!("{what}\n{}", parts.join(", ")),
        }
    });
    let all = &recording.path.lines;
    let mut lines: Vec<ChainLine> = all
        .iter()
        .take(MOST_LINES)
        .map(|line| ChainLine { label: format!("{}:{}", line.file, line.line), shares: shares(&line.shares) })
        .collect();
    if let Some(rest) = all.get(MOST_LINES..).filter(|rest| !rest.is_empty()) {
        let mut sum = Shares::default();
        rest.iter().for_each(|line| sum += line.shares);
        lines.push(ChainLine { label: format!("{} more lines", rest.len()), shares: shares(&sum) });
    }
    Chain {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        end: recording.makespan,
        causes: CAUSES.to_vec(),
        rows: ranks.iter().map(|rank| format!("rank {rank}")).collect(),
        steps: steps.collect(),
        lines,
        by: "by source line".to_owned(),
        notes: Vec::new(),
    }
}
