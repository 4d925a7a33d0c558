//! Whether everything that a schedule names exists. What comes after may then index by it.

use crate::diagnostic::{Diagnostic, Location, Rule};
use crate::ids::{RankId, ThreadBlockId};
use crate::schedule::{Schedule, Step, StepKind, ThreadBlock};

/// The most chunks of scratch that are followed, over all ranks.
const MAX_SCRATCH: u64 = 1 << 27;

/// Peers, steps and counts that are not there, each with rank, thread block and step.
///
/// ```
/// use collective_dsl::{Collective, RankId, Program, Buffer::Input, lower, verify::well_formed};
/// let p = Program::new(Collective::all_reduce(2)?.with_chunks(1)?.in_place()?);
/// p.chunk(0, Input, 0).copy_to(1, Input, 0);
/// let mut schedule = lower(&p.finish("pair")?)?;
/// assert!(well_formed(&schedule).is_empty());
/// schedule.ranks[0].thread_blocks[0].send = Some(RankId(7));
/// assert_eq!(well_formed(&schedule)[0].message, "rank 0, tb0: sends to rank 7, which does not exist: ranks go from 0 to 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn well_formed(schedule: &Schedule) -> Vec<Diagnostic> {
    let ranks = schedule.collective.ranks();
    let mut found = Vec::new();
    if schedule.ranks.len() != ranks {
        let message = format!("the schedule has {} ranks, its collective {ranks}", schedule.ranks.len());
        return vec![Diagnostic::new(Rule::Malformed, None, message)];
    }
    let scratch: u64 = schedule.ranks.iter().map(|rank| u64::from(rank.scratch_chunks)).sum();
    if scratch > MAX_SCRATCH {
        let message = format!("the ranks have {scratch} chunks of scratch, which is more than {MAX_SCRATCH}");
        return vec![Diagnostic::new(Rule::Malformed, None, message)];
    }
    for (r, rank) in (0..).zip(&schedule.ranks) {
        for (t, block) in (0..).zip(&rank.thread_blocks) {
            let id = ThreadBlockId(t);
            for (peer, word) in [(block.send, "sends to"), (block.recv, "receives from")] {
                let Some(peer) = peer else { continue };
                let why = if peer.index() >= ranks {
                    format!("rank {}, which does not exist: ranks go from 0 to {}", peer.0, ranks - 1)
                } else if peer == RankId(r) {
                    "itself".to_owned()
                } else {
                    continue;
                };
                let site = block.steps.first().map(|step| step.site);
                let message = format!("rank {r}, {id}: {word} {why}");
                let at = Location::thread_block(RankId(r), id);
                found.push(Diagnostic::new(Rule::Malformed, site, message).at(at));
            }
            for (s, step) in (0..).zip(&block.steps) {
                for why in faults(schedule, &rank.thread_blocks, block, step) {
                    let message = format!("rank {r}, {id}, step {s} ({}): {why}", step.kind.name());
                    let at = Location::step(RankId(r), id, s);
                    found.push(Diagnostic::new(Rule::Malformed, Some(step.site), message).at(at));
                }
            }
        }
    }
    found
}

fn faults(schedule: &Schedule, blocks: &[ThreadBlock], block: &ThreadBlock, step: &Step) -> Vec<String> {
    let mut faults = Vec::new();
    if step.kind.sends() && block.send.is_none() {
        faults.push("its thread block has no peer to send to".to_owned());
    }
    if step.kind.receives() && block.recv.is_none() {
        faults.push("its thread block has no peer to receive from".to_owned());
    }
    if (step.kind == StepKind::Compute) != step.work.is_some() {
        faults.push("is a computation exactly if it says what it computes".to_owned());
    }
    if step.work.iter().flat_map(|work| work.reads.iter().chain(&work.writes)).any(|run| run.count == 0) {
        faults.push("reads or produces a run of no chunk".to_owned());
    }
    if step.count == 0 && step.kind != StepKind::Compute {
        faults.push("moves no chunk".to_owned());
    }
    if step.data.index() >= schedule.data.len() {
        faults.push("moves data that the schedule does not have".to_owned());
    }
    for on in &step.depends {
        match blocks.get(on.thread_block.index()) {
            None => faults.push(format!(
                "waits for {}, which does not exist: the rank has {} thread block(s)",
                on.thread_block,
                blocks.len()
            )),
            Some(awaited) if on.step as usize >= awaited.steps.len() => faults.push(format!(
                "waits for step {} of {}, which has {} step(s)",
                on.step,
                on.thread_block,
                awaited.steps.len()
            )),
            Some(_) => {}
        }
    }
    faults
}
