//! The processes and connections of a schedule, numbered once for all rules.

use rustc_hash::FxHashMap;

use crate::diagnostic::{Diagnostic, Location, Rule};
use crate::ids::{ChannelId, RankId, ThreadBlockId};
use crate::schedule::{Schedule, Step};

/// A step of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) process: u32,
    pub(super) step: u32,
}

/// A thread block.
pub(super) struct Process {
    pub(super) rank: RankId,
    pub(super) id: ThreadBlockId,
    /// The connections that it sends to and receives from.
    pub(super) sends: Option<u32>,
    pub(super) receives: Option<u32>,
}

/// A connection, and the processes at either end.
#[derive(Default)]
pub(super) struct Connection {
    pub(super) sender: Option<u32>,
    pub(super) receiver: Option<u32>,
}

/// A schedule of which everything exists that it names.
pub(super) struct Plan<'s> {
    pub(super) schedule: &'s Schedule,
    /// By rank and thread block.
    pub(super) processes: Vec<Process>,
    /// The first process of each rank, and their number at the end.
    pub(super) first: Vec<u32>,
    pub(super) connections: Vec<Connection>,
    /// Ends of connections with more than one owner.
    pub(super) ownership: Vec<Diagnostic>,
}

impl<'s> Plan<'s> {
    /// The plan of a [`super::well_formed`] schedule.
    pub(super) fn new(schedule: &'s Schedule) -> Self {
        let mut plan = Self {
            schedule,
            processes: Vec::new(),
            first: vec![0],
            connections: Vec::new(),
            ownership: Vec::new(),
        };
        let mut ids: FxHashMap<(RankId, RankId, ChannelId), u32> = FxHashMap::default();
        for (r, rank) in (0..).zip(&schedule.ranks) {
            let me = RankId(r);
            for (t, block) in (0..).zip(&rank.thread_blocks) {
                let mut end = |from, to| {
                    *ids.entry((from, to, block.channel)).or_insert_with(|| {
                        plan.connections.push(Connection::default());
                        plan.connections.len() as u32 - 1
                    })
                };
                let sends = block.send.map(|peer| end(me, peer));
                let receives = block.recv.map(|peer| end(peer, me));
                plan.own(me, ThreadBlockId(t), sends, receives);
                plan.processes.push(Process { rank: me, id: ThreadBlockId(t), sends, receives });
            }
            plan.first.push(plan.processes.len() as u32);
        }
        plan
    }

    /// Enters the next process at its connections.
    fn own(&mut self, rank: RankId, id: ThreadBlockId, sends: Option<u32>, receives: Option<u32>) {
        let me = self.processes.len() as u32;
        let block = &self.schedule.ranks[rank.index()].thread_blocks[id.index()];
        let ends = [(sends, "send", "to", block.send), (receives, "receive", "from", block.recv)];
        for (connection, word, direction, peer) in ends {
            let (Some(connection), Some(peer)) = (connection, peer) else { continue };
            let connection = &mut self.connections[connection as usize];
            let owner = if word == "send" { &mut connection.sender } else { &mut connection.receiver };
            let Some(other) = *owner else {
                *owner = Some(me);
                continue;
            };
            let other = self.processes[other as usize].id;
            let message = format!(
                "rank {}: {other} and {id} both own the {word} side of one connection of {}, {direction} rank {}: \
                 give one of them another channel",
                rank.0, block.channel, peer.0
            );
            let site = block.steps.first().map(|step| step.site);
            let at = Location::thread_block(rank, id);
            self.ownership.push(Diagnostic::new(Rule::Ownership, site, message).at(at));
        }
    }

    /// The steps of a process.
    pub(super) fn steps(&self, process: u32) -> &'s [Step] {
        let process = &self.processes[process as usize];
        &self.schedule.ranks[process.rank.index()].thread_blocks[process.id.index()].steps
    }

    /// A step.
    pub(super) fn step(&self, at: At) -> &'s Step {
        &self.steps(at.process)[at.step as usize]
    }

    /// The process of a thread block of the rank of another.
    pub(super) fn neighbour(&self, process: u32, block: ThreadBlockId) -> u32 {
        self.first[self.processes[process as usize].rank.index()] + block.0
    }

    /// "rank 0, tb1, step 2 (rrc)".
    pub(super) fn name(&self, at: At) -> String {
        let process = &self.processes[at.process as usize];
        let kind = self.step(at).kind.name();
        format!("rank {}, {}, step {} ({kind})", process.rank.0, process.id, at.step)
    }

    /// Where a step is.
    pub(super) fn location(&self, at: At) -> Location {
        let process = &self.processes[at.process as usize];
        Location::step(process.rank, process.id, at.step)
    }

    /// An error at a step.
    pub(super) fn finding(&self, rule: Rule, at: At, message: String) -> Diagnostic {
        Diagnostic::new(rule, Some(self.step(at).site), message).at(self.location(at))
    }
}
