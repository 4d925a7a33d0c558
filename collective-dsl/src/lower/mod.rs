//! From a trace to a schedule.
//!
//! Five passes, each in its own file:
//!
//! 0. `replicate` makes the instances that the options ask for;
//! 1. `order` gives every operation its place in one global order that respects all data hazards, and
//!    finds which sends pass on what a receive has just brought;
//! 2. `blocks` divides the ends of the connections among thread blocks, so that a receive and the send
//!    that passes its data on share one, and as the program's hints say;
//! 3. `steps` turns operations into steps, fuses receive and send where that is right, and puts each in
//!    its thread block in the global order;
//! 4. `sync` adds the fewest dependences between thread blocks of a rank that keep the hazards in order.
//!
//! Why the result cannot deadlock: without fusion every wait (for data, for a message, for a free slot of a
//! connection with at least one) points backwards in the global order, and every thread block, also a hinted one,
//! runs its steps in that order. A fused step stands where its send stands, so its receive comes later than
//! that order says; the result is therefore executed once with the slots of its protocol, and lowered again
//! without fusion if it gets stuck.

mod blocks;
mod layout;
mod order;
mod replicate;
mod steps;
mod sync;

use crate::diagnostic::Diagnostics;
use crate::schedule::Schedule;
use crate::trace::Trace;
use crate::verify;

/// Lowers a trace to a schedule.
///
/// # Errors
/// Hints that contradict each other, or options that make no sense.
pub fn lower(trace: &Trace) -> Result<Schedule, Diagnostics> {
    let replicated = replicate::replicate(trace)?;
    let trace = replicated.as_ref().unwrap_or(trace);
    let order = order::order(trace);
    let slots = trace.options.protocol.slots();
    let fused = steps::schedule(trace, &order, true)?;
    if verify::progress(&fused, slots).is_ok() {
        return Ok(fused);
    }
    let plain = steps::schedule(trace, &order, false)?;
    // Cannot fail, for the reason above; if it did, the finding would be of use.
    verify::progress(&plain, slots)?;
    Ok(plain)
}
