//! A schedule with its connections resolved: who is at either end of each.

use rustc_hash::FxHashMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Rule};
use crate::ids::{ChannelId, RankId, ThreadBlockId};
use crate::schedule::{Schedule, Step, StepKind, ThreadBlock};

/// A thread block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) rank: RankId,
    pub(super) block: ThreadBlockId,
    /// The connection that it sends on.
    pub(super) sends: Option<u32>,
    /// The connection that it receives from.
    pub(super) receives: Option<u32>,
}

/// The thread blocks at the ends of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    pub(super) sender: Option<u32>,
    pub(super) receiver: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Plan<'s> {
    pub(super) schedule: &'s Schedule,
    pub(super) tasks: Vec<Task>,
    pub(super) connections: Vec<Ends>,
    /// The first task of each rank.
    first: Vec<u32>,
}

impl<'s> Plan<'s> {
    /// Resolves the connections.
    ///
    /// # Errors
    /// Peers, steps and counts that do not exist, and two thread blocks on one end of a connection.
    pub(super) fn new(schedule: &'s Schedule) -> Result<Self, Diagnostics> {
        let mut plan = Self { schedule, tasks: Vec::new(), connections: Vec::new(), first: Vec::new() };
        let mut found = Vec::new();
        let ranks = schedule.collective.ranks();
        if schedule.ranks.len() != ranks {
            let message = format!("the schedule has {} ranks, its collective {ranks}", schedule.ranks.len());
            found.push(Diagnostic::new(Rule::Malformed, None, message));
        }
        let mut ids: FxHashMap<(RankId, RankId, ChannelId), u32> = FxHashMap::default();
        for (rank, of_rank) in (0..).map(RankId).zip(&schedule.ranks) {
            plan.first.push(plan.tasks.len() as u32);
            for (id, block) in (0..).map(ThreadBlockId).zip(&of_rank.thread_blocks) {
                found.extend(faults(rank, id, block, &of_rank.thread_blocks, ranks));
                let mut connection = |from: RankId, to: RankId| {
                    *ids.entry((from, to, block.channel)).or_insert_with(|| {
                        plan.connections.push(Ends::default());
                        plan.connections.len() as u32 - 1
                    })
                };
                // An end that no step uses is nobody's.
                let uses = |of: fn(&Step) -> bool| block.steps.iter().any(of);
                let sends = block.send.filter(|_| uses(|step| step.kind.sends()));
                let receives = block.recv.filter(|_| uses(|step| step.kind.receives()));
                let sends = sends.map(|peer| connection(rank, peer));
                let receives = receives.map(|peer| connection(peer, rank));
                let task = plan.tasks.len() as u32;
                for (end, word) in [(sends, "send"), (receives, "receive")] {
                    let Some(ends) = end.and_then(|end| plan.connections.get_mut(end as usize)) else {
                        continue;
                    };
                    let owner = if word == "send" { &mut ends.sender } else { &mut ends.receiver };
                    if let Some(other) = owner.replace(task) {
                        let other = plan.tasks.get(other as usize).map_or(id, |task| task.block);
                        let message = format!(
                            "rank {}: {other} and {id} both own the {word} side of one connection of {}",
                            rank.0, block.channel
                        );
                        let site = block.steps.first().map(|step| step.site);
                        found.push(Diagnostic::new(Rule::Ownership, site, message));
                    }
                }
                plan.tasks.push(Task { rank, block: id, sends, receives });
            }
        }
        if found.is_empty() {
            Ok(plan)
        } else {
            // What does not exist comes before what does not fit.
            found.sort_by_key(|finding| finding.rule != Rule::Malformed);
            Err(plan.diagnostics(found))
        }
    }

    pub(super) fn diagnostics(&self, mut findings: Vec<Diagnostic>) -> Diagnostics {
        findings.truncate(100);
        Diagnostics { name: self.schedule.name.clone(), findings, sites: self.schedule.sites.clone() }
    }

    /// The steps of a task.
    pub(super) fn steps(&self, task: u32) -> &'s [Step] {
        let task = &self.tasks[task as usize];
        &self.schedule.ranks[task.rank.index()].thread_blocks[task.block.index()].steps
    }

    /// The task of a thread block of a rank.
    pub(super) fn task_of(&self, rank: RankId, block: ThreadBlockId) -> u32 {
        self.first[rank.index()] + block.0
    }

    /// A step in words.
    pub(super) fn at(&self, task: u32, step: usize) -> String {
        let kind = self.steps(task).get(step).map_or("end", |step| step.kind.name());
        let Task { rank, block, .. } = self.tasks[task as usize];
        format!("rank {}, {block}, step {step} ({kind})", rank.0)
    }
}

/// What a thread block names that does not exist.
fn faults(
    rank: RankId,
    id: ThreadBlockId,
    block: &ThreadBlock,
    blocks: &[ThreadBlock],
    ranks: usize,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (peer, word) in [(block.send, "sends to"), (block.recv, "receives from")] {
        let why = match peer {
            Some(peer) if peer == rank => "itself".to_owned(),
            Some(peer) if peer.index() >= ranks => format!("rank {}, which does not exist", peer.0),
            _ => continue,
        };
        let message = format!("rank {}, {id}: {word} {why}", rank.0);
        found.push(Diagnostic::new(Rule::Malformed, block.steps.first().map(|step| step.site), message));
    }
    for (s, step) in block.steps.iter().enumerate() {
        let mut fault = |why: &str| {
            let message = format!("rank {}, {id}, step {s} ({}): {why}", rank.0, step.kind.name());
            found.push(Diagnostic::new(Rule::Malformed, Some(step.site), message));
        };
        if step.kind.sends() && block.send.is_none() {
            fault("its thread block has no peer to send to");
        }
        if step.kind.receives() && block.recv.is_none() {
            fault("its thread block has no peer to receive from");
        }
        if (step.kind == StepKind::Compute) != step.work.is_some() {
            fault("is a computation exactly if it says what it computes");
        }
        if step.count == 0 && step.kind != StepKind::Compute {
            fault("moves no chunk");
        }
        for on in &step.depends {
            let awaited = blocks.get(on.thread_block.index()).map_or(0, |block| block.steps.len());
            if on.step as usize >= awaited {
                fault(&format!("waits for step {} of {}, which does not exist", on.step, on.thread_block));
            }
        }
    }
    found
}
