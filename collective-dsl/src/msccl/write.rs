//! From a schedule to text.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::error::XmlError;
use super::header::{Attributes, Extras, Header, Parent};
use super::nops::{Numbering, waits};
use super::{Target, limits, markup};
use crate::buffer::Space;
use crate::collective::CollectiveKind;
use crate::diagnostic::Diagnostic;
use crate::ids::{RankId, ThreadBlockId};
use crate::schedule::{Place, RankSchedule, Schedule, Step, StepId, StepKind, ThreadBlock};
use crate::verify;

/// The dialect, and what a file says beside its schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct XmlOptions {
    /// The runtime, whose dialect is written and whose limits hold.
    pub target: Target,
    /// `inplace` and `outofplace`; `None` for what the schedule is, and then `outofplace` only where the dialect
    /// needs it.
    pub places: Option<(bool, bool)>,
    /// The smallest size that the algorithm may be chosen for; `None` for 0, or nothing where the dialect need not
    /// say.
    pub min_bytes: Option<u64>,
    /// The largest such size, 0 for no bound; `None` as for `min_bytes`.
    pub max_bytes: Option<u64>,
    /// Attributes and elements to write beside those of the schedule.
    pub extras: Extras,
}

impl XmlOptions {
    /// A target, and nothing beside the schedule.
    ///
    /// ```
    /// use collective_dsl::msccl::{Target, XmlOptions};
    /// assert_eq!(XmlOptions::new(Target::Rccl).max_bytes, None);
    /// ```
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self { target, ..Self::default() }
    }

    /// A target, and all that the file said that the schedule was read from.
    #[must_use]
    pub fn from_header(target: Target, header: &Header) -> Self {
        let places = header.out_of_place.map(|out| (header.in_place.unwrap_or(!out), out));
        Self {
            target,
            places,
            min_bytes: header.min_bytes,
            max_bytes: header.max_bytes,
            extras: header.extras.clone(),
        }
    }
}

/// Writes a schedule as MSCCL XML.
///
/// The schedule is not verified: [`verify::verify`] does that. Sizes and source lines are not part of the format.
///
/// ```
/// use collective_dsl::{Buffer::{Input, Output}, CollectiveKind, Setting, lower};
/// use collective_dsl::msccl::{self, Target, XmlOptions};
///
/// let trace = Setting::new("star", CollectiveKind::Broadcast, 2).trace("", |p| {
///     (0..2).for_each(|rank| _ = p.chunk(0, Input, 0).copy_to(rank, Output, 0));
/// })?;
/// let xml = msccl::write(&lower(&trace)?, &XmlOptions::new(Target::Rccl))?;
/// assert!(xml.starts_with(
///     r#"<algo name="star" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="broadcast" inplace="0" outofplace="1" minBytes="0" maxBytes="0">"#
/// ));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A collective that the dialect has no word for, a schedule that the runtime cannot hold ([`limits::check`]) or
/// that names peers or steps that do not exist.
pub fn write(schedule: &Schedule, options: &XmlOptions) -> Result<String, XmlError> {
    let collective = check(schedule, options)?;
    let ends = Ends::of(schedule);
    let mut out = String::new();
    out.push_str("<algo");
    let kind = &schedule.collective;
    // Writing to a string cannot fail.
    let mut put = |name: &str, value: &dyn std::fmt::Display| {
        markup::attribute(&mut out, name, &value.to_string());
    };
    put("name", &schedule.name);
    put("proto", &schedule.protocol);
    put("nchannels", &schedule.channel_count().max(1));
    put("nchunksperloop", &kind.logical_chunks());
    put("ngpus", &kind.ranks());
    put("coll", &collective);
    let (in_place, out_of_place) = options.places.unwrap_or((kind.is_in_place(), !kind.is_in_place()));
    put("inplace", &u8::from(in_place));
    let states_range = options.target.states_range();
    if states_range || options.places.is_some() {
        put("outofplace", &u8::from(out_of_place));
    }
    if states_range || options.min_bytes.is_some() || options.max_bytes.is_some() {
        put("minBytes", &options.min_bytes.unwrap_or(0));
        put("maxBytes", &max_bytes(options));
    }
    attributes(&mut out, Some(&options.extras.algorithm));
    out.push_str(">\n");
    elements(&mut out, 1, options, Parent::Algorithm);
    for rank in 0..schedule.ranks.len() {
        write_rank(&mut out, schedule, options, &ends, rank);
    }
    out.push_str("</algo>\n");
    Ok(out)
}

/// Refuses what cannot be written; the collective's word otherwise.
fn check(schedule: &Schedule, options: &XmlOptions) -> Result<&'static str, XmlError> {
    let (target, kind) = (options.target, schedule.collective.kind());
    let refuse = |findings: Vec<Diagnostic>| {
        if findings.is_empty() {
            return Ok(());
        }
        Err(XmlError::refused(schedule.name.clone(), findings, schedule.sites.clone()))
    };
    refuse(verify::well_formed(schedule))?;
    let advice = match kind {
        CollectiveKind::Custom => "only --target msccl has custom algorithms",
        CollectiveKind::AllToAllV => {
            "its alltoallv takes the number of chunks of each pair from the call and not from the file; with \
             --target msccl it becomes a custom algorithm, every buffer as long as the longest"
        }
        _ => "with --target msccl it becomes a custom algorithm",
    };
    let name = target.collective_name(kind).ok_or(XmlError::NoSuchCollective { target, kind, advice })?;
    if let (Some(min), Some(max)) = (options.min_bytes, options.max_bytes)
        && max != 0
        && min > max
    {
        return Err(XmlError::EmptyRange { min, max });
    }
    refuse(limits::check(schedule, target))?;
    Ok(name)
}

/// `maxBytes` in the dialect: in `microsoft/msccl` 0 would exclude every size.
fn max_bytes(options: &XmlOptions) -> u64 {
    match options.max_bytes.unwrap_or(0) {
        0 if options.target == Target::Msccl => i64::MAX as u64,
        max => max,
    }
}

fn attributes(out: &mut String, extra: Option<&Attributes>) {
    for (name, value) in extra.into_iter().flatten() {
        markup::attribute(out, name, value);
    }
}

fn elements(out: &mut String, indent: usize, options: &XmlOptions, parent: Parent) {
    for element in options.extras.elements.get(&parent).into_iter().flatten() {
        for line in element.lines() {
            _ = writeln!(out, "{}{line}", "  ".repeat(indent));
        }
    }
}

fn write_rank(out: &mut String, schedule: &Schedule, options: &XmlOptions, ends: &Ends, r: usize) {
    let (rank, id) = (&schedule.ranks[r], RankId(r as u32));
    let [inputs, outputs] = [Space::Input, Space::Output].map(|space| match schedule.collective.kind() {
        // The runtimes have one number of chunks for all ranks.
        CollectiveKind::AllToAllV => schedule.collective.logical_chunks(),
        _ => schedule.collective.space_chunks(id, space),
    });
    let scratch = rank.scratch_chunks;
    _ = write!(out, r#"  <gpu id="{r}" i_chunks="{inputs}" o_chunks="{outputs}" s_chunks="{scratch}""#);
    attributes(out, options.extras.ranks.get(&id.0));
    out.push_str(">\n");
    elements(out, 2, options, Parent::Rank(id.0));
    let (numbering, awaited) = (Numbering::of(rank), awaited(rank));
    for (t, block) in rank.thread_blocks.iter().enumerate() {
        let peer = |peer: Option<RankId>| peer.map_or(-1, |peer| i64::from(peer.0));
        let (send, recv, channel) = (peer(block.send), peer(block.recv), block.channel.0);
        _ = write!(out, r#"    <tb id="{t}" send="{send}" recv="{recv}" chan="{channel}""#);
        attributes(out, options.extras.blocks.get(&(id.0, t as u32)));
        out.push_str(">\n");
        elements(out, 3, options, Parent::Block(id.0, t as u32));
        let (mut sent, mut received) = (0, 0);
        for (s, step) in block.steps.iter().enumerate() {
            let arrives = block.recv.filter(|_| step.kind.receives());
            let leaves = block.send.filter(|_| step.kind.sends());
            let at = places(
                step,
                arrives.and_then(|peer| ends.sent(peer, r, block, received)),
                leaves.and_then(|peer| ends.received(r, peer, block, sent)),
            );
            received += usize::from(arrives.is_some());
            sent += usize::from(leaves.is_some());
            let extra = options.extras.steps.get(&(id.0, t as u32, s as u32));
            write_step(out, &numbering, step_id(t, s), step, at, awaited[t][s], extra);
        }
        out.push_str("    </tb>\n");
    }
    out.push_str("  </gpu>\n");
}

/// For each step of a rank whether another waits for it.
fn awaited(rank: &RankSchedule) -> Vec<Vec<bool>> {
    let steps = |block: &ThreadBlock| vec![false; block.steps.len()];
    let mut awaited: Vec<Vec<bool>> = rank.thread_blocks.iter().map(steps).collect();
    for (t, block) in rank.thread_blocks.iter().enumerate() {
        for (s, step) in block.steps.iter().enumerate() {
            for on in waits(step_id(t, s), step) {
                awaited[on.thread_block.index()][on.step as usize] = true;
            }
        }
    }
    awaited
}

/// Writes a step after the nops that carry all its waits but the last.
fn write_step(
    out: &mut String,
    numbering: &Numbering,
    id: StepId,
    step: &Step,
    (src, dst): (Place, Place),
    awaited: bool,
    extra: Option<&Attributes>,
) {
    let waits: Vec<(i64, i64)> = waits(id, step)
        .filter_map(|on| Some((i64::from(on.thread_block.0), i64::from(numbering.number(on)?))))
        .collect();
    let (last, before) = waits.split_last().map_or(((-1, -1), &[][..]), |(last, before)| (*last, before));
    let at = numbering.number(id).unwrap_or(0) as usize;
    for (s, (depid, deps)) in (at - before.len()..).zip(before) {
        _ = write!(out, r#"      <step s="{s}" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1""#);
        _ = writeln!(out, r#" cnt="0" depid="{depid}" deps="{deps}" hasdep="0"/>"#);
    }
    let (kind, count, (depid, deps)) = (step.kind.name(), step.count, last);
    let (from, srcoff, to, dstoff) = (src.buffer.letter(), src.index, dst.buffer.letter(), dst.index);
    _ = write!(out, r#"      <step s="{at}" type="{kind}" srcbuf="{from}" srcoff="{srcoff}" dstbuf="{to}""#);
    _ = write!(out, r#" dstoff="{dstoff}" cnt="{count}" depid="{depid}" deps="{deps}""#);
    _ = write!(out, r#" hasdep="{}""#, u8::from(awaited));
    attributes(out, extra);
    out.push_str("/>\n");
}

fn step_id(t: usize, s: usize) -> StepId {
    StepId { thread_block: ThreadBlockId(t as u32), step: s as u32 }
}

/// `src` and `dst` as the reference writes them: the side that is not on this rank is the peer's.
fn places(step: &Step, arrives: Option<Place>, leaves: Option<Place>) -> (Place, Place) {
    match step.kind {
        StepKind::Send | StepKind::RecvReduceSend => (step.src, leaves.unwrap_or(step.src)),
        StepKind::Recv | StepKind::RecvCopySend => (arrives.unwrap_or(step.dst), step.dst),
        _ => (step.src, step.dst),
    }
}

/// The places at both ends of each connection, message by message.
struct Ends {
    sent: FxHashMap<(u32, u32, u32), Vec<Place>>,
    received: FxHashMap<(u32, u32, u32), Vec<Place>>,
}

impl Ends {
    fn of(schedule: &Schedule) -> Self {
        let mut ends = Ends { sent: FxHashMap::default(), received: FxHashMap::default() };
        for (r, rank) in (0..).zip(&schedule.ranks) {
            for block in &rank.thread_blocks {
                for step in &block.steps {
                    if let Some(peer) = block.send.filter(|_| step.kind.sends()) {
                        let list = ends.sent.entry((r, peer.0, block.channel.0)).or_default();
                        list.push(end(step));
                    }
                    if let Some(peer) = block.recv.filter(|_| step.kind.receives()) {
                        let list = ends.received.entry((peer.0, r, block.channel.0)).or_default();
                        list.push(end(step));
                    }
                }
            }
        }
        ends
    }

    fn sent(&self, from: RankId, to: usize, block: &ThreadBlock, k: usize) -> Option<Place> {
        self.sent.get(&(from.0, to as u32, block.channel.0))?.get(k).copied()
    }

    fn received(&self, from: usize, to: RankId, block: &ThreadBlock, k: usize) -> Option<Place> {
        self.received.get(&(from as u32, to.0, block.channel.0))?.get(k).copied()
    }
}

/// The place at a step's end of a connection: where what it sends lies, or where what it receives goes; of a sum
/// that is not stored, the operand's.
pub(super) fn end(step: &Step) -> Place {
    if step.kind.writes_dst() { step.dst } else { step.src }
}
