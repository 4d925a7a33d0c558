//! Whether a schedule runs to its end, and in which order: thread blocks as processes, connections as counters of
//! the messages in them. No data.
//!
//! Every end of a connection has one owner and no process has a choice, so who runs first does not decide whether
//! all get to their ends; one run is proof.
//!
//! With slots, a fused step takes its message and passes it on at once: it waits for both. Without slots
//! (rendezvous) a send and its receive happen together, and a fused step is two meetings: it takes its message, which
//! frees the sender, and then hands it over.

use std::collections::VecDeque;

use super::plan::{At, Plan};
use crate::schedule::{Step, StepId};

/// What takes a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// The message of a step, whatever its length.
    Message,
    /// Every chunk of it; a step passes chunk after chunk.
    Chunk,
}

impl Unit {
    fn of(self, step: &Step) -> u32 {
        if self == Unit::Chunk { step.count } else { 1 }
    }
}

/// What keeps a process from going on.
#[derive(Clone, Copy)]
pub(super) enum Blocked {
    Step(StepId),
    NoMessage,
    NoSlot,
}

#[derive(Clone, Default)]
struct State {
    /// The step that comes next.
    next: u32,
    /// How many units of it have passed.
    units: u32,
    /// Rendezvous: whether the unit that a fused step has to hand over has arrived.
    holds: bool,
    queued: bool,
    /// Processes that wait until this one has done more steps than the number given.
    waiters: Vec<(u32, u32)>,
}

/// A run, finished or stuck.
pub(super) struct Progress<'p> {
    plan: &'p Plan<'p>,
    slots: u32,
    unit: Unit,
    states: Vec<State>,
    /// Units in each connection.
    filled: Vec<u32>,
    ready: VecDeque<u32>,
    order: Option<Vec<At>>,
}

impl<'p> Progress<'p> {
    /// Runs as far as it goes; `keeps_order` if [`Progress::order`] is wanted.
    pub(super) fn run(plan: &'p Plan<'p>, slots: u32, unit: Unit, keeps_order: bool) -> Self {
        let mut progress = Self {
            plan,
            slots,
            unit,
            states: vec![State::default(); plan.processes.len()],
            filled: vec![0; plan.connections.len()],
            ready: VecDeque::new(),
            order: keeps_order.then(Vec::new),
        };
        for process in 0..plan.processes.len() as u32 {
            progress.wake(Some(process));
        }
        while let Some(process) = progress.ready.pop_front() {
            progress.states[process as usize].queued = false;
            progress.advance(process);
        }
        progress
    }

    /// The steps in an order in which they can happen, of a finished run.
    pub(super) fn order(self) -> Vec<At> {
        self.order.unwrap_or_default()
    }

    /// The processes that did not get to their ends.
    pub(super) fn stuck(&self) -> Vec<u32> {
        let is_stuck = |process: &u32| self.current(*process).is_some();
        (0..self.states.len() as u32).filter(is_stuck).collect()
    }

    /// Whether all got to their ends.
    pub(super) fn finished(&self) -> bool {
        (0..self.states.len() as u32).all(|process| self.current(process).is_none())
    }

    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    /// The step that a process is at.
    pub(super) fn at(&self, process: u32) -> At {
        At { process, step: self.states[process as usize].next }
    }

    fn current(&self, process: u32) -> Option<&'p Step> {
        self.plan.steps(process).get(self.states[process as usize].next as usize)
    }

    fn wake(&mut self, process: Option<u32>) {
        let Some(process) = process else { return };
        let state = &mut self.states[process as usize];
        if !state.queued {
            state.queued = true;
            self.ready.push_back(process);
        }
    }

    fn advance(&mut self, process: u32) {
        while let Some(step) = self.current(process) {
            match self.blocked(process, step) {
                None if self.slots == 0 => self.meet(process, step),
                None => self.pass(process, step),
                Some(Blocked::Step(on)) => {
                    // Messages and slots wake a process by their connection; a step must be told.
                    let owner = self.plan.neighbour(process, on.thread_block);
                    self.states[owner as usize].waiters.push((on.step, process));
                    return;
                }
                Some(_) => return,
            }
        }
    }

    /// What keeps a process from its step.
    pub(super) fn blocked(&self, process: u32, step: &Step) -> Option<Blocked> {
        if let Some(on) = self.awaited(process, step) {
            return Some(Blocked::Step(on));
        }
        let me = &self.plan.processes[process as usize];
        if self.slots == 0 {
            let takes = step.kind.receives() && !self.states[process as usize].holds;
            if takes {
                return self.partner(process, step).is_none().then_some(Blocked::NoMessage);
            }
            return (step.kind.sends() && self.partner(process, step).is_none()).then_some(Blocked::NoSlot);
        }
        let filled = |connection: u32| self.filled[connection as usize];
        if step.kind.receives() && me.receives.is_none_or(|connection| filled(connection) == 0) {
            return Some(Blocked::NoMessage);
        }
        if step.kind.sends() && me.sends.is_none_or(|connection| filled(connection) >= self.slots) {
            return Some(Blocked::NoSlot);
        }
        None
    }

    /// What keeps a process from the step that it is at; nothing if it is at its end.
    pub(super) fn block(&self, process: u32) -> Option<Blocked> {
        self.blocked(process, self.current(process)?)
    }

    /// A step of another thread block that this one still waits for.
    fn awaited(&self, process: u32, step: &Step) -> Option<StepId> {
        if self.states[process as usize].units > 0 {
            return None;
        }
        let done = |on: &StepId| {
            let owner = self.plan.neighbour(process, on.thread_block);
            self.states[owner as usize].next > on.step
        };
        step.depends.iter().find(|on| !done(on)).copied()
    }

    /// Rendezvous: the process at the other end, if it is at the other half of this meeting.
    fn partner(&self, process: u32, step: &Step) -> Option<u32> {
        let me = &self.plan.processes[process as usize];
        let takes = step.kind.receives() && !self.states[process as usize].holds;
        let partner = if takes {
            self.plan.connections[me.receives? as usize].sender?
        } else {
            self.plan.connections[me.sends? as usize].receiver?
        };
        let other = self.current(partner)?;
        let holds = self.states[partner as usize].holds;
        let is_there = if takes {
            other.kind.sends() && (holds || !other.kind.receives())
        } else {
            other.kind.receives() && !holds
        };
        (is_there && self.awaited(partner, other).is_none()).then_some(partner)
    }

    /// One unit of a step, with slots.
    fn pass(&mut self, process: u32, step: &Step) {
        let me = &self.plan.processes[process as usize];
        if step.kind.receives()
            && let Some(connection) = me.receives
        {
            self.filled[connection as usize] -= 1;
            self.wake(self.plan.connections[connection as usize].sender);
        }
        if step.kind.sends()
            && let Some(connection) = me.sends
        {
            self.filled[connection as usize] += 1;
            self.wake(self.plan.connections[connection as usize].receiver);
        }
        self.unit_done(process, step);
    }

    /// One meeting, or a step that needs none.
    fn meet(&mut self, process: u32, step: &Step) {
        if !step.kind.receives() && !step.kind.sends() {
            return self.unit_done(process, step);
        }
        let Some(partner) = self.partner(process, step) else { return };
        let takes = step.kind.receives() && !self.states[process as usize].holds;
        let (sender, receiver) = if takes { (partner, process) } else { (process, partner) };
        if let (Some(sent), Some(received)) = (self.current(sender), self.current(receiver)) {
            self.states[sender as usize].holds = false;
            self.unit_done(sender, sent);
            if received.kind.sends() {
                self.states[receiver as usize].holds = true;
            } else {
                self.unit_done(receiver, received);
            }
        }
        self.wake(Some(partner));
    }

    fn unit_done(&mut self, process: u32, step: &Step) {
        let state = &mut self.states[process as usize];
        state.units += 1;
        if state.units < self.unit.of(step) {
            return;
        }
        if let Some(order) = &mut self.order {
            order.push(At { process, step: state.next });
        }
        state.units = 0;
        state.next += 1;
        let done = state.next;
        if state.waiters.is_empty() {
            return;
        }
        let mut waiters = std::mem::take(&mut state.waiters);
        waiters.retain(|(on, waiter)| {
            let woken = *on < done;
            if woken {
                self.wake(Some(*waiter));
            }
            !woken
        });
        self.states[process as usize].waiters = waiters;
    }
}

/// The smallest number of slots, 1 or more, with which a schedule runs to its end; `None` if none is enough.
///
/// More slots never hurt: whatever happened with fewer can happen with more.
pub(super) fn smallest_slots(plan: &Plan<'_>) -> Option<u32> {
    let runs = |slots: u32| Progress::run(plan, slots, Unit::Message, false).finished();
    let mut enough = 1;
    let mut too_few = 0;
    while !runs(enough) {
        too_few = enough;
        // More slots than messages are as many as one could want.
        if enough as usize >= plan.schedule.message_count() {
            return None;
        }
        enough = enough.saturating_mul(2);
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if runs(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}
