//! Symbolic execution: thread blocks as processes, connections as FIFOs.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::values::{Value, Values};
use crate::buffer::Space;
use crate::diagnostic::{Diagnostic, Rule};
use crate::ids::{ChannelId, RankId, SiteId, ThreadBlockId};
use crate::schedule::{MemoryBuffer, Place, Schedule, Step, StepId};

/// The end of an execution: every chunk's content and last writer.
pub(super) struct Run {
    pub(super) values: Values,
    memories: Vec<Memory>,
}

/// A rank's memory: input, output, scratch, end to end.
struct Memory {
    begins: [u32; 3],
    ends: [u32; 3],
    cells: Vec<(Value, Option<SiteId>)>,
}

impl Memory {
    fn chunks(&self, buffer: MemoryBuffer) -> u32 {
        self.ends[buffer as usize] - self.begins[buffer as usize]
    }

    fn at(&self, place: Place, count: u32) -> Option<std::ops::Range<usize>> {
        let buffer = place.buffer as usize;
        let begin = self.begins[buffer].checked_add(place.index)?;
        let end = begin.checked_add(count)?;
        (end <= self.ends[buffer]).then_some(begin as usize..end as usize)
    }
}

impl Run {
    /// The first rank that holds a content anywhere.
    pub(super) fn find(&self, is_it: impl Fn(Value) -> bool) -> Option<RankId> {
        let holds = |memory: &Memory| memory.cells.iter().any(|cell| is_it(cell.0));
        self.memories.iter().position(holds).map(|rank| RankId(rank as u32))
    }

    /// Content and last writer of a chunk of a rank's output.
    pub(super) fn output(&self, schedule: &Schedule, rank: RankId, index: u32) -> (Value, Option<SiteId>) {
        let (space, index) = schedule.collective.locate_output(rank, index);
        let buffer = match space {
            Space::Input => MemoryBuffer::Input,
            Space::Output => MemoryBuffer::Output,
            Space::Scratch(_) => MemoryBuffer::Scratch,
        };
        let memory = &self.memories[rank.index()];
        match memory.at(Place { buffer, index }, 1) {
            Some(range) => memory.cells[range.start],
            None => (Value::Empty, None),
        }
    }
}

#[derive(Default)]
struct Connection {
    /// Messages on their way, each with its number of chunks.
    sizes: VecDeque<u32>,
    chunks: VecDeque<Value>,
    /// Thread blocks, in the numbering of processes, at either end.
    sender: Option<u32>,
    receiver: Option<u32>,
}

struct Process {
    rank: RankId,
    id: ThreadBlockId,
    next: u32,
    sends: Option<u32>,
    receives: Option<u32>,
    /// Processes that wait until this one has done more steps than the number given.
    waiters: Vec<(u32, u32)>,
}

/// What keeps a process from doing its next step.
#[derive(Clone, Copy)]
enum Blocked {
    Step(StepId),
    NoMessage,
    NoSlot,
}

/// Runs the schedule to its end.
///
/// # Errors
/// Why it cannot get there, or what a step does wrong on the way.
pub(super) fn execute(schedule: &Schedule, slots: u32) -> Result<Run, Vec<Diagnostic>> {
    let mut machine = Machine::new(schedule, slots, true)?;
    machine.run()?;
    Ok(Run { values: machine.values, memories: machine.memories })
}

/// Runs the schedule to its end without any data: only who waits for whom.
///
/// # Errors
/// Why it cannot get there.
pub(super) fn progress(schedule: &Schedule, slots: u32) -> Result<(), Vec<Diagnostic>> {
    Machine::new(schedule, slots, false)?.run()
}

struct Machine<'s> {
    schedule: &'s Schedule,
    slots: usize,
    /// Whether data are moved.
    with_data: bool,
    values: Values,
    memories: Vec<Memory>,
    processes: Vec<Process>,
    /// First process of each rank.
    first: Vec<u32>,
    connections: Vec<Connection>,
    moved: Vec<Value>,
}

impl<'s> Machine<'s> {
    fn new(schedule: &'s Schedule, slots: u32, with_data: bool) -> Result<Self, Vec<Diagnostic>> {
        let faults = super::well_formed(schedule);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut values = Values::default();
        let memories = if with_data {
            (0..schedule.ranks.len()).map(|rank| memory(schedule, rank, &mut values)).collect()
        } else {
            Vec::new()
        };
        let mut machine = Self {
            schedule,
            slots: slots as usize,
            with_data,
            values,
            memories,
            processes: Vec::new(),
            first: Vec::new(),
            connections: Vec::new(),
            moved: Vec::new(),
        };
        let mut ids: FxHashMap<(RankId, RankId, ChannelId), u32> = FxHashMap::default();
        for (r, rank) in schedule.ranks.iter().enumerate() {
            let me = RankId(r as u32);
            machine.first.push(machine.processes.len() as u32);
            for (t, block) in rank.thread_blocks.iter().enumerate() {
                let process = machine.processes.len() as u32;
                let mut end = |from, to| {
                    *ids.entry((from, to, block.channel)).or_insert_with(|| {
                        machine.connections.push(Connection::default());
                        machine.connections.len() as u32 - 1
                    })
                };
                let sends = block.send.map(|peer| end(me, peer));
                let receives = block.recv.map(|peer| end(peer, me));
                let id = ThreadBlockId(t as u32);
                for (connection, word) in [(sends, "send"), (receives, "receive")] {
                    let Some(connection) = connection else { continue };
                    let connection = &mut machine.connections[connection as usize];
                    let owner =
                        if word == "send" { &mut connection.sender } else { &mut connection.receiver };
                    if let Some(other) = owner.replace(process) {
                        let other = machine.processes[other as usize].id;
                        let message = format!(
                            "rank {r}: {other} and {id} both own the {word} side of one connection of {}",
                            block.channel
                        );
                        return Err(vec![Diagnostic::new(Rule::Malformed, None, message)]);
                    }
                }
                machine.processes.push(Process {
                    rank: me,
                    id,
                    next: 0,
                    sends,
                    receives,
                    waiters: Vec::new(),
                });
            }
        }
        Ok(machine)
    }

    fn steps(&self, process: u32) -> &'s [Step] {
        let process = &self.processes[process as usize];
        &self.schedule.ranks[process.rank.index()].thread_blocks[process.id.index()].steps
    }

    fn run(&mut self) -> Result<(), Vec<Diagnostic>> {
        let mut ready: VecDeque<u32> = (0..self.processes.len() as u32).collect();
        while let Some(process) = ready.pop_front() {
            while let Some(step) = self.steps(process).get(self.processes[process as usize].next as usize) {
                match self.blocked(process, step) {
                    None => self.step(process, step, &mut ready).map_err(|finding| vec![finding])?,
                    Some(Blocked::Step(on)) => {
                        // Messages and slots wake the process by their connection; a step must be told.
                        let rank = self.processes[process as usize].rank;
                        let owner = self.first[rank.index()] + on.thread_block.0;
                        self.processes[owner as usize].waiters.push((on.step, process));
                        break;
                    }
                    Some(_) => break,
                }
            }
        }
        let stuck: Vec<u32> = (0..self.processes.len() as u32)
            .filter(|process| self.steps(*process).len() > self.processes[*process as usize].next as usize)
            .collect();
        if !stuck.is_empty() {
            return Err(self.explain(&stuck));
        }
        for connection in &self.connections {
            if let (Some(size), Some(sender)) = (connection.sizes.front(), connection.sender) {
                let process = &self.processes[sender as usize];
                let message = format!(
                    "rank {}, {}: a message of {size} chunk(s) is sent but never received",
                    process.rank.0, process.id
                );
                let site =
                    self.steps(sender).iter().rfind(|step| step.kind.sends()).map(|step| step.send_site);
                return Err(vec![Diagnostic::new(Rule::Unmatched, site, message)]);
            }
        }
        Ok(())
    }

    fn blocked(&self, process: u32, step: &Step) -> Option<Blocked> {
        let process = &self.processes[process as usize];
        let first = self.first[process.rank.index()];
        for on in &step.depends {
            let done = self.processes.get((first + on.thread_block.0) as usize).map_or(0, |p| p.next);
            if done <= on.step {
                return Some(Blocked::Step(*on));
            }
        }
        let connection = |id: u32| &self.connections[id as usize];
        if step.kind.receives() && process.receives.is_none_or(|id| connection(id).sizes.is_empty()) {
            return Some(Blocked::NoMessage);
        }
        if step.kind.sends() && process.sends.is_none_or(|id| connection(id).sizes.len() >= self.slots) {
            return Some(Blocked::NoSlot);
        }
        None
    }

    fn step(&mut self, process: u32, step: &Step, ready: &mut VecDeque<u32>) -> Result<(), Diagnostic> {
        let Process { rank, id, next, sends, receives, .. } = self.processes[process as usize];
        let at = || format!("rank {}, {id}, step {next} ({})", rank.0, step.kind.name());
        let out_of_bounds = |place: Place, memory: &Memory| {
            let (letter, chunks) = (place.buffer.letter(), memory.chunks(place.buffer));
            let end = u64::from(place.index) + u64::from(step.count);
            let message = format!(
                "{} reaches beyond its buffer: {letter}[{}..{end}], but {letter} has {chunks} chunk(s) there",
                at(),
                place.index,
            );
            Diagnostic::new(Rule::Bounds, Some(step.site), message)
        };
        self.moved.clear();
        if step.kind.receives()
            && let Some(connection) = receives
        {
            let connection = &mut self.connections[connection as usize];
            let size = connection.sizes.pop_front().unwrap_or(0);
            if size != step.count {
                let message =
                    format!("{}: a message of {size} chunk(s) meets a receive of {}", at(), step.count);
                return Err(Diagnostic::new(Rule::Unmatched, Some(step.site), message));
            }
            if self.with_data {
                self.moved.extend(connection.chunks.drain(..size as usize));
            }
            ready.extend(connection.sender);
        }
        if let Some(memory) = self.memories.get_mut(rank.index()) {
            if step.kind.reads_src() {
                let range = memory.at(step.src, step.count).ok_or_else(|| out_of_bounds(step.src, memory))?;
                let cells = &memory.cells[range];
                if let Some(hole) = cells.iter().position(|cell| cell.0 == Value::Empty) {
                    let place = Place { index: step.src.index + hole as u32, ..step.src };
                    let message = format!("{}: {place} is read but has never been written", at());
                    return Err(Diagnostic::new(Rule::Uninitialised, Some(step.site), message));
                }
                if step.kind.receives() {
                    for (message, cell) in self.moved.iter_mut().zip(cells) {
                        *message = self.values.add(cell.0, *message);
                    }
                } else {
                    self.moved.extend(cells.iter().map(|cell| cell.0));
                }
            }
            if step.kind.writes_dst() {
                let range = memory.at(step.dst, step.count).ok_or_else(|| out_of_bounds(step.dst, memory))?;
                let into = step.kind.reduces() && !step.kind.receives();
                for (cell, moved) in memory.cells[range].iter_mut().zip(&self.moved) {
                    let value = if into { self.values.add(cell.0, *moved) } else { *moved };
                    *cell = (value, Some(step.site));
                }
            }
        }
        if step.kind.sends()
            && let Some(connection) = sends
        {
            let connection = &mut self.connections[connection as usize];
            connection.sizes.push_back(step.count);
            connection.chunks.extend(&self.moved);
            ready.extend(connection.receiver);
        }
        let process = &mut self.processes[process as usize];
        process.next += 1;
        let done = process.next;
        process.waiters.retain(|(on, waiter)| {
            let woken = *on < done;
            if woken {
                ready.push_back(*waiter);
            }
            !woken
        });
        Ok(())
    }

    /// Who waits for whom: a cycle where there is one, else those who wait for something that never comes.
    fn explain(&self, stuck: &[u32]) -> Vec<Diagnostic> {
        // Each stuck process waits for one other, or for nobody: follow until one comes up twice.
        let waits_for = |process: u32| -> Option<u32> {
            let step = self.steps(process).get(self.processes[process as usize].next as usize)?;
            let me = &self.processes[process as usize];
            match self.blocked(process, step)? {
                Blocked::Step(on) => Some(self.first[me.rank.index()] + on.thread_block.0),
                Blocked::NoMessage => self.connections[me.receives? as usize].sender,
                Blocked::NoSlot => self.connections[me.sends? as usize].receiver,
            }
        };
        let is_stuck = |process: &u32| stuck.binary_search(process).is_ok();
        let mut seen = vec![false; self.processes.len()];
        let mut at = stuck[0];
        loop {
            seen[at as usize] = true;
            match waits_for(at).filter(is_stuck) {
                Some(next) if seen[next as usize] => {
                    let mut cycle = vec![next];
                    let mut member = waits_for(next);
                    while let Some(process) = member.filter(|process| *process != next) {
                        cycle.push(process);
                        member = waits_for(process);
                    }
                    return self.describe(&cycle, Rule::Deadlock);
                }
                Some(next) => at = next,
                None => return self.describe(&[at], Rule::Unmatched),
            }
        }
    }

    fn describe(&self, processes: &[u32], rule: Rule) -> Vec<Diagnostic> {
        let total = processes.len();
        let describe = |(i, process): (usize, &u32)| {
            let me = &self.processes[*process as usize];
            let step = self.steps(*process).get(me.next as usize)?;
            let (peer, why) = match self.blocked(*process, step)? {
                Blocked::Step(on) => (None, format!("waits for {}.{}", on.thread_block, on.step)),
                Blocked::NoMessage => (
                    me.receives.and_then(|c| self.connections[c as usize].sender),
                    "waits for a message".to_owned(),
                ),
                Blocked::NoSlot => (
                    me.sends.and_then(|c| self.connections[c as usize].receiver),
                    format!("waits for one of {} slots", self.slots),
                ),
            };
            let with = match (peer, rule) {
                (Some(peer), _) => format!(" of rank {}", self.processes[peer as usize].rank.0),
                (None, Rule::Unmatched) => " that never comes".to_owned(),
                (None, _) => String::new(),
            };
            let message = format!(
                "({}/{total}) rank {}, {}, step {} ({}) {why}{with}",
                i + 1,
                me.rank.0,
                me.id,
                me.next,
                step.kind.name()
            );
            Some(Diagnostic::new(rule, Some(step.site), message))
        };
        processes.iter().enumerate().filter_map(describe).collect()
    }
}

fn memory(schedule: &Schedule, rank: usize, values: &mut Values) -> Memory {
    let (collective, id) = (&schedule.collective, RankId(rank as u32));
    let input = collective.space_chunks(id, Space::Input) as u32;
    let output = input + collective.space_chunks(id, Space::Output) as u32;
    let scratch = output + schedule.ranks[rank].scratch_chunks;
    let mut memory = Memory {
        begins: [0, input, output],
        ends: [input, output, scratch],
        cells: vec![(Value::Empty, None); scratch as usize],
    };
    for index in 0..collective.input_chunks_of(id) as u32 {
        let (space, at) = collective.locate_input(id, index);
        let begin = if space == Space::Output { input } else { 0 };
        memory.cells[(begin + at) as usize].0 = values.own(id, collective.input_data(id, index));
    }
    memory
}
