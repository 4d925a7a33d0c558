//! Whether a runtime can hold a schedule.

use std::collections::BTreeMap;

use super::Target;
use super::nops::Numbering;
use crate::collective::CollectiveKind;
use crate::diagnostic::{Diagnostic, Rule};
use crate::ids::{RankId, SiteId};
use crate::schedule::{Schedule, Step};

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
    fn exceeded(&mut self, site: Option<SiteId>, message: String) {
        self.found.push(Diagnostic::new(Rule::Limit, site, message));
    }

    fn whole(&mut self) {
        let (target, limits) = (self.target, self.target.limits());
        if self.schedule.name.len() > limits.text {
            let length = self.schedule.name.len();
            self.exceeded(
                None,
                format!("the name has {length} bytes; {target} keeps at most {}", limits.text),
            );
        }
        if self.schedule.ranks.len() > limits.children {
            let ranks = self.schedule.ranks.len();
            self.exceeded(
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
                None,
                format!("there are {channels} channels; {target} has at most {}", limits.channels),
            );
        }
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
                None,
                format!(
                    "{} input and {} output chunks: a custom algorithm of {target} has as many of both, or none",
                    inputs, outputs
                ),
            );
        }
    }

    fn rank(&mut self, r: usize) {
        let (target, limits) = (self.target, self.target.limits());
        let schedule = self.schedule;
        let rank = &schedule.ranks[r];
        let numbering = Numbering::of(rank);
        let blocks = rank.thread_blocks.len();
        if blocks > limits.thread_blocks {
            let most = limits.thread_blocks;
            self.exceeded(None, format!("rank {r} has {blocks} thread blocks; {target} has at most {most}"));
        }
        let chunks = [crate::buffer::Space::Input, crate::buffer::Space::Output]
            .map(|space| schedule.collective.space_chunks(RankId(r as u32), space));
        for (buffer, chunks) in
            [("input", chunks[0]), ("output", chunks[1]), ("scratch", rank.scratch_chunks as usize)]
        {
            if chunks > limits.index as usize + 1 {
                let most = limits.index + 1;
                self.exceeded(
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
                    site,
                    format!("rank {r}, tb{t} has {steps} steps (those that only wait included); {target} has at most {most}"),
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
                    None,
                    format!("rank {r} has {blocks} thread blocks that {word} on channel {channel}; {target} has at most {most}"),
                );
            }
        }
        if elements > limits.elements {
            let most = limits.elements;
            self.exceeded(
                None,
                format!("rank {r} needs {elements} XML elements (the root, every gpu, its thread blocks and steps); {target} keeps at most {most}"),
            );
        }
    }

    fn step(&mut self, r: usize, t: usize, s: usize, step: &Step) {
        let (target, limits) = (self.target, self.target.limits());
        if step.count > limits.count {
            let (name, count, most) = (step.kind.name(), step.count, limits.count);
            self.exceeded(
                Some(step.site),
                format!(
                    "rank {r}, tb{t}, step {s} ({name}) moves {count} chunks; {target} moves at most {most}"
                ),
            );
        }
        for on in &step.depends {
            if on.thread_block.0 > limits.awaited_block {
                let (awaited, most) = (on.thread_block, limits.awaited_block);
                self.exceeded(
                    Some(step.site),
                    format!("rank {r}, tb{t}, step {s} waits for {awaited}; {target} can wait for tb{most} at most"),
                );
            }
        }
    }
}
