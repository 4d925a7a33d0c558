//! From a trace to a schedule.
//!
//! Six passes, each in its own file:
//!
//! * `channels` chooses channels where the program leaves them open and that saves steps;
//! * `replicate` makes the instances that the options ask for;
//! * `order` gives every operation its place in one global order that respects all data hazards, and
//!   finds which sends pass on what a receive has just brought;
//! * `blocks` divides the ends of the connections among thread blocks, so that a receive and the send
//!   that passes its data on share one, and as the program's hints say;
//! * `steps` turns operations into steps, fuses receive and send where that is right, and puts each in
//!   its thread block in the global order;
//! * `sync` adds the fewest dependences between thread blocks of a rank that keep the hazards in order.
//!
//! Why the result cannot deadlock: without fusion every wait (for data, for a message, for a free slot of a
//! connection with at least one) points backwards in the global order, and every thread block, also a hinted one,
//! runs its steps in that order. A fused step stands where its send stands, so its receive comes later than
//! that order says; the result is therefore executed once with the slots of its protocol, and if it gets stuck
//! lowered again with less fusion, in the end with none.
//!
//! `dag` shows the data hazards that `order` goes by as a graph of operations.
//!
//! Where more channels were chosen the program is lowered on both, and the fewer steps win; on a tie the fewer channels.

mod blocks;
mod channels;
mod dag;
mod layout;
mod order;
mod replicate;
mod steps;
mod sync;

use std::borrow::Cow;

use crate::diagnostic::Diagnostics;
use crate::schedule::Schedule;
use crate::trace::Trace;
use crate::verify;
use channels::Together;
pub use dag::{Dag, DagNode, Dependence, Hazard};
use order::Order;
use steps::Fusion;

/// Lowers a trace to a schedule.
///
/// # Errors
/// Hints that contradict each other, or options that make no sense.
pub fn lower(trace: &Trace) -> Result<Schedule, Diagnostics> {
    let original = trace;
    let first = order::order(original);
    let mut orders = None;
    let (trace, order) = match replicate::replicate(original)? {
        Some(replicated) => {
            let order = order::order(&replicated);
            (Cow::Owned(replicated), &*orders.insert(order))
        }
        None => (Cow::Borrowed(original), &first),
    };
    if trace.options.fusion {
        let wanted = order.forwards.iter().filter(|from| **from != order::NONE).count();
        let mut best = most_fused(&trace, order)?;
        for together in [Together::Sometimes, Together::Never] {
            if best.as_ref().is_some_and(|best| fused_steps(best) >= wanted) {
                break;
            }
            if let Some(spread) = channels::spread(original, &first, together) {
                let spread = replicate::replicate(&spread)?.unwrap_or(spread);
                // Where hints for thread blocks stand in the way of more channels, there are no more.
                let spread = most_fused(&spread, &order::order(&spread)).unwrap_or(None);
                best = best.into_iter().chain(spread).min_by_key(steps_of_runtime);
            }
        }
        if let Some(best) = best {
            return Ok(best);
        }
    }
    let plain = steps::schedule(&trace, order, Fusion::None)?;
    // Cannot fail, for the reason above; if it did, the finding would be of use.
    verify::progress(&plain, trace.options.protocol.slots())?;
    Ok(plain)
}

/// The schedule with the most fusion that runs to its end, if any does.
fn most_fused(trace: &Trace, order: &Order) -> Result<Option<Schedule>, Diagnostics> {
    for fusion in [Fusion::Most, Fusion::Some] {
        let schedule = steps::schedule(trace, order, fusion)?;
        if verify::progress(&schedule, trace.options.protocol.slots()).is_ok() {
            return Ok(Some(schedule));
        }
    }
    Ok(None)
}

/// Steps that receive and send.
fn fused_steps(schedule: &Schedule) -> usize {
    let blocks = schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks);
    blocks.flat_map(|block| &block.steps).filter(|step| step.kind.receives() && step.kind.sends()).count()
}

/// Steps as a runtime counts them: it waits for one other step, and each further dependence takes a step of its own.
fn steps_of_runtime(schedule: &Schedule) -> usize {
    let blocks = schedule.ranks.iter().flat_map(|rank| &rank.thread_blocks);
    blocks.flat_map(|block| &block.steps).map(|step| step.depends.len().max(1)).sum()
}
