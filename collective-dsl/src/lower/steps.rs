//! Pass 3: operations become steps, in thread blocks, in the global order.

use rayon::prelude::*;

use super::blocks::{self, BlockEnds, Blocks};
use super::order::{Key, NONE, Order};
use super::sync::Sync;
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

/// Builds the schedule; `fuse` says whether receives and sends may become one step.
///
/// # Errors
/// The program's hints for thread blocks contradict each other.
pub(super) fn schedule(trace: &Trace, order: &Order, fuse: bool) -> Result<Schedule, Diagnostics> {
    let ranks = trace.collective.ranks();
    let blocks = blocks::blocks(trace, order, fuse)?;
    let fused = if fuse { fused_sends(order, &blocks) } else { vec![NONE; trace.ops.len()] };
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

/// For each operation, the one whose receive its send is fused with, or `NONE`.
///
/// A fused receive moves to the place of the send, so it must not fall behind a later receive of its
/// connection: going backwards through each connection, those that would are left alone.
fn fused_sends(order: &Order, blocks: &Blocks) -> Vec<u32> {
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
    let mut by_order: Vec<u32> = (0..count as u32).collect();
    by_order.sort_unstable_by_key(|i| (order.keys[*i as usize], *i));
    let mut next: Vec<Option<(Key, u8)>> = vec![None; order.connections.len()];
    let mut fused = vec![NONE; count];
    for i in by_order.into_iter().rev() {
        let connection = order.connection_of[i as usize];
        if connection == NONE {
            continue;
        }
        let send = onward[i as usize];
        let bound = &mut next[connection as usize];
        let moved = (send != NONE).then(|| (order.keys[send as usize], SENDS));
        match moved.filter(|moved| bound.is_none_or(|bound| *moved < bound)) {
            Some(moved) => {
                fused[send as usize] = i;
                *bound = Some(moved);
            }
            None => *bound = Some((order.keys[i as usize], RECEIVES)),
        }
    }
    fused
}

/// The units of each rank, in order.
fn units(trace: &Trace, order: &Order, fused: &[u32], ranks: usize) -> Vec<Vec<Unit>> {
    let mut is_fused = vec![false; trace.ops.len()];
    for received in fused {
        if *received != NONE {
            is_fused[*received as usize] = true;
        }
    }
    let mut units: Vec<Vec<Unit>> = vec![Vec::new(); ranks];
    for (i, op) in trace.ops.iter().enumerate() {
        let key = order.keys[i];
        let unit = |phase, received| Unit { key, phase, op: i as u32, received };
        if op.is_remote() {
            units[op.src.rank.index()].push(unit(SENDS, fused[i]));
            if !is_fused[i] {
                units[op.dst.rank.index()].push(unit(RECEIVES, NONE));
            }
        } else {
            units[op.src.rank.index()].push(unit(LOCAL, NONE));
        }
    }
    units.par_iter_mut().for_each(|of_rank| of_rank.sort_unstable());
    units
}

/// Puts a rank's units into its thread blocks.
fn place(trace: &Trace, order: &Order, blocks: &Blocks, rank: RankId, units: Vec<Unit>) -> RankSchedule {
    let layout = &order.layouts[rank.index()];
    let ends = &blocks.of_rank[rank.index()];
    // One more for what the rank does alone and no other thread block is concerned with.
    let mut sync = Sync::new(layout.cells(), ends.len() + 1);
    let new_block = |ends: &BlockEnds| ThreadBlock {
        send: ends.send,
        recv: ends.recv,
        channel: ends.channel,
        steps: Vec::new(),
    };
    let mut thread_blocks: Vec<ThreadBlock> = ends.iter().map(new_block).collect();
    thread_blocks.push(new_block(&BlockEnds { send: None, recv: None, channel: ChannelId(0) }));
    let own = ThreadBlockId(ends.len() as u32);

    for unit in units {
        let op = &trace.ops[unit.op as usize];
        let span = |slice| {
            let from = layout.flat(slice);
            from..from + op.count as usize
        };
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
                    OpKind::Copy => StepKind::Recv,
                    OpKind::Reduce => StepKind::RecvReduceCopy,
                };
                (kind, ThreadBlockId(blocks.receiver[connection]))
            }
            _ => {
                let kind = match op.kind {
                    OpKind::Copy => StepKind::Copy,
                    OpKind::Reduce => StepKind::Reduce,
                };
                let hinted = op.send_block.or(op.recv_block).and_then(|hint| blocks.hinted(rank, hint));
                // Beside the step that brought the data there is nothing to wait for.
                let beside = sync.last_writer(layout.flat(op.src)).or(sync.last_writer(layout.flat(op.dst)));
                (kind, hinted.or(beside).unwrap_or(own))
            }
        };
        let (src, dst) = match kind {
            StepKind::Send
            | StepKind::RecvCopySend
            | StepKind::RecvReduceSend
            | StepKind::RecvReduceCopySend => (op.src, op.src),
            StepKind::Recv | StepKind::RecvReduceCopy => (op.dst, op.dst),
            StepKind::Copy | StepKind::Reduce => (op.src, op.dst),
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
        });
    }
    if thread_blocks[own.index()].steps.is_empty() {
        thread_blocks.pop();
    }
    RankSchedule { thread_blocks, scratch_chunks: layout.scratch_chunks() }
}
