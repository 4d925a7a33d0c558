//! Traces as bytes: encoding, rescaling to another size, writing to files.

use std::path::Path;

use chakra_et::graph::{Graph, Op};
use chakra_et::proto::attribute_proto::Value;
use chakra_et::proto::{AttributeProto, Node};
use chakra_et::{FileError, NodeReader, RankWriter, ReadError, WriteError, attr, metadata, view};
use rayon::prelude::*;
use thiserror::Error;

use super::nodes::{self, EtNode};
use super::sizes::Sizes;
use super::{EtError, EtOptions, header};
use crate::collective::{Collective, Division};
use crate::schedule::{MemoryBuffer, Schedule, StepKind};
use crate::size::{Size, SizeError};

/// The traces of an algorithm as bytes: one file a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtBytes {
    ranks: Vec<Vec<u8>>,
}

impl EtBytes {
    /// The bytes of each rank's file.
    #[must_use]
    pub fn ranks(&self) -> &[Vec<u8>] {
        &self.ranks
    }

    /// The compact graph.
    ///
    /// # Errors
    /// The bytes are no trace.
    pub fn graph(&self) -> Result<Graph, ReadError> {
        chakra_et::graph_from_bytes(&self.ranks)
    }

    /// The same algorithm for another size of the collective. Durations stay as they are.
    ///
    /// # Errors
    /// A size that the collective cannot have, or traces that this project has not written.
    pub fn rescaled(&self, size: Size) -> Result<EtBytes, RescaleError> {
        let ranks: Vec<&[u8]> = self.ranks.iter().map(Vec::as_slice).collect();
        rescale(&ranks, size)
    }

    /// Writes `PREFIX.0.et`, `PREFIX.1.et`, …: all of them or none.
    ///
    /// # Errors
    /// A file cannot be written; the message names it.
    pub fn write(&self, prefix: impl AsRef<Path>) -> Result<(), WriteError> {
        chakra_et::write_trace(prefix, self.ranks.len(), |rank| {
            Ok::<_, std::convert::Infallible>(self.ranks[rank].clone())
        })
    }
}

pub(super) fn encode(schedule: &Schedule, options: &EtOptions) -> Result<EtBytes, EtError> {
    super::check(schedule)?;
    let sizes = Sizes::of(schedule, options.size)?;
    let (files, file_of_site) = schedule.sites.files();
    let header = header::write(schedule, options, &files)?;
    let ranks: Result<Vec<Vec<u8>>, EtError> = (0..schedule.ranks.len())
        .into_par_iter()
        .map(|rank| {
            let mut header = header.clone();
            header::add_rank(&mut header, schedule, rank)?;
            let mut writer = RankWriter::new(&header)?;
            let mut id = 0;
            nodes::for_each(schedule, rank, &sizes, options, &file_of_site, |node| {
                writer.node(&encode_node(schedule, &sizes, id, &node)?)?;
                id += 1;
                Ok(())
            })?;
            Ok(writer.finish())
        })
        .collect();
    Ok(EtBytes { ranks: ranks? })
}

fn encode_node(schedule: &Schedule, sizes: &Sizes, id: u64, node: &EtNode<'_>) -> Result<Node, EtError> {
    let mut encoded = bare_node(id, node)?;
    let Some(step) = node.step else { return Ok(encoded) };
    let attrs = &mut encoded.attr;
    if let Some(work) = &step.work {
        attrs.push(attr::string("step_type", step.kind.name()));
        for (name, runs) in [(READS, &work.reads), (WRITES, &work.writes)] {
            // Places are below `Collective::MAX_CELLS`.
            let values = runs
                .iter()
                .flat_map(|run| [run.first.buffer as i32, run.first.index as i32, run.count as i32]);
            attrs.push(header::signed_list(name, values.collect()));
        }
        return Ok(encoded);
    }
    let chunks: Vec<u32> = schedule.data.chunks(step.data).collect();
    if sizes.even && !matches!(node.op, Op::Comp { .. }) {
        attrs.push(attr::int32_from("msg_chunk_cnt", step.count)?);
        attrs.push(attr::int32_from("msg_chunk_idx", chunks[0])?);
        attrs.push(attr::int32_from("total_chunk_cnt", schedule.collective.logical_chunks() as u32)?);
    }
    attrs.push(attr::string("step_type", step.kind.name()));
    let letter = |buffer: MemoryBuffer| buffer.letter();
    attrs.push(attr::string("src_buf", letter(step.src.buffer)));
    attrs.push(attr::int32_from("src_off", step.src.index)?);
    attrs.push(attr::string("dst_buf", letter(step.dst.buffer)));
    attrs.push(attr::int32_from("dst_off", step.dst.index)?);
    attrs.push(attr::int32_from("cnt", step.count)?);
    if chunks.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
        attrs.push(attr::int32_from("data_chunk", chunks[0])?);
    } else {
        attrs.push(header::signed_list("data_chunks", chunks.iter().map(|chunk| *chunk as i32).collect()));
    }
    Ok(encoded)
}

/// What a computation needs, and what it produces: of each run of chunks the buffer (0 input, 1 output, 2 scratch), the first
/// chunk and the number.
pub(super) const READS: &str = "reads";
pub(super) const WRITES: &str = "writes";

/// What every reader of the format knows of a node.
fn bare_node(id: u64, node: &EtNode<'_>) -> Result<Node, EtError> {
    let word = match node.op {
        Op::Send { .. } => "COMM_SEND_NODE",
        Op::Recv { .. } => "COMM_RECV_NODE",
        _ => "COMP_NODE",
    };
    let name = match node.origin.step {
        Some(at) => format!("{word}_tb{}_step{}", at.thread_block, at.step),
        None => format!("{word}_idle"),
    };
    let deps = node.deps.iter().copied().map(u64::from).collect();
    let mut bare = view::node(id, name, node.op, deps, node.origin)?;
    if matches!(node.op, Op::Comp { .. }) {
        bare.attr.push(attr::bool("is_cpu_op", false));
    }
    Ok(bare)
}

/// Traces cannot be brought to another size.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RescaleError {
    /// The size is not one.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A rank's bytes are no trace.
    #[error("rank {rank}: {source}")]
    File {
        /// The rank.
        rank: usize,
        /// What is wrong.
        source: FileError,
    },
    /// The trace does not say which part of the data its nodes move.
    #[error(
        "rank {rank}: {missing}; only traces that this project has written can be brought to another size"
    )]
    Foreign {
        /// The rank.
        rank: usize,
        /// What is missing.
        missing: String,
    },
    /// The trace was made for a size of 0, where there are no steps to bring to another size.
    #[error(
        "rank {rank}: the trace was made for a size of 0, so that it has no steps to bring to another size"
    )]
    Empty {
        /// The rank.
        rank: usize,
    },
    /// The algorithm adds chunks that have different sizes at the new size.
    #[error(
        "the algorithm adds chunk {from} to chunk {into}: with {elements} elements in all they are not equal"
    )]
    UnevenReduction {
        /// The logical chunk added to.
        into: u32,
        /// The logical chunk that is added.
        from: u32,
        /// Elements of the collective.
        elements: u64,
    },
    /// The new sizes cannot be written.
    #[error(transparent)]
    Et(#[from] EtError),
}

/// The same algorithm for another size, from the chunks that its nodes name. Durations stay.
fn rescale(ranks: &[&[u8]], size: Size) -> Result<EtBytes, RescaleError> {
    let total = size.elements()?;
    let ranks: Result<Vec<Vec<u8>>, RescaleError> = (0..ranks.len())
        .into_par_iter()
        .map(|rank| rescale_rank(ranks[rank], rank, ranks.len(), size, total))
        .collect();
    Ok(EtBytes { ranks: ranks? })
}

fn rescale_rank(
    bytes: &[u8],
    rank: usize,
    ranks: usize,
    size: Size,
    total: u64,
) -> Result<Vec<u8>, RescaleError> {
    let foreign = |missing: &str| RescaleError::Foreign { rank, missing: missing.to_owned() };
    let broken = |source| RescaleError::File { rank, source };
    let encode = |error: chakra_et::EncodeError| RescaleError::Et(error.into());
    let attribute = |error: attr::AttrError| RescaleError::Et(error.into());

    let reader = NodeReader::new(bytes).map_err(broken)?;
    let info = metadata::info(reader.metadata()).ok_or_else(|| foreign("its metadata name no collective"))?;
    let division = header::division(&info.collective, &reader.metadata().attr, ranks)
        .ok_or_else(|| foreign("its metadata describe no collective that is known"))?;
    division.check(total).map_err(SizeError::Indivisible)?;
    if info.size_bytes == 0 && total > 0 {
        return Err(RescaleError::Empty { rank });
    }
    let mut header = reader.metadata().clone();
    header::resize(&mut header, size).map_err(attribute)?;
    if let Some(mixed) = attr::find(&header.attr, header::MIXED) {
        check_mixed(mixed, info.chunks, division, total)?;
    }
    let even = total.is_multiple_of(info.chunks.max(1));

    let mut writer = RankWriter::new(&header).map_err(encode)?;
    if total == 0 {
        writer.node(&bare_node(0, &nodes::idle_node()).map_err(RescaleError::Et)?).map_err(encode)?;
        return Ok(writer.finish());
    }
    for node in reader {
        let mut node = node.map_err(broken)?.node;
        // What a computation costs is its own.
        let step_type = attr::find_str(&node.attr, "step_type").ok().flatten();
        if step_type.is_some_and(|name| name != StepKind::Compute.name()) {
            let chunks =
                chunks_of(&node, Collective::MAX_CELLS).ok_or_else(|| foreign("a node names no chunk"))?;
            let elements: u64 = chunks.iter().map(|chunk| division.elements(total, *chunk)).sum();
            resize(
                &mut node,
                elements,
                elements * size.element_type().bytes(),
                even.then_some((&chunks, info.chunks)),
            );
        }
        writer.node(&node).map_err(encode)?;
    }
    Ok(writer.finish())
}

/// Refuses a size at which chunks that are added together differ.
fn check_mixed(
    mixed: &AttributeProto,
    logical: u64,
    division: Division,
    total: u64,
) -> Result<(), RescaleError> {
    let Some(Value::Int32List(pairs)) = &mixed.value else { return Ok(()) };
    for pair in pairs.values.chunks_exact(2) {
        let chunk = |at: usize| u32::try_from(pair[at]).ok().filter(|chunk| u64::from(*chunk) < logical);
        let (Some(into), Some(from)) = (chunk(0), chunk(1)) else { continue };
        if division.elements(total, into) != division.elements(total, from) {
            return Err(RescaleError::UnevenReduction { into, from, elements: total });
        }
    }
    Ok(())
}

/// The logical chunks that a node moves; none if it says that they are more than `most`, which are all there can be.
pub(super) fn chunks_of(node: &Node, most: usize) -> Option<Vec<u32>> {
    if let Some(first) = attr::find_u32(&node.attr, "data_chunk").ok()? {
        let count = attr::find_u32(&node.attr, "cnt").ok()??;
        if count as usize > most {
            return None;
        }
        return Some((first..first.checked_add(count)?).collect());
    }
    match &attr::find(&node.attr, "data_chunks")?.value {
        Some(Value::Int32List(list)) => list.values.iter().map(|chunk| u32::try_from(*chunk).ok()).collect(),
        _ => None,
    }
}

/// Sets the sizes of a node; symbolic ones, which stand between the peer and `step_type`, come or go.
fn resize(node: &mut Node, elements: u64, bytes: u64, symbolic: Option<(&Vec<u32>, u64)>) {
    const SYMBOLIC: [&str; 3] = ["msg_chunk_cnt", "msg_chunk_idx", "total_chunk_cnt"];
    let is_message = attr::find(&node.attr, "comm_size").is_some();
    let step_type = attr::find_str(&node.attr, "step_type").ok().flatten();
    let reduces = step_type.is_some_and(|step| step != StepKind::Copy.name());
    node.attr.retain(|attribute| !SYMBOLIC.contains(&attribute.name.as_str()));
    for attribute in &mut node.attr {
        match (attribute.name.as_str(), &mut attribute.value) {
            ("comm_size", Some(Value::Int64Val(value))) => *value = bytes as i64,
            ("tensor_size", Some(Value::Uint64Val(value))) => *value = bytes,
            // A copy has no operations; any other step with a COMP node is a reduction.
            ("num_ops", Some(Value::Int64Val(value))) if reduces => *value = elements as i64,
            _ => {}
        }
    }
    if let (true, Some((chunks, total))) = (is_message, symbolic) {
        let at = node.attr.iter().position(|a| a.name == "step_type").unwrap_or(node.attr.len());
        let values = [chunks.len() as i32, chunks[0] as i32, total as i32];
        for (i, (name, value)) in SYMBOLIC.into_iter().zip(values).enumerate() {
            node.attr.insert(at + i, attr::int32(name, value));
        }
    }
}
