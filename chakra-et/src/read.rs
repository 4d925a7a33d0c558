//! Reads a whole trace into its compact graph.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::compact::PendingRank;
use crate::error::{FileError, Input, Place, Problem, ReadError};
use crate::graph::{CollectiveInfo, Graph, RankGraph};
use crate::metadata;
use crate::node_reader::NodeReader;
use crate::prefix::{Prefix, rank_suffix};

/// Reads the files `PREFIX.0.et`, `PREFIX.1.et`, … of a trace, in parallel by rank.
///
/// Nodes are numbered by ascending id, whatever their order in the file; dependences of both kinds are
/// merged, without duplicates. Cycles are not looked for.
///
/// # Errors
/// If there are no such files or a rank is missing between others; if a file is truncated, of an older
/// schema or no trace; if a node lacks an attribute that its type needs, or has one of another kind;
/// if an id occurs twice, or a dependence is on the node itself or on none. Of several broken files the
/// one with the lowest rank is reported.
pub fn read_trace(prefix: impl AsRef<Path>) -> Result<Graph, ReadError> {
    let given = prefix.as_ref();
    let prefix = Prefix::new(given).ok_or_else(|| ReadError::NoPrefix { prefix: given.to_owned() })?;
    let ranks = count_ranks(given, &prefix)?;
    let input = |rank| Input::File(prefix.path(rank));
    read_ranks(ranks, input, |rank| {
        let file = File::open(prefix.path(rank))
            .map_err(|error| FileError { place: Place::default(), problem: Problem::Io(error) })?;
        read_rank(file)
    })
}

/// Reads a trace from memory: the contents of one file for each rank.
///
/// # Errors
/// As for [`read_trace`], but for those about files; they name the rank. No ranks give an empty graph.
pub fn graph_from_bytes<B: AsRef<[u8]> + Sync>(ranks: &[B]) -> Result<Graph, ReadError> {
    read_ranks(ranks.len(), Input::Rank, |rank| read_rank(ranks[rank].as_ref()))
}

/// How many ranks the trace has; an error unless each of them has a file.
fn count_ranks(given: &Path, prefix: &Prefix) -> Result<usize, ReadError> {
    let ranks = match prefix.ranks() {
        Ok(ranks) => ranks,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(ReadError::Directory { path: prefix.directory.clone(), source }),
    };
    let Some(&highest) = ranks.last() else {
        let pattern = format!("{} (N = 0, 1, ...)", prefix.with_suffix(".N.et").display());
        return Err(ReadError::NoFiles { pattern, hint: hint(given) });
    };
    match ranks.iter().enumerate().find(|&(expected, &rank)| expected != rank) {
        Some((missing, _)) => Err(ReadError::MissingRank { path: prefix.path(missing), highest }),
        None => Ok(ranks.len()),
    }
}

/// What may have been meant when the given prefix is itself a file or directory.
fn hint(given: &Path) -> String {
    let expected = "a prefix is expected, such as DIR/NAME for DIR/NAME.0.et";
    if given.is_dir() {
        return format!("; {} is a directory: {expected}", given.display());
    }
    if !given.is_file() {
        return String::new();
    }
    let name = given.file_name().and_then(|name| name.to_str()).unwrap_or("");
    match rank_suffix(name.as_bytes()).and_then(|(end, _)| name.get(..end)) {
        Some(stem) if !stem.is_empty() => {
            let prefix = given.with_file_name(stem);
            format!("; {} is a file: a prefix is expected, here {}", given.display(), prefix.display())
        }
        _ => format!("; {} is a file: {expected}", given.display()),
    }
}

/// What one file contributes.
struct Rank {
    graph: RankGraph,
    source_files: Vec<String>,
    info: Option<CollectiveInfo>,
}

fn read_rank(input: impl Read) -> Result<Rank, FileError> {
    let mut reader = NodeReader::new(input)?;
    let info = metadata::info(reader.metadata());
    let source_files = metadata::source_files(reader.metadata()).to_vec();
    let mut pending = PendingRank::new(metadata::collective_size(reader.metadata()), source_files.len());
    for read in &mut reader {
        let read = read?;
        pending.push(read.place, &read.node)?;
    }
    Ok(Rank { graph: pending.finish()?, source_files, info })
}

fn read_ranks(
    count: usize,
    input: impl Fn(usize) -> Input,
    read: impl Fn(usize) -> Result<Rank, FileError> + Send + Sync,
) -> Result<Graph, ReadError> {
    // All results are collected, so that the error does not depend on which thread was first.
    let ranks: Vec<Result<Rank, FileError>> = (0..count).into_par_iter().map(read).collect();
    let mut graphs = Vec::with_capacity(count);
    let mut files = SourceFiles::default();
    let mut first_info = None;
    for (number, rank) in ranks.into_iter().enumerate() {
        let mut rank =
            rank.map_err(|error| ReadError::Rank { input: input(number), error: Box::new(error) })?;
        if number == 0 {
            first_info = rank.info;
        } else if rank.info != first_info {
            return Err(ReadError::InfoDiffers { input: input(number), first: input(0) });
        }
        files.adopt(&mut rank.graph, rank.source_files)?;
        graphs.push(rank.graph);
    }
    let mut graph = Graph::new(graphs);
    graph.source_files = files.names;
    graph.info = first_info;
    Ok(graph)
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
