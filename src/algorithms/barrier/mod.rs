//! Barrier: no rank goes on before all have come.
//!
//! A rank that has come has a token, and ends with a token in which every rank's is. The size of the collective is that of a
//! token: an element is enough, and of none there are no messages.

mod dissemination;

pub use dissemination::barrier_dissemination;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[dissemination::ENTRY];
