//! Why there is no result.

use thiserror::Error;

use super::Order;
use crate::diagnostic::{Diagnostics, Rule};
use crate::size::SizeError;

/// Why an execution has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The collective cannot have so many elements, or the schedule mixes chunks that are then not equal.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// More memory than is allowed.
    #[error("{what} takes {}, more than the limit of {}: run it with fewer elements", gib(*needed), gib(*limit))]
    TooLarge {
        /// What takes the memory.
        what: &'static str,
        /// Bytes needed.
        needed: u128,
        /// Bytes allowed.
        limit: u64,
    },
    /// The schedule names what does not exist, so that nothing could be run.
    #[error("{0}")]
    Malformed(Diagnostics),
    /// A step that does something wrong, or that never gets to run.
    #[error("{found} (run {order})")]
    Fault {
        /// What happened.
        found: Diagnostics,
        /// The order in which it did.
        order: Order,
    },
}

impl RunError {
    /// The rule that the schedule breaks; `None` where it is the size that does not fit.
    #[must_use]
    pub fn rule(&self) -> Option<Rule> {
        match self {
            RunError::Malformed(found) | RunError::Fault { found, .. } => {
                found.findings.first().map(|finding| finding.rule)
            }
            RunError::Size(_) | RunError::TooLarge { .. } => None,
        }
    }
}

/// Bytes in GiB, for people.
fn gib(bytes: impl Into<u128>) -> String {
    format!("{:.1} GiB", bytes.into() as f64 / (1_u64 << 30) as f64)
}
