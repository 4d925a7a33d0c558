//! Whether the k-th send of every connection has a k-th receive of the same length.

use super::plan::{At, Plan};
use super::report::Found;
use crate::diagnostic::{Diagnostic, Rule};
use crate::schedule::StepKind;

/// What was found of the messages of a schedule in which every end of a connection has one owner.
pub(super) struct Matching {
    pub(super) found: Found,
    /// Whether every message has both ends, so that the schedule can run.
    pub(super) complete: bool,
}

/// Pairs the sends and receives of every connection.
pub(super) fn check(plan: &Plan<'_>) -> Matching {
    let mut matching = Matching { found: Found::default(), complete: true };
    for connection in &plan.connections {
        let ends = |process: Option<u32>, is_one: fn(StepKind) -> bool| {
            let steps = process.into_iter().flat_map(move |process| {
                (0..).zip(plan.steps(process)).map(move |(step, it)| (At { process, step }, it.kind))
            });
            steps.filter(move |(_, kind)| is_one(*kind)).map(|(at, _)| at)
        };
        let mut sends = ends(connection.sender, StepKind::sends);
        let mut receives = ends(connection.receiver, StepKind::receives);
        loop {
            let (send, receive) = (sends.next(), receives.next());
            match (send, receive) {
                (None, None) => break,
                (Some(send), Some(receive)) if plan.step(send).count == plan.step(receive).count => {}
                (send, receive) => {
                    matching.complete &= send.is_some() && receive.is_some();
                    matching.found.push(|| describe(plan, send, receive));
                }
            }
        }
    }
    // By rank, thread block and step, not by connection.
    let place = |finding: &Diagnostic| (finding.at.rank, finding.at.thread_block, finding.at.step);
    matching.found.list.sort_by_key(place);
    matching
}

fn describe(plan: &Plan<'_>, send: Option<At>, receive: Option<At>) -> Diagnostic {
    let found = |at, message| plan.finding(Rule::Unmatched, at, message);
    match (send, receive) {
        (Some(send), None) => {
            let step = plan.step(send);
            let (size, peer) = (step.count, peer(plan, send, true));
            let message =
                format!("{}: a message of {size} chunk(s) is sent{peer} but never received", plan.name(send));
            Diagnostic { site: Some(step.send_site), ..found(send, message) }
        }
        (None, Some(receive)) => {
            let peer = peer(plan, receive, false);
            found(receive, format!("{} waits for a message{peer} that never comes", plan.name(receive)))
        }
        (Some(send), Some(receive)) => {
            let (size, wanted) = (plan.step(send).count, plan.step(receive).count);
            let message =
                format!("{}: a message of {size} chunk(s) meets a receive of {wanted}", plan.name(receive));
            let sender = format!("{} sends it", plan.name(send));
            found(receive, message).with_related(plan.step(send).send_site, sender)
        }
        // Never asked.
        (None, None) => Diagnostic::new(Rule::Unmatched, None, String::new()),
    }
}

fn peer(plan: &Plan<'_>, at: At, to: bool) -> String {
    let process = &plan.processes[at.process as usize];
    let block = &plan.schedule.ranks[process.rank.index()].thread_blocks[process.id.index()];
    let (word, peer) = if to { ("to", block.send) } else { ("of", block.recv) };
    peer.map_or(String::new(), |peer| format!(" {word} rank {} on {}", peer.0, block.channel))
}
