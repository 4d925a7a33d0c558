//! From text to a schedule.

use super::document::{self, Algorithm, Block, Gpu, MAX_INDEX, RawPlace, RawStep};
use super::error::XmlError;
use super::header::{Extras, Header, Parent};
use super::waits::{self, Entry};
use super::warnings::{Warning, Warnings};
use super::{copies, flow, informed, markup, meaning};
use crate::collective::Collective;
use crate::diagnostic::{Diagnostic, Location, Rule};
use crate::ids::{ChannelId, DataId, RankId, SiteId, ThreadBlockId};
use crate::schedule::{MemoryBuffer, Place, RankSchedule, Schedule, Step, StepId, StepKind, ThreadBlock};
use crate::site::{Site, SiteTable};
use crate::trace::DataTable;

/// The most chunks, over all ranks and buffers, that a file may speak of.
const MAX_CHUNKS: u64 = 1 << 25;

/// A schedule from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The schedule; its sites are the lines of the file.
    pub schedule: Schedule,
    /// What else the file says.
    pub header: Header,
    /// What is odd, and what was made of it.
    pub warnings: Vec<Warning>,
    /// The steps that others wait for although their `hasdep` is 0; the schedule has the dependences all the same.
    pub unflagged: Vec<Unflagged>,
}

/// A step of a file whose `hasdep` is 0 although others wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unflagged {
    /// The rank.
    pub rank: RankId,
    /// The thread block.
    pub thread_block: ThreadBlockId,
    /// The step of the schedule; for a `nop`, which is none, the step before it.
    pub step: u32,
}

/// How a file that runs in both places is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Placement {
    /// With input and output in one buffer.
    #[default]
    InPlace,
    /// With two buffers.
    OutOfPlace,
}

/// How a file is read where it leaves a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// For files with `inplace="1" outofplace="1"`.
    pub placement: Placement,
}

/// Reads MSCCL XML of any dialect.
///
/// The schedule is as the file says, right or wrong: [`crate::verify`] judges it. `file` is the name for messages.
///
/// ```
/// use collective_dsl::{msccl, verify::verify};
/// let text = r#"<algo name="pair" ngpus="2" nchunksperloop="2" nchannels="1" coll="allgather" inplace="1" hue="red">
///   <gpu id="0"> <tb id="0" send="1" recv="1" chan="0">
///     <step s="0" type="s" srcbuf="i" srcoff="0"/> <step s="1" type="r" dstbuf="o" dstoff="1"/>
///   </tb> </gpu>
///   <gpu id="1"> <tb id="0" send="0" recv="0" chan="0">
///     <step s="0" type="s" srcbuf="o" srcoff="1"/> <step s="1" type="r" dstbuf="o" dstoff="0"/>
///   </tb> </gpu>
/// </algo>"#;
/// let imported = msccl::read(text, "pair.xml")?;
/// verify(&imported.schedule, 2)?;
/// assert_eq!(imported.header.extras.algorithm[0].0, "hue");
///
/// let error = msccl::read("<algo>\n<gpu/></algo>", "bad.xml").unwrap_err();
/// assert_eq!(error.to_string(), "bad.xml:2: gpu: attribute id is missing: expected a whole number");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The text is no XML, or no MSCCL algorithm; or steps name chunks before the beginning of a buffer, which no schedule can
/// ([`XmlError::Refused`] with the rule [`Rule::Bounds`], as the verifier finds for those beyond its end).
pub fn read(text: &str, file: &str) -> Result<Imported, XmlError> {
    read_with(text, file, &ReadOptions::default())
}

/// As [`read`], with a say in what the file leaves open.
///
/// # Errors
/// See [`read`].
pub fn read_with(text: &str, file: &str, options: &ReadOptions) -> Result<Imported, XmlError> {
    let mut warnings = Warnings::default();
    let root = markup::parse(text, file)?;
    let mut algorithm = document::algorithm(&root, document::File { name: file, text }, &mut warnings)?;
    drop(root);
    let ranks = arrange(&mut algorithm, file, &mut warnings)?;
    check_header(&algorithm, file, &mut warnings)?;
    let collective = meaning::collective(&algorithm, ranks, options, file, &mut warnings)?;
    check_size(&algorithm, &collective, file)?;
    let mut builder = Builder {
        file,
        sites: SiteTable::default(),
        extras: Extras { algorithm: algorithm.attributes.clone(), ..Extras::default() },
        warnings,
        unflagged: Vec::new(),
        collective,
        outside: Vec::new(),
    };
    keep(&mut builder.extras, Parent::Algorithm, &algorithm.elements);
    let mut schedules = vec![RankSchedule::default(); ranks as usize];
    for gpu in &algorithm.gpus {
        schedules[gpu.id as usize] = builder.rank(gpu)?;
    }
    if !builder.outside.is_empty() {
        let name = algorithm.name.unwrap_or_else(|| file.to_owned());
        return Err(XmlError::refused(name, builder.outside, builder.sites));
    }
    let mut schedule = Schedule {
        name: algorithm.name.clone().unwrap_or_else(|| file.to_owned()),
        data: DataTable::new(builder.collective.logical_chunks()),
        collective: builder.collective,
        protocol: algorithm.protocol,
        ranks: schedules,
        mixed: Vec::new(),
        sites: builder.sites,
    };
    informed::check(&algorithm, &schedule, &mut builder.warnings);
    flow::infer(&mut schedule);
    let header = Header {
        in_place: algorithm.in_place,
        out_of_place: algorithm.out_of_place,
        min_bytes: algorithm.min_bytes,
        max_bytes: algorithm.max_bytes,
        extras: builder.extras,
    };
    Ok(Imported { schedule, header, warnings: builder.warnings.finish(), unflagged: builder.unflagged })
}

fn malformed(file: &str, line: u32, at: String, message: String) -> XmlError {
    XmlError::Malformed { file: file.to_owned(), line, at, span: None, message }
}

/// Sorts gpus and thread blocks by id, refuses ids that appear twice, and gives the number of ranks.
fn arrange(algorithm: &mut Algorithm, file: &str, warnings: &mut Warnings) -> Result<u32, XmlError> {
    algorithm.gpus.sort_by_key(|gpu| gpu.id);
    let ranks = algorithm.ranks.unwrap_or(algorithm.gpus.last().map_or(0, |gpu| gpu.id + 1));
    if ranks == 0 {
        return Err(malformed(file, algorithm.line, "algo".to_owned(), "there is no gpu".to_owned()));
    }
    let mut before: Option<u32> = None;
    for gpu in &mut algorithm.gpus {
        let at = || format!("gpu {}", gpu.id);
        if gpu.id >= ranks {
            let message = format!("there are ngpus = {ranks} gpus: expected an id from 0 to {}", ranks - 1);
            return Err(malformed(file, gpu.line, at(), message));
        }
        if before == Some(gpu.id) {
            return Err(malformed(file, gpu.line, at(), "there is another gpu with this id".to_owned()));
        }
        before = Some(gpu.id);
        gpu.blocks.sort_by_key(|block| block.id);
        let twice = gpu.blocks.windows(2).find(|pair| pair[0].id == pair[1].id);
        if let Some([_, block]) = twice {
            let at = format!("gpu {}, tb {}", gpu.id, block.id);
            return Err(malformed(file, block.line, at, "there is another tb with this id".to_owned()));
        }
        if let Some((_, block)) = (0..).zip(&gpu.blocks).find(|(position, block)| *position != block.id) {
            warnings.add("sparse", block.line, || {
                format!(
                    "gpu {}: the ids of its thread blocks have gaps, which runtimes refuse; they are numbered anew",
                    gpu.id
                )
            });
        }
    }
    if algorithm.gpus.len() < ranks as usize {
        let missing = (0..).zip(&algorithm.gpus).find(|(rank, gpu)| *rank != gpu.id);
        let missing = missing.map_or(algorithm.gpus.len() as u32, |(rank, _)| rank);
        warnings.add("missing gpu", algorithm.line, || {
            format!("there is no gpu {missing} of {ranks}: it is taken to do nothing")
        });
    }
    Ok(ranks)
}

/// What the attributes of `algo` mean together.
fn check_header(algorithm: &Algorithm, file: &str, warnings: &mut Warnings) -> Result<(), XmlError> {
    let line = algorithm.line;
    if let (Some(min), Some(max)) = (algorithm.min_bytes, algorithm.max_bytes) {
        if max != 0 && min > max {
            let message = format!("minBytes {min} is more than maxBytes {max}: no size lies between them");
            return Err(malformed(file, line, "algo".to_owned(), message));
        }
        // Only microsoft/msccl has no outofplace; there the range excludes its end.
        if algorithm.out_of_place.is_none() && min >= max {
            warnings.add("range", line, || {
                format!(
                    "minBytes {min} and maxBytes {max}: microsoft/msccl would never choose it; the executors take \
                     maxBytes 0 for no bound"
                )
            });
        }
    }
    let Some(channels) = algorithm.channels else { return Ok(()) };
    let blocks = algorithm.gpus.iter().flat_map(|gpu| gpu.blocks.iter().map(move |block| (gpu, block)));
    for (gpu, block) in blocks {
        if block.channel >= channels {
            let at = format!("gpu {}, tb {}", gpu.id, block.id);
            let message = format!(
                "attribute chan is {}: expected less than nchannels = {channels} of <algo>",
                block.channel
            );
            return Err(malformed(file, block.line, at, message));
        }
    }
    Ok(())
}

/// Refuses a file that speaks of more memory than there is.
fn check_size(algorithm: &Algorithm, collective: &Collective, file: &str) -> Result<(), XmlError> {
    let buffers = (collective.input_chunks() + collective.output_chunks()) as u64 * collective.ranks() as u64;
    let scratch: u64 = algorithm.gpus.iter().map(|gpu| u64::from(scratch_chunks(gpu))).sum();
    let total = buffers.saturating_add(scratch);
    if total <= MAX_CHUNKS {
        return Ok(());
    }
    let message = format!("the buffers of all gpus have {total} chunks: expected at most {MAX_CHUNKS}");
    Err(malformed(file, algorithm.line, "algo".to_owned(), message))
}

/// `s_chunks`, else what the steps use.
fn scratch_chunks(gpu: &Gpu) -> u32 {
    gpu.scratch.unwrap_or_else(|| {
        let steps = gpu.blocks.iter().flat_map(|block| &block.steps);
        let used = steps.filter_map(|step| {
            let kind = step.kind?;
            let end = |used: bool, place: RawPlace| {
                let index = place.index.filter(|_| used && place.buffer == Some(MemoryBuffer::Scratch))?;
                // Offsets and counts are bounded by the document.
                Some(index.clamp(0, MAX_INDEX) as u32 + step.count)
            };
            end(kind.reads_src(), step.src).max(end(kind.writes_dst(), step.dst))
        });
        used.max().unwrap_or(0)
    })
}

fn keep(extras: &mut Extras, parent: Parent, elements: &[String]) {
    if !elements.is_empty() {
        extras.elements.insert(parent, elements.to_vec());
    }
}

struct Builder<'f> {
    file: &'f str,
    sites: SiteTable,
    extras: Extras,
    warnings: Warnings,
    unflagged: Vec<Unflagged>,
    collective: Collective,
    /// Accesses before the beginning of a buffer.
    outside: Vec<Diagnostic>,
}

impl Builder<'_> {
    fn rank(&mut self, gpu: &Gpu) -> Result<RankSchedule, XmlError> {
        if !gpu.attributes.is_empty() {
            self.extras.ranks.insert(gpu.id, gpu.attributes.clone());
        }
        keep(&mut self.extras, Parent::Rank(gpu.id), &gpu.elements);
        let entries = entries(gpu);
        let mut waits = waits::fold(&entries);
        for block in &waits.trailing {
            let block = &gpu.blocks[*block as usize];
            self.warnings.add("trailing", block.line, || {
                format!(
                    "gpu {}, tb {} ends with a nop that waits, but nothing follows it: it is dropped",
                    gpu.id, block.id
                )
            });
        }
        self.check_flags(gpu, &entries);
        let mut schedule = RankSchedule { thread_blocks: Vec::new(), scratch_chunks: scratch_chunks(gpu) };
        for (t, block) in gpu.blocks.iter().enumerate() {
            let mut depends = std::mem::take(&mut waits.depends[t]).into_iter();
            let mut steps = Vec::with_capacity(depends.len());
            for (number, raw) in block.steps.iter().enumerate() {
                let Some(kind) = raw.kind else { continue };
                if !raw.attributes.is_empty() {
                    let at = (gpu.id, t as u32, steps.len() as u32);
                    self.extras.steps.insert(at, raw.attributes.clone());
                }
                let id = StepId { thread_block: ThreadBlockId(t as u32), step: steps.len() as u32 };
                let mut step = self.step(gpu, block, number, id, raw, kind)?;
                step.depends = depends.next().unwrap_or_default();
                steps.push(step);
            }
            if !block.attributes.is_empty() {
                self.extras.blocks.insert((gpu.id, t as u32), block.attributes.clone());
            }
            keep(&mut self.extras, Parent::Block(gpu.id, t as u32), &block.elements);
            schedule.thread_blocks.push(ThreadBlock {
                send: block.send.map(RankId),
                recv: block.recv.map(RankId),
                channel: ChannelId(block.channel),
                steps,
            });
        }
        if !gpu.copies.is_empty() {
            let first = gpu.copies[0].line;
            if self.collective.is_in_place() {
                self.warnings.add("copies", first, || {
                    "<copy> means nothing in place, where input and output are one buffer: it is dropped"
                        .to_owned()
                });
            } else {
                let sites = gpu.copies.iter().map(|copy| self.site(copy.line)).collect::<Vec<_>>();
                copies::insert(&mut schedule, &gpu.copies, &sites);
            }
        }
        Ok(schedule)
    }

    /// Warns of `hasdep` that does not say whether a step is waited for.
    fn check_flags(&mut self, gpu: &Gpu, entries: &[Vec<Entry>]) {
        let mut awaited: Vec<Vec<bool>> = entries.iter().map(|block| vec![false; block.len()]).collect();
        for (block, step) in entries.iter().flatten().filter_map(|entry| entry.wait) {
            if let Some(flag) = awaited.get_mut(block as usize).and_then(|block| block.get_mut(step as usize))
            {
                *flag = true;
            }
        }
        for (t, (block, awaited)) in (0..).zip(gpu.blocks.iter().zip(&awaited)) {
            let mut real: u32 = 0;
            for (s, (step, awaited)) in block.steps.iter().zip(awaited).enumerate() {
                real += u32::from(step.kind.is_some());
                let at = || format!("gpu {}, tb {}, step {s}", gpu.id, block.id);
                match (awaited, step.has_dep) {
                    (true, Some(false)) => {
                        let (rank, thread_block) = (RankId(gpu.id), ThreadBlockId(t));
                        let step_before = real.checked_sub(1);
                        self.unflagged.extend(step_before.map(|step| Unflagged { rank, thread_block, step }));
                        self.warnings.add("flag missing", step.line, || {
                            format!(
                                "{}: is awaited but has hasdep=\"0\": a runtime would wait for ever; repaired",
                                at()
                            )
                        });
                    }
                    (false, Some(true)) => self.warnings.add("flag idle", step.line, || {
                        format!("{}: has hasdep=\"1\" but nothing waits for it", at())
                    }),
                    _ => {}
                }
            }
        }
    }

    fn site(&mut self, line: u32) -> SiteId {
        self.sites.push(Site { file: self.file.to_owned(), line, column: 0 })
    }

    fn step(
        &mut self,
        gpu: &Gpu,
        block: &Block,
        number: usize,
        id: StepId,
        raw: &RawStep,
        kind: StepKind,
    ) -> Result<Step, XmlError> {
        let rank = RankId(gpu.id);
        let site = self.site(raw.line);
        let mut outside = Vec::new();
        let mut place = |side: &str, place: RawPlace| {
            let at = || format!("gpu {}, tb {}, step {number}", rank.0, block.id);
            let error = |message: String| malformed(self.file, raw.line, at(), message);
            let name = kind.name();
            let buffer = place
                .buffer
                .ok_or_else(|| error(format!("attribute {side}buf is missing: a step {name} needs it")))?;
            let index = place
                .index
                .ok_or_else(|| error(format!("attribute {side}off is missing: a step {name} needs it")))?;
            let index = u32::try_from(index).unwrap_or_else(|_| {
                let chunks = match buffer {
                    MemoryBuffer::Input => self.collective.input_chunks_of(rank),
                    MemoryBuffer::Output => self.collective.output_chunks_of(rank),
                    MemoryBuffer::Scratch => scratch_chunks(gpu) as usize,
                };
                let (letter, end) = (buffer.letter(), index + i64::from(raw.count));
                let message = format!(
                    "rank {}, {}, step {} ({name}) reaches beyond its buffer: {letter}[{index}..{end}], but {letter} \
                     has {chunks} chunk(s) there",
                    rank.0, id.thread_block, id.step
                );
                let at = Location { buffer: Some(buffer), ..Location::step(rank, id.thread_block, id.step) };
                outside.push(Diagnostic::new(Rule::Bounds, Some(site), message).at(at));
                0
            });
            Ok(meaning::locate(&self.collective, rank, Place { buffer, index }, raw.count))
        };
        let (src, dst) = match (kind.reads_src(), kind.writes_dst()) {
            (true, true) => (place("src", raw.src)?, place("dst", raw.dst)?),
            (true, false) => {
                let src = place("src", raw.src)?;
                (src, src)
            }
            (false, _) => {
                let dst = place("dst", raw.dst)?;
                (dst, dst)
            }
        };
        self.outside.append(&mut outside);
        if kind.receives() && kind.reduces() && src != dst {
            self.warnings.add("operand", raw.line, || {
                format!(
                    "gpu {}, tb {}, step {number}: {} adds to {src} but stores at {dst}, as runtimes read it; \
                     MSCCLang, SCCL and TACCL write the sender's chunk there",
                    rank.0,
                    block.id,
                    kind.name()
                )
            });
        }
        let depends = Default::default();
        Ok(Step {
            kind,
            src,
            dst,
            count: raw.count,
            data: DataId(0),
            depends,
            site,
            send_site: site,
            work: None,
        })
    }
}

/// The steps of a rank as far as waits are concerned, thread blocks by position.
fn entries(gpu: &Gpu) -> Vec<Vec<Entry>> {
    let position = |id: u32| match gpu.blocks.binary_search_by_key(&id, |block| block.id) {
        Ok(position) => position as u32,
        // No such thread block: keep the number where it names none, so that the verifier can say it.
        Err(_) => id.max(gpu.blocks.len() as u32),
    };
    let entry = |step: &RawStep| Entry {
        is_nop: step.kind.is_none(),
        wait: step.wait.map(|(block, step)| (position(block), step)),
    };
    gpu.blocks.iter().map(|block| block.steps.iter().map(entry).collect()).collect()
}
