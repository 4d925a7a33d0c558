//! Which part of the collective's data each step moves: the format does not say it, and sizes depend on it.
//!
//! Every chunk carries the number of a logical chunk: input begins with its own, a copy takes its source's, a sum
//! keeps its operand's on the rank. The schedule is run with as many slots as it likes; what a wrong schedule never
//! reaches, or reads before it is written, is taken from the place itself.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::buffer::Space;
use crate::collective::Collective;
use crate::ids::{DataId, RankId};
use crate::schedule::{MemoryBuffer, Place, Schedule, Step};
use crate::trace::{DataTable, MixedReduction};

/// A logical chunk, or `UNKNOWN`.
type Label = u32;
const UNKNOWN: Label = Label::MAX;

/// Fills in `Step::data`, `Schedule::data` and `Schedule::mixed`.
pub(super) fn infer(schedule: &mut Schedule) {
    let mut machine = Machine::new(schedule);
    machine.run();
    let Machine { data, mixed, moved, processes, .. } = machine;
    for (process, moved) in processes.iter().zip(moved) {
        let block = &mut schedule.ranks[process.rank].thread_blocks[process.block];
        for (step, data) in block.steps.iter_mut().zip(moved) {
            step.data = data;
        }
    }
    schedule.data = data;
    schedule.mixed = mixed;
}

/// A rank's memory: input, output and scratch end to end.
struct Memory {
    begins: [usize; 4],
    labels: Vec<Label>,
}

impl Memory {
    fn new(collective: &Collective, rank: RankId, scratch: u32) -> Self {
        let inputs = collective.space_chunks(rank, Space::Input);
        let outputs = inputs + collective.space_chunks(rank, Space::Output);
        let end = outputs + scratch as usize;
        let mut memory = Self { begins: [0, inputs, outputs, end], labels: vec![UNKNOWN; end] };
        for index in 0..collective.input_chunks_of(rank) as u32 {
            let (space, at) = collective.locate_input(rank, index);
            let begin = if space == Space::Output { inputs } else { 0 };
            if let Some(label) = memory.labels.get_mut(begin + at as usize) {
                *label = collective.input_data(rank, index);
            }
        }
        memory
    }

    /// The part of a run of chunks that exists.
    fn run(&self, place: Place, count: u32) -> std::ops::Range<usize> {
        let buffer = match place.buffer {
            MemoryBuffer::Input => 0,
            MemoryBuffer::Output => 1,
            MemoryBuffer::Scratch => 2,
        };
        let end = self.begins[buffer + 1];
        let from = self.begins[buffer].saturating_add(place.index as usize).min(end);
        from..from.saturating_add(count as usize).min(end)
    }

    fn read(&self, place: Place, count: u32) -> Vec<Label> {
        let mut labels = self.labels[self.run(place, count)].to_vec();
        labels.resize(count as usize, UNKNOWN);
        labels
    }

    fn write(&mut self, place: Place, labels: &[Label]) {
        let range = self.run(place, labels.len() as u32);
        for (cell, label) in self.labels[range].iter_mut().zip(labels) {
            *cell = *label;
        }
    }
}

struct Process {
    rank: usize,
    block: usize,
    next: usize,
    sends: Option<u32>,
    receives: Option<u32>,
}

#[derive(Default)]
struct Connection {
    messages: VecDeque<Vec<Label>>,
    receivers: SmallVec<[u32; 1]>,
}

struct Machine<'s> {
    schedule: &'s Schedule,
    memories: Vec<Memory>,
    processes: Vec<Process>,
    /// First process of each rank.
    first: Vec<usize>,
    connections: Vec<Connection>,
    /// Those that wait for a step of the process.
    waiters: Vec<Vec<u32>>,
    data: DataTable,
    mixed: Vec<MixedReduction>,
    moved: Vec<Vec<DataId>>,
}

impl<'s> Machine<'s> {
    fn new(schedule: &'s Schedule) -> Self {
        let collective = &schedule.collective;
        let ranks = schedule.ranks.iter().enumerate();
        let memories =
            ranks.map(|(r, rank)| Memory::new(collective, RankId(r as u32), rank.scratch_chunks)).collect();
        let mut machine = Self {
            schedule,
            memories,
            processes: Vec::new(),
            first: Vec::new(),
            connections: Vec::new(),
            waiters: Vec::new(),
            data: DataTable::new(collective.logical_chunks()),
            mixed: Vec::new(),
            moved: Vec::new(),
        };
        let mut ids: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
        for (r, rank) in schedule.ranks.iter().enumerate() {
            machine.first.push(machine.processes.len());
            for (t, block) in rank.thread_blocks.iter().enumerate() {
                let process = machine.processes.len() as u32;
                let connections = &mut machine.connections;
                let mut connection = |from: u32, to: u32| {
                    *ids.entry((from, to, block.channel.0)).or_insert_with(|| {
                        connections.push(Connection::default());
                        connections.len() as u32 - 1
                    })
                };
                let sends = block.send.map(|peer| connection(r as u32, peer.0));
                let receives = block.recv.map(|peer| connection(peer.0, r as u32));
                if let Some(receives) = receives {
                    machine.connections[receives as usize].receivers.push(process);
                }
                machine.processes.push(Process { rank: r, block: t, next: 0, sends, receives });
                machine.waiters.push(Vec::new());
                machine.moved.push(Vec::with_capacity(block.steps.len()));
            }
        }
        machine
    }

    fn steps(&self, process: usize) -> &'s [Step] {
        let process = &self.processes[process];
        &self.schedule.ranks[process.rank].thread_blocks[process.block].steps
    }

    fn run(&mut self) {
        let mut ready: VecDeque<u32> = (0..self.processes.len() as u32).collect();
        while let Some(process) = ready.pop_front() {
            let p = process as usize;
            while let Some(step) = self.steps(p).get(self.processes[p].next) {
                if let Some(owner) = self.awaited(p, step) {
                    if let Some(waiters) = owner.and_then(|owner| self.waiters.get_mut(owner)) {
                        waiters.push(process);
                    }
                    break;
                }
                let arrived = self.processes[p].receives;
                if step.kind.receives()
                    && arrived.is_none_or(|id| self.connections[id as usize].messages.is_empty())
                {
                    break;
                }
                self.step(p, step, &mut ready);
            }
        }
        // What was never reached.
        for p in 0..self.processes.len() {
            for step in &self.steps(p)[self.processes[p].next..] {
                let place = if step.kind.writes_dst() { step.dst } else { step.src };
                let data = self.intern(p, place, &vec![UNKNOWN; step.count as usize]);
                self.moved[p].push(data);
            }
        }
    }

    /// The process, where there is one, whose step this one still has to wait for.
    fn awaited(&self, process: usize, step: &Step) -> Option<Option<usize>> {
        let rank = self.processes[process].rank;
        let blocks = &self.schedule.ranks[rank].thread_blocks;
        step.depends.iter().find_map(|on| {
            let exists = blocks.get(on.thread_block.index()).is_some();
            let owner = exists.then(|| self.first[rank] + on.thread_block.index());
            let done = owner.is_some_and(|owner| self.processes[owner].next > on.step as usize);
            (!done).then_some(owner)
        })
    }

    fn step(&mut self, p: usize, step: &'s Step, ready: &mut VecDeque<u32>) {
        let Process { rank, sends, receives, .. } = self.processes[p];
        let arrived = receives
            .filter(|_| step.kind.receives())
            .and_then(|id| self.connections[id as usize].messages.pop_front())
            .map(|mut message| {
                message.resize(step.count as usize, UNKNOWN);
                message
            });
        let local = step.kind.reads_src().then(|| self.memories[rank].read(step.src, step.count));
        let into = match (step.kind.receives(), step.kind.reduces()) {
            (true, true) => local.clone(),
            (false, true) => Some(self.memories[rank].read(step.dst, step.count)),
            _ => None,
        };
        // What comes in is added to what is there.
        let from = arrived.or_else(|| local.clone()).unwrap_or_default();
        let kept = into.clone().unwrap_or_else(|| from.clone());
        if step.kind.writes_dst() {
            self.memories[rank].write(step.dst, &kept);
        }
        let leaves = if step.kind.receives() && step.kind.reduces() { &kept } else { &from };
        if let Some(connection) = sends.filter(|_| step.kind.sends()) {
            let connection = &mut self.connections[connection as usize];
            connection.messages.push_back(leaves.clone());
            ready.extend(connection.receivers.iter().copied());
        }
        let place = if step.kind.reads_src() { step.src } else { step.dst };
        let data = self.intern(p, place, if step.kind.sends() { leaves } else { &from });
        self.moved[p].push(data);
        if let Some(into) = into {
            let at = if step.kind.receives() { step.src } else { step.dst };
            let (into, from) = (self.intern(p, at, &into), self.intern(p, place, &from));
            if into != from {
                self.mixed.push(MixedReduction { into, from, site: step.site });
            }
        }
        self.processes[p].next += 1;
        ready.extend(self.waiters[p].drain(..));
    }

    /// The id of a run of labels; unknown ones as the place suggests.
    fn intern(&mut self, process: usize, place: Place, labels: &[Label]) -> DataId {
        let collective = &self.schedule.collective;
        let rank = RankId(self.processes[process].rank as u32);
        let last = (collective.logical_chunks() as u32).saturating_sub(1);
        let known: SmallVec<[u32; 8]> = (0..)
            .zip(labels)
            .map(|(i, label)| match *label {
                UNKNOWN => guess(collective, rank, place.buffer, place.index.saturating_add(i)).min(last),
                label => label,
            })
            .collect();
        self.data.intern(&known)
    }
}

/// What a place is for.
fn guess(collective: &Collective, rank: RankId, buffer: MemoryBuffer, index: u32) -> Label {
    match buffer {
        MemoryBuffer::Input => collective.input_data(rank, index),
        MemoryBuffer::Output if (index as usize) < collective.output_chunks_of(rank) => {
            let wanted = collective.wanted(rank, index);
            wanted.and_then(|wanted| wanted.parts.first().map(|part| part.0)).unwrap_or(index)
        }
        _ => index,
    }
}
