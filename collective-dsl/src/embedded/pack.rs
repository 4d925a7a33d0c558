//! A schedule as few bytes: the form in which one is embedded.
//!
//! ```text
//! "CS", version, name, collective, protocol,
//! data runs, mixed reductions, files, sites (file, line),
//! a rank: chunks of scratch, thread blocks: send, recv, channel, number of steps, steps
//! ```
//!
//! Numbers are LEB128. A peer is its distance from the rank; a step is what differs from the step before it in its
//! thread block, of a computation all it costs and touches; runs of steps that stood before are repeated by distance (`repeats.rs`). Columns are not kept: graphs
//! name lines.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::coding::{Reader, UnpackError, Writer};
use super::repeats::{History, Repeats};
use crate::collective::{Collective, CollectiveError, CollectiveKind, Expectations};
use crate::compute::{ChunkRun, Computation, Cost};
use crate::ids::{ChannelId, DataId, RankId, SiteId, ThreadBlockId};
use crate::options::Protocol;
use crate::schedule::{MemoryBuffer, Place, RankSchedule, Schedule, Step, StepId, StepKind, ThreadBlock};
use crate::site::{Site, SiteTable};
use crate::trace::{DataTable, MixedReduction};
use crate::verify::well_formed;

const MAGIC: &[u8; 2] = b"CS";
const VERSION: u8 = 2;

/// The most steps that are unpacked: a few damaged bytes could otherwise ask for all memory.
const MAX_STEPS: usize = 1 << 25;

const KINDS: [StepKind; 8] = [
    StepKind::Send,
    StepKind::Recv,
    StepKind::RecvCopySend,
    StepKind::RecvReduceCopy,
    StepKind::RecvReduceSend,
    StepKind::RecvReduceCopySend,
    StepKind::Copy,
    StepKind::Reduce,
];

const BUFFERS: [MemoryBuffer; 3] = [MemoryBuffer::Input, MemoryBuffer::Output, MemoryBuffer::Scratch];

/// Packs a schedule. One that names ranks, steps or data that do not exist does not come back as it was.
///
/// ```
/// use collective_dsl::{Buffer::{Input, Output}, Collective, Program, compile, pack, unpack};
///
/// let p = Program::new(Collective::all_gather(2)?);
/// for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
///     p.chunk(from, Input, 0).copy_to(to, Output, from);
/// }
/// let schedule = compile(&p.finish("pair")?)?;
/// // Step for step; only columns of source places are not kept.
/// assert_eq!(unpack(&pack(&schedule))?.ranks, schedule.ranks);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pack(schedule: &Schedule) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.bytes.extend_from_slice(MAGIC);
    writer.bytes.push(VERSION);
    writer.text(&schedule.name);
    write_collective(&mut writer, &schedule.collective);
    writer.text(schedule.protocol.name());
    write_data(&mut writer, &schedule.data);
    writer.number(schedule.mixed.len() as u64);
    for mixed in &schedule.mixed {
        [mixed.into.0, mixed.from.0, mixed.site.0].into_iter().for_each(|id| writer.number(u64::from(id)));
    }
    write_sites(&mut writer, &schedule.sites);
    writer.number(schedule.ranks.len() as u64);
    let mut repeats = Repeats::default();
    for (rank, of_rank) in schedule.ranks.iter().enumerate() {
        writer.number(u64::from(of_rank.scratch_chunks));
        writer.number(of_rank.thread_blocks.len() as u64);
        for block in &of_rank.thread_blocks {
            let ranks = schedule.ranks.len() as u64;
            let distance = |peer: RankId| 1 + (u64::from(peer.0) + ranks - rank as u64) % ranks;
            writer.number(block.send.map_or(0, distance));
            writer.number(block.recv.map_or(0, distance));
            writer.number(u64::from(block.channel.0));
            writer.number(block.steps.len() as u64);
            repeats.write(&tokens(&block.steps), &mut writer);
        }
    }
    writer.bytes
}

/// The schedule behind packed bytes. Columns of source places are 0, unknown.
///
/// # Errors
/// Bytes that [`pack`] has not made.
pub fn unpack(bytes: &[u8]) -> Result<Schedule, UnpackError> {
    let reader = &mut Reader::new(bytes);
    if reader.take(2)? != MAGIC {
        return Err(reader.error("it does not begin as a packed schedule does"));
    }
    let version = reader.byte()?;
    if version != VERSION {
        return Err(reader.error(format!("its format is version {version}; this is version {VERSION}")));
    }
    let name = reader.text()?;
    let collective = read_collective(reader)?;
    let protocol = reader.text()?.parse::<Protocol>().map_err(|error| reader.error(error.to_string()))?;
    let data = read_data(reader)?;
    let mut mixed = Vec::new();
    for _ in 0..reader.length()? {
        let (into, from) = (DataId(reader.u32()?), DataId(reader.u32()?));
        if into.index().max(from.index()) >= data.len() {
            return Err(reader.error("a reduction of data that there are not"));
        }
        mixed.push(MixedReduction { into, from, site: SiteId(reader.u32()?) });
    }
    let sites = read_sites(reader)?;
    let ranks = read_ranks(reader)?;
    if !reader.is_at_end() {
        return Err(reader.error("expected its end"));
    }
    let schedule = Schedule { name, collective, protocol, ranks, data, mixed, sites };
    match well_formed(&schedule).into_iter().next() {
        Some(fault) => Err(reader.error(fault.message)),
        None => Ok(schedule),
    }
}

fn write_collective(writer: &mut Writer, collective: &Collective) {
    let kind = collective.kind();
    writer.text(kind.name());
    writer.number(collective.ranks() as u64);
    writer.number(u64::from(collective.is_in_place()));
    match kind {
        CollectiveKind::AllToAllV => {
            let ranks = 0..collective.ranks() as u32;
            for (from, to) in ranks.clone().flat_map(|from| ranks.clone().map(move |to| (from, to))) {
                writer.number(u64::from(collective.table_entry(from, to)));
            }
        }
        _ => writer.number(collective.chunks() as u64),
    }
    writer.number(u64::from(collective.root().0));
    match kind {
        CollectiveKind::SendRecv => writer.number(u64::from(collective.destination().0)),
        CollectiveKind::Custom => {
            writer.number(collective.output_chunks() as u64);
            let expected = collective.expected();
            writer.number(expected.map_or(0, |expected| expected.len() as u64 + 1));
            for ((rank, chunk), contributions) in expected.into_iter().flatten() {
                writer.number(u64::from(*rank));
                writer.number(u64::from(*chunk));
                writer.number(contributions.len() as u64);
                for (chunk, rank) in contributions {
                    writer.number(u64::from(*chunk));
                    writer.number(u64::from(*rank));
                }
            }
        }
        _ => {}
    }
}

fn read_collective(reader: &mut Reader<'_>) -> Result<Collective, UnpackError> {
    let impossible = |reader: &Reader<'_>, error: CollectiveError| reader.error(error.to_string());
    let name = reader.text()?;
    let kind = CollectiveKind::from_name(&name)
        .ok_or_else(|| reader.error(format!("there is no collective \"{name}\"")))?;
    let ranks = reader.at_most(Collective::MAX_CELLS)?;
    let in_place = reader.at_most(1)? == 1;
    let (table, chunks) = if kind == CollectiveKind::AllToAllV {
        let mut table = Vec::new();
        for _ in 0..ranks {
            let row: Result<Vec<usize>, UnpackError> =
                (0..ranks).map(|_| reader.at_most(Collective::MAX_CELLS)).collect();
            table.push(row?);
        }
        (table, 0)
    } else {
        (Vec::new(), reader.at_most(Collective::MAX_CELLS)?)
    };
    let root = reader.at_most(Collective::MAX_CELLS)?;
    let (mut outputs, mut destination, mut expected) = (0, 0, None);
    match kind {
        CollectiveKind::SendRecv => destination = reader.at_most(Collective::MAX_CELLS)?,
        CollectiveKind::Custom => {
            outputs = reader.at_most(Collective::MAX_CELLS)?;
            expected = read_expected(reader)?;
        }
        _ => {}
    }
    let build = || -> Result<Collective, CollectiveError> {
        let mut collective = match kind {
            CollectiveKind::AllToAllV => Collective::all_to_all_v(&table)?,
            CollectiveKind::Custom => Collective::custom(ranks, chunks, outputs)?,
            CollectiveKind::SendRecv => Collective::new(kind, ranks, chunks)?.between(root, destination)?,
            _ => Collective::new(kind, ranks, chunks)?,
        };
        if root != 0 && kind != CollectiveKind::SendRecv {
            collective = collective.rooted(root)?;
        }
        if in_place { collective.in_place() } else { Ok(collective) }
    };
    let collective = build().map_err(|error| impossible(reader, error))?;
    Ok(match expected {
        Some(expected) => collective.expecting(expected),
        None => collective,
    })
}

fn read_expected(reader: &mut Reader<'_>) -> Result<Option<Expectations>, UnpackError> {
    let Some(entries) = reader.number()?.checked_sub(1) else { return Ok(None) };
    let mut expected = Expectations::new();
    for _ in 0..entries {
        let at = (reader.u32()?, reader.u32()?);
        let mut contributions = Vec::new();
        for _ in 0..reader.length()? {
            contributions.push((reader.u32()?, reader.u32()?));
        }
        expected.insert(at, contributions);
    }
    Ok(Some(expected))
}

fn write_data(writer: &mut Writer, data: &DataTable) {
    let logical = data.logical_chunks();
    writer.number(u64::from(logical));
    writer.number(data.len() as u64 - u64::from(logical));
    for id in logical..data.len() as u32 {
        let chunks: Vec<u32> = data.chunks(DataId(id)).collect();
        writer.number(chunks.len() as u64);
        // Runs follow each other, and most are of consecutive chunks.
        let mut before = 0;
        for chunk in chunks {
            writer.signed(i64::from(chunk) - before);
            before = i64::from(chunk) + 1;
        }
    }
}

fn read_data(reader: &mut Reader<'_>) -> Result<DataTable, UnpackError> {
    let logical = reader.at_most(Collective::MAX_CELLS)?;
    let mut data = DataTable::new(logical);
    for _ in 0..reader.length()? {
        let mut chunks = Vec::new();
        let mut before = 0_i64;
        for _ in 0..reader.length()? {
            let chunk = before.checked_add(reader.signed()?).and_then(|chunk| u32::try_from(chunk).ok());
            match chunk.filter(|chunk| (*chunk as usize) < logical) {
                Some(chunk) => {
                    chunks.push(chunk);
                    before = i64::from(chunk) + 1;
                }
                None => return Err(reader.error("a chunk that the data do not have")),
            }
        }
        if chunks.is_empty() {
            return Err(reader.error("data of no chunk"));
        }
        data.intern(&chunks);
    }
    Ok(data)
}

fn write_sites(writer: &mut Writer, sites: &SiteTable) {
    let mut files: Vec<&str> = Vec::new();
    let mut index: FxHashMap<&str, usize> = FxHashMap::default();
    let all: Vec<&Site> = (0..).map_while(|id| sites.get(SiteId(id))).collect();
    for site in &all {
        index.entry(&site.file).or_insert_with(|| {
            files.push(&site.file);
            files.len() - 1
        });
    }
    writer.number(files.len() as u64);
    files.iter().for_each(|file| writer.text(file));
    writer.number(all.len() as u64);
    let mut line = 0;
    for site in all {
        writer.number(index[site.file.as_str()] as u64);
        writer.signed(i64::from(site.line) - line);
        line = i64::from(site.line);
    }
}

fn read_sites(reader: &mut Reader<'_>) -> Result<SiteTable, UnpackError> {
    let mut files = Vec::new();
    for _ in 0..reader.length()? {
        files.push(reader.text()?);
    }
    let mut sites = SiteTable::default();
    let mut line = 0_i64;
    for _ in 0..reader.length()? {
        let file = reader.at_most(files.len())?;
        line = line.wrapping_add(reader.signed()?);
        match (files.get(file), u32::try_from(line)) {
            (Some(file), Ok(line)) => _ = sites.push(Site { file: file.clone(), line, column: 0 }),
            _ => return Err(reader.error("a place in no file")),
        }
    }
    Ok(sites)
}

fn read_ranks(reader: &mut Reader<'_>) -> Result<Vec<RankSchedule>, UnpackError> {
    let count = reader.length()?;
    let mut ranks = Vec::with_capacity(count);
    let mut history = History::new();
    let mut room = MAX_STEPS;
    for rank in 0..count {
        let scratch_chunks = reader.u32()?;
        let mut thread_blocks = Vec::new();
        for _ in 0..reader.length()? {
            let mut peer = || -> Result<Option<RankId>, UnpackError> {
                let distance = reader.at_most(count)?;
                Ok(distance.checked_sub(1).map(|distance| RankId(((rank + distance) % count) as u32)))
            };
            let (send, recv) = (peer()?, peer()?);
            let channel = ChannelId(reader.u32()?);
            let steps = reader.at_most(room)?;
            room -= steps;
            let tokens = history.read(steps, reader, Token::read)?;
            let mut before = START;
            let mut of_block = Vec::with_capacity(steps);
            for token in tokens {
                let step = token.after(&before, of_block.len());
                let step =
                    step.ok_or_else(|| reader.error("a number of a step is more than 32 bits hold"))?;
                before = Before::of(&step);
                of_block.push(step);
            }
            let steps = of_block;
            thread_blocks.push(ThreadBlock { send, recv, channel, steps });
        }
        ranks.push(RankSchedule { thread_blocks, scratch_chunks });
    }
    Ok(ranks)
}

/// What a step is compared with.
#[derive(Clone, Copy)]
struct Before {
    src: u32,
    dst: u32,
    data: u32,
    count: u32,
    sites: [u32; 2],
    /// The first chunk that a computation reads, and that it writes.
    computed: [u32; 2],
}

const START: Before = Before { src: 0, dst: 0, data: 0, count: 1, sites: [0, 0], computed: [0, 0] };

impl Before {
    fn of(step: &Step) -> Self {
        Self {
            src: step.src.index,
            dst: step.dst.index,
            data: step.data.0,
            count: step.count,
            sites: [step.site.0, step.send_site.0],
            computed: step.work.as_deref().map_or([0, 0], |work| {
                [&work.reads, &work.writes].map(|runs| runs.first().map_or(0, |run| run.first.index))
            }),
        }
    }
}

/// A step as what differs from the one before.
#[derive(Clone, Debug)]
struct Token {
    kind: StepKind,
    src_buffer: MemoryBuffer,
    src: i64,
    /// Where it is not the source.
    dst: Option<(MemoryBuffer, i64)>,
    /// Beyond what the source has moved on by: chunks of data and of buffers mostly run alike.
    data: i64,
    /// Chunks and source lines, where they are not those before.
    rest: Option<[u32; 3]>,
    /// Thread blocks, and how much the awaited step is behind this one.
    depends: SmallVec<[(u32, i64); 1]>,
    /// Of a computation, in place of all that it moves.
    work: Option<Work>,
}

/// A computation: its cost, and the runs that it reads and writes, the first index of each as what differs from the run before.
#[derive(Clone, Debug)]
struct Work {
    cost: Cost,
    runs: [Vec<(MemoryBuffer, i64, u32)>; 2],
}

/// In place of a buffer: a computation.
const COMPUTES: u8 = 3;

const HAS_DST: u8 = 1 << 5;
const HAS_REST: u8 = 1 << 6;
const HAS_DEPENDS: u8 = 1 << 7;

/// The position in [`KINDS`]. A match, so that a new kind is not forgotten here: then the version changes.
fn kind_code(kind: StepKind) -> u8 {
    match kind {
        StepKind::Send => 0,
        StepKind::Recv => 1,
        StepKind::RecvCopySend => 2,
        StepKind::RecvReduceCopy => 3,
        StepKind::RecvReduceSend => 4,
        StepKind::RecvReduceCopySend => 5,
        StepKind::Copy => 6,
        StepKind::Reduce => 7,
        // Told by its buffer.
        StepKind::Compute => 0,
    }
}

/// The position in [`BUFFERS`].
fn buffer_code(buffer: MemoryBuffer) -> u8 {
    match buffer {
        MemoryBuffer::Input => 0,
        MemoryBuffer::Output => 1,
        MemoryBuffer::Scratch => 2,
    }
}

/// `later - earlier`.
fn difference(later: u32, earlier: u32) -> i64 {
    i64::from(later) - i64::from(earlier)
}

fn tokens(steps: &[Step]) -> Vec<Box<[u8]>> {
    let mut before = START;
    let mut writer = Writer::default();
    let token = |(at, step): (usize, &Step)| {
        writer.bytes.clear();
        Token::of(step, &before, at).write(&mut writer);
        before = Before::of(step);
        writer.bytes.as_slice().into()
    };
    steps.iter().enumerate().map(token).collect()
}

impl Token {
    fn of(step: &Step, before: &Before, at: usize) -> Self {
        let src = difference(step.src.index, before.src);
        let rest = [step.count, step.site.0, step.send_site.0];
        Self {
            kind: step.kind,
            src_buffer: step.src.buffer,
            src,
            dst: (step.dst != step.src).then(|| (step.dst.buffer, difference(step.dst.index, before.dst))),
            data: difference(step.data.0, before.data) - src,
            rest: (rest != [before.count, before.sites[0], before.sites[1]]).then_some(rest),
            depends: step
                .depends
                .iter()
                .map(|on| (on.thread_block.0, at as i64 - i64::from(on.step)))
                .collect(),
            work: step.work.as_deref().map(|work| Work::of(work, before)),
        }
    }

    fn write(&self, writer: &mut Writer) {
        let flag = |is: bool, bit: u8| if is { bit } else { 0 };
        writer.bytes.push(
            kind_code(self.kind)
                | if self.work.is_some() { COMPUTES } else { buffer_code(self.src_buffer) } << 3
                | flag(self.dst.is_some(), HAS_DST)
                | flag(self.rest.is_some(), HAS_REST)
                | flag(!self.depends.is_empty(), HAS_DEPENDS),
        );
        match &self.work {
            Some(work) => work.write(writer),
            None => {
                writer.signed(self.src);
                writer.signed(self.data);
            }
        }
        if let Some((buffer, index)) = &self.dst {
            writer.bytes.push(buffer_code(*buffer));
            writer.signed(*index);
        }
        for value in self.rest.iter().flatten() {
            writer.number(u64::from(*value));
        }
        if !self.depends.is_empty() {
            writer.number(self.depends.len() as u64);
            for (block, behind) in &self.depends {
                writer.number(u64::from(*block));
                writer.signed(*behind);
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, UnpackError> {
        let flags = reader.byte()?;
        let buffer = |reader: &Reader<'_>, at: u8| {
            BUFFERS.get(usize::from(at)).copied().ok_or_else(|| reader.error("there is no such buffer"))
        };
        let (mut src_buffer, mut src, mut data, mut work) = (MemoryBuffer::Input, 0, 0, None);
        if flags >> 3 & 3 == COMPUTES {
            work = Some(Work::read(reader)?);
        } else {
            src_buffer = buffer(reader, flags >> 3 & 3)?;
            (src, data) = (reader.signed()?, reader.signed()?);
        }
        let mut dst = None;
        if flags & HAS_DST != 0 {
            let at = reader.byte()?;
            dst = Some((buffer(reader, at)?, reader.signed()?));
        }
        let mut rest = None;
        if flags & HAS_REST != 0 {
            rest = Some([reader.u32()?, reader.u32()?, reader.u32()?]);
        }
        let mut depends = SmallVec::new();
        if flags & HAS_DEPENDS != 0 {
            for _ in 0..reader.length()? {
                depends.push((reader.u32()?, reader.signed()?));
            }
        }
        let kind = if work.is_some() { StepKind::Compute } else { KINDS[usize::from(flags & 7)] };
        Ok(Self { kind, src_buffer, src, dst, data, rest, depends, work })
    }

    /// The step, after another one; `None` where a number overflows.
    fn after(&self, before: &Before, at: usize) -> Option<Step> {
        let sum =
            |base: u32, more: i64| i64::from(base).checked_add(more).and_then(|sum| u32::try_from(sum).ok());
        if let Some(work) = &self.work {
            return work.step(before, self.rest, self.awaited(at)?);
        }
        let src = Place { buffer: self.src_buffer, index: sum(before.src, self.src)? };
        let dst = match self.dst {
            Some((buffer, index)) => Place { buffer, index: sum(before.dst, index)? },
            None => src,
        };
        let [count, site, send_site] = self.rest.unwrap_or([before.count, before.sites[0], before.sites[1]]);
        Some(Step {
            kind: self.kind,
            src,
            dst,
            count,
            data: DataId(sum(before.data, self.data.checked_add(self.src)?)?),
            depends: self.awaited(at)?,
            site: SiteId(site),
            send_site: SiteId(send_site),
            work: None,
        })
    }

    /// The steps that the one at a position waits for.
    fn awaited(&self, at: usize) -> Option<SmallVec<[StepId; 1]>> {
        let step = |(block, behind): &(u32, i64)| {
            let step = (at as i64).checked_sub(*behind).and_then(|step| u32::try_from(step).ok())?;
            Some(StepId { thread_block: ThreadBlockId(*block), step })
        };
        self.depends.iter().map(step).collect()
    }
}

impl Work {
    fn of(work: &Computation<Place>, before: &Before) -> Self {
        let runs = |runs: &[ChunkRun<Place>], before: u32| {
            let mut last = before;
            let run = |run: &ChunkRun<Place>| {
                let moved = difference(run.first.index, last);
                last = run.first.index;
                (run.first.buffer, moved, run.count)
            };
            runs.iter().map(run).collect()
        };
        let [reads, writes] = before.computed;
        Self { cost: work.cost, runs: [runs(&work.reads, reads), runs(&work.writes, writes)] }
    }

    fn write(&self, writer: &mut Writer) {
        let Cost { flops, bytes, micros } = self.cost;
        [flops, bytes, micros].into_iter().for_each(|number| writer.number(number));
        for runs in &self.runs {
            writer.number(runs.len() as u64);
            for (buffer, index, count) in runs {
                writer.bytes.push(buffer_code(*buffer));
                writer.signed(*index);
                writer.number(u64::from(*count));
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, UnpackError> {
        let (flops, bytes, micros) = (reader.number()?, reader.number()?, reader.number()?);
        let mut runs = [Vec::new(), Vec::new()];
        for runs in &mut runs {
            for _ in 0..reader.length()? {
                let buffer = usize::from(reader.byte()?);
                let buffer = BUFFERS.get(buffer).ok_or_else(|| reader.error("there is no such buffer"))?;
                runs.push((*buffer, reader.signed()?, reader.u32()?));
            }
        }
        Ok(Self { cost: Cost { flops, bytes, micros }, runs })
    }

    /// The step, after another one; `None` where a number overflows.
    fn step(&self, before: &Before, rest: Option<[u32; 3]>, depends: SmallVec<[StepId; 1]>) -> Option<Step> {
        let runs = |runs: &[(MemoryBuffer, i64, u32)], before: u32| -> Option<Vec<ChunkRun<Place>>> {
            let mut last = before;
            let mut all = Vec::with_capacity(runs.len());
            for (buffer, moved, count) in runs {
                last = i64::from(last).checked_add(*moved).and_then(|index| u32::try_from(index).ok())?;
                all.push(ChunkRun { first: Place { buffer: *buffer, index: last }, count: *count });
            }
            Some(all)
        };
        let [reads, writes] = before.computed;
        let (reads, writes) = (runs(&self.runs[0], reads)?, runs(&self.runs[1], writes)?);
        let [count, site, send_site] = rest.unwrap_or([before.count, before.sites[0], before.sites[1]]);
        let nowhere = Place { buffer: MemoryBuffer::Input, index: 0 };
        Some(Step {
            kind: StepKind::Compute,
            src: nowhere,
            dst: nowhere,
            count,
            data: DataId(0),
            depends,
            site: SiteId(site),
            send_site: SiteId(send_site),
            work: Some(Arc::new(Computation { cost: self.cost, reads, writes })),
        })
    }
}

#[cfg(test)]
mod tests;
