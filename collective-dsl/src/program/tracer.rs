//! Tracing with explicit source places: what both [`crate::Program`] and the build-time interpreter call.

mod compute;

use compute::Produced;
use rustc_hash::FxHashMap;

use super::handle::{Handle, Named};
use crate::buffer::{Buffer, Space};
use crate::collective::{Collective, CollectiveKind, Expectations};
use crate::compute::Computation;
use crate::diagnostic::{Diagnostic, Diagnostics, Rule};
use crate::ids::{ChannelId, RankId, SiteId, ThreadBlockId};
use crate::options::Options;
use crate::site::{Site, SiteTable};
use crate::trace::{DataTable, MixedReduction, Op, OpKind, ScratchBuffer, Slice, Trace};

/// Findings after which a program's further operations are no longer examined: the first ones tell most.
const MAX_FINDINGS: usize = 8;

/// The largest channel. Runtimes stop at 32 to 128; this is far above and still fits every field.
const MAX_CHANNEL: u32 = u16::MAX as u32;

/// The most chunks in a scratch buffer.
const MAX_SCRATCH_CHUNKS: usize = 1 << 24;

/// The most operations of a program; beyond, lowering would not fit the memory of a usual machine.
const MAX_OPS: usize = 1 << 25;

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Number of operations up to and including the last write: 0 for the collective's own input,
    /// `EMPTY` when nobody has written.
    written: u32,
    /// The logical chunk that lies here.
    data: u32,
}

const EMPTY: u32 = u32::MAX;
const UNWRITTEN: Cell = Cell { written: EMPTY, data: 0 };

#[derive(Debug, Default)]
struct RankCells {
    input: Vec<Cell>,
    output: Vec<Cell>,
    scratch: Vec<Scratch>,
}

#[derive(Debug)]
struct Scratch {
    name: String,
    cells: Vec<Cell>,
    /// The number of chunks, where the program has declared it.
    declared: Option<usize>,
}

/// Records a program's operations and checks each as it comes.
#[derive(Debug)]
pub struct Tracer {
    collective: Collective,
    options: Options,
    /// Position of each member, where the program is for a part of all ranks.
    members: Option<FxHashMap<usize, u32>>,
    /// What a custom collective wants.
    expected: Expectations,
    cells: Vec<RankCells>,
    ops: Vec<Op>,
    computations: Vec<Computation<Slice>>,
    produced: Produced,
    data: DataTable,
    mixed: Vec<MixedReduction>,
    sites: SiteTable,
    findings: Vec<Diagnostic>,
    scratch_run: Vec<u32>,
    /// Chunks of the scratch buffers of all ranks.
    scratch_cells: usize,
}

impl Tracer {
    /// An empty program for a collective, with the input chunks in place.
    #[must_use]
    pub fn new(collective: Collective) -> Self {
        let cells = (0..collective.ranks() as u32)
            .map(|rank| {
                let rank = RankId(rank);
                let mut cells = RankCells {
                    input: vec![UNWRITTEN; collective.space_chunks(rank, Space::Input)],
                    output: vec![UNWRITTEN; collective.space_chunks(rank, Space::Output)],
                    scratch: Vec::new(),
                };
                for index in 0..collective.input_chunks_of(rank) as u32 {
                    let (space, at) = collective.locate_input(rank, index);
                    let cell = match space {
                        Space::Output => &mut cells.output[at as usize],
                        _ => &mut cells.input[at as usize],
                    };
                    *cell = Cell { written: 0, data: collective.input_data(rank, index) };
                }
                cells
            })
            .collect();
        Self {
            options: Options::default(),
            members: None,
            expected: Expectations::new(),
            cells,
            ops: Vec::new(),
            computations: Vec::new(),
            produced: Produced::default(),
            data: DataTable::new(collective.logical_chunks()),
            collective,
            mixed: Vec::new(),
            sites: SiteTable::default(),
            findings: Vec::new(),
            scratch_run: Vec::new(),
            scratch_cells: 0,
        }
    }

    /// Sets how the program is to be lowered.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Makes the program one for some ranks only: it calls them by the numbers given, and they take part in
    /// that order.
    pub fn set_members(&mut self, members: &[usize], site: SiteId) {
        let ranks = self.collective.ranks();
        let positions: FxHashMap<usize, u32> = members.iter().copied().zip(0..).collect();
        if members.len() != ranks || positions.len() != ranks {
            let message = format!(
                "a group for a collective among {ranks} ranks needs {ranks} different members, not {members:?}"
            );
            self.fail(Rule::Malformed, site, message);
        } else {
            self.members = Some(positions);
        }
    }

    /// The collective that the program is for.
    #[must_use]
    pub fn collective(&self) -> &Collective {
        &self.collective
    }

    /// Adds a place in the source that operations may then name.
    pub fn add_site(&mut self, site: Site) -> SiteId {
        self.sites.push(site)
    }

    /// Whether so much is wrong that going on would only add noise.
    #[must_use]
    pub fn has_given_up(&self) -> bool {
        self.findings.len() >= MAX_FINDINGS
    }

    /// Records a finding of the caller's own.
    pub fn report(&mut self, finding: Diagnostic) {
        if !self.has_given_up() {
            self.findings.push(finding);
        }
    }

    fn fail(&mut self, rule: Rule, site: SiteId, message: String) -> Handle {
        self.report(Diagnostic::new(rule, Some(site), message));
        Handle::void(site)
    }

    /// The chunks `index..index + count` of a buffer, which must all have been written.
    pub fn chunks(
        &mut self,
        rank: usize,
        buffer: Buffer<'_>,
        index: usize,
        count: usize,
        site: SiteId,
    ) -> Handle {
        self.written_chunks(rank, buffer, index, count, site).or_void(rank, count)
    }

    fn written_chunks(
        &mut self,
        rank: usize,
        buffer: Buffer<'_>,
        index: usize,
        count: usize,
        site: SiteId,
    ) -> Handle {
        let slice = match self.locate(rank, buffer, index, count, site) {
            Ok(slice) => slice,
            Err(void) => return void,
        };
        let Some(cells) = self.run(slice, count as u32) else {
            let len = self.space_len(slice);
            return self.fail(
                Rule::Uninitialised,
                site,
                if len == 0 {
                    format!("{buffer} of rank {rank} does not exist yet: copy something into it first")
                } else {
                    format!(
                        "{} of {buffer} of rank {rank} {} never been written: it has {} so far",
                        chunk_words(index, count),
                        if count == 1 { "has" } else { "have" },
                        chunks_counted(len)
                    )
                },
            );
        };
        if let Some(hole) = cells.iter().position(|cell| cell.written == EMPTY) {
            return self.fail(
                Rule::Uninitialised,
                site,
                format!(
                    "chunk {} of {buffer} of rank {rank} has never been written: copy something into it first",
                    index + hole
                ),
            );
        }
        self.handle(slice, Named::new(buffer, index), count as u32, None, site)
    }

    /// Copies chunks to another place; returns the chunks there.
    pub fn copy(
        &mut self,
        src: Handle,
        rank: usize,
        buffer: Buffer<'_>,
        index: usize,
        site: SiteId,
    ) -> Handle {
        self.copied(src, rank, buffer, index, site).or_void(rank, src.count())
    }

    fn copied(&mut self, src: Handle, rank: usize, buffer: Buffer<'_>, index: usize, site: SiteId) -> Handle {
        if src.void || !self.check_fresh(src, site) {
            return Handle::void(site);
        }
        let dst = match self.locate(rank, buffer, index, src.count(), site) {
            Ok(slice) => slice,
            Err(void) => return void,
        };
        if src.slice == dst {
            // Two names of one place: a program that also runs out of place is right to copy here. One
            // name twice is a slip.
            let named = Named::new(buffer, index);
            if src.named == named {
                let what = chunk_words(index, src.count());
                return self.fail(
                    Rule::Malformed,
                    site,
                    format!(
                        "{what} of {buffer} of rank {rank} is copied onto itself: if the data should have moved before, \
                         use the reference that `copy_to` or `reduce` returned"
                    ),
                );
            }
            return Handle { site, named, ..src };
        }
        if src.slice.rank == dst.rank && src.slice.space == dst.space && self.overlaps(src, dst) {
            return self.fail(
                Rule::Malformed,
                site,
                format!(
                    "the chunks {}..{} are copied onto {}..{} of the same buffer of rank {rank}: source and \
                     destination overlap; copy through scratch, or chunk by chunk in the right order",
                    src.slice.index,
                    src.slice.index + src.count,
                    dst.index,
                    dst.index + src.count
                ),
            );
        }
        if let Space::Scratch(id) = dst.space {
            let scratch = &mut self.cells[dst.rank.index()].scratch[usize::from(id)];
            let end = (dst.index + src.count) as usize;
            if scratch.cells.len() < end {
                let longer = end - scratch.cells.len();
                scratch.cells.resize(end, UNWRITTEN);
                if !self.reserve_scratch(longer, site) {
                    return Handle::void(site);
                }
            }
        }
        let named = Named::new(buffer, index);
        self.record(OpKind::Copy, src, (dst, named), (src.channel, src.blocks), site)
    }

    /// Adds the chunks of `src` to those of `dst`, chunk by chunk; returns the sums, which lie where `dst` lay.
    pub fn reduce(&mut self, dst: Handle, src: Handle, site: SiteId) -> Handle {
        self.reduced(dst, src, site).or_void(dst.rank(), dst.count())
    }

    fn reduced(&mut self, dst: Handle, src: Handle, site: SiteId) -> Handle {
        if src.void || dst.void || !self.check_fresh(src, site) || !self.check_fresh(dst, site) {
            return Handle::void(site);
        }
        if src.count != dst.count {
            let message = format!(
                "{} cannot be reduced into {}: both sides need the same number",
                chunks_counted(src.count()),
                chunks_counted(dst.count())
            );
            return self.fail(Rule::Malformed, site, message);
        }
        if src.slice.rank == dst.slice.rank
            && src.slice.space == dst.slice.space
            && self.overlaps(src, dst.slice)
        {
            let message = if src.slice == dst.slice {
                format!(
                    "rank {} reduces a chunk into itself: if it is to count twice, reduce a copy of it in scratch",
                    src.rank()
                )
            } else {
                format!(
                    "source and destination of a reduction on rank {} overlap: reduce a copy in scratch",
                    src.rank()
                )
            };
            return self.fail(Rule::Malformed, site, message);
        }
        let channel = match (dst.channel, src.channel) {
            (Some(a), Some(b)) if a != b => {
                let message = format!(
                    "the two sides of a reduction ask for different channels, {} and {}: set it on one of them",
                    a.0, b.0
                );
                return self.fail(Rule::Malformed, site, message);
            }
            (a, b) => a.or(b),
        };
        // The hints may stand on either side.
        let blocks = (src.blocks.0.or(dst.blocks.0), src.blocks.1.or(dst.blocks.1));
        self.record(OpKind::Reduce, src, (dst.slice, dst.named), (channel, blocks), site)
    }

    /// Refuses a reference that belongs to another program.
    pub(super) fn foreign(&mut self, site: SiteId) -> Handle {
        self.fail(Rule::Malformed, site, "the other chunk belongs to another program".to_owned())
    }

    /// Divides chunks into `parts` equal consecutive runs.
    pub fn split(&mut self, handle: Handle, parts: usize, site: SiteId) -> Vec<Handle> {
        if parts == 0 || !handle.count().is_multiple_of(parts) {
            let message =
                format!("{} cannot be split into {parts} equal parts", chunks_counted(handle.count()));
            let void = if handle.void { handle } else { self.fail(Rule::Malformed, site, message) };
            let part = void.or_void(handle.rank(), handle.count() / parts.max(1));
            return vec![part; parts.min(MAX_SCRATCH_CHUNKS)];
        }
        let count = handle.count / parts as u32;
        (0..parts as u32)
            .map(|part| {
                let (mut slice, mut named) = (handle.slice, handle.named);
                slice.index += part * count;
                named.index += (part * count) as usize;
                Handle { slice, named, count, ..handle }
            })
            .collect()
    }

    /// The finished program, or all that is wrong with it.
    ///
    /// # Errors
    /// Every finding so far.
    pub fn finish(mut self, name: impl Into<String>) -> Result<Trace, Diagnostics> {
        let name = name.into();
        self.check_produced();
        if !self.findings.is_empty() {
            return Err(Diagnostics { name, findings: self.findings, sites: self.sites });
        }
        let scratch = self
            .cells
            .into_iter()
            .map(|rank| {
                let buffers = rank.scratch.into_iter();
                buffers
                    .map(|scratch| ScratchBuffer { name: scratch.name, chunks: scratch.cells.len() as u32 })
                    .collect()
            })
            .collect();
        let collective = match self.collective.kind() {
            CollectiveKind::Custom => self.collective.expecting(self.expected),
            _ => self.collective,
        };
        Ok(Trace {
            name,
            collective,
            options: self.options,
            ops: self.ops,
            computations: self.computations,
            scratch,
            data: self.data,
            mixed: self.mixed,
            sites: self.sites,
        })
    }

    fn record(
        &mut self,
        kind: OpKind,
        src: Handle,
        (dst, named): (Slice, Named),
        (channel, blocks): (Option<ChannelId>, (Option<ThreadBlockId>, Option<ThreadBlockId>)),
        site: SiteId,
    ) -> Handle {
        if self.ops.len() >= MAX_OPS {
            let message = format!("the program has more than {MAX_OPS} operations");
            return self.fail(Rule::Malformed, site, message);
        }
        let now = self.ops.len() as u32 + 1;
        if let Some(ChannelId(channel)) = channel.filter(|channel| channel.0 > MAX_CHANNEL) {
            return self.fail(
                Rule::Malformed,
                site,
                format!("channel {channel} is out of range: channels go from 0 to {MAX_CHANNEL}"),
            );
        }
        let mut moved = std::mem::take(&mut self.scratch_run);
        moved.clear();
        // Sources were checked when the handle was made, and cells are never unwritten.
        moved.extend(self.run(src.slice, src.count).unwrap_or_default().iter().map(|cell| cell.data));
        let data = self.data.intern(&moved);
        let size_class = match kind {
            OpKind::Copy => {
                for (cell, chunk) in self.run_mut(dst, src.count).iter_mut().zip(&moved) {
                    *cell = Cell { written: now, data: *chunk };
                }
                data
            }
            OpKind::Reduce | OpKind::Compute(_) => {
                moved.clear();
                for cell in self.run_mut(dst, src.count) {
                    cell.written = now;
                    moved.push(cell.data);
                }
                self.data.intern(&moved)
            }
        };
        self.scratch_run = moved;
        if size_class != data {
            self.mixed.push(MixedReduction { into: size_class, from: data, site });
        }
        let (send_block, recv_block) = blocks;
        let (src_slice, count) = (src.slice, src.count);
        self.ops.push(Op { kind, src: src_slice, dst, count, channel, send_block, recv_block, data, site });
        self.handle(dst, named, src.count, channel, site)
    }

    fn handle(
        &self,
        slice: Slice,
        named: Named,
        count: u32,
        channel: Option<ChannelId>,
        site: SiteId,
    ) -> Handle {
        Handle {
            slice,
            named,
            count,
            made: self.ops.len() as u32,
            site,
            channel,
            blocks: (None, None),
            void: false,
        }
    }

    /// Where a run of chunks really lies. A scratch buffer that does not exist yet comes into being.
    fn locate(
        &mut self,
        rank: usize,
        buffer: Buffer<'_>,
        index: usize,
        count: usize,
        site: SiteId,
    ) -> Result<Slice, Handle> {
        let id = self.position(rank, site)?;
        if count == 0 {
            return Err(self.fail(Rule::Malformed, site, "a reference needs at least one chunk".to_owned()));
        }
        let limit = match buffer {
            Buffer::Input => self.collective.input_chunks_of(id),
            Buffer::Output => self.collective.output_chunks_of(id),
            Buffer::Scratch(name) => {
                let scratch = self.cells[id.index()].scratch.iter().find(|scratch| scratch.name == name);
                scratch.and_then(|scratch| scratch.declared).unwrap_or(MAX_SCRATCH_CHUNKS)
            }
        };
        if limit == MAX_SCRATCH_CHUNKS && index.checked_add(count).is_none_or(|end| end > limit) {
            let what = chunk_words(index, count);
            let message = format!(
                "{what} of {buffer} of rank {rank} is too far: a scratch buffer has at most {limit} chunks"
            );
            return Err(self.fail(Rule::Bounds, site, message));
        }
        if index.checked_add(count).is_none_or(|end| end > limit) {
            let has = match limit.checked_sub(1) {
                Some(last) => format!("it has {}, so indices go from 0 to {last}", chunks_counted(limit)),
                None if buffer == Buffer::Input => format!(
                    "in this {} it has none; what the rank receives goes to its output",
                    self.collective.kind()
                ),
                None => format!("in this {} it has none", self.collective.kind()),
            };
            let message = format!(
                "{} of {buffer} of rank {rank} {} out of range: {has}",
                chunk_words(index, count),
                if count == 1 { "is" } else { "are" },
            );
            return Err(self.fail(Rule::Bounds, site, message));
        }
        let (space, index) = match buffer {
            Buffer::Input => self.collective.locate_input(id, index as u32),
            Buffer::Output => self.collective.locate_output(id, index as u32),
            Buffer::Scratch(name) => (self.scratch_space(id, name, site)?, index as u32),
        };
        Ok(Slice { rank: id, space, index })
    }

    /// Counts new chunks of scratch; says whether there may be so many.
    fn reserve_scratch(&mut self, chunks: usize, site: SiteId) -> bool {
        self.scratch_cells += chunks;
        let limit = Collective::MAX_CELLS;
        if self.scratch_cells > limit {
            let message = format!("the scratch buffers of all ranks have more than {limit} chunks together");
            self.fail(Rule::Bounds, site, message);
        }
        self.scratch_cells <= limit
    }

    /// The position of a rank among those that take part.
    fn position(&mut self, rank: usize, site: SiteId) -> Result<RankId, Handle> {
        let ranks = self.collective.ranks();
        let message = match &self.members {
            Some(members) => match members.get(&rank) {
                Some(position) => return Ok(RankId(*position)),
                None => {
                    let mut known: Vec<usize> = members.keys().copied().collect();
                    known.sort_unstable();
                    let known: Vec<String> = known.iter().map(usize::to_string).collect();
                    format!("rank {rank} is not in the group: its members are {}", known.join(", "))
                }
            },
            None if rank < ranks => return Ok(RankId(rank as u32)),
            None if ranks == 1 => format!("rank {rank} does not exist: there is only rank 0"),
            None => format!("rank {rank} does not exist: ranks go from 0 to {}", ranks - 1),
        };
        Err(self.fail(Rule::Bounds, site, message))
    }

    /// The number by which the program calls a rank.
    fn member(&self, rank: RankId) -> usize {
        let is_it = |(_, position): &(&usize, &u32)| **position == rank.0;
        let members = self.members.iter().flatten();
        members.into_iter().find(is_it).map_or(rank.index(), |(member, _)| *member)
    }

    /// Gives a scratch buffer of a rank a fixed number of chunks.
    pub fn declare_scratch(&mut self, rank: usize, name: &str, chunks: usize, site: SiteId) {
        let Ok(id) = self.position(rank, site) else { return };
        if chunks == 0 || chunks > MAX_SCRATCH_CHUNKS {
            let message = format!("a scratch buffer has 1 to {MAX_SCRATCH_CHUNKS} chunks, not {chunks}");
            self.fail(Rule::Malformed, site, message);
            return;
        }
        let Ok(Space::Scratch(at)) = self.scratch_space(id, name, site) else { return };
        let scratch = &mut self.cells[id.index()].scratch[usize::from(at)];
        if scratch.cells.is_empty() && scratch.declared.is_none() {
            scratch.declared = Some(chunks);
            scratch.cells = vec![UNWRITTEN; chunks];
            self.reserve_scratch(chunks, site);
        } else {
            let message = format!(
                "scratch \"{name}\" of rank {rank} exists already: declare it before its first use, once"
            );
            self.fail(Rule::Malformed, site, message);
        }
    }

    /// States that an output chunk of a custom collective must hold an input chunk of a rank; stated several times
    /// for one output chunk, their sum.
    pub fn expect(&mut self, at: (usize, usize), from: (usize, usize), site: SiteId) {
        if self.collective.kind() != CollectiveKind::Custom {
            let message = format!(
                "what {} wants is fixed: only a custom collective can be told",
                self.collective.kind()
            );
            self.fail(Rule::Malformed, site, message);
            return;
        }
        let (Ok(rank), Ok(source)) = (self.position(at.0, site), self.position(from.0, site)) else { return };
        let (outputs, inputs) =
            (self.collective.output_chunks_of(rank), self.collective.input_chunks_of(source));
        for (index, limit, buffer) in [(at.1, outputs, Buffer::Output), (from.1, inputs, Buffer::Input)] {
            if index >= limit {
                let message =
                    format!("chunk {index} of {buffer} is out of range: it has {}", chunks_counted(limit));
                self.fail(Rule::Bounds, site, message);
                return;
            }
        }
        let contributions = self.expected.entry((rank.0, at.1 as u32)).or_default();
        contributions.push((from.1 as u32, source.0));
        contributions.sort_unstable();
    }

    /// Joins two neighbouring runs of chunks into one.
    pub fn group(&mut self, a: Handle, b: Handle, site: SiteId) -> Handle {
        if a.void || b.void || !self.check_fresh(a, site) || !self.check_fresh(b, site) {
            return Handle::void(site);
        }
        let (first, second) = if a.slice.index <= b.slice.index { (a, b) } else { (b, a) };
        if first.slice.rank != second.slice.rank || first.slice.space != second.slice.space {
            return self.fail(
                Rule::Malformed,
                site,
                "only chunks of one buffer of one rank can be grouped".to_owned(),
            );
        }
        let end = first.slice.index + first.count;
        if end != second.slice.index {
            let next = second.slice.index;
            let (before, last) = (end.saturating_sub(1), next.saturating_sub(1));
            let shared = end.min(next + second.count).saturating_sub(1);
            let what = if end == last {
                format!("chunk {end} lies between the grouped chunks {before} and {next}")
            } else if end < last {
                format!("chunks {end} to {last} lie between the grouped chunks {before} and {next}")
            } else if next == shared {
                format!("chunk {next} is in both parts of the group")
            } else {
                format!("chunks {next} to {shared} are in both parts of the group")
            };
            let message = format!("{what}: only neighbours can be grouped");
            return self.fail(Rule::Malformed, site, message);
        }
        Handle { count: first.count + second.count, made: self.ops.len() as u32, site, ..first }
    }

    fn scratch_space(&mut self, rank: RankId, name: &str, site: SiteId) -> Result<Space, Handle> {
        let buffers = &mut self.cells[rank.index()].scratch;
        let at = match buffers.iter().position(|known| known.name == name) {
            Some(at) => at,
            None => {
                buffers.push(Scratch { name: name.to_owned(), cells: Vec::new(), declared: None });
                buffers.len() - 1
            }
        };
        match u16::try_from(at) {
            Ok(id) => Ok(Space::Scratch(id)),
            Err(_) => Err(self.fail(
                Rule::Malformed,
                site,
                format!("rank {} has more than {} scratch buffers", rank.0, u16::MAX),
            )),
        }
    }

    fn space(&self, slice: Slice) -> &[Cell] {
        let cells = &self.cells[slice.rank.index()];
        match slice.space {
            Space::Input => &cells.input,
            Space::Output => &cells.output,
            Space::Scratch(id) => &cells.scratch[usize::from(id)].cells,
        }
    }

    fn space_len(&self, slice: Slice) -> usize {
        self.space(slice).len()
    }

    fn run(&self, slice: Slice, count: u32) -> Option<&[Cell]> {
        self.space(slice).get(slice.index as usize..(slice.index + count) as usize)
    }

    fn run_mut(&mut self, slice: Slice, count: u32) -> &mut [Cell] {
        let cells = &mut self.cells[slice.rank.index()];
        let space = match slice.space {
            Space::Input => &mut cells.input,
            Space::Output => &mut cells.output,
            Space::Scratch(id) => &mut cells.scratch[usize::from(id)].cells,
        };
        &mut space[slice.index as usize..(slice.index + count) as usize]
    }

    fn overlaps(&self, a: Handle, b: Slice) -> bool {
        a.slice.index < b.index + a.count && b.index < a.slice.index + a.count
    }

    /// Refuses a handle whose data somebody has overwritten since.
    fn check_fresh(&mut self, handle: Handle, site: SiteId) -> bool {
        let Some(newer) = self
            .run(handle.slice, handle.count)
            .and_then(|cells| cells.iter().map(|cell| cell.written).filter(|w| *w != EMPTY).max())
            .filter(|written| *written > handle.made)
        else {
            return true;
        };
        let rank = handle.rank();
        let op = &self.ops[newer as usize - 1];
        let by = op.site;
        let advice = match op.kind {
            OpKind::Reduce => {
                "`reduce` returns the reference to the sum; go on with that one: `let c = c.reduce(…)`, or \
                 `c = c.reduce(…)` in a loop"
            }
            OpKind::Copy => "go on with the reference that `copy_to` returned, or take a new one",
            OpKind::Compute(_) => {
                "a computation produces it only there; go on with the reference that `writes` returned"
            }
        };
        let finding = Diagnostic::new(
            Rule::Stale,
            Some(site),
            format!(
                "this uses a reference to {} of {} of rank {rank} whose data has been overwritten since: {advice}",
                chunk_words(handle.named.index, handle.count()),
                handle.named.buffer.word()
            ),
        )
        .with_related(handle.site, "the reference was made here")
        .with_related(by, "its data was overwritten here");
        self.report(finding);
        false
    }
}

fn chunk_words(index: usize, count: usize) -> String {
    if count == 1 {
        format!("chunk {index}")
    } else {
        match index.checked_add(count) {
            Some(end) => format!("chunks {index}..{end}"),
            None => format!("{count} chunks from {index}"),
        }
    }
}

fn chunks_counted(count: usize) -> String {
    if count == 1 { "1 chunk".to_owned() } else { format!("{count} chunks") }
}
