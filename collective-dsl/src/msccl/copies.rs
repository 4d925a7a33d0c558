//! `<copy>` elements: chunks of the output that begin with the input's data.

use smallvec::SmallVec;

use super::document::Copy;
use crate::ids::{ChannelId, DataId, SiteId, ThreadBlockId};
use crate::schedule::{MemoryBuffer, Place, RankSchedule, Step, StepId, StepKind, ThreadBlock};

/// Adds the copies as a thread block of their own, and lets the first step of every other that touches one of their
/// chunks wait for the last of them: it comes before all else, and waits for nothing.
pub(super) fn insert(rank: &mut RankSchedule, copies: &[Copy], sites: &[SiteId]) {
    let at = |buffer, index| Place { buffer, index };
    let steps: Vec<Step> = copies
        .iter()
        .zip(sites)
        .map(|(copy, site)| Step {
            work: None,
            kind: StepKind::Copy,
            src: at(MemoryBuffer::Input, copy.from),
            dst: at(MemoryBuffer::Output, copy.to),
            count: 1,
            data: DataId(0),
            depends: SmallVec::new(),
            site: *site,
            send_site: *site,
        })
        .collect();
    let touches = |place: Place, count: u32, copy: &Copy| {
        place.buffer == MemoryBuffer::Output
            && (place.index..place.index.saturating_add(count)).contains(&copy.to)
            || place.buffer == MemoryBuffer::Input
                && (place.index..place.index.saturating_add(count)).contains(&copy.from)
    };
    let last = StepId {
        thread_block: ThreadBlockId(rank.thread_blocks.len() as u32),
        step: steps.len().saturating_sub(1) as u32,
    };
    for block in &mut rank.thread_blocks {
        let first = block.steps.iter_mut().find(|step| {
            copies.iter().any(|copy| {
                let reads = step.kind.reads_src()
                    && step.src.buffer == MemoryBuffer::Output
                    && touches(step.src, step.count, copy);
                reads || step.kind.writes_dst() && touches(step.dst, step.count, copy)
            })
        });
        if let Some(step) = first {
            step.depends.push(last);
        }
    }
    rank.thread_blocks.push(ThreadBlock { send: None, recv: None, channel: ChannelId(0), steps });
}
