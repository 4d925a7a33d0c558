//! Judges a schedule, whoever made it. Knows nothing of the passes in [`crate::lower`].
//!
//! The schedule is executed symbolically (`execute.rs`): every thread block as a process, every connection as
//! a FIFO with a number of slots, every chunk as the multiset of the contributions in it (`values.rs`).
//!
//! The rules, by the name that messages and JSON use:
//!
//! * **malformed** — a peer or an awaited step that does not exist, a thread block that sends without a send peer
//!   ([`well_formed`]), or two thread blocks that own one end of a connection;
//! * **unmatched** — a message without its receive, a receive without its message, or both of different length;
//! * **deadlock** — steps that wait for each other, with the slots given;
//! * **uninitialised** — a step reads a chunk that nobody has written;
//! * **bounds** — a step reaches beyond its buffer;
//! * **wrong** — an output chunk does not end with exactly the contributions that the collective wants.

mod execute;
mod postcondition;
mod values;
mod well_formed;

pub use well_formed::well_formed;

use crate::diagnostic::{Diagnostic, Diagnostics, Rule};
use crate::schedule::Schedule;

/// The most findings that are reported for one schedule.
const MAX_FINDINGS: usize = 5;

/// Checks all rules with `slots` slots a connection.
///
/// Where nothing states a post-condition ([`crate::Collective::is_unspecified`]) none is checked: say so with the
/// verdict.
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
    execute::progress(schedule, slots).map_err(|found| diagnostics(schedule, found))
}

/// The smallest number of slots a connection with which the schedule runs to its end; `None` if none is enough.
#[must_use]
pub fn smallest_slots(schedule: &Schedule) -> Option<u32> {
    let runs = |slots: u32| execute::progress(schedule, slots).is_ok();
    // More slots never hurt, and more than there are messages are as many as one could want.
    let mut enough = u32::try_from(schedule.message_count()).unwrap_or(u32::MAX).max(1);
    if !runs(enough) {
        return None;
    }
    let mut too_few = 0;
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if runs(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

fn diagnostics(schedule: &Schedule, mut findings: Vec<Diagnostic>) -> Diagnostics {
    // A deadlock is one finding in as many parts as there are steps in it.
    if findings.first().is_none_or(|first| first.rule != Rule::Deadlock) {
        findings.truncate(MAX_FINDINGS);
    }
    Diagnostics { name: schedule.name.clone(), findings, sites: schedule.sites.clone() }
}
