//! Thread blocks as tasks, connections as FIFOs: runs one step after the other, in the order asked for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::memory::{Cells, Layout, Misfit};
use super::message::{Message, Messages};
use super::plan::{Plan, Task};
use super::{Element, Operator, Order, RunError};
use crate::diagnostic::{Diagnostic, Rule};
use crate::ids::RankId;
use crate::schedule::{Place, Step, StepId, StepKind};
use crate::size::SizeError;

/// What keeps a task from its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    /// A step of another thread block is not done.
    Step(StepId),
    NoMessage,
    NoSlot,
    /// With no slots: the message that it offers is not taken.
    NotTaken,
}

struct State<T> {
    next: u32,
    /// In the heap.
    ready: bool,
    /// In the list of those that wait for a step.
    listed: bool,
    /// The message of the next step is offered, and not taken yet.
    offering: bool,
    /// What the next step has received and read, and not written yet.
    begun: Option<Message<T>>,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self { next: 0, ready: false, listed: false, offering: false, begun: None }
    }
}

pub(super) struct Machine<'p, 's, T> {
    pub(super) plan: &'p Plan<'s>,
    pub(super) layout: &'p Layout,
    pub(super) operator: Operator,
    pub(super) order: Order,
    /// Messages that a connection holds; none: sender and receiver meet.
    pub(super) slots: usize,
    /// Bytes that messages on their way may take.
    pub(super) limit: u64,
    pub(super) memory: Cells<T>,
    messages: Messages<T>,
    states: Vec<State<T>>,
    /// By task: those that wait until more of its steps are done than the number given.
    waiters: Vec<Vec<(u32, u32)>>,
    heap: BinaryHeap<Reverse<((bool, u64), u32)>>,
    made_ready: u64,
}

impl<'p, 's, T: Element> Machine<'p, 's, T> {
    pub(super) fn new(
        plan: &'p Plan<'s>,
        layout: &'p Layout,
        memory: Cells<T>,
        operator: Operator,
        order: Order,
        slots: usize,
        limit: u64,
    ) -> Self {
        Self {
            plan,
            layout,
            operator,
            order,
            slots,
            limit,
            memory,
            messages: Messages::new(plan.connections.len()),
            states: plan.tasks.iter().map(|_| State::default()).collect(),
            waiters: vec![Vec::new(); plan.tasks.len()],
            heap: BinaryHeap::new(),
            made_ready: 0,
        }
    }

    /// Runs to the end; returns what is then in memory.
    ///
    /// # Errors
    /// A step that does something wrong, or steps that never run.
    pub(super) fn run(mut self) -> Result<Cells<T>, RunError> {
        for task in 0..self.plan.tasks.len() as u32 {
            self.consider(task);
        }
        while let Some(Reverse((_, task))) = self.heap.pop() {
            self.states[task as usize].ready = false;
            self.step(task)?;
            self.consider(task);
        }
        let stuck: Vec<u32> = (0..self.plan.tasks.len() as u32)
            .filter(|task| (self.states[*task as usize].next as usize) < self.plan.steps(*task).len())
            .collect();
        if !stuck.is_empty() {
            return Err(self.fault(self.explain(&stuck)));
        }
        if let Some((connection, chunks)) = self.messages.left()
            && let Some(sender) = self.plan.connections[connection as usize].sender
        {
            let Task { rank, block, .. } = self.plan.tasks[sender as usize];
            let message = format!(
                "rank {}, {block}: a message of {chunks} chunk(s) is sent but never received",
                rank.0
            );
            let site =
                self.plan.steps(sender).iter().rfind(|step| step.kind.sends()).map(|step| step.send_site);
            return Err(self.fault(vec![Diagnostic::new(Rule::Unmatched, site, message)]));
        }
        Ok(self.memory)
    }

    fn fault(&self, found: Vec<Diagnostic>) -> RunError {
        RunError::Fault { found: self.plan.diagnostics(found), order: self.order }
    }

    /// Lets a task run if it can.
    fn consider(&mut self, task: u32) {
        let state = &self.states[task as usize];
        if state.ready || state.next as usize >= self.plan.steps(task).len() {
            return;
        }
        match self.blocked(task) {
            None => {
                let (rank, step) = self.next_step(task);
                let key = self.order.key(rank, step, task, self.made_ready);
                self.push(key, task);
            }
            Some(Blocked::Step(on)) if !state.listed => {
                let awaited = self.plan.task_of(self.plan.tasks[task as usize].rank, on.thread_block);
                self.states[task as usize].listed = true;
                self.waiters[awaited as usize].push((on.step, task));
            }
            Some(_) => {}
        }
    }

    fn next_step(&self, task: u32) -> (RankId, StepId) {
        let Task { rank, block, .. } = self.plan.tasks[task as usize];
        (rank, StepId { thread_block: block, step: self.states[task as usize].next })
    }

    fn push(&mut self, key: (bool, u64), task: u32) {
        self.made_ready += 1;
        self.states[task as usize].ready = true;
        self.heap.push(Reverse((key, task)));
    }

    fn blocked(&self, task: u32) -> Option<Blocked> {
        let state = &self.states[task as usize];
        let step = self.plan.steps(task).get(state.next as usize)?;
        let Task { rank, sends, receives, .. } = self.plan.tasks[task as usize];
        if state.offering {
            return Some(Blocked::NotTaken);
        }
        for on in &step.depends {
            let awaited = self.plan.task_of(rank, on.thread_block);
            if self.states[awaited as usize].next <= on.step {
                return Some(Blocked::Step(*on));
            }
        }
        if step.kind.receives() && receives.is_none_or(|id| self.messages.waiting(id) == 0) {
            return Some(Blocked::NoMessage);
        }
        // With no slots a message can be offered at any time, but then the sender waits.
        if step.kind.sends() && sends.is_none_or(|id| self.messages.waiting(id) >= self.slots.max(1)) {
            return Some(Blocked::NoSlot);
        }
        None
    }

    /// Does the next step of a task, or the half of it that the order asks for.
    fn step(&mut self, task: u32) -> Result<(), RunError> {
        let number = self.states[task as usize].next as usize;
        let Some(step) = self.plan.steps(task).get(number) else { return Ok(()) };
        let at = (task, number, step);
        if let Some(moved) = self.states[task as usize].begun.take() {
            return self.end(at, moved);
        }
        let moved = self.begin(at)?;
        let (rank, id) = self.next_step(task);
        if self.order == Order::HoldWrite(rank, id) {
            self.states[task as usize].begun = Some(moved);
            self.push((true, self.made_ready), task);
            return Ok(());
        }
        self.end(at, moved)
    }

    /// Receives and reads: gives the chunks that the step writes and sends.
    fn begin(&mut self, at: (u32, usize, &Step)) -> Result<Message<T>, RunError> {
        let (task, number, step) = at;
        let Task { receives, .. } = self.plan.tasks[task as usize];
        let mut moved = self.messages.empty();
        if let Some(connection) = receives.filter(|_| step.kind.receives())
            && let Some(message) = self.messages.receive(connection)
        {
            self.messages.done(moved);
            moved = message;
            self.taken(connection);
            if moved.cells.len() != step.count as usize {
                let (at, chunks) = (self.plan.at(task, number), moved.cells.len());
                let message =
                    format!("{at}: a message of {chunks} chunk(s) meets a receive of {}", step.count);
                return Err(self.fault(vec![Diagnostic::new(Rule::Unmatched, Some(step.site), message)]));
            }
        }
        for run in step.work.iter().flat_map(|work| &work.reads) {
            let chunks = self.run_of(at, run.first, run.count)?;
            if let Some(i) = chunks.clone().position(|chunk| self.memory.get(self.layout, chunk).is_none()) {
                return Err(self.misfit(at, run.first, i, &Misfit::Empty));
            }
        }
        let adds_locally = step.kind == StepKind::Reduce;
        let operands = [(step.kind.reads_src(), step.src), (adds_locally, step.dst)];
        for (place, combine) in operands
            .iter()
            .filter(|(reads, _)| *reads)
            .map(|(_, place)| *place)
            .zip([step.kind.receives(), true])
        {
            let chunks = self.run_of(at, place, step.count)?;
            let read = self.read(chunks, combine, &mut moved);
            read.map_err(|(i, misfit)| self.misfit(at, place, i, &misfit))?;
        }
        Ok(moved)
    }

    /// Writes and sends, and is done.
    fn end(&mut self, at: (u32, usize, &Step), moved: Message<T>) -> Result<(), RunError> {
        let (task, _, step) = at;
        let Task { sends, .. } = self.plan.tasks[task as usize];
        for run in step.work.iter().flat_map(|work| &work.writes) {
            for (i, chunk) in self.run_of(at, run.first, run.count)?.enumerate() {
                if !self.memory.compute(self.layout, chunk) {
                    return Err(self.no_input(at, run.first, i));
                }
            }
        }
        if step.kind.writes_dst() {
            let chunks = self.run_of(at, step.dst, step.count)?;
            for (i, (chunk, (cell, elements))) in chunks.zip(moved.chunks()).enumerate() {
                let written = self.memory.write(self.layout, chunk, cell, elements);
                written.map_err(|misfit| self.misfit(at, step.dst, i, &misfit))?;
            }
        }
        let Some(connection) = sends.filter(|_| step.kind.sends()) else {
            self.messages.done(moved);
            self.finished(task);
            return Ok(());
        };
        self.messages.send(connection, moved);
        if self.messages.bytes > self.limit {
            let (what, needed) = ("the messages on their way", u128::from(self.messages.bytes));
            return Err(RunError::TooLarge { what, needed, limit: self.limit });
        }
        if self.slots == 0 {
            self.states[task as usize].offering = true;
        } else {
            self.finished(task);
        }
        if let Some(receiver) = self.plan.connections[connection as usize].receiver {
            self.consider(receiver);
        }
        Ok(())
    }

    /// Reads chunks: into the message, or combined with what is in it.
    fn read(
        &self,
        chunks: std::ops::Range<usize>,
        combine: bool,
        moved: &mut Message<T>,
    ) -> Result<(), (usize, Misfit)> {
        if !combine {
            for (i, chunk) in chunks.enumerate() {
                let (cell, elements) = self.memory.get(self.layout, chunk).ok_or((i, Misfit::Empty))?;
                moved.push(cell, elements);
            }
            return Ok(());
        }
        for (i, (chunk, (cell, arrived))) in chunks.zip(moved.chunks_mut()).enumerate() {
            let (own, elements) = self.memory.get(self.layout, chunk).ok_or((i, Misfit::Empty))?;
            if own.length != cell.length {
                return Err((i, Misfit::Sizes(cell.length, own.length)));
            }
            cell.depth = own.depth.max(cell.depth).saturating_add(1);
            for (arrived, own) in arrived.iter_mut().zip(elements) {
                *arrived = T::combine(self.operator, *own, *arrived);
            }
        }
        Ok(())
    }

    /// A message was taken from a connection: a slot is free, or the sender has been waiting for just this.
    fn taken(&mut self, connection: u32) {
        let Some(sender) = self.plan.connections[connection as usize].sender else { return };
        if self.states[sender as usize].offering {
            self.states[sender as usize].offering = false;
            self.finished(sender);
        }
        self.consider(sender);
    }

    /// A step is done: who waited for it may go on.
    fn finished(&mut self, task: u32) {
        self.states[task as usize].next += 1;
        let done = self.states[task as usize].next;
        let mut waiters = std::mem::take(&mut self.waiters[task as usize]);
        let mut woken = Vec::new();
        waiters.retain(|(on, waiter)| {
            let wake = *on < done;
            if wake {
                woken.push(*waiter);
            }
            !wake
        });
        self.waiters[task as usize] = waiters;
        for waiter in woken {
            self.states[waiter as usize].listed = false;
            self.consider(waiter);
        }
    }

    /// The chunks of a run of a step's rank.
    fn run_of(
        &self,
        at: (u32, usize, &Step),
        place: Place,
        count: u32,
    ) -> Result<std::ops::Range<usize>, RunError> {
        let rank = self.plan.tasks[at.0 as usize].rank;
        self.layout.run(rank, place, count).map_err(|has| self.out_of_bounds(at, place, count, has))
    }

    fn no_input(&self, at: (u32, usize, &Step), place: Place, i: usize) -> RunError {
        let (task, number, step) = at;
        let place = Place { index: place.index + i as u32, ..place };
        let message = format!(
            "{} computes {place}, which is no chunk of the rank's input: only those can be computed",
            self.plan.at(task, number)
        );
        self.fault(vec![Diagnostic::new(Rule::Bounds, Some(step.site), message)])
    }

    fn out_of_bounds(&self, at: (u32, usize, &Step), place: Place, count: u32, has: usize) -> RunError {
        let (task, number, step) = at;
        let (letter, end) = (place.buffer.letter(), u64::from(place.index) + u64::from(count));
        let message = format!(
            "{} reaches beyond its buffer: {letter}[{}..{end}], but {letter} has {has} chunk(s) there",
            self.plan.at(task, number),
            place.index
        );
        self.fault(vec![Diagnostic::new(Rule::Bounds, Some(step.site), message)])
    }

    fn misfit(&self, at: (u32, usize, &Step), place: Place, i: usize, misfit: &Misfit) -> RunError {
        let (task, number, step) = at;
        let place = Place { index: place.index + i as u32, ..place };
        let at = self.plan.at(task, number);
        match misfit {
            Misfit::Empty => {
                let message = format!("{at}: {place} is read but has never been written");
                self.fault(vec![Diagnostic::new(Rule::Uninitialised, Some(step.site), message)])
            }
            Misfit::Sizes(moved, there) => RunError::Size(SizeError::Indivisible(format!(
                "{at}: a chunk of {moved} element(s) meets {place}, which has {there}: \
                 with so many elements in all these chunks are not equal"
            ))),
        }
    }

    /// Who waits for whom: a cycle where there is one, else one that waits for what never comes.
    fn explain(&self, stuck: &[u32]) -> Vec<Diagnostic> {
        let waits_for = |task: u32| -> Option<u32> {
            let me = &self.plan.tasks[task as usize];
            match self.blocked(task)? {
                Blocked::Step(on) => Some(self.plan.task_of(me.rank, on.thread_block)),
                Blocked::NoMessage => self.plan.connections[me.receives? as usize].sender,
                Blocked::NoSlot | Blocked::NotTaken => self.plan.connections[me.sends? as usize].receiver,
            }
        };
        let next = |task: u32| waits_for(task).filter(|other| stuck.binary_search(other).is_ok());
        let mut seen = vec![false; self.plan.tasks.len()];
        let mut at = stuck[0];
        while let Some(other) = next(at).filter(|_| !seen[at as usize]) {
            seen[at as usize] = true;
            at = other;
        }
        let mut members = vec![at];
        let mut rule = Rule::Unmatched;
        if next(at).is_some() {
            // A task that came up twice is on a cycle.
            rule = Rule::Deadlock;
            while let Some(other) = next(members[members.len() - 1]).filter(|other| *other != at) {
                members.push(other);
            }
        }
        let total = members.len();
        let describe = |(i, task): (usize, &u32)| {
            let number = self.states[*task as usize].next as usize;
            let Task { rank, sends, receives, .. } = self.plan.tasks[*task as usize];
            let other = |end: Option<u32>, of: fn(&super::plan::Ends) -> Option<u32>| {
                let end = end.and_then(|end| of(&self.plan.connections[end as usize]));
                end.map_or_else(
                    || "nobody".to_owned(),
                    |other| self.plan.at(other, self.states[other as usize].next as usize),
                )
            };
            let why = match self.blocked(*task) {
                Some(Blocked::Step(on)) => {
                    format!("step {} of {} of rank {}", on.step, on.thread_block, rank.0)
                }
                Some(Blocked::NoMessage) => format!("a message of {}", other(receives, |ends| ends.sender)),
                Some(Blocked::NoSlot) => {
                    let free = other(sends, |ends| ends.receiver);
                    format!("a slot: the connection holds {} and waits for {free}", self.slots.max(1))
                }
                Some(Blocked::NotTaken) => {
                    format!("its message to be taken by {}", other(sends, |ends| ends.receiver))
                }
                None => "nothing".to_owned(),
            };
            let which = if total > 1 { format!(" ({}/{total})", i + 1) } else { String::new() };
            let message = format!("{} waits for {why}{which}", self.plan.at(*task, number));
            let site = self.plan.steps(*task).get(number).map(|step| step.site);
            Diagnostic::new(rule, site, message)
        };
        members.iter().enumerate().map(describe).collect()
    }
}
