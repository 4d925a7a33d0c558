//! What is odd in a file, but no reason not to read it.

use std::fmt;

/// Something odd in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The first line where it was seen.
    pub line: u32,
    /// What it is, and what was made of it.
    pub message: String,
    /// How many more times it was seen.
    pub more: usize,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)?;
        if self.more > 0 { write!(f, " (and {} more like this)", self.more) } else { Ok(()) }
    }
}

/// Collects warnings: of each kind the first is kept and the others are counted, so that a habit of a producer does
/// not fill the screen.
#[derive(Default)]
pub(super) struct Warnings {
    found: Vec<(&'static str, Warning)>,
}

impl Warnings {
    pub(super) fn add(&mut self, kind: &'static str, line: u32, message: impl FnOnce() -> String) {
        match self.found.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, warning)) => warning.more += 1,
            None => self.found.push((kind, Warning { line, message: message(), more: 0 })),
        }
    }

    pub(super) fn finish(self) -> Vec<Warning> {
        let mut found: Vec<Warning> = self.found.into_iter().map(|(_, warning)| warning).collect();
        found.sort_by_key(|warning| warning.line);
        found
    }
}
