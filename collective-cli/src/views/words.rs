//! Words for what happened.

use collective::sim::Model;

use crate::recording::{Crossing, Kind, Recording, Step};
use crate::units_shown::time;

/// What a step does, in full.
pub(super) fn step(recording: &Recording, step: &Step) -> String {
    let what = match step.kind {
        Kind::Send { peer, .. } => format!("send to rank {peer}"),
        Kind::Receive { peer, .. } => format!("receive from rank {peer}"),
        Kind::Reduce => "reduce".to_owned(),
        Kind::Copy => "copy".to_owned(),
    };
    let number = step.number.map_or_else(|| format!("node {}", step.node), |number| format!("step {number}"));
    let source = recording.source(step).map_or_else(String::new, |source| format!("\n{source}"));
    format!(
        "rank {}, thread block {}, {number}: {what}, {}\n{} to {}{source}",
        step.rank,
        step.thread_block,
        step.bytes,
        time(step.start),
        time(step.finish)
    )
}

/// What crosses a link.
pub(super) fn crossing(crossing: &Crossing) -> String {
    let Crossing { src, dst, bytes, start, finish, .. } = crossing;
    format!("rank {src} → rank {dst}, {bytes}\n{} to {}", time(*start), time(*finish))
}

/// What is to know of the times of links.
pub(super) fn of_links(model: Model) -> Option<&'static str> {
    match model {
        Model::LinkQueue => None,
        Model::LogGp => Some("the model loggp knows no links"),
        _ => Some(
            "links: under this model a message flows over all links of its route at once, and its bytes are spread evenly over its \
             flight",
        ),
    }
}
