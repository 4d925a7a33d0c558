//! From Chakra execution traces back to the schedule that they were made from.
//!
//! A node names the step that it is a part of, and the metadata the rest (`header.rs`), so the schedule is rebuilt in
//! full: a RECV, a COMP and a SEND node of one step are one step again (`steps.rs`). The dependences of steps are those
//! of their nodes (`waits.rs`), so that a graph that was changed is judged as it is:
//!
//! * In the order of thread blocks ([`NodeOrder::ThreadBlock`]) they are the same that the schedule had.
//! * Otherwise ([`NodeOrder::Dataflow`]; also where a graph only says that it is in the order of thread blocks) the steps of a thread block still come in the order of `local_time_step`, and a step waits
//!   for another of another thread block if one of its nodes waits for a node of that one; what is implied is left
//!   out. The schedule then orders all that the nodes order, and more: it is what a GPU would run, not all that a graph
//!   without that order may do.
//!
//! Source lines are kept, columns are not. What a trace of another tool does, its nodes cannot say: which places hold what
//! ([`Recovered::Opaque`]).

mod steps;
mod waits;

use std::fmt;

use chakra_et::attr::AttrError;
use chakra_et::{FileError, NodeReader};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::NodeOrder;
use super::header::{self, Header, NoHeader};
use crate::buffer::Space;
use crate::collective::Collective;
use crate::ids::{RankId, SiteId};
use crate::schedule::{RankSchedule, Schedule};
use crate::site::{Site, SiteTable};
use crate::size::Size;
use crate::trace::{DataTable, MixedReduction};
use steps::Nodes;

/// What traces hold of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// The whole schedule.
    Full(Box<Original>),
    /// No schedule: the traces are of another tool, and do not say what their nodes do with which chunks. Whether
    /// messages match and nodes wait for each other can still be judged ([`chakra_et::validate`]), a post-condition cannot.
    Opaque(Opaque),
}

/// What traces were made from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Original {
    /// The schedule.
    pub schedule: Schedule,
    /// The size of the collective.
    pub size: Size,
    /// What the nodes wait for.
    pub order: NodeOrder,
}

/// Why traces hold no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opaque {
    /// The rank.
    pub rank: usize,
    /// The id of the node, where it is one's fault.
    pub node: Option<u64>,
    /// What is missing.
    pub reason: String,
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", At(self.rank, self.node), self.reason)
    }
}

/// Traces that cannot be read, or that contradict themselves.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// A rank's bytes are no trace.
    #[error("rank {rank}: {source}")]
    File {
        /// The rank.
        rank: usize,
        /// What is wrong.
        source: FileError,
    },
    /// What a rank or a node says cannot be.
    #[error("{}: {message}", At(*rank, *node))]
    Malformed {
        /// The rank.
        rank: usize,
        /// The id of the node, where it is one's fault.
        node: Option<u64>,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// There are no ranks.
    #[error("a trace has at least one rank")]
    NoRanks,
}

struct At(usize, Option<u64>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(node) => write!(f, "rank {}, node {node}", self.0),
            None => write!(f, "rank {}", self.0),
        }
    }
}

/// Why a rank gives no part of a schedule.
enum Fault {
    Opaque(Opaque),
    Error(RecoverError),
}

impl Fault {
    fn opaque(rank: usize, node: Option<u64>, reason: impl Into<String>) -> Self {
        Fault::Opaque(Opaque { rank, node, reason: reason.into() })
    }

    fn malformed(rank: usize, node: Option<u64>, message: impl Into<String>) -> Self {
        Fault::Error(RecoverError::Malformed { rank, node, message: message.into() })
    }

    fn attribute(rank: usize, node: u64, error: &AttrError) -> Self {
        Self::malformed(rank, Some(node), error.to_string())
    }
}

/// Rebuilds the schedule that traces were made from: the contents of one file for each rank, plain or gzip.
///
/// ```
/// use collective_dsl::{Buffer::Input, Collective, Program, Size, compile};
/// use collective_dsl::et::{self, EtOptions, Recovered};
///
/// let p = Program::new(Collective::all_reduce(2)?.in_place()?);
/// for rank in 0..2 {
///     p.chunk(rank, Input, rank).reduce(p.chunk(1 - rank, Input, rank)).copy_to(1 - rank, Input, rank);
/// }
/// let schedule = compile(&p.finish("pair")?)?;
/// let traces = et::bytes(&schedule, &EtOptions::new(Size::bytes(64)))?;
///
/// let Recovered::Full(original) = et::recover(traces.ranks())? else { unreachable!("we have written it") };
/// assert_eq!(original.schedule.to_string(), schedule.to_string());
/// assert_eq!(original.size, Size::bytes(64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Bytes that are no trace; a trace that speaks of a schedule and contradicts itself: steps with gaps or twice,
/// places outside their buffers, peers that do not exist, nodes of one step that disagree. Of several faults that of the lowest rank.
pub fn recover<B: AsRef<[u8]> + Sync>(ranks: &[B]) -> Result<Recovered, RecoverError> {
    match rebuild(ranks) {
        Ok(original) => Ok(Recovered::Full(Box::new(original))),
        Err(Fault::Opaque(opaque)) => Ok(Recovered::Opaque(opaque)),
        Err(Fault::Error(error)) => Err(error),
    }
}

fn rebuild<B: AsRef<[u8]> + Sync>(files: &[B]) -> Result<Original, Fault> {
    if files.is_empty() {
        return Err(Fault::Error(RecoverError::NoRanks));
    }
    // The metadata first: what nodes mean depends on those of all ranks.
    let headers: Vec<Result<Header, Fault>> =
        (0..files.len()).into_par_iter().map(|rank| read_header(files[rank].as_ref(), rank)).collect();
    let headers: Vec<Header> = headers.into_iter().collect::<Result<_, _>>()?;
    let collective =
        header::collective(&headers).map_err(|(rank, message)| Fault::malformed(rank, None, message))?;
    let common = &headers[0].common;
    let size = common.size();
    let total = size.elements().map_err(|error| Fault::malformed(0, None, error.to_string()))?;
    collective.division().check(total).map_err(|message| Fault::malformed(0, None, message))?;
    if total == 0 {
        return Err(Fault::opaque(0, None, "the trace was made for a size of 0, so that it has no steps"));
    }
    check_memory(&headers, &collective)?;
    let ranks: Vec<Result<Rank, Fault>> = (0..files.len())
        .into_par_iter()
        .map(|rank| {
            let nodes = Nodes { rank, header: &headers[rank], collective: &collective, size, total };
            nodes.read(files[rank].as_ref())
        })
        .collect();
    let ranks: Vec<Rank> = ranks.into_iter().collect::<Result<_, _>>()?;
    let in_blocks = ranks.iter().all(|rank| rank.order == NodeOrder::ThreadBlock);
    let order = if in_blocks { NodeOrder::ThreadBlock } else { NodeOrder::Dataflow };

    let chunks = collective.logical_chunks();
    let mut joined = Joined { data: DataTable::new(chunks), ..Joined::default() };
    let mixed = joined.mixed(&common.mixed, chunks)?;
    let ranks = ranks.into_iter().map(|rank| joined.add(rank)).collect();
    let schedule = Schedule {
        name: common.info.name.clone(),
        protocol: common.protocol,
        collective,
        ranks,
        data: joined.data,
        mixed,
        sites: joined.sites,
    };
    Ok(Original { schedule, size, order })
}

fn open(bytes: &[u8], rank: usize) -> Result<NodeReader<&[u8]>, Fault> {
    NodeReader::new(bytes).map_err(|source| Fault::Error(RecoverError::File { rank, source }))
}

fn read_header(bytes: &[u8], rank: usize) -> Result<Header, Fault> {
    header::read(open(bytes, rank)?.metadata()).map_err(|fault| match fault {
        NoHeader::Foreign(reason) => Fault::opaque(rank, None, reason),
        NoHeader::Malformed(message) => Fault::malformed(rank, None, message),
    })
}

/// Refuses headers that speak of more memory than there is, and peers that do not exist.
fn check_memory(headers: &[Header], collective: &Collective) -> Result<(), Fault> {
    let mut scratch = 0_usize;
    for (rank, header) in headers.iter().enumerate() {
        scratch = scratch.saturating_add(header.scratch as usize);
        if scratch > Collective::MAX_CELLS {
            let most = Collective::MAX_CELLS;
            return Err(Fault::malformed(
                rank,
                None,
                format!("the scratch of all ranks has more than {most} chunks"),
            ));
        }
        for (t, (send, recv, _)) in header.blocks.iter().enumerate() {
            for (peer, word) in [(send, "sends to"), (recv, "receives from")] {
                if let Some(peer) =
                    peer.filter(|peer| *peer as usize >= collective.ranks() || *peer as usize == rank)
                {
                    let message = format!(
                        "in its metadata, tb{t} {word} rank {peer}: another rank from 0 to {} is expected",
                        collective.ranks() - 1
                    );
                    return Err(Fault::malformed(rank, None, message));
                }
            }
        }
    }
    Ok(())
}

/// The steps of one rank, with data and sites in tables of its own.
struct Rank {
    schedule: RankSchedule,
    data: DataTable,
    /// Lines by file.
    sites: Vec<(String, u32)>,
    order: NodeOrder,
}

/// The tables of all ranks together.
#[derive(Default)]
struct Joined {
    data: DataTable,
    sites: SiteTable,
    known: FxHashMap<(String, u32), SiteId>,
}

impl Joined {
    fn mixed(&mut self, pairs: &[(u32, u32)], chunks: usize) -> Result<Vec<MixedReduction>, Fault> {
        let reduction = |(into, from): &(u32, u32)| {
            if (*into.max(from) as usize) < chunks {
                let (into, from) = (self.data.intern(&[*into]), self.data.intern(&[*from]));
                // Which line adds them is not kept.
                return Ok(MixedReduction { into, from, site: steps::NO_SITE });
            }
            let message = format!(
                "in its metadata, {} names chunk {}; there are {chunks}",
                header::MIXED,
                into.max(from)
            );
            Err(Fault::malformed(0, None, message))
        };
        pairs.iter().map(reduction).collect()
    }

    fn add(&mut self, rank: Rank) -> RankSchedule {
        let sites: Vec<SiteId> = rank.sites.into_iter().map(|site| self.site(site)).collect();
        let data = |id, table: &mut DataTable| {
            let chunks: Vec<u32> = rank.data.chunks(id).collect();
            table.intern(&chunks)
        };
        let mut schedule = rank.schedule;
        for step in schedule.thread_blocks.iter_mut().flat_map(|block| &mut block.steps) {
            // A computation names none.
            if step.work.is_none() {
                step.data = data(step.data, &mut self.data);
            }
            for site in [&mut step.site, &mut step.send_site] {
                *site = sites.get(site.index()).copied().unwrap_or(steps::NO_SITE);
            }
        }
        schedule
    }

    fn site(&mut self, (file, line): (String, u32)) -> SiteId {
        let sites = &mut self.sites;
        *self.known.entry((file, line)).or_insert_with_key(|(file, line)| {
            sites.push(Site { file: file.clone(), line: *line, column: 0 })
        })
    }
}

/// Chunks of a buffer of a rank.
fn chunks_of(collective: &Collective, rank: usize, space: Space) -> u64 {
    collective.space_chunks(RankId(rank as u32), space) as u64
}
