//! Reads a whole trace into its compact graph.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::error::{FileError, Input, Place, Problem, ReadError};
use crate::graph::{CollectiveInfo, Graph, RankGraph};
use crate::prefix::{Prefix, TraceFiles};
use crate::rank::{self, Rank};
use crate::warning::{Warning, WarningKind};

/// A trace that was read, with what there is to warn of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The compact graph.
    pub graph: Graph,
    /// Warnings about files, then those of each rank in order.
    pub warnings: Vec<Warning>,
}

/// Reads the files `PREFIX.0.et`, `PREFIX.1.et`, … of a trace, in parallel by rank. Where a rank has no such
/// file but `PREFIX.RANK.et.gz`, that is read.
///
/// Nodes are numbered by ascending id, whatever their order in the file; dependences of both kinds are
/// merged, without duplicates. Cycles are not looked for: see [`RankGraph::cycle`]. [`load_trace`] gives the
/// same graph and warnings, too.
///
/// # Errors
/// If there are no such files or a rank is missing between others; if a file is truncated, of an older
/// schema that is not read or no trace; if a node lacks an attribute that its type needs, or has one of
/// another kind; if an id occurs twice, or a dependence is on the node itself or on none. Of several broken
/// files the one with the lowest rank is reported.
pub fn read_trace(prefix: impl AsRef<Path>) -> Result<Graph, ReadError> {
    load_files(prefix.as_ref(), false).map(|loaded| loaded.graph)
}

/// As [`read_trace`], with warnings: what was accepted but may not be what its writer meant, or stops others.
///
/// ```
/// use chakra_et::{RankWriter, load_trace, metadata, view, write_trace};
/// use chakra_et::graph::{Op, Origin};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// write_trace(directory.join("one"), 1, |_| -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
///     let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
///     writer.node(&view::node(1, "?", Op::Other { node_type: 42 }, vec![], Origin::default())?)?;
///     Ok(writer.finish())
/// })?;
/// let loaded = load_trace(directory.join("one"))?;
/// assert_eq!(loaded.graph.node_count(), 1);
/// assert_eq!(loaded.warnings[0].kind.id(), "unknown-node-type");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As for [`read_trace`].
pub fn load_trace(prefix: impl AsRef<Path>) -> Result<Loaded, ReadError> {
    load_files(prefix.as_ref(), true)
}

/// Reads a trace from memory: the contents of one file for each rank.
///
/// # Errors
/// As for [`read_trace`], but for those about files; they name the rank. No ranks give an empty graph.
pub fn graph_from_bytes<B: AsRef<[u8]> + Sync>(ranks: &[B]) -> Result<Graph, ReadError> {
    load(ranks.len(), Input::Rank, |rank| memory(ranks[rank].as_ref(), false)).map(|loaded| loaded.graph)
}

/// As [`graph_from_bytes`], with warnings.
///
/// # Errors
/// As for [`graph_from_bytes`].
pub fn load_bytes<B: AsRef<[u8]> + Sync>(ranks: &[B]) -> Result<Loaded, ReadError> {
    load(ranks.len(), Input::Rank, |rank| memory(ranks[rank].as_ref(), true))
}

fn memory(bytes: &[u8], watch: bool) -> Result<Rank, FileError> {
    rank::read(std::io::Cursor::new(bytes), watch)
}

fn load_files(given: &Path, watch: bool) -> Result<Loaded, ReadError> {
    let prefix = Prefix::new(given).ok_or_else(|| ReadError::NoPrefix { prefix: given.to_owned() })?;
    let files = TraceFiles::find(given, &prefix)?;
    let path = |rank: usize| files.ranks[rank].clone();
    let mut loaded = load(
        files.ranks.len(),
        |rank| Input::File(path(rank)),
        |rank| rank::read(open(&files.ranks[rank])?, watch),
    )?;
    let stray = files.stray.into_iter().map(|(path, reason)| WarningKind::StrayFile { path, reason });
    let stray = stray.map(|kind| Warning { input: None, place: None, count: 1, kind });
    loaded.warnings.splice(0..0, stray);
    Ok(loaded)
}

fn open(path: &Path) -> Result<impl Read + Seek + use<>, FileError> {
    File::open(path).map_err(|error| FileError { place: Place::default(), problem: Problem::Io(error) })
}

fn load(
    count: usize,
    input: impl Fn(usize) -> Input,
    read: impl Fn(usize) -> Result<Rank, FileError> + Send + Sync,
) -> Result<Loaded, ReadError> {
    // All results are collected, so that the error does not depend on which thread was first.
    let ranks: Vec<Result<Rank, FileError>> = (0..count).into_par_iter().map(read).collect();
    let mut all = Joined::default();
    for (number, rank) in ranks.into_iter().enumerate() {
        let input = input(number);
        match rank {
            Ok(rank) => all.add(rank, input)?,
            Err(error) => return Err(ReadError::Rank { input, error: Box::new(error) }),
        }
    }
    let mut graph = Graph::new(all.graphs);
    graph.source_files = all.files.names;
    graph.info = all.first.and_then(|first| first.info);
    Ok(Loaded { graph, warnings: all.warnings })
}

/// What the ranks so far are together.
#[derive(Default)]
struct Joined {
    graphs: Vec<RankGraph>,
    files: SourceFiles,
    warnings: Vec<Warning>,
    first: Option<First>,
}

/// What rank 0 says of the whole trace.
struct First {
    input: Input,
    version: String,
    info: Option<CollectiveInfo>,
}

impl Joined {
    fn add(&mut self, mut rank: Rank, input: Input) -> Result<(), ReadError> {
        self.warnings.extend(rank.warnings.of(&input));
        match &self.first {
            None => self.first = Some(First { input, version: rank.version, info: rank.info }),
            Some(first) if rank.info != first.info => {
                return Err(ReadError::InfoDiffers { input, first: first.input.clone() });
            }
            Some(first) if rank.version != first.version => self.warnings.push(Warning {
                input: Some(input),
                place: None,
                count: 1,
                kind: WarningKind::VersionsDiffer { version: rank.version, first: first.version.clone() },
            }),
            Some(_) => {}
        }
        self.files.adopt(&mut rank.graph, rank.source_files)?;
        self.graphs.push(rank.graph);
        Ok(())
    }
}

/// The source files of all ranks together, in the order in which they first occur.
#[derive(Default)]
struct SourceFiles {
    names: Vec<String>,
    numbers: FxHashMap<String, u16>,
}

impl SourceFiles {
    /// Makes the graph refer to the common table instead of that of its own file.
    fn adopt(&mut self, graph: &mut RankGraph, own: Vec<String>) -> Result<(), ReadError> {
        if own == self.names {
            return Ok(());
        }
        let numbers = own.into_iter().map(|name| self.number(name)).collect::<Result<Vec<u16>, _>>()?;
        graph.renumber_source_files(&numbers);
        Ok(())
    }

    fn number(&mut self, name: String) -> Result<u16, ReadError> {
        if let Some(&number) = self.numbers.get(&name) {
            return Ok(number);
        }
        let number = u16::try_from(self.names.len()).map_err(|_| ReadError::TooManySourceFiles)?;
        self.numbers.insert(name.clone(), number);
        self.names.push(name);
        Ok(number)
    }
}
