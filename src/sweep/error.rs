//! What is wrong with a sweep.

use thiserror::Error;

use crate::sim::topology::TextPlace;

/// A sweep that cannot be; one line, which names the file and the line where it was read from one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SweepError {
    /// What is wrong, and what was expected.
    pub message: String,
    /// The file that it was read from, as it was given.
    pub file: Option<String>,
    /// Where in that file, as far as it is known.
    pub place: TextPlace,
}

impl SweepError {
    pub(super) fn new(message: impl std::fmt::Display) -> Self {
        Self { message: one_line(&message.to_string()), file: None, place: TextPlace::default() }
    }
}

/// Messages of others may have several lines.
pub(super) fn one_line(message: &str) -> String {
    let lines = message.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}
