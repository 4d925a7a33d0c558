//! Pass 5: operations become steps, in thread blocks, in the global order.
//!
//! What a rank does alone runs beside the step that brought its data, as there is nothing to wait for then; where nothing
//! was brought, on the thread block that has least to do. Computations have a thread block of their own, the last of the rank:
//! they run one at a time, and keep no message waiting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rayon::prelude::*;

use super::blocks::{self, BlockEnds, Blocks};
use super::order::{Key, NONE, Order};
use super::sync::Sync;
use crate::compute::ChunkRun;
use crate::diagnostic::Diagnostics;
use crate::ids::{ChannelId, RankId, ThreadBlockId};
use crate::schedule::{RankSchedule, Schedule, Step, StepId, StepKind, ThreadBlock};
use crate::trace::{Op, OpKind, Trace};

/// Order within a key: a rank's sends, then its receives, then what it does alone.
const SENDS: u8 = 0;
const RECEIVES: u8 = 1;
const LOCAL: u8 = 2;

/// A step to be: one operation's end on a rank, or a receive fused with a send.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Unit {
    key: Key,
    phase: u8,
    /// The operation: the sent one if the unit sends.
    op: u32,
    /// The operation whose receive is fused into the unit, or `NONE`.
    received: u32,
}

/// What may be done so that a receive and a send become one step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fusion {
    /// Nothing.
    None,
    /// A receive moves to the place of its send, where no other receive stands between the two.
    Some,
    /// Other receives of the connection step back for it too, within their level.
    Most,
}

/// Builds the schedule.
///
/// # Errors
/// The program's hints for thread blocks contradict each other.
pub(super) fn schedule(trace: &Trace, order: &Order, fusion: Fusion) -> Result<Schedule, Diagnostics> {
    let ranks = trace.collective.ranks();
    let blocks = blocks::blocks(trace, order, fusion != Fusion::None)?;
    let fused = if fusion == Fusion::None {
        Fused { received: vec![NONE; trace.ops.len()], receive_keys: order.keys.clone() }
    } else {
        fused_sends(order, &blocks, fusion == Fusion::Most)
    };
    let units = units(trace, order, &fused, ranks);
    let ranks = units
        .into_par_iter()
        .enumerate()
        .map(|(rank, units)| place(trace, order, &blocks, RankId(rank as u32), units))
        .collect();
    Ok(Schedule {
        name: trace.name.clone(),
        collective: trace.collective.clone(),
        protocol: trace.options.protocol,
        ranks,
        data: trace.data.clone(),
        mixed: trace.mixed.clone(),
        sites: trace.sites.clone(),
    })
}

/// Which receives are fused with which sends.
struct Fused {
    /// For each operation, the one whose receive its send is fused with, or `NONE`.
    received: Vec<u32>,
    /// Where the receive of each operation stands that is not fused.
    receive_keys: Vec<Key>,
}

/// A place in a thread block's order.
type Position = (Key, u8, u32);

/// Decides what is fused.
///
/// A fused receive moves to the place of its send, and must not fall behind a later receive of its connection. With
/// `step_back`, receives that are not fused make room: what depends on a receive is of a higher level, so
/// within its level a receive may stand anywhere. The rest is decided backwards through each connection: a receive that would
/// still fall behind the next one stays where it is.
fn fused_sends(order: &Order, blocks: &Blocks, step_back: bool) -> Fused {
    let count = order.forwards.len();
    // The send that a receive would be fused with.
    let mut onward = vec![NONE; count];
    for (i, from) in order.forwards.iter().enumerate() {
        if *from == NONE {
            continue;
        }
        let (receiving, sending) = (order.connection_of[*from as usize], order.connection_of[i]);
        if blocks.receiver[receiving as usize] == blocks.sender[sending as usize] {
            onward[*from as usize] = i as u32;
        }
    }
    let mut fused = Fused { received: vec![NONE; count], receive_keys: order.keys.clone() };
    if onward.iter().all(|send| *send == NONE) {
        return fused;
    }
    let at_send = |send: u32| -> Position { (order.keys[send as usize], SENDS, send) };
    // Where a receive would stand behind those before it of its connection.
    let behind = |i: u32, before: Option<Position>| -> Key {
        let own = order.keys[i as usize];
        match before {
            Some((key, ..)) if step_back && key.level == own.level => key.max(own),
            _ => own,
        }
    };
    if step_back {
        let mut last: Vec<Option<Position>> = vec![None; order.connections.len()];
        for i in order.messages.iter().copied() {
            let last = &mut last[order.connection_of[i as usize] as usize];
            fused.receive_keys[i as usize] = behind(i, *last);
            if onward[i as usize] != NONE {
                *last = (*last).max(Some(at_send(onward[i as usize])));
            }
        }
    }
    let mut next: Vec<Option<Position>> = vec![None; order.connections.len()];
    for i in order.messages.iter().copied().rev() {
        let (send, bound) = (onward[i as usize], &mut next[order.connection_of[i as usize] as usize]);
        let fits = |position: &Position| bound.is_none_or(|bound| *position < bound);
        if let Some(position) = (send != NONE).then(|| at_send(send)).filter(fits) {
            fused.received[send as usize] = i;
            *bound = Some(position);
            continue;
        }
        let own = (order.keys[i as usize], RECEIVES, i);
        *bound = Some(Some((fused.receive_keys[i as usize], RECEIVES, i)).filter(fits).unwrap_or(own));
    }
    // What is fused is known now; receives step back no further than that asks for.
    let mut last: Vec<Option<Position>> = vec![None; order.connections.len()];
    for i in order.messages.iter().copied() {
        let last = &mut last[order.connection_of[i as usize] as usize];
        let send = onward[i as usize];
        if send != NONE && fused.received[send as usize] == i {
            *last = (*last).max(Some(at_send(send)));
        } else {
            fused.receive_keys[i as usize] = behind(i, *last);
        }
    }
    fused
}

/// The units of each rank, in order.
fn units(trace: &Trace, order: &Order, fused: &Fused, ranks: usize) -> Vec<Vec<Unit>> {
    let mut is_fused = vec![false; trace.ops.len()];
    for received in &fused.received {
        if *received != NONE {
            is_fused[*received as usize] = true;
        }
    }
    let mut units: Vec<Vec<Unit>> = vec![Vec::new(); ranks];
    for (i, op) in trace.ops.iter().enumerate() {
        let unit = |key, phase, received| Unit { key, phase, op: i as u32, received };
        if op.is_remote() {
            units[op.src.rank.index()].push(unit(order.keys[i], SENDS, fused.received[i]));
            if !is_fused[i] {
                units[op.dst.rank.index()].push(unit(fused.receive_keys[i], RECEIVES, NONE));
            }
        } else {
            units[op.src.rank.index()].push(unit(order.keys[i], LOCAL, NONE));
        }
    }
    units.par_iter_mut().for_each(|of_rank| of_rank.sort_unstable());
    units
}

/// Which thread block of a rank has least to do.
struct Idle {
    steps: Vec<u32>,
    /// By number of steps, which may have grown since.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Idle {
    fn new(order: &Order, blocks: &Blocks, count: usize, units: &[Unit]) -> Self {
        let mut steps = vec![0; count];
        for unit in units.iter().filter(|unit| unit.phase != LOCAL) {
            let connection = order.connection_of[unit.op as usize] as usize;
            let owners = if unit.phase == SENDS { &blocks.sender } else { &blocks.receiver };
            steps[owners[connection] as usize] += 1;
        }
        let queue = steps.iter().zip(0..).map(|(steps, id)| Reverse((*steps, id))).collect();
        Self { steps, queue }
    }

    fn least(&mut self) -> Option<ThreadBlockId> {
        while let Some(Reverse((steps, id))) = self.queue.pop() {
            let now = self.steps[id as usize];
            self.queue.push(Reverse((now, id)));
            if now == steps {
                return Some(ThreadBlockId(id));
            }
        }
        None
    }

    fn add(&mut self, block: ThreadBlockId) {
        if let Some(steps) = self.steps.get_mut(block.index()) {
            *steps += 1;
        }
    }
}

/// Puts a rank's units into its thread blocks.
fn place(trace: &Trace, order: &Order, blocks: &Blocks, rank: RankId, units: Vec<Unit>) -> RankSchedule {
    let layout = &order.layouts[rank.index()];
    let ends = &blocks.of_rank[rank.index()];
    // Two more than there are ends.
    let mut sync = Sync::new(layout.cells(), ends.len() + 2);
    let new_block = |ends: &BlockEnds| ThreadBlock {
        send: ends.send,
        recv: ends.recv,
        channel: ends.channel,
        steps: Vec::new(),
    };
    let mut thread_blocks: Vec<ThreadBlock> = ends.iter().map(new_block).collect();
    let alone = BlockEnds { send: None, recv: None, channel: ChannelId(0) };
    let is_computation = |unit: &Unit| matches!(trace.ops[unit.op as usize].kind, OpKind::Compute(_));
    // For what a rank does alone without any other.
    let own = ThreadBlockId(ends.len() as u32);
    if ends.is_empty() && !units.iter().all(is_computation) {
        thread_blocks.push(new_block(&alone));
    }
    let computing = ThreadBlockId(thread_blocks.len() as u32);
    if units.iter().any(is_computation) {
        thread_blocks.push(new_block(&alone));
    }
    let mut idle = Idle::new(order, blocks, ends.len(), &units);

    for unit in units {
        let op = &trace.ops[unit.op as usize];
        let span = |first| layout.span(ChunkRun { first, count: op.count });
        if let Some(computation) = trace.computation(op) {
            let steps = &mut thread_blocks[computing.index()].steps;
            let id = StepId { thread_block: computing, step: steps.len() as u32 };
            let spans =
                |runs: &[ChunkRun<_>]| -> Vec<_> { runs.iter().map(|run| layout.span(*run)).collect() };
            let depends = sync.place(id, spans(&computation.reads), spans(&computation.writes));
            let place = layout.place(op.src);
            steps.push(Step {
                kind: StepKind::Compute,
                src: place,
                dst: place,
                count: 0,
                data: op.data,
                depends,
                site: op.site,
                send_site: op.site,
                work: Some(Arc::new(layout.computation(computation))),
            });
            continue;
        }
        let connection = order.connection_of[unit.op as usize] as usize;
        let received = (unit.received != NONE).then(|| &trace.ops[unit.received as usize]);
        let (kind, thread_block) = match (unit.phase, received) {
            (SENDS, None) => (StepKind::Send, ThreadBlockId(blocks.sender[connection])),
            (SENDS, Some(Op { kind: OpKind::Copy, .. })) => {
                (StepKind::RecvCopySend, ThreadBlockId(blocks.sender[connection]))
            }
            (SENDS, Some(_)) => {
                let kind = if order.kept[unit.received as usize] {
                    StepKind::RecvReduceCopySend
                } else {
                    StepKind::RecvReduceSend
                };
                (kind, ThreadBlockId(blocks.sender[connection]))
            }
            (RECEIVES, _) => {
                let kind = match op.kind {
                    OpKind::Reduce => StepKind::RecvReduceCopy,
                    _ => StepKind::Recv,
                };
                (kind, ThreadBlockId(blocks.receiver[connection]))
            }
            _ => {
                let kind = match op.kind {
                    OpKind::Reduce => StepKind::Reduce,
                    _ => StepKind::Copy,
                };
                let hinted = op.send_block.or(op.recv_block).and_then(|hint| blocks.hinted(rank, hint));
                // Beside the step that brought the data there is nothing to wait for.
                let writer = |slice| sync.last_writer(layout.flat(slice)).filter(|block| *block != computing);
                let beside = writer(op.src).or_else(|| writer(op.dst));
                let chosen = hinted.or(beside).or_else(|| idle.least()).unwrap_or(own);
                idle.add(chosen);
                (kind, chosen)
            }
        };
        let (src, dst) = match kind {
            StepKind::Send
            | StepKind::RecvCopySend
            | StepKind::RecvReduceSend
            | StepKind::RecvReduceCopySend => (op.src, op.src),
            StepKind::Recv | StepKind::RecvReduceCopy => (op.dst, op.dst),
            StepKind::Copy | StepKind::Reduce | StepKind::Compute => (op.src, op.dst),
        };
        let steps = &mut thread_blocks[thread_block.index()].steps;
        let id = StepId { thread_block, step: steps.len() as u32 };
        let depends =
            sync.place(id, kind.reads_src().then(|| span(src)), kind.writes_dst().then(|| span(dst)));
        steps.push(Step {
            kind,
            src: layout.place(src),
            dst: layout.place(dst),
            count: op.count,
            data: op.data,
            depends,
            site: received.map_or(op.site, |received| received.site),
            send_site: op.site,
            work: None,
        });
    }
    RankSchedule { thread_blocks, scratch_chunks: layout.scratch_chunks() }
}
