//! Two small machines, independent of the crate: one runs a trace operation by operation on numbers, the other a
//! schedule with its thread blocks in any order. Shared by the tests of this package and of the root.

use std::collections::{HashMap, VecDeque};

use collective_dsl::{
    Collective, Contributors, MemoryBuffer, OpKind, Place, RankId, Schedule, Slice, Space, StepKind, Trace,
};

pub(crate) type Memory = HashMap<(u32, MemoryBuffer, u32), u64>;

/// A rank's contribution to a logical chunk: different for each.
fn contribution(rank: u32, chunk: u32) -> u64 {
    let mixed =
        (u64::from(rank) << 32 | u64::from(chunk)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29) | 1
}

/// The same start for both machines.
fn start(collective: &Collective) -> Memory {
    let mut memory = Memory::new();
    for rank in 0..collective.ranks() as u32 {
        for index in 0..collective.input_chunks_of(RankId(rank)) as u32 {
            let (space, at) = collective.locate_input(RankId(rank), index);
            let value = contribution(rank, collective.input_data(RankId(rank), index));
            memory.insert((rank, buffer(space), at), value);
        }
    }
    memory
}

fn buffer(space: Space) -> MemoryBuffer {
    if space == Space::Output { MemoryBuffer::Output } else { MemoryBuffer::Input }
}

/// Runs the program as written.
pub(crate) fn run_trace(trace: &Trace) -> Memory {
    let mut memory = start(&trace.collective);
    let cell = |slice: Slice, i: u32| {
        let (buffer, offset) = match slice.space {
            Space::Input => (MemoryBuffer::Input, 0),
            Space::Output => (MemoryBuffer::Output, 0),
            Space::Scratch(id) => {
                let before = &trace.scratch[slice.rank.index()][..usize::from(id)];
                (MemoryBuffer::Scratch, before.iter().map(|buffer| buffer.chunks).sum())
            }
        };
        (slice.rank.0, buffer, offset + slice.index + i)
    };
    for op in &trace.ops {
        for i in 0..op.count {
            let moved = memory[&cell(op.src, i)];
            let into = memory.entry(cell(op.dst, i)).or_insert(0);
            *into = match op.kind {
                OpKind::Copy => moved,
                OpKind::Reduce => into.wrapping_add(moved),
            };
        }
    }
    memory
}

/// Runs the schedule with the thread blocks picked by `pick`; `None` if it gets stuck.
pub(crate) fn run_schedule(
    schedule: &Schedule,
    slots: usize,
    mut pick: impl FnMut(usize) -> usize,
) -> Option<Memory> {
    let mut memory = start(&schedule.collective);
    let mut wires: HashMap<(u32, u32, u32), VecDeque<Vec<u64>>> = HashMap::new();
    let mut done: Vec<Vec<usize>> =
        schedule.ranks.iter().map(|rank| vec![0; rank.thread_blocks.len()]).collect();
    loop {
        let mut runnable = Vec::new();
        let mut unfinished = false;
        for (r, rank) in schedule.ranks.iter().enumerate() {
            for (t, block) in rank.thread_blocks.iter().enumerate() {
                let Some(step) = block.steps.get(done[r][t]) else { continue };
                unfinished = true;
                let channel = block.channel.0;
                let arrived = |peer: Option<RankId>| {
                    wires.get(&(peer.unwrap().0, r as u32, channel)).is_some_and(|wire| !wire.is_empty())
                };
                let free = |peer: Option<RankId>| {
                    wires.get(&(r as u32, peer.unwrap().0, channel)).is_none_or(|wire| wire.len() < slots)
                };
                if step.depends.iter().all(|on| done[r][on.thread_block.index()] > on.step as usize)
                    && (!step.kind.receives() || arrived(block.recv))
                    && (!step.kind.sends() || free(block.send))
                {
                    runnable.push((r, t));
                }
            }
        }
        if runnable.is_empty() {
            return if unfinished { None } else { Some(memory) };
        }
        let (r, t) = runnable[pick(runnable.len())];
        let block = &schedule.ranks[r].thread_blocks[t];
        let step = &block.steps[done[r][t]];
        let at = |place: Place, i: usize| (r as u32, place.buffer, place.index + i as u32);
        let count = step.count as usize;
        let local = |memory: &Memory, i| memory[&at(step.src, i)];
        let mut values: Vec<u64> = if step.kind.receives() {
            wires.get_mut(&(block.recv.unwrap().0, r as u32, block.channel.0)).unwrap().pop_front().unwrap()
        } else {
            (0..count).map(|i| local(&memory, i)).collect()
        };
        assert_eq!(values.len(), count, "message and receive have the same length");
        if step.kind.receives() && step.kind.reduces() {
            for (i, value) in values.iter_mut().enumerate() {
                *value = value.wrapping_add(local(&memory, i));
            }
        }
        if step.kind.writes_dst() {
            for (i, value) in values.iter().enumerate() {
                let cell = memory.entry(at(step.dst, i)).or_insert(0);
                *cell = if step.kind == StepKind::Reduce { cell.wrapping_add(*value) } else { *value };
            }
        }
        if step.kind.sends() {
            wires.entry((r as u32, block.send.unwrap().0, block.channel.0)).or_default().push_back(values);
        }
        done[r][t] += 1;
    }
}

/// A choice among runnable thread blocks that follows from a seed.
pub(crate) fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed | 1;
    move |n| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    }
}

/// Runs a schedule with the slots of its protocol and with many, `times` times each in a random order, and compares
/// each end with what the collective wants.
pub(crate) fn judge(schedule: &Schedule, times: u64) -> Result<(), String> {
    let collective = &schedule.collective;
    for slots in [schedule.protocol.slots() as usize, 1 << 20] {
        for seed in 0..times {
            let Some(memory) = run_schedule(schedule, slots, random(seed * 77 + 1)) else {
                return Err(format!("stuck with {slots} slots"));
            };
            for rank in 0..collective.ranks() as u32 {
                for index in 0..collective.output_chunks_of(RankId(rank)) as u32 {
                    let Some(wanted) = collective.wanted(RankId(rank), index) else { continue };
                    let sum = wanted.parts.iter().map(|(chunk, from)| match from {
                        Contributors::One(from) => contribution(from.0, *chunk),
                        Contributors::These(from) => total(from.iter().map(|from| from.0), *chunk),
                        _ => total(0..collective.ranks() as u32, *chunk),
                    });
                    let (space, at) = collective.locate_output(RankId(rank), index);
                    let got = memory.get(&(rank, buffer(space), at)).copied();
                    if got != Some(sum.fold(0, u64::wrapping_add)) {
                        return Err(format!("rank {rank}, chunk {index} is wrong with {slots} slots"));
                    }
                }
            }
        }
    }
    Ok(())
}

fn total(ranks: impl Iterator<Item = u32>, chunk: u32) -> u64 {
    ranks.fold(0, |sum, rank| sum.wrapping_add(contribution(rank, chunk)))
}
