//! The trace of a program: its operations in the order in which they were called, aliases resolved.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::buffer::Space;
use crate::collective::Collective;
use crate::compute::{ChunkRun, Computation};
use crate::ids::{ChannelId, DataId, RankId, SiteId, ThreadBlockId};
use crate::options::Options;
use crate::site::SiteTable;

/// A run of chunks in a real buffer of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The rank.
    pub rank: RankId,
    /// The buffer.
    pub space: Space,
    /// The first chunk.
    pub index: u32,
}

/// What an operation does with the chunks at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// Overwrites them with the source.
    Copy,
    /// Adds the source to them.
    Reduce,
    /// A computation, by its number in [`Trace::computations`], which says what it reads and writes. Of the
    /// operation's own fields only the rank and the source line mean something; it has no chunks.
    Compute(u32),
}

/// One operation of a program: a move of chunks between two ranks or on one, or a computation on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Copy or reduce.
    pub kind: OpKind,
    /// Where the chunks come from.
    pub src: Slice,
    /// Where they go to.
    pub dst: Slice,
    /// How many chunks.
    pub count: u32,
    /// The channel that the program asked for.
    pub channel: Option<ChannelId>,
    /// The thread block of the source rank that the program asked for.
    pub send_block: Option<ThreadBlockId>,
    /// The thread block of the destination rank that the program asked for.
    pub recv_block: Option<ThreadBlockId>,
    /// Which part of the collective's data moves; it decides the size in bytes.
    pub data: DataId,
    /// The source line.
    pub site: SiteId,
}

impl Op {
    /// Whether the chunks cross from one rank to another.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.src.rank != self.dst.rank
    }
}

/// Runs of logical chunks, each stored once. A single logical chunk `c` has the id `c`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataTable {
    logical: u32,
    runs: Vec<Box<[u32]>>,
    ids: FxHashMap<Box<[u32]>, DataId>,
}

impl DataTable {
    pub(crate) fn new(logical_chunks: usize) -> Self {
        Self { logical: logical_chunks as u32, ..Self::default() }
    }

    pub(crate) fn intern(&mut self, chunks: &[u32]) -> DataId {
        if let [single] = chunks {
            return DataId(*single);
        }
        if let Some(id) = self.ids.get(chunks) {
            return *id;
        }
        let id = DataId(self.logical + self.runs.len() as u32);
        self.runs.push(chunks.into());
        self.ids.insert(chunks.into(), id);
        id
    }

    /// The logical chunks behind an id, in order.
    pub fn chunks(&self, id: DataId) -> impl Iterator<Item = u32> + '_ {
        let run: &[u32] = if id.0 < self.logical { &[] } else { &self.runs[(id.0 - self.logical) as usize] };
        let single = (id.0 < self.logical).then_some(id.0);
        single.into_iter().chain(run.iter().copied())
    }

    /// The ids that are single logical chunks.
    pub(crate) fn logical_chunks(&self) -> u32 {
        self.logical
    }

    /// Number of ids in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.logical as usize + self.runs.len()
    }

    /// Whether there is no id.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A scratch buffer of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchBuffer {
    /// The program's name for it.
    pub name: String,
    /// Number of chunks: the highest index written, plus one.
    pub chunks: u32,
}

/// A reduction of two pieces of data that are different parts of the collective: allowed as long as both
/// have the same number of elements, which depends on the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedReduction {
    /// The data at the destination.
    pub into: DataId,
    /// The data at the source.
    pub from: DataId,
    /// The reduction.
    pub site: SiteId,
}

/// A traced program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The program's name.
    pub name: String,
    /// The collective that it is to achieve.
    pub collective: Collective,
    /// How it is to be lowered.
    pub options: Options,
    /// The operations in the order of the program.
    pub ops: Vec<Op>,
    /// What the computations among them do.
    pub computations: Vec<Computation<Slice>>,
    /// The scratch buffers of each rank, in the order of creation.
    pub scratch: Vec<Vec<ScratchBuffer>>,
    /// The data that operations name.
    pub data: DataTable,
    /// Reductions whose operands may differ in size.
    pub mixed: Vec<MixedReduction>,
    /// The source lines that operations name.
    pub sites: SiteTable,
}

impl Trace {
    /// Chunks of a real buffer of a rank.
    #[must_use]
    pub fn space_chunks(&self, rank: RankId, space: Space) -> usize {
        match space {
            Space::Scratch(id) => {
                self.scratch[rank.index()].get(usize::from(id)).map_or(0, |b| b.chunks as usize)
            }
            _ => self.collective.space_chunks(rank, space),
        }
    }

    /// The computation that an operation is, if it is one.
    #[must_use]
    pub fn computation(&self, op: &Op) -> Option<&Computation<Slice>> {
        match op.kind {
            OpKind::Compute(id) => self.computations.get(id as usize),
            OpKind::Copy | OpKind::Reduce => None,
        }
    }

    /// The chunks that an operation reads, but for those that a reduction adds to.
    pub(crate) fn sources(&self, op: &Op) -> impl Iterator<Item = ChunkRun<Slice>> {
        let moved = (op.count > 0).then_some(ChunkRun { first: op.src, count: op.count });
        let computation = self.computation(op).map_or(&[][..], |computation| &computation.reads);
        moved.into_iter().chain(computation.iter().copied())
    }

    /// The chunks that an operation writes.
    pub(crate) fn destinations(&self, op: &Op) -> impl Iterator<Item = ChunkRun<Slice>> {
        let moved = (op.count > 0).then_some(ChunkRun { first: op.dst, count: op.count });
        let computation = self.computation(op).map_or(&[][..], |computation| &computation.writes);
        moved.into_iter().chain(computation.iter().copied())
    }

    /// The chunks of a slice, such as `r0 i[0]` or `r1 "tmp"[0..2]`.
    fn show(&self, slice: Slice, count: u32) -> String {
        let name = match slice.space {
            Space::Input => "i".to_owned(),
            Space::Output => "o".to_owned(),
            Space::Scratch(id) => self.scratch[slice.rank.index()]
                .get(usize::from(id))
                .map_or_else(|| format!("s{id}"), |buffer| format!("\"{}\"", buffer.name)),
        };
        if count == 1 {
            format!("{} {name}[{}]", slice.rank, slice.index)
        } else {
            format!("{} {name}[{}..{}]", slice.rank, slice.index, slice.index + count)
        }
    }

    /// An operation without its source line, such as `op3 reduce r1 i[0] += r0 i[0] ch0`.
    pub(crate) fn write_op(&self, f: &mut fmt::Formatter<'_>, i: usize) -> fmt::Result {
        let op = &self.ops[i];
        let (word, sign) = match op.kind {
            OpKind::Copy => ("copy", "="),
            OpKind::Reduce => ("reduce", "+="),
            OpKind::Compute(_) => return self.write_computation(f, i, op),
        };
        write!(f, "op{i} {word} {} {sign} {}", self.show(op.dst, op.count), self.show(op.src, op.count))?;
        if let Some(channel) = op.channel {
            write!(f, " {channel}")?;
        }
        if let Some(block) = op.send_block {
            write!(f, " from {block}")?;
        }
        if let Some(block) = op.recv_block {
            write!(f, " to {block}")?;
        }
        Ok(())
    }

    /// A computation, such as `op3 comp r1 40 us reads r1 o[0] writes r1 i[2..4]`.
    fn write_computation(&self, f: &mut fmt::Formatter<'_>, i: usize, op: &Op) -> fmt::Result {
        let Some(computation) = self.computation(op) else { return write!(f, "op{i} comp {}", op.src.rank) };
        write!(f, "op{i} comp {} {}", op.src.rank, computation.cost)?;
        for (word, runs) in [("reads", &computation.reads), ("writes", &computation.writes)] {
            for (position, run) in runs.iter().enumerate() {
                let before = if position == 0 { format!(" {word}") } else { ",".to_owned() };
                write!(f, "{before} {}", self.show(run.first, run.count))?;
            }
        }
        Ok(())
    }

    /// The end of an operation's line: its source line where it is known.
    pub(crate) fn write_site(&self, f: &mut fmt::Formatter<'_>, op: &Op) -> fmt::Result {
        match self.sites.get(op.site) {
            Some(site) => writeln!(f, "  {}:{}", site.file, site.line),
            None => writeln!(f),
        }
    }
}

impl fmt::Display for Trace {
    /// One line an operation, such as `op3 reduce r1 i[0] += r0 i[0] ch0  src/lib.rs:7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "trace {} {} {} ranks", self.name, self.collective.kind(), self.collective.ranks())?;
        for (i, op) in self.ops.iter().enumerate() {
            self.write_op(f, i)?;
            self.write_site(f, op)?;
        }
        Ok(())
    }
}
