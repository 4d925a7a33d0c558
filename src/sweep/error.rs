//! What is wrong with a sweep.

use thiserror::Error;

/// A sweep that cannot be; one line, which names the file and the line where it was read from one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct SweepError {
    /// What is wrong, and what was expected.
    pub message: String,
}

impl SweepError {
    pub(super) fn new(message: impl std::fmt::Display) -> Self {
        Self { message: one_line(&message.to_string()) }
    }
}

/// Messages of others may have several lines.
pub(super) fn one_line(message: &str) -> String {
    let lines = message.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}
