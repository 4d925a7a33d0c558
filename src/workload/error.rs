//! What is wrong with rules, and which.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

/// Where a rule stands.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RulePlace {
    /// The file as it was given, and the line in it.
    pub line: Option<(String, u64)>,
    /// Its number, from 1, once it stands among others.
    pub number: Option<usize>,
    /// Of what is wrong with it: the bytes of the file, where known.
    pub span: Option<Range<usize>>,
}

impl fmt::Display for RulePlace {
    /// `rules.toml:12: rule 3`, as far as it is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.line {
            write!(f, "{file}:{line}")?;
        }
        match self.number {
            Some(number) => {
                write!(f, "{}rule {number}", if self.line.is_some() { ": " } else { "" })
            }
            None => Ok(()),
        }
    }
}

/// A rule that cannot be, or that cannot serve a collective.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{}{message}", place, if place == &RulePlace::default() { "" } else { ": " })]
#[non_exhaustive]
pub struct RuleError {
    /// Which.
    pub place: RulePlace,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl RuleError {
    pub(super) fn new(place: &RulePlace, message: impl fmt::Display) -> Self {
        // One line, whatever the message comes from.
        let message = message.to_string();
        let message = message.lines().map(str::trim).collect::<Vec<_>>().join("; ");
        Self { place: place.clone(), message }
    }
}
