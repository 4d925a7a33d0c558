//! Which steps of a rank are certainly complete when a step begins: vector clocks over its thread blocks.

use smallvec::SmallVec;

use crate::schedule::StepId;

/// Follows the steps of a rank, each after those that it waits for, and keeps only the waits that are needed.
pub(crate) struct Clocks {
    /// For each thread block the clock after each of its steps: how many steps of every thread block are
    /// certainly complete then.
    after: Vec<Vec<Box<[u32]>>>,
}

impl Clocks {
    pub(crate) fn new(thread_blocks: usize) -> Self {
        Self { after: vec![Vec::new(); thread_blocks] }
    }

    /// The next step of its thread block: of the steps that it waits for only those that neither the order within
    /// thread blocks nor another wait implies. All of them, and all steps of its thread block before it, have been given.
    pub(crate) fn needed(&mut self, step: StepId, mut waits: Vec<StepId>) -> SmallVec<[StepId; 1]> {
        waits.retain(|wait| wait.thread_block != step.thread_block);
        // Only the latest step of each thread block counts.
        waits.sort_unstable_by_key(|wait| (wait.thread_block, std::cmp::Reverse(wait.step)));
        waits.dedup_by_key(|wait| wait.thread_block);
        let blocks = self.after.len();
        let own = step.thread_block.index();
        let mut clock: Box<[u32]> = match self.after[own].last() {
            Some(clock) => clock.clone(),
            None => vec![0; blocks].into(),
        };
        waits.retain(|wait| clock[wait.thread_block.index()] <= wait.step);
        let implied: Vec<bool> = waits
            .iter()
            .map(|wait| {
                waits.iter().any(|other| {
                    other != wait
                        && self.after[other.thread_block.index()][other.step as usize]
                            [wait.thread_block.index()]
                            > wait.step
                })
            })
            .collect();
        for wait in &waits {
            let after = &self.after[wait.thread_block.index()][wait.step as usize];
            for (mine, theirs) in clock.iter_mut().zip(after) {
                *mine = (*mine).max(*theirs);
            }
        }
        clock[own] = step.step + 1;
        self.after[own].push(clock);
        waits.iter().zip(implied).filter(|(_, implied)| !implied).map(|(wait, _)| *wait).collect()
    }
}
