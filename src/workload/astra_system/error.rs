//! What is wrong with a system file.

use std::ops::Range;

use thiserror::Error;

use crate::sim::topology::TextPlace;

/// A system file that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}{}: {}{message}", line.map(|line| format!(":{line}")).unwrap_or_default(), key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default())]
#[non_exhaustive]
pub struct SystemError {
    /// The file as it was given.
    pub file: String,
    /// The key, with its value, where it is at fault.
    pub key: Option<String>,
    /// What is wrong, and what was expected.
    pub message: String,
    /// The line of the file, from 1, where known.
    pub line: Option<u64>,
    /// The bytes of the file that are at fault, where known.
    pub span: Option<Range<usize>>,
}

impl SystemError {
    pub(super) fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), key: None, message: one_line(&message.into()), line: None, span: None }
    }

    pub(super) fn of_key(file: &str, key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..Self::of_file(file, message) }
    }
}

impl SystemError {
    /// The same at the first place where the text of the file has a key.
    pub(super) fn in_text(self, text: &str, key: &str) -> Self {
        let quoted = format!("\"{key}\"");
        match text.find(&quoted) {
            Some(at) => self.at(TextPlace::of(text, &(at..at + quoted.len()))),
            None => self,
        }
    }

    /// The same at a place of the file.
    pub(super) fn at(self, TextPlace { line, span, .. }: TextPlace) -> Self {
        Self { line, span, ..self }
    }
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
