//! What is certainly complete on a rank when a step begins: vector clocks over the thread blocks of the rank, from
//! their own order and their dependences.
//!
//! A clock changes only where a step waits for another thread block, and has an entry only for thread blocks that were
//! waited for, directly or through others.

use crate::schedule::StepId;

/// Entries of all clocks of a rank beyond which dependences are no longer entered. The clocks then know less than they
/// could, and more is left to [`super::reach`].
const MOST_ENTRIES: usize = 1 << 23;

/// Thread blocks, ascending, each with how many of its steps are complete.
type Clock = Vec<(u32, u32)>;

/// The clocks of one rank.
pub(super) struct Clocks {
    /// By thread block: from which step on which clock holds.
    changes: Vec<Vec<(u32, Clock)>>,
    entries: usize,
}

impl Clocks {
    pub(super) fn new(thread_blocks: usize) -> Self {
        Self { changes: vec![Vec::new(); thread_blocks], entries: 0 }
    }

    /// Enters what a step waits for. Steps come in an order in which they can happen.
    pub(super) fn begin(&mut self, block: u32, step: u32, depends: &[StepId]) {
        let mut joined: Option<Clock> = None;
        for on in depends {
            let awaited = on.thread_block.0;
            if awaited == block || self.covers(block, awaited, on.step) || self.entries > MOST_ENTRIES {
                continue;
            }
            let mut clock = joined.take().unwrap_or_else(|| self.now(block).clone());
            join(&mut clock, &[(awaited, on.step + 1)]);
            join(&mut clock, self.before(awaited, on.step));
            joined = Some(clock);
        }
        if let Some(clock) = joined {
            self.entries += clock.len();
            self.changes[block as usize].push((step, clock));
        }
    }

    /// Whether a step of another thread block is complete when the latest step of `block` begins.
    pub(super) fn covers(&self, block: u32, other: u32, step: u32) -> bool {
        let clock = self.now(block);
        clock.binary_search_by_key(&other, |entry| entry.0).is_ok_and(|found| clock[found].1 > step)
    }

    fn now(&self, block: u32) -> &Clock {
        const START: &Clock = &Clock::new();
        self.changes[block as usize].last().map_or(START, |change| &change.1)
    }

    /// What was complete when a step began.
    fn before(&self, block: u32, step: u32) -> &[(u32, u32)] {
        let changes = &self.changes[block as usize];
        match changes.partition_point(|change| change.0 <= step) {
            0 => &[],
            after => &changes[after - 1].1,
        }
    }
}

/// Takes the larger entry for each thread block.
fn join(clock: &mut Clock, other: &[(u32, u32)]) {
    if other.is_empty() {
        return;
    }
    let mine = std::mem::take(clock);
    clock.reserve(mine.len() + other.len());
    let (mut a, mut b) = (&mine[..], other);
    while let ([x, rest_of_a @ ..], [y, rest_of_b @ ..]) = (a, b) {
        let entry = if x.0 == y.0 { (x.0, x.1.max(y.1)) } else { *x.min(y) };
        if x.0 <= y.0 {
            a = rest_of_a;
        }
        if y.0 <= x.0 {
            b = rest_of_b;
        }
        clock.push(entry);
    }
    clock.extend_from_slice(a);
    clock.extend_from_slice(b);
}

#[cfg(test)]
mod tests {
    use smallvec::SmallVec;
    use smallvec::smallvec;

    use super::*;
    use crate::ids::ThreadBlockId;

    fn on(block: u32, step: u32) -> SmallVec<[StepId; 2]> {
        smallvec![StepId { thread_block: ThreadBlockId(block), step }]
    }

    #[test]
    fn the_larger_entry_counts() {
        let mut clock = vec![(0, 3), (2, 1), (9, 9)];
        join(&mut clock, &[(1, 1), (2, 5), (10, 1)]);
        assert_eq!(clock, [(0, 3), (1, 1), (2, 5), (9, 9), (10, 1)]);
    }

    #[test]
    fn dependences_reach_through_other_thread_blocks_but_only_as_of_then() {
        let mut clocks = Clocks::new(3);
        // tb1.2 waits for tb0.4; tb2.0 for tb1.1, tb2.1 for tb1.2.
        clocks.begin(1, 2, &on(0, 4));
        clocks.begin(2, 0, &on(1, 1));
        assert!(clocks.covers(2, 1, 1) && !clocks.covers(2, 1, 2) && !clocks.covers(2, 0, 0));
        clocks.begin(2, 1, &on(1, 2));
        assert!(clocks.covers(2, 0, 4) && !clocks.covers(2, 0, 5));
        assert!(!clocks.covers(0, 1, 0));
    }
}
