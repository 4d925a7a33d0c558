//! Words for what happened.

use collective::sim::Model;
use collective::sim::units::Picos;

use crate::recording::{Crossing, Kind, Recording, Step};

/// A time as the other reports print it.
pub(super) fn time(time: Picos) -> String {
    if time.0 < 10_000_000 {
        return time.to_string();
    }
    format!("{} us", trimmed(time.0 as f64 / 1e6))
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

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
