//! What can go wrong when a trace is read.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::attr::AttrError;
use crate::frame::FrameProblem;

/// A trace cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No file of the trace exists.
    #[error("no trace found: there is no file {pattern}{hint}")]
    NoFiles {
        /// The names looked for, such as `dir/ring.N.et`.
        pattern: String,
        /// What to give instead, if something else exists; or empty.
        hint: String,
    },
    /// The prefix does not end in a name.
    #[error("{}: a prefix is expected, such as DIR/NAME for DIR/NAME.0.et", prefix.display())]
    NoPrefix {
        /// What was given.
        prefix: PathBuf,
    },
    /// A rank has no file although a higher one has.
    #[error("{} is missing: the trace has a file for rank {highest}, so it must have one for each rank below", path.display())]
    MissingRank {
        /// The file that is missing.
        path: PathBuf,
        /// The highest rank that has a file.
        highest: usize,
    },
    /// The directory of the trace cannot be listed.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The contents of a rank are broken.
    #[error("{input}: {error}")]
    Rank {
        /// The file or rank.
        input: Input,
        /// Where and what.
        error: Box<FileError>,
    },
    /// The metadata of two ranks describe different collectives.
    #[error("{input}: its metadata describes another collective than that of {first} does")]
    InfoDiffers {
        /// The file or rank.
        input: Input,
        /// That of rank 0.
        first: Input,
    },
    /// The ranks name too many source files.
    #[error("the ranks name more than {} source files", u32::from(u16::MAX) + 1)]
    TooManySourceFiles,
}

/// Where a rank was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Bytes in memory: the number of the rank.
    Rank(usize),
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Rank(rank) => write!(f, "rank {rank}"),
        }
    }
}

/// What is wrong with one file, and where.
#[derive(Debug, Error)]
#[error("{place}: {problem}")]
#[non_exhaustive]
pub struct FileError {
    /// Where the message begins that is wrong.
    pub place: Place,
    /// What is wrong.
    pub problem: Problem,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Place {
    /// Byte offset of the message, from its length on; in a gzip file, after decompression.
    pub offset: u64,
    /// Whether the offset is one after decompression.
    pub decompressed: bool,
    /// Which node of the file it is, counted from 0, if it is one.
    pub index: Option<u64>,
    /// The id of the node, if known.
    pub id: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        if self.decompressed {
            f.write_str(" after decompression")?;
        }
        match (self.index, self.id) {
            (Some(index), Some(id)) => write!(f, ", node {index} (id {id})"),
            (Some(index), None) => write!(f, ", node {index}"),
            (None, _) => Ok(()),
        }
    }
}

/// What is wrong at a place in a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The input cannot be read, or is no valid gzip data.
    #[error("cannot read: {0}")]
    Io(io::Error),
    /// There is nothing.
    #[error("the file is empty; a trace begins with a GlobalMetadata message")]
    Empty,
    /// The framing is broken.
    #[error(transparent)]
    Frame(FrameProblem),
    /// A message is not what it should be.
    #[error("the message does not decode as a {what}: {source}")]
    Decode {
        /// The message type expected.
        what: &'static str,
        /// What the decoder says.
        source: prost::DecodeError,
    },
    /// The file is of an older schema.
    #[error("looks like schema {version}: {evidence}; only 0.0.1 and 0.0.4 / 1.0.0 are read")]
    OldSchema {
        /// The version suspected.
        version: &'static str,
        /// What speaks for it.
        evidence: &'static str,
    },
    /// A node of an older schema cannot be converted.
    #[error("the node of schema {version} has {field} {value}, which that schema does not define")]
    OldValue {
        /// The schema.
        version: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// There is no metadata.
    #[error("the first message is a node; a trace begins with a GlobalMetadata message")]
    NoMetadata,
    /// A node lacks an attribute, or has one that does not fit.
    #[error("{0}")]
    Attr(Box<AttrError>),
    /// Two nodes have one id.
    #[error("the id is also that of node {first}; ids must be unique within a rank")]
    DuplicateId {
        /// The other node, as [`Place::index`].
        first: u64,
    },
    /// A node depends on itself.
    #[error("the node has itself as a {kind} dependence (id {dep})")]
    SelfDep {
        /// Which list it is in.
        kind: DepKind,
        /// The id.
        dep: u64,
    },
    /// A node depends on one that does not exist.
    #[error("the node has a {kind} dependence on id {dep}, which no node of the rank has")]
    DanglingDep {
        /// Which list it is in.
        kind: DepKind,
        /// The id that does not exist.
        dep: u64,
    },
    /// The rank has too many nodes.
    #[error(transparent)]
    TooLarge(crate::graph::TooLarge),
}

/// The two lists of dependences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepKind {
    /// `data_deps`.
    Data,
    /// `ctrl_deps`.
    Control,
}

impl fmt::Display for DepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Data => "data",
            Self::Control => "control",
        })
    }
}
