//! What must hold before and after: the collectives, their buffers and how their data are divided.

use std::fmt;

use thiserror::Error;

use crate::buffer::Space;
use crate::ids::RankId;

/// The kinds of collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CollectiveKind {
    /// Every rank ends with the sum over all ranks of every chunk.
    AllReduce,
    /// Every rank ends with the inputs of all ranks, in the order of the ranks.
    AllGather,
    /// Rank r ends with the sum over all ranks of the r-th part of the input.
    ReduceScatter,
}

impl CollectiveKind {
    /// All kinds.
    pub const ALL: [CollectiveKind; 3] =
        [CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter];

    /// The name in code and in traces: `all_reduce`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CollectiveKind::AllReduce => "all_reduce",
            CollectiveKind::AllGather => "all_gather",
            CollectiveKind::ReduceScatter => "reduce_scatter",
        }
    }

    /// The kind behind a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for CollectiveKind {
    /// The name in prose: `all-reduce`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().replace('_', "-"))
    }
}

/// A collective over a number of ranks, its data divided into chunks.
///
/// | kind | input of rank r | output of rank r |
/// |---|---|---|
/// | all-reduce, c chunks | c chunks | c chunks, each the sum over all ranks |
/// | all-gather, c chunks a rank | c chunks | ranks·c chunks: `output[q·c + i]` is `input[i]` of rank q |
/// | reduce-scatter, c chunks a rank | ranks·c chunks | c chunks: `output[i]` is the sum of `input[r·c + i]` |
///
/// In place, the smaller buffer is a window of the larger one: `input[i]` of all-gather is `output[r·c + i]`,
/// `output[i]` of reduce-scatter is `input[r·c + i]`, and for all-reduce the two are one buffer.
///
/// ```
/// use collective_dsl::Collective;
/// let gather = Collective::all_gather(4)?.in_place();
/// assert_eq!(gather.output_chunks(), 4);
/// assert_eq!(gather.input_chunks(), 1);
/// # Ok::<(), collective_dsl::CollectiveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    kind: CollectiveKind,
    ranks: u32,
    chunks: u32,
    in_place: bool,
}

/// A collective that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
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
}

/// What the post-condition wants in one chunk of a rank's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The logical chunk: which part of the collective's data.
    pub chunk: u32,
    /// Whose contributions.
    pub from: Contributors,
}

/// The ranks whose data a chunk must hold, each exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contributors {
    /// One rank's.
    One(RankId),
    /// The sum over all ranks.
    All,
}

impl Collective {
    /// The most chunks, over all ranks, that the larger buffers may have together.
    pub const MAX_CELLS: usize = 1 << 26;

    /// A collective out of place with the given number of chunks: of the whole vector for all-reduce, of one
    /// rank's part for all-gather and reduce-scatter.
    ///
    /// # Errors
    /// No ranks, no chunks, or too many of both.
    pub fn new(kind: CollectiveKind, ranks: usize, chunks: usize) -> Result<Self, CollectiveError> {
        if ranks == 0 {
            return Err(CollectiveError::NoRanks);
        }
        if chunks == 0 {
            return Err(CollectiveError::NoChunks);
        }
        let too_large = CollectiveError::TooLarge { ranks, chunks };
        let per_rank = match kind {
            CollectiveKind::AllReduce => Some(chunks),
            CollectiveKind::AllGather | CollectiveKind::ReduceScatter => ranks.checked_mul(chunks),
        };
        match per_rank.and_then(|per_rank| per_rank.checked_mul(ranks)) {
            Some(cells) if cells <= Self::MAX_CELLS => {
                Ok(Self { kind, ranks: ranks as u32, chunks: chunks as u32, in_place: false })
            }
            _ => Err(too_large),
        }
    }

    /// The number of chunks when a program does not state one: as many as ranks for all-reduce, one a rank
    /// for all-gather and reduce-scatter.
    #[must_use]
    pub fn default_chunks(kind: CollectiveKind, ranks: usize) -> usize {
        match kind {
            CollectiveKind::AllReduce => ranks,
            CollectiveKind::AllGather | CollectiveKind::ReduceScatter => 1,
        }
    }

    /// An all-reduce of as many chunks as ranks.
    ///
    /// # Errors
    /// See [`Collective::new`].
    pub fn all_reduce(ranks: usize) -> Result<Self, CollectiveError> {
        Self::new(CollectiveKind::AllReduce, ranks, ranks)
    }

    /// An all-gather of one chunk a rank.
    ///
    /// # Errors
    /// See [`Collective::new`].
    pub fn all_gather(ranks: usize) -> Result<Self, CollectiveError> {
        Self::new(CollectiveKind::AllGather, ranks, 1)
    }

    /// A reduce-scatter of one chunk a rank.
    ///
    /// # Errors
    /// See [`Collective::new`].
    pub fn reduce_scatter(ranks: usize) -> Result<Self, CollectiveError> {
        Self::new(CollectiveKind::ReduceScatter, ranks, 1)
    }

    /// The same, with input and output in one buffer.
    #[must_use]
    pub fn in_place(mut self) -> Self {
        self.in_place = true;
        self
    }

    /// The same, with another number of chunks (see [`Collective::new`]).
    ///
    /// # Errors
    /// See [`Collective::new`].
    pub fn with_chunks(self, chunks: usize) -> Result<Self, CollectiveError> {
        let new = Self::new(self.kind, self.ranks as usize, chunks)?;
        Ok(Self { in_place: self.in_place, ..new })
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> CollectiveKind {
        self.kind
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks as usize
    }

    /// Whether input and output share one buffer.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Chunks of a rank's input.
    #[must_use]
    pub fn input_chunks(&self) -> usize {
        match self.kind {
            CollectiveKind::AllReduce | CollectiveKind::AllGather => self.chunks as usize,
            CollectiveKind::ReduceScatter => self.chunks as usize * self.ranks(),
        }
    }

    /// Chunks of a rank's output.
    #[must_use]
    pub fn output_chunks(&self) -> usize {
        match self.kind {
            CollectiveKind::AllReduce | CollectiveKind::ReduceScatter => self.chunks as usize,
            CollectiveKind::AllGather => self.chunks as usize * self.ranks(),
        }
    }

    /// Logical chunks: parts that the collective's whole data are divided into.
    #[must_use]
    pub fn logical_chunks(&self) -> usize {
        self.input_chunks().max(self.output_chunks())
    }

    /// The number of elements in a logical chunk when the collective has `elements` in all.
    ///
    /// Of N elements in k parts the first N mod k get one more. All-gather and reduce-scatter divide by rank
    /// first, then each rank's part into its chunks.
    #[must_use]
    pub fn elements(&self, elements: u64, chunk: u32) -> u64 {
        let part = |total: u64, parts: u32, index: u32| {
            total / u64::from(parts) + u64::from(u64::from(index) < total % u64::from(parts))
        };
        match self.kind {
            CollectiveKind::AllReduce => part(elements, self.chunks, chunk),
            CollectiveKind::AllGather | CollectiveKind::ReduceScatter => {
                let of_rank = part(elements, self.ranks, chunk / self.chunks);
                part(of_rank, self.chunks, chunk % self.chunks)
            }
        }
    }

    /// The logical chunk that a chunk of a rank's input holds at the start.
    #[must_use]
    pub fn input_data(&self, rank: RankId, index: u32) -> u32 {
        match self.kind {
            CollectiveKind::AllReduce | CollectiveKind::ReduceScatter => index,
            CollectiveKind::AllGather => rank.0 * self.chunks + index,
        }
    }

    /// What a chunk of a rank's output must hold at the end.
    #[must_use]
    pub fn wanted(&self, rank: RankId, index: u32) -> Wanted {
        match self.kind {
            CollectiveKind::AllReduce => Wanted { chunk: index, from: Contributors::All },
            CollectiveKind::AllGather => {
                Wanted { chunk: index, from: Contributors::One(RankId(index / self.chunks)) }
            }
            CollectiveKind::ReduceScatter => {
                Wanted { chunk: rank.0 * self.chunks + index, from: Contributors::All }
            }
        }
    }

    /// The buffer that really holds `input[index]` of a rank, and the index in it.
    #[must_use]
    pub fn locate_input(&self, rank: RankId, index: u32) -> (Space, u32) {
        match (self.in_place, self.kind) {
            (true, CollectiveKind::AllGather) => (Space::Output, rank.0 * self.chunks + index),
            _ => (Space::Input, index),
        }
    }

    /// The buffer that really holds `output[index]` of a rank, and the index in it.
    #[must_use]
    pub fn locate_output(&self, rank: RankId, index: u32) -> (Space, u32) {
        match (self.in_place, self.kind) {
            (true, CollectiveKind::AllReduce) => (Space::Input, index),
            (true, CollectiveKind::ReduceScatter) => (Space::Input, rank.0 * self.chunks + index),
            _ => (Space::Output, index),
        }
    }

    /// Whether the real buffer exists, and its number of chunks: 0 when it is a window of the other.
    #[must_use]
    pub fn space_chunks(&self, space: Space) -> usize {
        match (space, self.in_place, self.kind) {
            (Space::Input, true, CollectiveKind::AllGather) => 0,
            (Space::Output, true, CollectiveKind::AllReduce | CollectiveKind::ReduceScatter) => 0,
            (Space::Input, ..) => self.input_chunks(),
            (Space::Output, ..) => self.output_chunks(),
            (Space::Scratch(_), ..) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_and_three_elements_in_eight_chunks_lose_none() {
        // Case D05 of the bug reports: 3 × 125,001 + 5 × 125,000.
        let all_reduce = Collective::all_reduce(8).unwrap();
        let sizes: Vec<u64> = (0..8).map(|c| all_reduce.elements(1_000_003, c)).collect();
        assert_eq!(sizes, [125_001, 125_001, 125_001, 125_000, 125_000, 125_000, 125_000, 125_000]);
    }

    #[test]
    fn uneven_reduce_scatter_divides_by_rank_first() {
        // Case D41: 73 elements over 4 ranks are 19, 18, 18, 18.
        let rs = Collective::new(CollectiveKind::ReduceScatter, 4, 2).unwrap();
        let sizes: Vec<u64> = (0..8).map(|c| rs.elements(73, c)).collect();
        assert_eq!(sizes, [10, 9, 9, 9, 9, 9, 9, 9]);
    }

    #[test]
    fn windows_of_in_place_collectives() {
        let ag = Collective::all_gather(4).unwrap().with_chunks(2).unwrap().in_place();
        assert_eq!(ag.locate_input(RankId(3), 1), (Space::Output, 7));
        assert_eq!((ag.space_chunks(Space::Input), ag.space_chunks(Space::Output)), (0, 8));
        let rs = Collective::reduce_scatter(4).unwrap().in_place();
        assert_eq!(rs.locate_output(RankId(2), 0), (Space::Input, 2));
    }

    #[test]
    fn impossible_collectives_are_refused() {
        assert_eq!(Collective::all_reduce(0), Err(CollectiveError::NoRanks));
        assert!(Collective::all_reduce(1_000_000).is_err());
        assert_eq!(Collective::new(CollectiveKind::AllReduce, 2, 0), Err(CollectiveError::NoChunks));
    }
}
