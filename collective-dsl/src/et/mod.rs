//! From a schedule to Chakra execution traces.
//!
//! A step becomes, in this order, a RECV node if it receives, a COMP node if it computes, copies or reduces on the
//! rank, a SEND node if it sends. By default each step depends on the one before it in its thread block and on
//! the steps that the schedule says; this is what the published MSCCL-to-Chakra converter does too
//! ([`NodeOrder`] has the alternative). The channel is the tag. A rank without work, and every rank of a collective of size 0, has one COMP node that does nothing.
//!
//! Beside what the format knows, nodes carry where they come from, so that a reader can rebuild the schedule:
//! `tb_id`, `local_time_step`, `step_type`, `src_buf`, `src_off`, `dst_buf`, `dst_off`, `cnt`, the first logical
//! chunk `data_chunk` (or all of them, `data_chunks`, where they are not consecutive), `source_line` and
//! `source_file`. A computation has `reads` and `writes` instead of places: of each run of chunks the buffer (0 input, 1 output,
//! 2 scratch), the first chunk and the number. Its COMP node waits for the one before of its rank, so that they run one at a
//! time. Where all chunks are equal, the symbolic size `msg_chunk_cnt`, `msg_chunk_idx`,
//! `total_chunk_cnt` stands beside the literal `comm_size`. What a schedule says beside its steps lies in the metadata:
//! the collective with all that defines it, the protocol, thread blocks with their peers and channel, scratch.
//! [`recover()`] goes the way back.

mod bytes;
mod chunks;
mod hazards;
mod header;
mod nodes;
mod recover;
mod sizes;

use std::fmt;
use std::str::FromStr;

use chakra_et::graph::{CollectiveInfo, Graph, RankGraph, TooLarge};
use rayon::prelude::*;
use thiserror::Error;

pub use bytes::{EtBytes, RescaleError};
pub use chunks::{ChunkNodes, ChunksError, chunk_nodes};
pub use recover::{Opaque, Original, RecoverError, Recovered, recover};

use crate::collective::CollectiveKind;
use crate::options::UnknownOption;
use crate::schedule::Schedule;
use crate::size::{Size, SizeError};
use crate::verify::well_formed;

/// What the graph of a schedule depends on beside the schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EtOptions {
    /// The size of the collective.
    pub size: Size,
    /// How long a reduction takes.
    pub reduce_rate: ReduceRate,
    /// What the nodes wait for.
    pub order: NodeOrder,
}

impl EtOptions {
    /// A size, and reductions that take no time.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self { size, reduce_rate: ReduceRate::Free, order: NodeOrder::ThreadBlock }
    }
}

/// What the nodes of a trace wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NodeOrder {
    /// Each step waits for the one before it in its thread block and for the steps that the schedule says: the order in
    /// which a GPU runs. A SEND being finished when its message is delivered, this also waits for delivery.
    #[default]
    ThreadBlock,
    /// Each node waits for the data that it needs (read after write, write after read, write after write) and for the
    /// send, or the receive, before it on its connection: what the algorithm itself demands.
    Dataflow,
}

impl NodeOrder {
    /// The name on the command line and in traces: `threadblock` or `dataflow`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NodeOrder::ThreadBlock => "threadblock",
            NodeOrder::Dataflow => "dataflow",
        }
    }
}

impl fmt::Display for NodeOrder {
    /// Its [name](NodeOrder::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for NodeOrder {
    type Err = UnknownOption;

    /// `threadblock` or `dataflow`.
    fn from_str(text: &str) -> Result<Self, UnknownOption> {
        [NodeOrder::ThreadBlock, NodeOrder::Dataflow]
            .into_iter()
            .find(|order| order.name() == text)
            .ok_or_else(|| UnknownOption::new("order", text, "threadblock or dataflow"))
    }
}

/// The `duration_micros` of the COMP node of a reduction, in whole microseconds, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum ReduceRate {
    /// No duration: 0.
    #[default]
    Free,
    /// The bytes of the result at a number of bytes per second.
    BytesPerSecond(f64),
    /// ⌊3·⌊bytes/50⌋/1000⌋: three passes over memory at 50 bytes a nanosecond, as in the example that
    /// ASTRA-sim ships.
    CollectiveApi,
}

impl ReduceRate {
    /// How long a reduction of so many bytes takes, in whole microseconds.
    ///
    /// ```
    /// use collective_dsl::et::ReduceRate;
    ///
    /// let rate: ReduceRate = "50GB/s".parse()?;
    /// assert_eq!(rate.micros(100_049_999), 2_000);
    /// # Ok::<(), collective_dsl::UnknownOption>(())
    /// ```
    #[must_use]
    pub fn micros(self, bytes: u64) -> u64 {
        match self {
            ReduceRate::Free => 0,
            // A float holds every size that memory can; the cast saturates.
            ReduceRate::BytesPerSecond(rate) => (bytes as f64 / rate * 1e6) as u64,
            ReduceRate::CollectiveApi => (bytes / 50).saturating_mul(3) / 1000,
        }
    }
}

impl FromStr for ReduceRate {
    type Err = UnknownOption;

    /// `collectiveapi`, or a rate such as `50GB/s` (10^9 bytes) or `50GiB/s` (2^30).
    fn from_str(text: &str) -> Result<Self, UnknownOption> {
        if text == "collectiveapi" {
            return Ok(ReduceRate::CollectiveApi);
        }
        let wanted = || UnknownOption::new("reduction rate", text, "collectiveapi, or a rate such as 50GB/s");
        let split = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wanted)?;
        let (number, unit) = text.split_at(split);
        let number: f64 = number.trim().parse().map_err(|_| wanted())?;
        let unit = match unit {
            "GB/s" => 1e9,
            "GiB/s" => f64::from(1 << 30),
            "MB/s" => 1e6,
            "MiB/s" => f64::from(1 << 20),
            "TB/s" => 1e12,
            _ => return Err(wanted()),
        };
        let rate = number * unit;
        if rate.is_finite() && rate > 0.0 { Ok(ReduceRate::BytesPerSecond(rate)) } else { Err(wanted()) }
    }
}

/// A schedule has no graph for this size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EtError {
    /// The size is not one.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A reduction of pieces that differ in size.
    #[error(
        "{place}: reduces {from} elements into {into}: with {elements} elements in all the chunks are not equal, \
         so only equal parts of the data can be added"
    )]
    UnevenReduction {
        /// The source line.
        place: String,
        /// Elements at the source.
        from: u64,
        /// Elements at the destination.
        into: u64,
        /// Elements of the collective.
        elements: u64,
    },
    /// A schedule that names what does not exist.
    #[error("{0}")]
    Malformed(String),
    /// A rank is too large.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A thread block waits for itself, directly or through others of its rank.
    #[error("rank {rank}: the steps of its thread blocks wait for each other")]
    Cycle {
        /// The rank.
        rank: u32,
    },
    /// A number does not fit the format.
    #[error(transparent)]
    Attribute(#[from] chakra_et::attr::AttrError),
    /// A message cannot be written.
    #[error(transparent)]
    Encode(#[from] chakra_et::EncodeError),
}

/// The compact graph of a schedule, for simulation: nothing is serialised.
///
/// # Errors
/// See [`EtError`].
pub fn graph(schedule: &Schedule, options: &EtOptions) -> Result<Graph, EtError> {
    check(schedule)?;
    assemble(schedule, options, &sizes::Sizes::of(schedule, options.size)?)
}

/// As [`graph()`], also for an all-to-all whose elements the ranks do not divide: of the N elements that a rank sends,
/// the first N mod n ranks get one more from everybody.
///
/// ```
/// use collective_dsl::{Buffer::{Input, Output}, Collective, Program, Size, compile};
/// use collective_dsl::et::{self, EtOptions};
///
/// let p = Program::new(Collective::all_to_all(2)?);
/// for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
///     p.chunk(from, Input, to).copy_to(to, Output, from);
/// }
/// let schedule = compile(&p.finish("pair")?)?;
/// let options = EtOptions::new(Size::bytes(4 * 5));
/// assert!(et::graph(&schedule, &options).is_err());
/// // Three elements for rank 0, two for rank 1.
/// let graph = et::graph_uneven(&schedule, &options)?;
/// let sent = |rank: usize| graph.rank(rank).ops().iter().filter_map(|op| match op {
///     chakra_et::graph::Op::Send { bytes, .. } => Some(*bytes),
///     _ => None,
/// }).sum::<u64>();
/// assert_eq!((sent(1), sent(0)), (4 * 3, 4 * 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`EtError`].
pub fn graph_uneven(schedule: &Schedule, options: &EtOptions) -> Result<Graph, EtError> {
    if schedule.collective.kind() != CollectiveKind::AllToAll {
        return graph(schedule, options);
    }
    check(schedule)?;
    assemble(schedule, options, &sizes::Sizes::uneven(schedule, options.size)?)
}

fn assemble(schedule: &Schedule, options: &EtOptions, sizes: &sizes::Sizes) -> Result<Graph, EtError> {
    let (files, file_of_site) = schedule.sites.files();
    let ranks: Result<Vec<RankGraph>, EtError> = (0..schedule.ranks.len())
        .into_par_iter()
        .map(|rank| {
            let mut builder = RankGraph::builder();
            nodes::for_each(schedule, rank, sizes, options, &file_of_site, |node| {
                builder.push(node.op, node.deps.iter().copied(), node.origin)?;
                Ok(())
            })?;
            Ok(builder.finish())
        })
        .collect();
    let mut graph = Graph::new(ranks?);
    graph.source_files = files;
    graph.info = Some(info(schedule, options.size));
    Ok(graph)
}

/// The traces of a schedule as the bytes of one file a rank.
///
/// # Errors
/// See [`EtError`].
pub fn bytes(schedule: &Schedule, options: &EtOptions) -> Result<EtBytes, EtError> {
    bytes::encode(schedule, options)
}

/// Refuses a schedule that names what does not exist: an imported one may.
fn check(schedule: &Schedule) -> Result<(), EtError> {
    match well_formed(schedule).into_iter().next() {
        Some(fault) => Err(EtError::Malformed(fault.message)),
        None => Ok(()),
    }
}

fn info(schedule: &Schedule, size: Size) -> CollectiveInfo {
    let collective = &schedule.collective;
    let mut info = CollectiveInfo::default();
    info.name.clone_from(&schedule.name);
    info.collective = collective.kind().name().to_owned();
    info.in_place = collective.is_in_place();
    info.size_bytes = size.in_bytes();
    info.element_type = size.element_type().name().to_owned();
    info.chunks = collective.logical_chunks() as u64;
    info.protocol = schedule.protocol.name().to_owned();
    info
}
