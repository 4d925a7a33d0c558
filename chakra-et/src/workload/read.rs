//! Reads workloads from files.

use std::fs::File;
use std::path::Path;

use rayon::prelude::*;
use thiserror::Error;

use super::rank_file::{self, RankFile};
use super::{RankWorkload, Workload, membership};
use crate::ReadError;
use crate::error::{FileError, Input, Place, Problem};
use crate::groups::Groups;
use crate::prefix::{Prefix, TraceFiles};
use crate::warning::{Warning, WarningKind};

/// How strictly a workload is read.
///
/// ```
/// let mut options = chakra_et::workload::ReadOptions::default();
/// options.drop_dangling = true;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Leave out dependences of nodes on themselves and on ids that no node has, which traces recorded by PyTorch may
    /// have, and warn of them. Otherwise they are errors.
    pub drop_dangling: bool,
}

/// A workload that was read, with what there is to warn of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The workload.
    pub workload: Workload,
    /// Warnings about files, then those of each rank in order, then those about groups.
    pub warnings: Vec<Warning>,
}

/// A workload cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The files or their nodes are broken.
    #[error("{error}{}", advice(error))]
    Trace {
        /// What the reader says.
        #[from]
        error: ReadError,
    },
    /// A collective is on a group that it cannot be on.
    #[error("{input}: rank {rank}, {node}: {problem}")]
    Group {
        /// The file or rank.
        input: Input,
        /// The rank.
        rank: usize,
        /// The first such node of the rank: its id and name.
        node: String,
        /// What is wrong.
        problem: GroupProblem,
    },
}

/// What is wrong with a collective's group or root.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GroupProblem {
    /// Nobody says who is in the group.
    #[error("who is in its group {name:?} (pg_name) is not known: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Which groups are known, and from where.
        known: String,
    },
    /// The group is known but cannot be.
    #[error("its group {name:?} (pg_name) cannot be: {why}")]
    Unusable {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The rank is not in the group.
    #[error("its rank is no member of its group {name:?} (pg_name), which has the ranks {}", ranks(members))]
    NotAMember {
        /// The name.
        name: String,
        /// The ranks that are.
        members: Vec<u32>,
    },
    /// The root is no position of the group.
    #[error("its root is position {root} of {group}, which has {members} member(s), counted from 0")]
    Root {
        /// The position.
        root: u32,
        /// The group.
        group: String,
        /// How many members that has.
        members: usize,
    },
}

fn ranks(members: &[u32]) -> String {
    const SHOWN: usize = 16;
    let shown = members.iter().take(SHOWN).map(u32::to_string).collect::<Vec<_>>().join(", ");
    match members.len() {
        count if count > SHOWN => format!("{shown}, … ({count})"),
        _ => shown,
    }
}

/// What to do about an error.
fn advice(error: &ReadError) -> &'static str {
    match error {
        ReadError::Rank { error, .. }
            if matches!(error.problem, Problem::SelfDep { .. } | Problem::DanglingDep { .. }) =>
        {
            "; reading with `drop_dangling` leaves out such dependences"
        }
        _ => "",
    }
}

/// Reads the workload `PREFIX.0.et`, `PREFIX.1.et`, …, in parallel by rank. Where a rank has no such file but
/// `PREFIX.RANK.et.gz`, that is read.
///
/// A collective's group (`pg_name`) is looked up in `groups`; without, in the process groups that METADATA nodes of
/// the trace describe (known only with the feature `json`). "", "0" and none stand for all ranks. A collective with a
/// root has it at the position of its group that the attribute `root` states, else 0: no other writer of traces is
/// known to state one. A computation on the GPU (`is_cpu_op` false or absent) is on the stream that the attribute
/// `stream` states, or `tid` if that is absent, one on the CPU on the thread `tid`; numbers beyond 32 bits are
/// replaced by their order. A load or store goes to remote memory if its `tensor_loc` is 2.
///
/// Nodes are numbered by ascending id; dependences of both kinds are merged. [`load`] gives warnings, too.
///
/// ```
/// use chakra_et::workload::{self, CollectiveKind, WorkloadBuilder};
///
/// let mut step = WorkloadBuilder::new(4);
/// let pair = step.group("5", [1, 3])?;
/// for rank in [1, 3] {
///     step.collective(rank, "sum", CollectiveKind::AllReduce, 1 << 20, pair, &[])?;
/// }
/// for rank in [0, 2] {
///     step.compute(rank, "idle", workload::Cost::micros(1), &[])?;
/// }
/// let step = step.finish();
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// step.write(directory.join("step"))?;
/// let read = workload::read(directory.join("step"), Some(&step.communicators()))?;
/// assert_eq!(read, step);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`crate::read_trace`]; a collective is of no kind that the format defines, or on a group that is not known, in
/// which its rank is not, or of which a member is no rank, or its root is no member.
pub fn read(prefix: impl AsRef<Path>, groups: Option<&Groups>) -> Result<Workload, LoadError> {
    read_files(prefix.as_ref(), groups, &ReadOptions::default(), false).map(|loaded| loaded.workload)
}

/// As [`read`], with options, and with warnings of what was accepted but may not be what its writer meant.
///
/// # Errors
/// As [`read`].
pub fn load(
    prefix: impl AsRef<Path>,
    groups: Option<&Groups>,
    options: &ReadOptions,
) -> Result<Loaded, LoadError> {
    read_files(prefix.as_ref(), groups, options, true)
}

/// Reads a workload from memory: the contents of one file for each rank.
///
/// # Errors
/// As [`read`], but for those about files; they name the rank.
pub fn from_bytes<B: AsRef<[u8]> + Sync>(
    ranks: &[B],
    groups: Option<&Groups>,
) -> Result<Workload, LoadError> {
    load_memory(ranks, groups, &ReadOptions::default(), false).map(|loaded| loaded.workload)
}

/// As [`from_bytes`], with options and warnings.
///
/// # Errors
/// As [`from_bytes`].
pub fn load_bytes<B: AsRef<[u8]> + Sync>(
    ranks: &[B],
    groups: Option<&Groups>,
    options: &ReadOptions,
) -> Result<Loaded, LoadError> {
    load_memory(ranks, groups, options, true)
}

fn load_memory<B: AsRef<[u8]> + Sync>(
    ranks: &[B],
    groups: Option<&Groups>,
    options: &ReadOptions,
    watch: bool,
) -> Result<Loaded, LoadError> {
    let read = |rank: usize| {
        let bytes = std::io::Cursor::new(ranks[rank].as_ref());
        rank_file::read(bytes, options.drop_dangling, watch)
    };
    join(ranks.len(), Input::Rank, read, groups, Vec::new())
}

fn read_files(
    given: &Path,
    groups: Option<&Groups>,
    options: &ReadOptions,
    watch: bool,
) -> Result<Loaded, LoadError> {
    let prefix = Prefix::new(given).ok_or_else(|| ReadError::NoPrefix { prefix: given.to_owned() })?;
    let files = TraceFiles::find(given, &prefix)?;
    let stray = files.stray.into_iter().map(|(path, reason)| WarningKind::StrayFile { path, reason });
    let warnings = stray.map(|kind| Warning { input: None, place: None, count: 1, kind }).collect();
    let read = |rank: usize| {
        let file = File::open(&files.ranks[rank])
            .map_err(|error| FileError { place: Place::default(), problem: Problem::Io(error) })?;
        rank_file::read(file, options.drop_dangling, watch)
    };
    join(files.ranks.len(), |rank| Input::File(files.ranks[rank].clone()), read, groups, warnings)
}

/// Reads all ranks and brings them together.
fn join(
    count: usize,
    input: impl Fn(usize) -> Input,
    read: impl Fn(usize) -> Result<RankFile, FileError> + Send + Sync,
    groups: Option<&Groups>,
    mut warnings: Vec<Warning>,
) -> Result<Loaded, LoadError> {
    // All results are collected, so that the error does not depend on which thread was first.
    let read: Vec<Result<RankFile, FileError>> = (0..count).into_par_iter().map(read).collect();
    let mut files = Vec::with_capacity(count);
    for (rank, file) in read.into_iter().enumerate() {
        let broken = |error| ReadError::Rank { input: input(rank), error: Box::new(error) };
        let mut file = file.map_err(broken)?;
        warnings.extend(std::mem::take(&mut file.warnings).of(&input(rank)));
        let first: &RankFile = files.first().unwrap_or(&file);
        if file.version != first.version {
            let kind =
                WarningKind::VersionsDiffer { version: file.version.clone(), first: first.version.clone() };
            warnings.push(Warning { input: Some(input(rank)), place: None, count: 1, kind });
        }
        files.push(file);
    }
    let groups = membership::resolve(&mut files, groups, &input, &mut warnings)?;
    let ranks: Vec<RankWorkload> = files.into_iter().map(|file| file.rank).collect();
    Ok(Loaded { workload: Workload { ranks, groups }, warnings })
}
