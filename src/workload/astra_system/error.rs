//! What is wrong with a system file.

use thiserror::Error;

/// A system file that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}: {}{message}", key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default())]
#[non_exhaustive]
pub struct SystemError {
    /// The file as it was given.
    pub file: String,
    /// The key, with its value, where it is at fault.
    pub key: Option<String>,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl SystemError {
    pub(super) fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), key: None, message: one_line(&message.into()) }
    }

    pub(super) fn of_key(file: &str, key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..Self::of_file(file, message) }
    }
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
