//! Where steps stand in a document: a step that waits for several others is preceded by `nop` steps, one for each
//! wait but the last, as a step of the runtimes can wait for one.

use crate::ids::ThreadBlockId;
use crate::schedule::{RankSchedule, Step, StepId, ThreadBlock};

/// The waits of a step that its thread block's own order does not imply.
pub(super) fn waits(id: StepId, step: &Step) -> impl Iterator<Item = StepId> + '_ {
    step.depends.iter().copied().filter(move |on| on.thread_block != id.thread_block || on.step >= id.step)
}

/// The document's number of each step of a rank, by thread block.
pub(super) struct Numbering {
    blocks: Vec<Numbers>,
}

struct Numbers {
    of_step: Vec<u32>,
    total: usize,
}

impl Numbering {
    pub(super) fn of(rank: &RankSchedule) -> Self {
        let blocks = rank.thread_blocks.iter().enumerate();
        Self { blocks: blocks.map(|(t, block)| number(ThreadBlockId(t as u32), block)).collect() }
    }

    /// Steps of a thread block, those that only wait included.
    pub(super) fn steps(&self, block: usize) -> usize {
        self.blocks.get(block).map_or(0, |numbers| numbers.total)
    }

    /// The document's number of a step; `None` if there is no such step.
    pub(super) fn number(&self, step: StepId) -> Option<u32> {
        self.blocks.get(step.thread_block.index())?.of_step.get(step.step as usize).copied()
    }
}

fn number(id: ThreadBlockId, block: &ThreadBlock) -> Numbers {
    let mut next = 0;
    let of_step = (0..).zip(&block.steps).map(|(s, step)| {
        let nops = waits(StepId { thread_block: id, step: s }, step).count().saturating_sub(1);
        let at = next + nops as u32;
        next = at + 1;
        at
    });
    let of_step = of_step.collect();
    Numbers { of_step, total: next as usize }
}
