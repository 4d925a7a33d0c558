//! Whether a runtime can hold a schedule.

use std::collections::BTreeMap;

use super::Target;
use super::nops::Numbering;
use crate::collective::CollectiveKind;
use crate::diagnostic::{Diagnostic, Location, Rule};
use crate::ids::{RankId, SiteId, ThreadBlockId};
use crate::schedule::{Schedule, Step, StepKind};

/// Everything in which a schedule exceeds what a runtime can hold, by rank and thread block; each finding names the
/// limit and the value.
///
/// ```
/// use collective_dsl::{Collective, Program, Buffer::Input, lower, msccl::{Target, limits}};
/// let p = Program::new(Collective::all_reduce(2)?.with_chunks(100)?.in_place()?);
/// p.chunks(0, Input, 0, 100).copy_to(1, Input, 0);
/// let schedule = lower(&p.finish("much")?)?;
/// let found = limits::check(&schedule, Target::Rccl);
/// assert!(found[0].message.contains("moves 100 chunks; rccl moves at most 71"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn check(schedule: &Schedule, target: Target) -> Vec<Diagnostic> {
    let mut check = Check { schedule, target, found: Vec::new() };
    check.whole();
    for rank in 0..schedule.ranks.len() {
        check.rank(rank);
    }
    check.found
}

struct Check<'s> {
    schedule: &'s Schedule,
    target: Target,
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    fn exceeded(&mut self, at: Location, site: Option<SiteId>, message: String) {
        self.found.push(Diagnostic::new(Rule::Limit, site, message).at(at));
    }

    fn whole(&mut self) {
        let (target, limits) = (self.target, self.target.limits());
        if self.schedule.name.len() > limits.text {
            let length = self.schedule.name.len();
            self.exceeded(
                Location::default(),
                None,
                format!("the name has {length} bytes; {target} keeps at most {}", limits.text),
            );
        }
        if self.schedule.ranks.len() > limits.children {
            let ranks = self.schedule.ranks.len();
            self.exceeded(
                Location::default(),
                None,
                format!(
                    "there are {ranks} ranks; {target} keeps at most {} children of an element",
                    limits.children
                ),
            );
        }
        let channels = self.schedule.channel_count();
        if channels > limits.channels {
            self.exceeded(
                Location::default(),
                None,
                format!("there are {channels} channels; {target} has at most {}", limits.channels),
            );
        }
        self.computations();
        let collective = &self.schedule.collective;
        let (inputs, outputs) = (collective.input_chunks(), collective.output_chunks());
        // microsoft/msccl compares both with nchunksperloop; zero means that there is none.
        if target == Target::Msccl
            && matches!(
                collective.kind(),
                CollectiveKind::Custom | CollectiveKind::Gather | CollectiveKind::Scatter
            )
            && inputs != outputs
            && inputs.min(outputs) > 0
        {
            self.exceeded(
                Location::default(),
                None,
                format!(
                    "{} input and {} output chunks: a custom algorithm of {target} has as many of both, or none",
                    inputs, outputs
                ),
            );
        }
    }

    /// The first computation, and how many there are.
    fn computations(&mut self) {
        let blocks = (0..).zip(&self.schedule.ranks).flat_map(|(r, rank)| {
            (0..).zip(&rank.thread_blocks).map(move |(t, block)| (RankId(r), ThreadBlockId(t), block))
        });
        let mut all = blocks.flat_map(|(rank, id, block)| {
            let steps = (0..).zip(&block.steps).filter(|(_, step)| step.kind == StepKind::Compute);
            steps.map(move |(s, step)| (Location::step(rank, id, s), rank, id, s, step.site))
        });
        let Some((at, rank, id, s, site)) = all.next() else { return };
        let more = all.count();
        let more = if more == 0 { String::new() } else { format!(" (likewise {more} more steps)") };
        let target = self.target;
        let message = format!(
            "rank {}, {id}, step {s}: {target} knows no computation; MSCCL XML has only the messages{more}",
            rank.0
        );
        self.exceeded(at, Some(site), message);
    }

    fn rank(&mut self, r: usize) {
        let (target, limits) = (self.target, self.target.limits());
        let schedule = self.schedule;
        let rank = &schedule.ranks[r];
        let here = Location::rank(RankId(r as u32));
        let numbering = Numbering::of(rank);
        let blocks = rank.thread_blocks.len();
        if blocks > limits.thread_blocks {
            let most = limits.thread_blocks;
            self.exceeded(
                here,
                None,
                format!("rank {r} has {blocks} thread blocks; {target} has at most {most}"),
            );
        }
        let chunks = [crate::buffer::Space::Input, crate::buffer::Space::Output]
            .map(|space| schedule.collective.space_chunks(RankId(r as u32), space));
        for (buffer, chunks) in
            [("input", chunks[0]), ("output", chunks[1]), ("scratch", rank.scratch_chunks as usize)]
        {
            if chunks > limits.index as usize + 1 {
                let most = limits.index + 1;
                self.exceeded(
                    here,
                    None,
                    format!("rank {r} has {chunks} chunks of {buffer}; {target} counts at most {most}"),
                );
            }
        }
        let mut ends: BTreeMap<(u32, &str), usize> = BTreeMap::new();
        let mut elements = 1 + schedule.ranks.len() + blocks;
        for (t, block) in rank.thread_blocks.iter().enumerate() {
            let steps = numbering.steps(t);
            elements += steps;
            if steps > limits.steps {
                let most = limits.steps;
                let site = block.steps.last().map(|step| step.site);
                self.exceeded(
                    Location::thread_block(RankId(r as u32), ThreadBlockId(t as u32)),
                    site,
                    format!(
                            "rank {r}, tb{t} has {steps} steps (those that only wait included); {target} has at most \
                             {most}"
                        ),
                );
            }
            for (end, word) in [(block.send, "send"), (block.recv, "receive")] {
                if end.is_some() {
                    *ends.entry((block.channel.0, word)).or_default() += 1;
                }
            }
            for (s, step) in block.steps.iter().enumerate() {
                self.step(r, t, s, step);
            }
        }
        for ((channel, word), blocks) in ends {
            if blocks > limits.ends_per_channel {
                let most = limits.ends_per_channel;
                self.exceeded(
                    here,
                    None,
                    format!(
                            "rank {r} has {blocks} thread blocks that {word} on channel {channel}; {target} has at \
                             most {most}"
                        ),
                );
            }
        }
        if elements > limits.elements {
            let most = limits.elements;
            self.exceeded(
                here,
                None,
                format!(
                        "rank {r} needs {elements} XML elements (the root, every gpu, its thread blocks and steps); \
                         {target} keeps at most {most}"
                    ),
            );
        }
    }

    fn step(&mut self, r: usize, t: usize, s: usize, step: &Step) {
        let (target, limits) = (self.target, self.target.limits());
        let here = Location::step(RankId(r as u32), ThreadBlockId(t as u32), s as u32);
        if step.count > limits.count {
            let (name, count, most) = (step.kind.name(), step.count, limits.count);
            self.exceeded(
                here,
                Some(step.site),
                format!(
                    "rank {r}, tb{t}, step {s} ({name}) moves {count} chunks; {target} moves at most {most}: \
                     copy in several operations of at most {most} chunks, or use larger chunks"
                ),
            );
        }
        for on in &step.depends {
            if on.thread_block.0 > limits.awaited_block {
                let (awaited, most) = (on.thread_block, limits.awaited_block);
                self.exceeded(
                    here,
                    Some(step.site),
                    format!("rank {r}, tb{t}, step {s} waits for {awaited}; {target} can wait for tb{most} at most"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::collective::Collective;
    use crate::ids::{ChannelId, DataId};
    use crate::options::Protocol;
    use crate::schedule::{MemoryBuffer, Place, RankSchedule, StepId, StepKind, ThreadBlock};
    use crate::site::SiteTable;
    use crate::trace::DataTable;

    /// Two ranks; the first has these thread blocks, each with so many copies that do nothing.
    fn schedule(blocks: &[(Option<u32>, u32, usize)]) -> Schedule {
        let place = Place { buffer: MemoryBuffer::Input, index: 0 };
        let step = Step {
            kind: StepKind::Copy,
            src: place,
            dst: place,
            count: 1,
            data: DataId(0),
            depends: smallvec![],
            site: SiteId(0),
            send_site: SiteId(0),
            work: None,
        };
        let block = |(send, channel, steps): &(Option<u32>, u32, usize)| ThreadBlock {
            send: send.map(RankId),
            recv: None,
            channel: ChannelId(*channel),
            steps: vec![step.clone(); *steps],
        };
        let first = RankSchedule { thread_blocks: blocks.iter().map(block).collect(), scratch_chunks: 0 };
        Schedule {
            name: "synthetic".to_owned(),
            collective: Collective::all_reduce(2).unwrap().in_place().unwrap(),
            protocol: Protocol::Simple,
            ranks: vec![first, RankSchedule::default()],
            data: DataTable::new(2),
            mixed: Vec::new(),
            sites: SiteTable::default(),
        }
    }

    fn messages(schedule: &Schedule, target: Target) -> Vec<String> {
        check(schedule, target).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn thread_blocks_of_one_channel_are_counted_for_each_direction() {
        let blocks: Vec<_> = (0..33).map(|_| (Some(1), 0, 1)).collect();
        let wanted = "rank 0 has 33 thread blocks that send on channel 0; msccl has at most 32";
        assert_eq!(messages(&schedule(&blocks), Target::Msccl), [wanted]);
        assert!(messages(&schedule(&blocks[1..]), Target::Msccl).is_empty());
    }

    #[test]
    fn all_elements_that_a_rank_keeps_are_counted() {
        // The root, two gpus, 16 thread blocks and their steps.
        let blocks = |last: usize| -> Vec<_> {
            (0..16).map(|t| (None, 0, if t == 15 { last } else { 256 })).collect()
        };
        assert!(messages(&schedule(&blocks(4096 - 19 - 15 * 256)), Target::Msccl).is_empty());
        let said = messages(&schedule(&blocks(4096 - 18 - 15 * 256)), Target::Msccl);
        assert!(said[0].starts_with("rank 0 needs 4097 XML elements"), "{said:?}");
    }

    #[test]
    fn thread_blocks_beyond_eight_bits_cannot_be_awaited() {
        let mut schedule = schedule(&[(None, 0, 1); 129]);
        let on = |block| StepId { thread_block: ThreadBlockId(block), step: 0 };
        schedule.ranks[0].thread_blocks[0].steps[0].depends = smallvec![on(127)];
        assert!(messages(&schedule, Target::Msccl).is_empty());
        schedule.ranks[0].thread_blocks[0].steps[0].depends = smallvec![on(128)];
        let wanted = "rank 0, tb0, step 0 waits for tb128; msccl can wait for tb127 at most";
        assert_eq!(messages(&schedule, Target::Msccl), [wanted]);
    }

    #[test]
    fn steps_that_only_wait_count() {
        // 255 steps, the last of which waits for two others: one more for the first wait.
        let mut schedule = schedule(&[(None, 0, 255), (None, 0, 1), (None, 0, 1), (None, 0, 1)]);
        let on = |block| StepId { thread_block: ThreadBlockId(block), step: 0 };
        schedule.ranks[0].thread_blocks[0].steps[254].depends = smallvec![on(1), on(2)];
        assert!(messages(&schedule, Target::Msccl).is_empty());
        schedule.ranks[0].thread_blocks[0].steps[254].depends = smallvec![on(1), on(2), on(3)];
        assert!(messages(&schedule, Target::Msccl)[0].starts_with("rank 0, tb0 has 257 steps"));
    }
}
