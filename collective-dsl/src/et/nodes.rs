//! The nodes of one rank, parents first, whatever they are then stored in.

use chakra_et::graph::{Op, Origin, SourceRef, StepRef};
use smallvec::SmallVec;

use super::sizes::Sizes;
use super::{EtError, EtOptions};
use crate::ids::{RankId, SiteId, ThreadBlockId};
use crate::schedule::{Schedule, Step, StepId, ThreadBlock};

/// A node of the rank's graph; its id is its position.
pub(super) struct EtNode<'s> {
    pub(super) op: Op,
    pub(super) deps: SmallVec<[u32; 2]>,
    pub(super) origin: Origin,
    /// The step that it is a part of; `None` for the node of an idle rank.
    pub(super) step: Option<&'s Step>,
}

/// The only node of a rank that has nothing to do.
pub(super) fn idle_node() -> EtNode<'static> {
    let op = Op::Comp { micros: 0, ops: 0, bytes: 0 };
    EtNode { op, deps: SmallVec::new(), origin: Origin::default(), step: None }
}

/// Hands the nodes of a rank to `sink`, in ascending order of id.
pub(super) fn for_each<'s>(
    schedule: &'s Schedule,
    rank: usize,
    sizes: &Sizes,
    options: &EtOptions,
    file_of_site: &[u16],
    mut sink: impl FnMut(EtNode<'s>) -> Result<(), EtError>,
) -> Result<(), EtError> {
    let blocks = &schedule.ranks[rank].thread_blocks;
    if sizes.total == 0 || blocks.iter().all(|block| block.steps.is_empty()) {
        return sink(idle_node());
    }
    let source = |site: SiteId| {
        let line = schedule.sites.get(site)?.line;
        Some(SourceRef { file: *file_of_site.get(site.index())?, line })
    };
    // The last node of each step so far, by thread block.
    let mut last: Vec<Vec<u32>> = blocks.iter().map(|b| Vec::with_capacity(b.steps.len())).collect();
    let mut next_id = 0;
    walk(blocks, RankId(rank as u32), |id, step, block| {
        let t = id.thread_block.index();
        let mut deps: SmallVec<[u32; 2]> = last[t].last().copied().into_iter().collect();
        deps.extend(step.depends.iter().map(|on| last[on.thread_block.index()][on.step as usize]));
        deps.sort_unstable();
        deps.dedup();
        let bytes = sizes.bytes(step.data);
        let at = StepRef { thread_block: id.thread_block.0, step: id.step };
        let mut emit = |op, site| {
            let node_deps = std::mem::replace(&mut deps, SmallVec::from_slice(&[next_id]));
            let origin = Origin { step: Some(at), source: source(site) };
            next_id += 1;
            sink(EtNode { op, deps: node_deps, origin, step: Some(step) })
        };
        let tag = block.channel.0;
        if step.kind.receives()
            && let Some(src) = block.recv
        {
            emit(Op::Recv { src: src.0, tag, bytes }, step.site)?;
        }
        if step.kind.reduces() {
            let micros = options.reduce_rate.micros(bytes);
            emit(Op::Comp { micros, ops: sizes.elements(step.data), bytes }, step.site)?;
        } else if !step.kind.receives() && !step.kind.sends() {
            emit(Op::Comp { micros: 0, ops: 0, bytes }, step.site)?;
        }
        if step.kind.sends()
            && let Some(dst) = block.send
        {
            emit(Op::Send { dst: dst.0, tag, bytes }, step.send_site)?;
        }
        last[t].push(next_id - 1);
        Ok(())
    })
}

/// Visits the steps of a rank so that each comes after those that it waits for: in waves, one step of every
/// thread block that can go on, so that numbers grow with the time at which a step can start.
fn walk<'s>(
    blocks: &'s [ThreadBlock],
    rank: RankId,
    mut visit: impl FnMut(StepId, &'s Step, &'s ThreadBlock) -> Result<(), EtError>,
) -> Result<(), EtError> {
    let mut next = vec![0_u32; blocks.len()];
    // Thread blocks that wait for a step of each thread block.
    let mut waiters: Vec<Vec<(u32, usize)>> = vec![Vec::new(); blocks.len()];
    let mut wave: Vec<usize> = (0..blocks.len()).collect();
    let mut following = Vec::new();
    while !wave.is_empty() {
        for t in wave.drain(..) {
            let Some(step) = blocks[t].steps.get(next[t] as usize) else { continue };
            let missing = step
                .depends
                .iter()
                .find(|on| next.get(on.thread_block.index()).is_none_or(|done| *done <= on.step));
            if let Some(on) = missing {
                match waiters.get_mut(on.thread_block.index()) {
                    Some(list) => list.push((on.step, t)),
                    None => return Err(EtError::Cycle { rank: rank.0 }),
                }
                continue;
            }
            visit(StepId { thread_block: ThreadBlockId(t as u32), step: next[t] }, step, &blocks[t])?;
            next[t] += 1;
            following.push(t);
            waiters[t].retain(|(on, waiter)| {
                let woken = *on < next[t];
                if woken {
                    following.push(*waiter);
                }
                !woken
            });
        }
        following.sort_unstable();
        std::mem::swap(&mut wave, &mut following);
    }
    let done = blocks.iter().zip(&next).all(|(block, done)| block.steps.len() == *done as usize);
    if done { Ok(()) } else { Err(EtError::Cycle { rank: rank.0 }) }
}
