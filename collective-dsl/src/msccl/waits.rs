//! From waits as the format states them, one a step and carried by nops, to the steps that a step depends on.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::ids::ThreadBlockId;
use crate::schedule::StepId;

/// A step of a document as far as waits are concerned.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) is_nop: bool,
    /// Thread block (by position) and step (by document number) that it waits for.
    pub(super) wait: Option<(u32, u32)>,
}

/// What the steps of one rank depend on.
pub(super) struct Waits {
    /// By thread block and step without nops.
    pub(super) depends: Vec<Vec<SmallVec<[StepId; 1]>>>,
    /// Thread blocks that end with a nop that waits: nothing that the schedule can say depends on it.
    pub(super) trailing: Vec<u32>,
}

/// Folds the nops of a rank into the steps that follow them.
///
/// A nop's wait belongs to the next real step. Who waits for a nop waits for the real step before it and for what
/// the nops since then wait for.
pub(super) fn fold(blocks: &[Vec<Entry>]) -> Waits {
    let rank = Rank { blocks, real: blocks.iter().map(|block| real_steps(block)).collect() };
    let mut waits = Waits { depends: Vec::with_capacity(blocks.len()), trailing: Vec::new() };
    for (t, block) in (0..).zip(blocks) {
        let mut of_block = Vec::new();
        let mut before: Vec<StepId> = Vec::new();
        for entry in block {
            if let Some(on) = entry.wait {
                rank.resolve(on, &mut before);
            }
            if !entry.is_nop {
                of_block.push(tidy(t, of_block.len() as u32, std::mem::take(&mut before)));
            }
        }
        if !before.is_empty() {
            waits.trailing.push(t);
        }
        waits.depends.push(of_block);
    }
    waits
}

/// For each entry the number of real steps before it.
fn real_steps(block: &[Entry]) -> Vec<u32> {
    let count = |count: &mut u32, entry: &Entry| {
        let before = *count;
        *count += u32::from(!entry.is_nop);
        Some(before)
    };
    block.iter().scan(0, count).collect()
}

/// In order, only the latest step of each thread block, and none that the thread block's own order implies.
fn tidy(block: u32, step: u32, mut on: Vec<StepId>) -> SmallVec<[StepId; 1]> {
    on.retain(|on| on.thread_block.0 != block || on.step >= step);
    on.sort_unstable_by_key(|on| (on.thread_block, std::cmp::Reverse(on.step)));
    on.dedup_by_key(|on| on.thread_block);
    on.into_iter().collect()
}

struct Rank<'b> {
    blocks: &'b [Vec<Entry>],
    real: Vec<Vec<u32>>,
}

impl Rank<'_> {
    fn entry(&self, (block, step): (u32, u32)) -> Option<Entry> {
        self.blocks.get(block as usize)?.get(step as usize).copied()
    }

    /// The steps that waiting for an entry comes down to.
    fn resolve(&self, on: (u32, u32), steps: &mut Vec<StepId>) {
        let step = |block: u32, step: u32| StepId { thread_block: ThreadBlockId(block), step };
        let mut open = vec![on];
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        while let Some(at @ (block, number)) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            match self.entry(at) {
                // There is no such step; the verifier says so.
                None => steps.push(step(block, number)),
                Some(entry) if !entry.is_nop => {
                    steps.push(step(block, self.real[block as usize][number as usize]));
                }
                Some(_) => {
                    let before = self.real[block as usize][number as usize];
                    if let Some(before) = before.checked_sub(1) {
                        steps.push(step(block, before));
                    }
                    // The nops since that step, this one included.
                    let nops = self.blocks[block as usize][..=number as usize].iter().rev();
                    open.extend(nops.take_while(|entry| entry.is_nop).filter_map(|entry| entry.wait));
                    if at == on && self.waits_for_itself(at) {
                        // Nops that wait for each other: so do the steps after them.
                        steps.push(step(block, before));
                    }
                }
            }
        }
    }

    fn waits_for_itself(&self, nop: (u32, u32)) -> bool {
        let mut open: Vec<(u32, u32)> = self.entry(nop).and_then(|entry| entry.wait).into_iter().collect();
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        while let Some(at @ (block, number)) = open.pop() {
            if at == nop {
                return true;
            }
            if !seen.insert(at) || !self.entry(at).is_some_and(|entry| entry.is_nop) {
                continue;
            }
            let nops = self.blocks[block as usize][..=number as usize].iter().enumerate().rev();
            for (i, entry) in nops.take_while(|(_, entry)| entry.is_nop) {
                if (block, i as u32) == nop {
                    return true;
                }
                open.extend(entry.wait);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Entry = Entry { is_nop: false, wait: None };

    fn nop(block: u32, step: u32) -> Entry {
        Entry { is_nop: true, wait: Some((block, step)) }
    }

    fn on(block: u32, step: u32) -> Entry {
        Entry { is_nop: false, wait: Some((block, step)) }
    }

    fn depends(blocks: &[Vec<Entry>], block: usize, step: usize) -> Vec<(u32, u32)> {
        let waits = fold(blocks);
        waits.depends[block][step].iter().map(|on| (on.thread_block.0, on.step)).collect()
    }

    #[test]
    fn a_chain_of_nops_belongs_to_the_next_step() {
        let blocks = [vec![STEP, STEP], vec![STEP], vec![nop(0, 0), nop(1, 0), on(0, 1), STEP]];
        assert_eq!(depends(&blocks, 2, 0), [(0, 1), (1, 0)]);
        assert!(depends(&blocks, 2, 1).is_empty());
    }

    #[test]
    fn steps_are_counted_without_the_nops_before_them() {
        let blocks = [vec![nop(1, 0), STEP, STEP], vec![STEP], vec![on(0, 2)]];
        assert_eq!(depends(&blocks, 2, 0), [(0, 1)]);
    }

    #[test]
    fn who_waits_for_a_nop_waits_for_what_it_stands_for() {
        let blocks = [vec![STEP, nop(1, 0), nop(2, 0), STEP], vec![STEP], vec![STEP], vec![on(0, 2)]];
        assert_eq!(depends(&blocks, 3, 0), [(0, 0), (1, 0), (2, 0)]);
        // Through two nops.
        let blocks = [vec![nop(1, 0), STEP], vec![nop(2, 0), STEP], vec![STEP]];
        assert_eq!(depends(&blocks, 0, 0), [(2, 0)]);
    }

    #[test]
    fn nops_that_wait_for_each_other_are_steps_that_do() {
        let blocks = [vec![nop(1, 0), STEP], vec![nop(0, 0), STEP]];
        assert_eq!((depends(&blocks, 0, 0), depends(&blocks, 1, 0)), (vec![(1, 0)], vec![(0, 0)]));
    }

    #[test]
    fn what_does_not_exist_stays_for_the_verifier() {
        let blocks = [vec![on(7, 3)], vec![on(0, 9)], vec![STEP, nop(0, 0)]];
        assert_eq!((depends(&blocks, 0, 0), depends(&blocks, 1, 0)), (vec![(7, 3)], vec![(0, 9)]));
        assert_eq!(fold(&blocks).trailing, [2]);
    }

    #[test]
    fn a_wait_for_an_earlier_step_of_the_own_thread_block_is_none() {
        assert!(depends(&[vec![STEP, on(0, 0)]], 0, 1).is_empty());
        assert_eq!(depends(&[vec![STEP, on(0, 1)]], 0, 1), [(0, 1)]);
    }
}
