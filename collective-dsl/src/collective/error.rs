//! Why a collective cannot be.

use thiserror::Error;

use super::{Collective, CollectiveKind};

/// A collective that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CollectiveError {
    /// A collective over no rank.
    #[error("a collective needs at least one rank")]
    NoRanks,
    /// Data divided into no chunk.
    #[error("a collective needs at least one chunk")]
    NoChunks,
    /// More cells (a chunk of a buffer of a rank) than can be tracked.
    #[error("{ranks} ranks with {chunks} chunks each are more than {limit} chunks in all", limit = Collective::MAX_CELLS)]
    TooLarge {
        /// Number of ranks.
        ranks: usize,
        /// Chunks in the larger buffer of a rank.
        chunks: usize,
    },
    /// A root, source or destination that is no rank.
    #[error("the {role} {rank} does not exist: ranks go from 0 to {}", ranks - 1)]
    NoSuchRank {
        /// `root`, `source` or `destination`.
        role: &'static str,
        /// The rank named.
        rank: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// A root for a collective without one.
    #[error("{0} has no root")]
    NoRoot(CollectiveKind),
    /// In place where that has no meaning.
    #[error("{0} cannot run in place")]
    NotInPlace(CollectiveKind),
    /// In place with buffers of different length.
    #[error(
        "a custom collective in place needs as many output chunks as input chunks, not {inputs} and {outputs}"
    )]
    UnequalBuffers {
        /// Chunks of the input.
        inputs: usize,
        /// Chunks of the output.
        outputs: usize,
    },
    /// A size table that is not square.
    #[error("row {row} of the size table has {got} entries: {ranks} ranks need {ranks}")]
    TableShape {
        /// The row.
        row: usize,
        /// Its length.
        got: usize,
        /// Number of rows.
        ranks: usize,
    },
    /// All-to-all-v without its table.
    #[error("all-to-all-v needs its size table: use Collective::all_to_all_v")]
    NoTable,
    /// Send and receive tables that do not agree.
    #[error("{from}→{to}: sends {sends}, expects {expects}")]
    TablesDisagree {
        /// The sending rank.
        from: usize,
        /// The receiving rank.
        to: usize,
        /// Chunks that the sender sends.
        sends: usize,
        /// Chunks that the receiver expects.
        expects: usize,
    },
}
