//! Says who waits for whom in a run that is stuck.

use super::plan::Plan;
use super::progress::{Blocked, Progress};
use crate::diagnostic::{Diagnostic, Rule};

/// The cycles of steps that wait for each other, each as findings "(1/4)" to "(4/4)"; the first cycle first.
pub(super) fn explain(plan: &Plan<'_>, progress: &Progress<'_>) -> Vec<Vec<Diagnostic>> {
    // Each stuck process waits for one other: follow until one comes up again.
    const NEW: u32 = 0;
    let mut walk_of = vec![NEW; plan.processes.len()];
    let mut cycles = Vec::new();
    for (walk, start) in (1..).zip(progress.stuck()) {
        let mut at = Some(start);
        while let Some(process) = at.filter(|process| walk_of[*process as usize] == NEW) {
            walk_of[process as usize] = walk;
            at = waits_for(plan, progress, process);
        }
        if let Some(first) = at.filter(|process| walk_of[*process as usize] == walk) {
            let mut cycle = vec![first];
            let mut member = waits_for(plan, progress, first);
            while let Some(process) = member.filter(|process| *process != first) {
                cycle.push(process);
                member = waits_for(plan, progress, process);
            }
            cycles.push(describe(plan, progress, &cycle));
        }
    }
    cycles
}

/// The process that a stuck one waits for.
fn waits_for(plan: &Plan<'_>, progress: &Progress<'_>, process: u32) -> Option<u32> {
    let me = &plan.processes[process as usize];
    match progress.block(process)? {
        Blocked::Step(on) => Some(plan.neighbour(process, on.thread_block)),
        Blocked::NoMessage => plan.connections[me.receives? as usize].sender,
        Blocked::NoSlot => plan.connections[me.sends? as usize].receiver,
    }
}

fn describe(plan: &Plan<'_>, progress: &Progress<'_>, processes: &[u32]) -> Vec<Diagnostic> {
    let total = processes.len();
    let describe = |(i, process): (usize, &u32)| {
        let peer = waits_for(plan, progress, *process)?;
        let peer = plan.processes[peer as usize].rank.0;
        let why = match progress.block(*process)? {
            Blocked::Step(on) => format!("waits for {}.{}", on.thread_block, on.step),
            Blocked::NoMessage => format!("waits for a message of rank {peer}"),
            Blocked::NoSlot if progress.slots() == 0 => format!("waits for rank {peer} to take its message"),
            Blocked::NoSlot => {
                let slots = progress.slots();
                let number =
                    if slots == 1 { "the only slot".to_owned() } else { format!("one of {slots} slots") };
                format!("waits for {number} of rank {peer}")
            }
        };
        let at = progress.at(*process);
        let message = format!("({}/{total}) {} {why}", i + 1, plan.name(at));
        Some(plan.finding(Rule::Deadlock, at, message))
    };
    processes.iter().enumerate().filter_map(describe).collect()
}
