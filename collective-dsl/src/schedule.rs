//! The schedule: what each thread block of each rank does, step by step.
//!
//! A thread block is an ordered list of steps with at most one peer to send to, one to receive from, and one
//! channel. The k-th send on a connection (sender, receiver, channel) meets the k-th receive on it. Steps of
//! different thread blocks of a rank run at the same time unless a [`Step::depends`] orders them.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::collective::Collective;
use crate::compute::Computation;
use crate::ids::{ChannelId, DataId, RankId, SiteId, ThreadBlockId};
use crate::options::Protocol;
use crate::site::SiteTable;
use crate::trace::{DataTable, MixedReduction};

/// A buffer as a runtime knows it: all scratch of a rank is one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryBuffer {
    /// The input buffer.
    Input,
    /// The output buffer.
    Output,
    /// The scratch buffer.
    Scratch,
}

impl MemoryBuffer {
    /// The letter in MSCCL XML and in dumps: `i`, `o`, `s`.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            MemoryBuffer::Input => "i",
            MemoryBuffer::Output => "o",
            MemoryBuffer::Scratch => "s",
        }
    }
}

/// A chunk of a rank's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The buffer.
    pub buffer: MemoryBuffer,
    /// The chunk in it.
    pub index: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.buffer.letter(), self.index)
    }
}

/// What a step does; the names in MSCCL XML are [`StepKind::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepKind {
    /// `s`: send `src`.
    Send,
    /// `r`: receive into `dst`.
    Recv,
    /// `rcs`: receive into `dst` and send it on.
    RecvCopySend,
    /// `rrc`: receive, add to `src`, store in `dst`.
    RecvReduceCopy,
    /// `rrs`: receive, add to `src` and send the sum on, without storing it.
    RecvReduceSend,
    /// `rrcs`: receive, add to `src`, store in `dst` and send it on.
    RecvReduceCopySend,
    /// `cpy`: copy `src` to `dst` on the rank.
    Copy,
    /// `re`: add `src` to `dst` on the rank.
    Reduce,
    /// `comp`: compute, as [`Step::work`] says. MSCCL XML has no word for it.
    Compute,
}

impl StepKind {
    /// The name in MSCCL XML.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            StepKind::Send => "s",
            StepKind::Recv => "r",
            StepKind::RecvCopySend => "rcs",
            StepKind::RecvReduceCopy => "rrc",
            StepKind::RecvReduceSend => "rrs",
            StepKind::RecvReduceCopySend => "rrcs",
            StepKind::Copy => "cpy",
            StepKind::Reduce => "re",
            StepKind::Compute => "comp",
        }
    }

    /// The kind behind a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            StepKind::Send,
            StepKind::Recv,
            StepKind::RecvCopySend,
            StepKind::RecvReduceCopy,
            StepKind::RecvReduceSend,
            StepKind::RecvReduceCopySend,
            StepKind::Copy,
            StepKind::Reduce,
            StepKind::Compute,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the step sends a message.
    #[must_use]
    pub fn sends(self) -> bool {
        matches!(
            self,
            StepKind::Send | StepKind::RecvCopySend | StepKind::RecvReduceSend | StepKind::RecvReduceCopySend
        )
    }

    /// Whether the step receives a message.
    #[must_use]
    pub fn receives(self) -> bool {
        !matches!(self, StepKind::Send | StepKind::Copy | StepKind::Reduce | StepKind::Compute)
    }

    /// Whether the step adds.
    #[must_use]
    pub fn reduces(self) -> bool {
        matches!(
            self,
            StepKind::RecvReduceCopy
                | StepKind::RecvReduceSend
                | StepKind::RecvReduceCopySend
                | StepKind::Reduce
        )
    }

    /// Whether the step reads `src` on its own rank. What a computation reads is in its [`Step::work`].
    #[must_use]
    pub fn reads_src(self) -> bool {
        !matches!(self, StepKind::Recv | StepKind::RecvCopySend | StepKind::Compute)
    }

    /// Whether the step writes `dst` on its own rank. What a computation writes is in its [`Step::work`].
    #[must_use]
    pub fn writes_dst(self) -> bool {
        !matches!(self, StepKind::Send | StepKind::RecvReduceSend | StepKind::Compute)
    }
}

/// A step of a thread block of the same rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepId {
    /// The thread block.
    pub thread_block: ThreadBlockId,
    /// The step in it, from 0.
    pub step: u32,
}

/// One step.
///
/// Places are those on the step's own rank. Where a step uses only one of them the other is the same. Of a computation
/// places and data mean nothing, and the count is 0: what it touches is in [`Step::work`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// The first chunk read on this rank.
    pub src: Place,
    /// The first chunk written on this rank.
    pub dst: Place,
    /// Number of chunks.
    pub count: u32,
    /// Which part of the collective's data moves.
    pub data: DataId,
    /// Steps of other thread blocks of the rank that must be complete before.
    pub depends: SmallVec<[StepId; 1]>,
    /// The source line of the write (of the send, for a plain send).
    pub site: SiteId,
    /// The source line of the send, for steps that also receive.
    pub send_site: SiteId,
    /// What a computation does; `None` for every other kind of step.
    pub work: Option<Arc<Computation<Place>>>,
}

/// An ordered list of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadBlock {
    /// The peer that sends go to.
    pub send: Option<RankId>,
    /// The peer that receives come from.
    pub recv: Option<RankId>,
    /// The channel of both.
    pub channel: ChannelId,
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// What one rank does.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RankSchedule {
    /// The thread blocks; the position is the id.
    pub thread_blocks: Vec<ThreadBlock>,
    /// Chunks of scratch.
    pub scratch_chunks: u32,
}

/// The schedule of an algorithm for all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The algorithm's name.
    pub name: String,
    /// The collective that it is to achieve.
    pub collective: Collective,
    /// The protocol of all connections.
    pub protocol: Protocol,
    /// What each rank does.
    pub ranks: Vec<RankSchedule>,
    /// The data that steps name.
    pub data: DataTable,
    /// Reductions whose operands may differ in size.
    pub mixed: Vec<MixedReduction>,
    /// The source lines that steps name.
    pub sites: SiteTable,
}

impl Schedule {
    /// Number of steps of all ranks.
    #[must_use]
    pub fn step_count(&self) -> usize {
        let blocks = self.ranks.iter().flat_map(|rank| &rank.thread_blocks);
        blocks.map(|block| block.steps.len()).sum()
    }

    /// Number of messages.
    #[must_use]
    pub fn message_count(&self) -> usize {
        let blocks = self.ranks.iter().flat_map(|rank| &rank.thread_blocks);
        blocks.flat_map(|block| &block.steps).filter(|step| step.kind.sends()).count()
    }

    /// One more than the highest channel in use.
    #[must_use]
    pub fn channel_count(&self) -> u32 {
        let blocks = self.ranks.iter().flat_map(|rank| &rank.thread_blocks);
        blocks.map(|block| block.channel.0 + 1).max().unwrap_or(0)
    }
}

impl fmt::Display for Schedule {
    /// One line a step, such as `0 rrcs i[3] <- r7, -> r1  src/lib.rs:7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "schedule {} {} {} ranks", self.name, self.collective.kind(), self.collective.ranks())?;
        for (r, rank) in self.ranks.iter().enumerate() {
            writeln!(f, "{}", RankId(r as u32))?;
            for (t, block) in rank.thread_blocks.iter().enumerate() {
                writeln!(f, "  {} {}", ThreadBlockId(t as u32), block.channel)?;
                for (s, step) in block.steps.iter().enumerate() {
                    write!(f, "    {s} {}", step.kind.name())?;
                    if step.kind.writes_dst() {
                        write!(f, " {}", step.dst)?;
                    }
                    if step.kind.reads_src() && (step.src != step.dst || !step.kind.writes_dst()) {
                        write!(f, " {}", step.src)?;
                    }
                    if let Some(work) = &step.work {
                        write_work(f, work)?;
                    }
                    if step.count > 1 {
                        write!(f, " x{}", step.count)?;
                    }
                    if let Some(peer) = block.recv.filter(|_| step.kind.receives()) {
                        write!(f, " <- {peer}")?;
                    }
                    if let Some(peer) = block.send.filter(|_| step.kind.sends()) {
                        write!(f, " -> {peer}")?;
                    }
                    for dep in &step.depends {
                        write!(f, " after {}.{}", dep.thread_block, dep.step)?;
                    }
                    match self.sites.get(step.site) {
                        Some(site) => writeln!(f, "  {}:{}", site.file, site.line)?,
                        None => writeln!(f)?,
                    }
                }
            }
        }
        Ok(())
    }
}

/// ` 40 us reads o[2], o[4..6] writes i[0]`.
fn write_work(f: &mut fmt::Formatter<'_>, work: &Computation<Place>) -> fmt::Result {
    write!(f, " {}", work.cost)?;
    for (sign, runs) in [("reads", &work.reads), ("writes", &work.writes)] {
        for (position, run) in runs.iter().enumerate() {
            let before = if position == 0 { format!(" {sign}") } else { ",".to_owned() };
            write!(f, "{before} {run}")?;
        }
    }
    Ok(())
}
