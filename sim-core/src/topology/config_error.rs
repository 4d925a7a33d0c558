//! What can be wrong with a file of a topology or a machine.

use std::ops::Range;
use std::path::PathBuf;

use thiserror::Error;

use super::TopologyError;

/// A file of a topology or a machine that cannot be used. Each message is one line that names the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file's name does not say which format it has.
    #[error("{}: expected a topology file with the ending .toml (this project's form), .yml or .yaml (ASTRA-sim network)", path.display())]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// The text is not of the format, or a key or value is wrong.
    #[error("{file}{}: {message}", line.map(|line| format!(":{line}")).unwrap_or_default())]
    Invalid {
        /// The file's name.
        file: String,
        /// The line, counted from 1, where known.
        line: Option<u64>,
        /// The bytes of the file, where known: the value or the key at fault.
        span: Option<Range<usize>>,
        /// What is wrong, with the key and the value.
        message: String,
    },
    /// A machine by a name that neither one that is built in nor a file has.
    #[error("there is no machine {name:?}, neither built in nor as a file: expected one of {known}, or the path of a file{}",
        nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default())]
    NoSuchMachine {
        /// The name as given.
        name: String,
        /// Those that are built in.
        known: String,
        /// The one most like it, if one is.
        nearest: Option<&'static str>,
    },
    /// The dimensions make no topology.
    #[error("{file}: {source}")]
    Topology {
        /// The file's name.
        file: String,
        /// Why.
        source: TopologyError,
    },
}
