//! Executes thread blocks event by event.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::network::{Way, wire};
use super::parameters::{Completion, Costs};
use super::program::{Connection, NONE, Program, Step, Work};
use super::rounds::Rounds;
use super::state::{BlockState, Fifo, Phase};
use super::steady::Steady;
use super::times::Times;
use crate::error::{Overflow, SimError};
use crate::events::{Event, EventQueue, Message, MessageId, Messages, Order};
use crate::model::fluid::Fluid;
use crate::model::network::Network;
use crate::options::Watch;
use crate::progress::{PartialReport, Progress};
use crate::units::{Bandwidth, Bytes, Picos};

/// How many events an observer hears nothing of.
const EVENTS_BETWEEN: u64 = 1 << 16;

pub(super) struct Engine<'a> {
    pub(super) program: &'a Program,
    costs: &'a Costs,
    completion: Completion,
    pub(super) rounds: Rounds,
    ways: Vec<Way>,
    pub(super) network: Fluid,
    pub(super) messages: Messages,
    pub(super) queue: EventQueue,
    pub(super) blocks: Vec<BlockState>,
    pub(super) fifos: Vec<Fifo>,
    /// By step: rounds that are done.
    pub(super) done: Vec<u32>,
    /// By block: the steps of it that others wait for, and those others.
    waiters: Vec<Vec<(u32, u32)>>,
    /// Blocks that can go on.
    ready: VecDeque<u32>,
    pub(super) steady: Steady,
    pub(super) times: Times,
    observer: Option<Watch<'a>>,
    events: u64,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        program: &'a Program,
        (costs, completion): (&'a Costs, Completion),
        rounds: Rounds,
        (network, ways): (Fluid, Vec<Way>),
        times: Times,
        observer: Option<Watch<'a>>,
    ) -> Self {
        let begin = |first: u32| BlockState {
            step: first,
            round: 0,
            slice: 0,
            data: 0,
            phase: Phase::Begin,
            until: Picos::ZERO,
            message: None,
        };
        Self {
            blocks: program.blocks.iter().map(|block| begin(block.first_step)).collect(),
            fifos: vec![Fifo::default(); program.connections.len()],
            done: vec![0; program.steps.len()],
            waiters: vec![Vec::new(); program.blocks.len()],
            ready: VecDeque::new(),
            steady: Steady::new(rounds),
            program,
            costs,
            completion,
            rounds,
            ways,
            network,
            messages: Messages::default(),
            queue: EventQueue::new(Order::Scheduling),
            times,
            observer,
            events: 0,
        }
    }

    /// Runs to the end, or until nothing can go on. `late` says by rank how much later than the others it is called.
    pub(super) fn run(&mut self, late: impl Fn(u32) -> Picos) -> Result<(), SimError> {
        for (number, block) in (0..).zip(&self.program.blocks) {
            let start = self.costs.launch.checked_add(late(block.rank)).ok_or(Overflow::TIME)?;
            self.queue.schedule(start, Event::Computed { rank: number, node: 0 })?;
        }
        while let Some(event) = self.queue.pop(Picos(u64::MAX)) {
            match event {
                Event::Computed { rank: block, .. } => self.ready.push_back(block),
                Event::Received { rank: connection, .. } => self.delivered(connection)?,
                Event::Arrival(message) => self.arrived(message)?,
                Event::LinkFree(link) => {
                    self.network.link_free(link, &mut self.messages, &mut self.queue)?;
                }
                // Nothing else is scheduled.
                _ => {}
            }
            while let Some(block) = self.ready.pop_front() {
                self.proceed(block)?;
            }
            self.events += 1;
            if self.events.is_multiple_of(EVENTS_BETWEEN) {
                self.observe()?;
            }
        }
        Ok(())
    }

    /// Takes a block as far as it gets at the current time.
    fn proceed(&mut self, number: u32) -> Result<(), SimError> {
        loop {
            let state = self.blocks[number as usize];
            let step = &self.program.steps[state.step as usize];
            let next = match state.phase {
                Phase::Begin => {
                    if !self.may_begin(number) {
                        return Ok(());
                    }
                    if self.steady.is_due(number, &state, self.program) {
                        Steady::look(self)?;
                    }
                    // The round may be another one by now.
                    let state = &mut self.blocks[number as usize];
                    state.data = self.rounds.data(step.bytes, state.round);
                    state.slice = 0;
                    self.times.begin(state.step, state.round, self.queue.now())?;
                    Phase::Data
                }
                Phase::Data => match self.fifos.get(step.receive as usize) {
                    Some(fifo) if fifo.visible == 0 => return Ok(()),
                    _ => Phase::Slot,
                },
                Phase::Slot => {
                    if let Some(fifo) = self.fifos.get_mut(step.send as usize) {
                        if self.costs.slots.is_some_and(|slots| fifo.used >= slots.max(1)) {
                            return Ok(());
                        }
                        fifo.used += 1;
                    }
                    let overhead = self.overhead(&state)?;
                    if self.wait(number, Phase::Overhead, overhead)? {
                        return Ok(());
                    }
                    Phase::Overhead
                }
                Phase::Overhead | Phase::Local if state.until > self.queue.now() => return Ok(()),
                Phase::Overhead => {
                    let span = self.local(&state)?;
                    if self.wait(number, Phase::Local, span)? {
                        return Ok(());
                    }
                    Phase::Local
                }
                Phase::Local if step.send == NONE => {
                    self.slice_ended(number)?;
                    continue;
                }
                Phase::Local => {
                    self.blocks[number as usize].phase = Phase::Flow;
                    return self.start_flow(number);
                }
                Phase::Flow | Phase::Delivery | Phase::Over => return Ok(()),
            };
            self.blocks[number as usize].phase = next;
        }
    }

    /// Whether everything has happened that the step waits for; else the block is woken when the next of it has.
    fn may_begin(&mut self, number: u32) -> bool {
        let state = &self.blocks[number as usize];
        let (first, end) = self.program.steps[state.step as usize].waits;
        let waits = &self.program.waits[first as usize..end as usize];
        let missing = waits.iter().find(|step| self.done[**step as usize] <= state.round);
        let Some(&missing) = missing else { return true };
        let block = self.program.steps[missing as usize].block;
        self.waiters[block as usize].push((missing, number));
        false
    }

    /// Has a block wait in a phase; false if that takes no time.
    fn wait(&mut self, number: u32, phase: Phase, span: Picos) -> Result<bool, SimError> {
        if span == Picos::ZERO {
            return Ok(false);
        }
        let state = &mut self.blocks[number as usize];
        state.phase = phase;
        state.until = self.queue.now().checked_add(span).ok_or(Overflow::TIME)?;
        self.queue.schedule(span, Event::Computed { rank: number, node: 0 })?;
        Ok(true)
    }

    /// What passes before the data of a slice move.
    fn overhead(&self, state: &BlockState) -> Result<Picos, Overflow> {
        let step = &self.program.steps[state.step as usize];
        let connection = if step.send == NONE { step.receive } else { step.send };
        let on = self.ways.get(connection as usize).map(|way| way.costs);
        let (of_step, of_slice) = on.map_or((self.costs.step, self.costs.slice), |on| (on.step, on.slice));
        let of_step = if state.slice == 0 { of_step } else { Picos::ZERO };
        of_step.checked_add(of_slice).ok_or(Overflow::TIME)
    }

    /// How long the block works on a slice within its rank.
    fn local(&self, state: &BlockState) -> Result<Picos, Overflow> {
        let step = &self.program.steps[state.step as usize];
        let slice = self.rounds.slice(state.data, state.slice);
        let at = |rate: Option<Bandwidth>| match rate {
            Some(rate) => rate.transfer_time(Bytes(slice)).ok_or(Overflow::TIME),
            None => Ok(Picos::ZERO),
        };
        match step.work {
            Work::Stated(whole) if step.bytes == 0 => Ok(if state.round == 0 { whole } else { Picos::ZERO }),
            Work::Stated(whole) => {
                let share = u128::from(whole.0) * u128::from(slice) / u128::from(step.bytes);
                Ok(Picos(share as u64))
            }
            // What goes out again does so as it is copied or reduced.
            _ if step.send != NONE => Ok(Picos::ZERO),
            Work::Copy => at(self.costs.copy),
            Work::Reduce => at(self.costs.reduce),
        }
    }

    fn start_flow(&mut self, number: u32) -> Result<(), SimError> {
        let state = self.blocks[number as usize];
        let step = &self.program.steps[state.step as usize];
        let rank = self.program.blocks[number as usize].rank;
        let bytes = wire(self.rounds.slice(state.data, state.slice), self.costs.wire)?;
        let message = self.messages.insert(Message::new(bytes, rank, step.first_node, number))?;
        self.blocks[number as usize].message = Some(message);
        let pair = self.pair_of(step);
        Ok(self.network.inject(message, pair, &mut self.messages, &mut self.queue)?)
    }

    /// The pair of the network over which a step sends.
    pub(super) fn pair_of(&self, step: &Step) -> u32 {
        self.ways[step.send as usize].pairs[usize::from(step.work == Work::Reduce)]
    }

    /// A flow may have ended.
    fn arrived(&mut self, message: MessageId) -> Result<(), SimError> {
        if self.network.arrive(message, &mut self.messages, &mut self.queue)? {
            self.flow_ended(message)?;
        }
        Ok(())
    }

    /// A slot is filled.
    fn flow_ended(&mut self, message: MessageId) -> Result<(), SimError> {
        let number = self.messages.remove(message).connection;
        let state = &mut self.blocks[number as usize];
        state.message = None;
        let (at_step, connection) = (state.step, self.program.steps[state.step as usize].send);
        let latency = self.ways[connection as usize].latency;
        let at = self.queue.now().checked_add(latency).ok_or(Overflow::TIME)?;
        self.fifos[connection as usize].coming.push_back(at);
        self.queue.schedule(latency, Event::Received { rank: connection, node: 0 })?;
        self.times.delivered(at_step, at)?;
        match self.completion {
            Completion::Delivered => {
                self.blocks[number as usize].phase = Phase::Delivery;
                Ok(())
            }
            Completion::Filled => self.slice_ended(number),
        }
    }

    /// A slice is there for the receiver to see.
    fn delivered(&mut self, connection: u32) -> Result<(), SimError> {
        let fifo = &mut self.fifos[connection as usize];
        fifo.coming.pop_front();
        fifo.visible += 1;
        let Connection { sender, receiver, .. } = self.program.connections[connection as usize];
        if self.blocks[sender as usize].phase == Phase::Delivery {
            self.slice_ended(sender)?;
        }
        if let Some(state) = self.blocks.get(receiver as usize)
            && state.phase == Phase::Data
            && self.program.steps[state.step as usize].receive == connection
        {
            self.ready.push_back(receiver);
        }
        Ok(())
    }

    /// A block has done a slice, and goes on with the next one, or the next step, or the next round.
    fn slice_ended(&mut self, number: u32) -> Result<(), SimError> {
        self.ready.push_back(number);
        let state = &mut self.blocks[number as usize];
        let step = &self.program.steps[state.step as usize];
        if let Some(fifo) = self.fifos.get_mut(step.receive as usize) {
            fifo.visible -= 1;
            fifo.used -= 1;
            let sender = self.program.connections[step.receive as usize].sender;
            self.ready.push_back(sender);
        }
        state.slice += 1;
        if state.slice < self.rounds.slices(state.data) {
            state.phase = Phase::Data;
            return Ok(());
        }
        let (ended, round) = (state.step, state.round);
        self.done[ended as usize] = round + 1;
        self.times.end(ended, self.queue.now())?;
        let waiters = &mut self.waiters[number as usize];
        let mut at = 0;
        while at < waiters.len() {
            if waiters[at].0 == ended {
                self.ready.push_back(waiters.remove(at).1);
            } else {
                at += 1;
            }
        }
        let block = &self.program.blocks[number as usize];
        let state = &mut self.blocks[number as usize];
        (state.slice, state.phase) = (0, Phase::Begin);
        state.step += 1;
        if state.step == block.end_step {
            state.step = block.first_step;
            state.round += 1;
            if state.round == self.rounds.count {
                state.phase = Phase::Over;
            }
        }
        Ok(())
    }

    /// Tells the observer how far the run is.
    #[cold]
    fn observe(&self) -> Result<(), SimError> {
        let Some(observer) = self.observer else { return Ok(()) };
        let steps =
            || self.program.steps.iter().zip(&self.done).filter(|(_, done)| **done == self.rounds.count);
        let sent = || steps().filter(|(step, _)| step.send != NONE);
        let copies = self.program.copies();
        let nodes = |count: usize| count.saturating_mul(copies as usize);
        let bytes = sent().map(|(step, _)| step.bytes).fold(0, u64::saturating_add);
        let progress = Progress {
            time: self.times.absolute(self.queue.now())?,
            finished: nodes(steps().map(|(step, _)| step.nodes as usize).sum()),
            nodes: nodes(self.program.steps.iter().map(|step| step.nodes as usize).sum()),
            messages: copies.saturating_mul(sent().count() as u64),
            bytes: Bytes(bytes.saturating_mul(copies)),
            events: self.events,
        };
        match observer.0.observe(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                let finish = self.times.finish(self.program);
                Err(SimError::Stopped(Box::new(PartialReport { progress, finish })))
            }
        }
    }
}
