//! The dependences of nodes become those of steps.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Fault;
use super::steps::{NodeOfStep, Nodes};
use crate::clocks::Clocks;
use crate::et::NodeOrder;
use crate::ids::ThreadBlockId;
use crate::schedule::StepId;

/// What the steps of a rank wait for.
pub(super) struct Dependences {
    /// By thread block and step.
    pub(super) of_step: Vec<Vec<SmallVec<[StepId; 1]>>>,
    pub(super) order: NodeOrder,
}

/// The steps of other thread blocks that each step waits for.
pub(super) fn dependences(
    rank: &Nodes<'_>,
    nodes: &[NodeOfStep],
    by_step: &[usize],
) -> Result<Dependences, Fault> {
    let number: FxHashMap<u64, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
    let mut of_step: Vec<Vec<SmallVec<[StepId; 1]>>> = vec![Vec::new(); rank.header.blocks.len()];
    let mut order = rank.header.common.order;
    let mut is_last = vec![false; nodes.len()];
    for group in by_step.chunk_by(|a, b| nodes[*a].at == nodes[*b].at) {
        is_last[group[group.len() - 1]] = true;
    }
    // The node before in the thread block.
    let mut before: Option<usize> = None;
    for group in by_step.chunk_by(|a, b| nodes[*a].at == nodes[*b].at) {
        let at = nodes[group[0]].at;
        before = before.filter(|before| nodes[*before].at.thread_block == at.thread_block);
        let mut depends: SmallVec<[StepId; 1]> = SmallVec::new();
        for (position, number_of_node) in group.iter().enumerate() {
            let node = &nodes[*number_of_node];
            let mut follows = before.is_none();
            for dep in &node.deps {
                let Some(on) = number.get(dep).copied() else {
                    return Err(rank.malformed(node, format!("it depends on node {dep}, which is missing")));
                };
                let on_step = nodes[on].at;
                follows |= Some(on) == before;
                if on_step == at {
                    if nodes[on].part >= node.part {
                        let message =
                            format!("it depends on node {dep}, which does not come before it in their step");
                        return Err(rank.malformed(node, message));
                    }
                } else if on_step.thread_block != at.thread_block {
                    // In the order of thread blocks it is whole steps that wait for whole steps.
                    if position > 0 || !is_last[on] {
                        order = NodeOrder::Dataflow;
                    }
                    depends.push(on_step);
                } else if on_step.step > at.step {
                    depends.push(on_step);
                }
            }
            if !follows {
                order = NodeOrder::Dataflow;
            }
            before = Some(*number_of_node);
        }
        depends.sort_unstable();
        depends.dedup();
        of_step[at.thread_block.index()].push(depends);
    }
    if order == NodeOrder::Dataflow {
        reduce(&mut of_step);
    }
    Ok(Dependences { of_step, order })
}

/// Leaves out what the order within thread blocks and other dependences imply; where steps wait for each other
/// nothing can be said to be implied, and all stays.
fn reduce(of_step: &mut [Vec<SmallVec<[StepId; 1]>>]) {
    let mut clocks = Clocks::new(of_step.len());
    let mut needed: Vec<Vec<SmallVec<[StepId; 1]>>> = vec![Vec::new(); of_step.len()];
    let mut waiters: Vec<Vec<(u32, usize)>> = vec![Vec::new(); of_step.len()];
    let mut ready: VecDeque<usize> = (0..of_step.len()).collect();
    while let Some(block) = ready.pop_front() {
        while let Some(depends) = of_step[block].get(needed[block].len()) {
            let done = |on: &&StepId| {
                needed.get(on.thread_block.index()).is_some_and(|done| done.len() > on.step as usize)
            };
            if let Some(on) = depends.iter().find(|on| !done(on)) {
                match waiters.get_mut(on.thread_block.index()) {
                    Some(list) => list.push((on.step, block)),
                    None => return,
                }
                break;
            }
            let id = StepId { thread_block: ThreadBlockId(block as u32), step: needed[block].len() as u32 };
            needed[block].push(clocks.needed(id, depends.to_vec()));
            let done = needed[block].len() as u32;
            waiters[block].retain(|(on, waiter)| {
                let woken = *on < done;
                if woken {
                    ready.push_back(*waiter);
                }
                !woken
            });
        }
    }
    let is_whole = of_step.iter().zip(&needed).all(|(all, needed)| all.len() == needed.len());
    if is_whole {
        for (all, needed) in of_step.iter_mut().zip(needed) {
            *all = needed;
        }
    }
}
