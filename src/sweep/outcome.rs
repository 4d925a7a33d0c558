//! What comes of a point.

use std::fmt;

use super::error::one_line;
use crate::sim::units::{Bytes, Picos};

/// What was simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// When the last rank finished.
    pub time: Picos,
    /// Number of messages.
    pub messages: u64,
    /// Sum of their sizes, each once, however many hops it took.
    pub bytes: Bytes,
}

/// Why a point has no figures, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// `ranks`: the algorithm is not for so many ranks.
    Ranks,
    /// `topology`: the topology has another number of ranks.
    Topology,
    /// `parameters`: the algorithm does not compile with these parameters.
    Parameters,
    /// `size`: the algorithm cannot be brought to the size.
    Size,
    /// `simulation`: the model cannot simulate it under these conventions and conditions.
    Simulation,
}

impl Why {
    /// The word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ranks => "ranks",
            Self::Topology => "topology",
            Self::Parameters => "parameters",
            Self::Size => "size",
            Self::Simulation => "simulation",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A point that has no figures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoResult {
    /// Why, in one word.
    pub why: Why,
    /// Why, in one line.
    pub reason: String,
}

impl NoResult {
    pub(super) fn new(why: Why, reason: impl fmt::Display) -> Self {
        Self { why, reason: one_line(&reason.to_string()) }
    }
}

/// What comes of a point: figures, or why there are none.
pub type Outcome = Result<Figures, NoResult>;
