//! The nodes of one rank, parents first, whatever they are then stored in.

use chakra_et::graph::{Op, Origin, SourceRef, StepRef};
use smallvec::SmallVec;

use super::hazards::Hazards;
use super::sizes::Sizes;
use super::{EtError, EtOptions, NodeOrder};
use crate::compute::Cost;
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
    let mut order = match options.order {
        NodeOrder::ThreadBlock => Waits::ThreadBlock(blocks.iter().map(|_| Vec::new()).collect()),
        NodeOrder::Dataflow => Waits::Dataflow {
            hazards: Hazards::new(schedule, rank),
            sent: vec![None; blocks.len()],
            received: vec![None; blocks.len()],
            computed: None,
        },
    };
    let mut next_id = 0;
    walk(blocks, RankId(rank as u32), |id, step, block| {
        let bytes = sizes.bytes(step.data);
        let at = StepRef { thread_block: id.thread_block.0, step: id.step };
        let tag = block.channel.0;
        let receive = block
            .recv
            .filter(|_| step.kind.receives())
            .map(|src| (Part::Receive, Op::Recv { src: src.0, tag, bytes }, step.site));
        let compute = if let Some(work) = &step.work {
            let Cost { flops, bytes, micros } = work.cost;
            Some(Op::Comp { micros, ops: flops, bytes })
        } else if step.kind.reduces() {
            let micros = options.reduce_rate.micros(bytes);
            Some(Op::Comp { micros, ops: sizes.elements(step.data), bytes })
        } else if !step.kind.receives() && !step.kind.sends() {
            Some(Op::Comp { micros: 0, ops: 0, bytes })
        } else {
            None
        };
        let compute = compute.map(|op| (Part::Compute, op, step.site));
        let send = block
            .send
            .filter(|_| step.kind.sends())
            .map(|dst| (Part::Send, Op::Send { dst: dst.0, tag, bytes }, step.send_site));
        let mut before = None;
        for (part, op, site) in [receive, compute, send].into_iter().flatten() {
            let mut deps = order.before(id, step, part, next_id, before);
            deps.sort_unstable();
            deps.dedup();
            let origin = Origin { step: Some(at), source: source(site) };
            sink(EtNode { op, deps, origin, step: Some(step) })?;
            before = Some(next_id);
            next_id += 1;
        }
        order.done(id, next_id - 1);
        Ok(())
    })
}

/// The nodes of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Receive,
    Compute,
    Send,
}

/// What a node waits for, by the order asked for.
enum Waits {
    /// The last node of each step so far, by thread block.
    ThreadBlock(Vec<Vec<u32>>),
    Dataflow {
        hazards: Hazards,
        /// The last node that has sent, and that has received, on the connection of each thread block.
        sent: Vec<Option<u32>>,
        received: Vec<Option<u32>>,
        /// The last computation of the rank: they run one at a time.
        computed: Option<u32>,
    },
}

impl Waits {
    /// What a node of a step waits for; `earlier` is the node of the same step before it.
    fn before(
        &mut self,
        id: StepId,
        step: &Step,
        part: Part,
        node: u32,
        earlier: Option<u32>,
    ) -> SmallVec<[u32; 2]> {
        let mut waits: SmallVec<[u32; 2]> = earlier.into_iter().collect();
        let block = id.thread_block.index();
        match self {
            Waits::ThreadBlock(last) => {
                if earlier.is_none() {
                    waits.extend(last[block].last().copied());
                    let awaited = |on: &StepId| last[on.thread_block.index()][on.step as usize];
                    waits.extend(step.depends.iter().map(awaited));
                }
            }
            Waits::Dataflow { hazards, sent, received, computed } => {
                if let Some(work) = &step.work {
                    for run in &work.reads {
                        hazards.read(run.first, run.count, node, &mut waits);
                    }
                    for run in &work.writes {
                        hazards.write(run.first, run.count, node, &mut waits);
                    }
                    waits.extend(computed.replace(node));
                    return waits;
                }
                // A receive without a reduction stores what arrives; else the COMP node does.
                let stores = match part {
                    Part::Receive => !step.kind.reduces(),
                    Part::Compute => step.kind.writes_dst(),
                    Part::Send => false,
                };
                let reads = match part {
                    Part::Receive => false,
                    Part::Compute => true,
                    Part::Send => !step.kind.receives(),
                };
                if reads {
                    hazards.read(step.src, step.count, node, &mut waits);
                }
                if stores {
                    hazards.write(step.dst, step.count, node, &mut waits);
                }
                match part {
                    Part::Receive => waits.extend(received[block].replace(node)),
                    Part::Send => waits.extend(sent[block].replace(node)),
                    Part::Compute => {}
                }
            }
        }
        waits
    }

    /// A step is complete with a node.
    fn done(&mut self, id: StepId, node: u32) {
        if let Waits::ThreadBlock(last) = self {
            last[id.thread_block.index()].push(node);
        }
    }
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
