//! Judges a schedule, whoever made it. Knows nothing of the passes in [`crate::lower`].
//!
//! The schedule is executed symbolically (`execute.rs`): every thread block as a process, every connection as
//! a FIFO with a number of slots, every chunk as the multiset of the contributions in it (`values.rs`).
//!
//! The rules, by the name that messages and JSON use:
//!
//! * **malformed** — a thread block sends without a send peer, or two thread blocks own one end of a connection;
//! * **unmatched** — a message without its receive, a receive without its message, or both of different length;
//! * **deadlock** — steps that wait for each other, with the slots given;
//! * **uninitialised** — a step reads a chunk that nobody has written;
//! * **bounds** — a step reaches beyond its buffer;
//! * **wrong** — an output chunk does not end with exactly the contributions that the collective wants.

mod execute;
mod postcondition;
mod values;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::schedule::Schedule;

/// Slots of a connection under the Simple protocol.
pub const SIMPLE_SLOTS: u32 = 2;

/// The most findings that are reported for one schedule.
const MAX_FINDINGS: usize = 5;

/// Checks all rules with `slots` slots a connection.
///
/// # Errors
/// What is wrong, the first violated rule of the module's list first.
pub fn verify(schedule: &Schedule, slots: u32) -> Result<(), Diagnostics> {
    let run = execute::execute(schedule, slots).map_err(|found| diagnostics(schedule, found))?;
    let wrong = postcondition::check(schedule, &run);
    if wrong.is_empty() { Ok(()) } else { Err(diagnostics(schedule, wrong)) }
}

/// Checks only that the schedule runs to its end with `slots` slots a connection.
///
/// # Errors
/// What keeps it from doing so.
pub fn progress(schedule: &Schedule, slots: u32) -> Result<(), Diagnostics> {
    execute::execute(schedule, slots).map(|_| ()).map_err(|found| diagnostics(schedule, found))
}

fn diagnostics(schedule: &Schedule, mut findings: Vec<Diagnostic>) -> Diagnostics {
    findings.truncate(MAX_FINDINGS);
    Diagnostics { name: schedule.name.clone(), findings, sites: schedule.sites.clone() }
}
