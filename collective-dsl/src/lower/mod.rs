//! From a trace to a schedule.
//!
//! Four passes, each in its own file:
//!
//! 1. [`order`] gives every operation its place in one global order that respects all data hazards, and
//!    finds which sends pass on what a receive has just brought;
//! 2. [`blocks`] divides the ends of the connections among thread blocks, so that a receive and the send
//!    that passes its data on share one;
//! 3. [`steps`] turns operations into steps, fuses receive and send where that is right, and puts each in
//!    its thread block in the global order;
//! 4. [`sync`] adds the fewest dependences between thread blocks of a rank that keep the hazards in order.
//!
//! Why the result cannot deadlock: without fusion every wait (for data, for a message, for a free slot of a
//! connection with at least one) points backwards in the global order. A fused step stands where its send
//! stands, so its receive comes later than that order says; the result is therefore executed once with the
//! slots of the Simple protocol, and lowered again without fusion if it gets stuck.

mod blocks;
mod layout;
mod order;
mod steps;
mod sync;

use crate::diagnostic::Diagnostics;
use crate::schedule::Schedule;
use crate::trace::Trace;
use crate::verify;

/// Lowers a trace to a schedule.
///
/// # Errors
/// The schedule deadlocks even without fusion with the given number of slots a connection.
pub fn lower(trace: &Trace) -> Result<Schedule, Diagnostics> {
    let order = order::order(trace);
    let fused = steps::schedule(trace, &order, true);
    if verify::progress(&fused, verify::SIMPLE_SLOTS).is_ok() {
        return Ok(fused);
    }
    let plain = steps::schedule(trace, &order, false);
    verify::progress(&plain, verify::SIMPLE_SLOTS)?;
    Ok(plain)
}
