//! The nodes of one rank become its steps.

use std::sync::Arc;

use chakra_et::graph::{Op, SourceRef, StepRef};
use chakra_et::proto::Node;
use chakra_et::{attr, metadata, view};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::bytes::{self, chunks_of as data_of};
use super::super::header::{self, Header, NoHeader};
use super::waits::{self, Dependences};
use super::{Fault, Rank, RecoverError, chunks_of, open};
use crate::buffer::Space;
use crate::collective::Collective;
use crate::compute::{ChunkRun, Computation, Cost};
use crate::ids::{ChannelId, DataId, RankId, SiteId, ThreadBlockId};
use crate::schedule::{MemoryBuffer, Place, RankSchedule, Step, StepId, StepKind, ThreadBlock};
use crate::size::Size;
use crate::trace::DataTable;

/// The site of a step whose line is not known.
pub(super) const NO_SITE: SiteId = SiteId(u32::MAX);

/// One rank's file and what is known of all.
pub(super) struct Nodes<'h> {
    pub(super) rank: usize,
    pub(super) header: &'h Header,
    pub(super) collective: &'h Collective,
    pub(super) size: Size,
    /// The same in elements.
    pub(super) total: u64,
}

/// What a node does in its step, in the order of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Receive,
    Compute,
    Send,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Receive => "RECV",
            Part::Compute => "COMP",
            Part::Send => "SEND",
        }
    }

    /// The nodes of a step of a kind.
    fn of(kind: StepKind) -> impl Iterator<Item = Part> {
        let computes = kind.reduces() || !kind.receives() && !kind.sends();
        [(kind.receives(), Part::Receive), (computes, Part::Compute), (kind.sends(), Part::Send)]
            .into_iter()
            .filter_map(|(is_there, part)| is_there.then_some(part))
    }
}

/// What all nodes of a step say alike.
#[derive(Clone, PartialEq, Eq)]
struct Stated {
    kind: StepKind,
    src: Place,
    dst: Place,
    count: u32,
    data: Vec<u32>,
    work: Option<Arc<Computation<Place>>>,
}

/// A node, and the part of a step that it is.
pub(super) struct NodeOfStep {
    pub(super) id: u64,
    pub(super) at: StepId,
    pub(super) part: Part,
    /// Ids of the nodes that it waits for.
    pub(super) deps: Vec<u64>,
    stated: Stated,
    peer: u32,
    tag: u32,
    source: Option<SourceRef>,
}

impl Nodes<'_> {
    /// Reads the nodes.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Rank, Fault> {
        let reader = open(bytes, self.rank)?;
        let files = metadata::source_files(reader.metadata()).to_vec();
        let mut nodes: Vec<NodeOfStep> = Vec::new();
        let mut idle = None;
        for (index, node) in reader.enumerate() {
            let node =
                node.map_err(|source| Fault::Error(RecoverError::File { rank: self.rank, source }))?.node;
            match idle {
                None if index == 0 && is_idle(&node) => idle = Some(node.id),
                None => nodes.push(self.node(node)?),
                Some(id) => {
                    return Err(Fault::opaque(self.rank, Some(id), NO_STEP));
                }
            }
        }
        nodes.sort_by_key(|node| node.id);
        if let Some(pair) = nodes.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(self.malformed(&pair[1], "another node has the same id"));
        }
        // Nodes in the order of the steps; their numbers by id stay what dependences speak of.
        let mut by_step: Vec<usize> = (0..nodes.len()).collect();
        by_step.sort_by_key(|node| (nodes[*node].at, nodes[*node].part, *node));
        let Dependences { mut of_step, order } = waits::dependences(self, &nodes, &by_step)?;

        let mut rank = Rank {
            schedule: RankSchedule { thread_blocks: self.blocks(), scratch_chunks: self.header.scratch },
            data: DataTable::new(self.collective.logical_chunks()),
            sites: Vec::new(),
            order,
        };
        let mut sites: FxHashMap<SourceRef, SiteId> = FxHashMap::default();
        let mut site = |source: Option<SourceRef>| {
            let Some((source, file)) = source.and_then(|at| Some((at, files.get(usize::from(at.file))?)))
            else {
                return NO_SITE;
            };
            *sites.entry(source).or_insert_with(|| {
                rank.sites.push((file.clone(), source.line));
                SiteId(rank.sites.len() as u32 - 1)
            })
        };
        for group in by_step.chunk_by(|a, b| nodes[*a].at == nodes[*b].at) {
            let first = &nodes[group[0]];
            let block = &mut rank.schedule.thread_blocks[first.at.thread_block.index()];
            self.check_group(&nodes, group, block)?;
            let last = &nodes[group[group.len() - 1]];
            let Stated { kind, src, dst, count, data, work } = &first.stated;
            let depends = std::mem::take(&mut of_step[first.at.thread_block.index()][first.at.step as usize]);
            block.steps.push(Step {
                kind: *kind,
                src: *src,
                dst: *dst,
                count: *count,
                data: if work.is_some() { DataId(0) } else { rank.data.intern(data) },
                depends,
                site: site(first.source),
                send_site: site(last.source),
                work: work.clone(),
            });
        }
        Ok(rank)
    }

    pub(super) fn malformed(&self, node: &NodeOfStep, message: impl Into<String>) -> Fault {
        Fault::malformed(self.rank, Some(node.id), message)
    }

    /// The thread blocks without their steps.
    fn blocks(&self) -> Vec<ThreadBlock> {
        let block = |(send, recv, channel): &(Option<u32>, Option<u32>, u32)| ThreadBlock {
            send: send.map(RankId),
            recv: recv.map(RankId),
            channel: ChannelId(*channel),
            steps: Vec::new(),
        };
        self.header.blocks.iter().map(block).collect()
    }

    /// What a node says of itself.
    fn node(&self, node: Node) -> Result<NodeOfStep, Fault> {
        let (rank, id) = (self.rank, node.id);
        let malformed = |message: String| Fault::malformed(rank, Some(id), message);
        let broken = |error| Fault::attribute(rank, id, &error);
        let origin = view::origin(&node);
        let (Some(StepRef { thread_block, step }), Some(name)) =
            (origin.step, attr::find_str(&node.attr, "step_type").map_err(broken)?)
        else {
            return Err(Fault::opaque(rank, Some(id), NO_STEP));
        };
        let op = view::op(&node, Some(self.size.in_bytes())).map_err(broken)?;
        let (part, peer, tag) = match op {
            Op::Recv { src, tag, .. } => (Part::Receive, src, tag),
            Op::Send { dst, tag, .. } => (Part::Send, dst, tag),
            Op::Comp { .. } => (Part::Compute, 0, 0),
            _ => return Err(malformed("it is part of a step, and no SEND, RECV or COMP".to_owned())),
        };
        let kind =
            StepKind::from_name(name).ok_or_else(|| malformed(format!("step_type is unknown: {name}")))?;
        let blocks = self.header.blocks.len();
        if thread_block as usize >= blocks {
            return Err(malformed(format!("tb_id is {thread_block}: the rank has {blocks} thread block(s)")));
        }
        let at = StepId { thread_block: ThreadBlockId(thread_block), step };
        let deps = node.data_deps.iter().chain(&node.ctrl_deps).copied().collect();
        if kind == StepKind::Compute {
            let stated = self.computation(&node, op)?;
            return Ok(NodeOfStep { id, at, part, deps, stated, peer, tag, source: origin.source });
        }
        let count = attr::need_u32(&node.attr, "cnt").map_err(broken)?;
        let logical = self.collective.logical_chunks();
        let chunks = data_of(&node, logical)
            .filter(|chunks| chunks.len() == count as usize && count > 0)
            .ok_or_else(|| malformed("it does not name as many chunks of the data as its cnt".to_owned()))?;
        if let Some(beyond) = chunks.iter().find(|chunk| **chunk as usize >= logical) {
            let last = logical - 1;
            return Err(malformed(format!("it moves chunk {beyond} of the data: they go from 0 to {last}")));
        }
        let elements = chunks.iter().map(|chunk| self.collective.elements(self.total, *chunk));
        let elements = elements.fold(0_u64, u64::saturating_add);
        let expected = elements.saturating_mul(self.size.element_type().bytes());
        if let Op::Recv { bytes, .. } | Op::Send { bytes, .. } = op
            && bytes != expected
        {
            return Err(malformed(format!("its message has {bytes} bytes: its chunks have {expected}")));
        }
        let place = |buf: &'static str, off: &'static str| {
            let letter = attr::find_str(&node.attr, buf).map_err(broken)?;
            let buffer = letter
                .and_then(|letter| {
                    [MemoryBuffer::Input, MemoryBuffer::Output, MemoryBuffer::Scratch]
                        .into_iter()
                        .find(|buffer| buffer.letter() == letter)
                })
                .ok_or_else(|| malformed(format!("attribute {buf} is not i, o or s")))?;
            let index = attr::need_u32(&node.attr, off).map_err(broken)?;
            self.within(Place { buffer, index }, count).map_err(malformed)
        };
        let stated = Stated {
            kind,
            src: place("src_buf", "src_off")?,
            dst: place("dst_buf", "dst_off")?,
            count,
            data: chunks,
            work: None,
        };
        Ok(NodeOfStep { id, at, part, deps, stated, peer, tag, source: origin.source })
    }

    /// What the node of a computation says of it.
    fn computation(&self, node: &Node, op: Op) -> Result<Stated, Fault> {
        let malformed = |message: String| Fault::malformed(self.rank, Some(node.id), message);
        let Op::Comp { micros, ops, bytes } = op else {
            return Err(malformed("it is part of a computation, and no COMP".to_owned()));
        };
        let runs = |name: &'static str| -> Result<Vec<ChunkRun<Place>>, Fault> {
            let list = header::find_list(&node.attr, name).map_err(|fault| match fault {
                NoHeader::Foreign(message) | NoHeader::Malformed(message) => malformed(message),
            })?;
            let list = list.ok_or_else(|| malformed(format!("attribute {name} is missing")))?;
            let run = |run: &[i32]| {
                let [buffer, index, count] = *run else { return None };
                let all = [MemoryBuffer::Input, MemoryBuffer::Output, MemoryBuffer::Scratch];
                let buffer = *all.get(usize::try_from(buffer).ok()?)?;
                let (index, count) = (u32::try_from(index).ok()?, u32::try_from(count).ok()?);
                (count > 0).then_some(ChunkRun { first: Place { buffer, index }, count })
            };
            let runs: Option<Vec<ChunkRun<Place>>> = list.chunks(3).map(run).collect();
            let runs = runs.ok_or_else(|| {
                malformed(format!("attribute {name} is not a buffer, a chunk and a count for each run"))
            })?;
            for run in &runs {
                self.within(run.first, run.count).map_err(malformed)?;
            }
            Ok(runs)
        };
        let cost = Cost { flops: ops, bytes, micros };
        let work = Computation { cost, reads: runs(bytes::READS)?, writes: runs(bytes::WRITES)? };
        let nowhere = Place { buffer: MemoryBuffer::Input, index: 0 };
        Ok(Stated {
            kind: StepKind::Compute,
            src: nowhere,
            dst: nowhere,
            count: 0,
            data: Vec::new(),
            work: Some(Arc::new(work)),
        })
    }

    /// The place, if so many chunks from it on lie in its buffer.
    fn within(&self, place: Place, count: u32) -> Result<Place, String> {
        let chunks = match place.buffer {
            MemoryBuffer::Input => chunks_of(self.collective, self.rank, Space::Input),
            MemoryBuffer::Output => chunks_of(self.collective, self.rank, Space::Output),
            MemoryBuffer::Scratch => u64::from(self.header.scratch),
        };
        let (letter, begin) = (place.buffer.letter(), place.index);
        let end = u64::from(begin) + u64::from(count);
        if end <= chunks {
            return Ok(place);
        }
        Err(format!(
            "it reaches beyond its buffer: {letter}[{begin}..{end}], but {letter} has {chunks} chunk(s) there"
        ))
    }

    /// Checks that the nodes of a step agree, that each of them is there once, and that it is the next of its thread block.
    fn check_group(&self, nodes: &[NodeOfStep], group: &[usize], block: &ThreadBlock) -> Result<(), Fault> {
        let first = &nodes[group[0]];
        let StepId { thread_block, step } = first.at;
        let kind = first.stated.kind;
        if step as usize != block.steps.len() {
            let missing = block.steps.len();
            return Err(self.malformed(
                first,
                format!("it is of step {step} of {thread_block}, which has no step {missing}"),
            ));
        }
        for node in group.iter().map(|node| &nodes[*node]) {
            if node.stated != first.stated {
                let message = format!("node {} is of the same step and says something else of it", first.id);
                return Err(self.malformed(node, message));
            }
        }
        let parts: SmallVec<[Part; 3]> = Part::of(kind).collect();
        for (position, node) in group.iter().map(|node| &nodes[*node]).enumerate() {
            let is_again = position > 0 && nodes[group[position - 1]].part == node.part;
            if is_again || !parts.contains(&node.part) {
                let (part, kind) = (node.part.name(), kind.name());
                let message =
                    format!("step {step} of {thread_block} is {kind}: this {part} node is too much");
                return Err(self.malformed(node, message));
            }
            self.check_connection(node, block)?;
        }
        match parts.iter().find(|part| group.iter().all(|node| nodes[*node].part != **part)) {
            None => Ok(()),
            Some(part) => {
                let (part, kind) = (part.name(), kind.name());
                let message = format!("step {step} of {thread_block} is {kind} and has no {part} node");
                Err(self.malformed(first, message))
            }
        }
    }

    /// Checks that a message goes over the connection that its thread block has.
    fn check_connection(&self, node: &NodeOfStep, block: &ThreadBlock) -> Result<(), Fault> {
        let (peer, word) = match node.part {
            Part::Receive => (block.recv, "receives from"),
            Part::Send => (block.send, "sends to"),
            Part::Compute => return Ok(()),
        };
        let thread_block = node.at.thread_block;
        if peer != Some(RankId(node.peer)) {
            let own = peer.map_or_else(|| "nobody".to_owned(), |peer| format!("rank {}", peer.0));
            let message = format!("it {word} rank {}, but {thread_block} {word} {own}", node.peer);
            return Err(self.malformed(node, message));
        }
        if block.channel != ChannelId(node.tag) {
            let message = format!("its tag is {}, but {thread_block} is on {}", node.tag, block.channel);
            return Err(self.malformed(node, message));
        }
        Ok(())
    }
}

const NO_STEP: &str = "it does not say which step it is a part of (tb_id, local_time_step, step_type)";

/// The node of a rank without work.
fn is_idle(node: &Node) -> bool {
    let op = view::op(node, None);
    let is_bare = |name| attr::find(&node.attr, name).is_none();
    matches!(op, Ok(Op::Comp { ops: 0, bytes: 0, .. })) && is_bare("step_type") && is_bare("tb_id")
}
