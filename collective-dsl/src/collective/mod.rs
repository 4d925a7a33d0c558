//! What must hold before and after: the collectives, their buffers and how their data are divided.

mod division;
mod error;
mod kind;

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::buffer::Space;
use crate::ids::RankId;

pub(crate) use division::Division;
pub use error::CollectiveError;
pub use kind::CollectiveKind;

/// A collective over a number of ranks, its data divided into chunks.
///
/// | kind | input of rank r | output of rank r |
/// |---|---|---|
/// | all-reduce, c chunks | c chunks | c chunks, each the sum over all ranks |
/// | all-gather, c chunks a rank | c chunks | n·c chunks: `output[q·c + i]` is `input[i]` of rank q |
/// | reduce-scatter, c chunks a rank | n·c chunks | c chunks: `output[i]` is the sum of `input[r·c + i]` |
/// | all-to-all, c chunks a pair | n·c chunks | n·c chunks: `output[q·c + i]` is `input[r·c + i]` of rank q |
/// | all-to-all-v, table M | Σ M\[r\]\[q\] chunks | Σ M\[q\]\[r\] chunks, from rank 0, from rank 1, … |
/// | broadcast, c chunks | c chunks on the root, none elsewhere | c chunks: the root's input |
/// | reduce, c chunks | c chunks | c chunks on the root: the sum over all ranks; none elsewhere |
/// | gather, c chunks a rank | c chunks | n·c chunks on the root, as of all-gather; none elsewhere |
/// | scatter, c chunks a rank | n·c chunks on the root, none elsewhere | c chunks: `input[r·c + i]` of the root |
/// | send-recv, c chunks | c chunks on the source | c chunks on the destination |
/// | barrier | 1 chunk, a token | 1 chunk with every rank's token in it, once or more |
/// | custom | a chunks | b chunks: what [`crate::Program::expect`] says |
///
/// In place, the smaller buffer is a window of the larger one: `input[i]` of all-gather is `output[r·c + i]`,
/// `output[i]` of reduce-scatter is `input[r·c + i]`; so on the root of gather and scatter; for the others the two
/// are one buffer. All-to-all-v and send-recv have no such form.
///
/// ```
/// use collective_dsl::Collective;
/// let gather = Collective::all_gather(4)?.in_place()?;
/// assert_eq!(gather.output_chunks(), 4);
/// assert_eq!(gather.input_chunks(), 1);
/// # Ok::<(), collective_dsl::CollectiveError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    kind: CollectiveKind,
    ranks: u32,
    /// Of the vector, of a rank's part, or of the input of a custom one.
    chunks: u32,
    /// Chunks of the output of a custom collective.
    outputs: u32,
    in_place: bool,
    /// The root; the source of send-recv.
    root: u32,
    /// The destination of send-recv.
    destination: u32,
    /// Chunks from rank i to rank j at i·n + j, for all-to-all-v.
    table: Option<Arc<[u32]>>,
    /// For custom ones, by rank and output chunk: the contributions, by chunk and rank.
    expected: Option<Arc<Expectations>>,
}

/// What a custom collective wants, by rank and output chunk: the contributions, by chunk and rank.
pub(crate) type Expectations = BTreeMap<(u32, u32), Vec<(u32, u32)>>;

/// What the post-condition wants in one chunk of a rank's output: a sum of contributions to logical chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The logical chunks (which part of the collective's data), ascending, and whose contributions to each.
    pub parts: SmallVec<[(u32, Contributors); 1]>,
}

/// The ranks whose data a chunk must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contributors {
    /// One rank's, once.
    One(RankId),
    /// Every rank's, each once.
    All,
    /// Every rank's, each once or more.
    AllAtLeastOnce,
    /// Those of the ranks in the list, ascending; a rank that stands there twice, twice.
    These(Vec<RankId>),
}

impl Collective {
    /// The most chunks, over all ranks, that the larger buffers may have together.
    pub const MAX_CELLS: usize = 1 << 26;

    /// A collective out of place with the given number of chunks: of the whole vector, of one rank's part for
    /// all-gather, reduce-scatter, gather and scatter, of one pair's for all-to-all, of input and output for a custom
    /// one. The root is rank 0, and send-recv goes from rank 0 to the last.
    ///
    /// # Errors
    /// No ranks, no chunks, or too many of both; all-to-all-v, which needs a table.
    pub fn new(kind: CollectiveKind, ranks: usize, chunks: usize) -> Result<Self, CollectiveError> {
        if ranks == 0 {
            return Err(CollectiveError::NoRanks);
        }
        if chunks == 0 {
            return Err(CollectiveError::NoChunks);
        }
        if kind == CollectiveKind::AllToAllV {
            return Err(CollectiveError::NoTable);
        }
        let per_rank = if kind.divides_by_rank() { ranks.checked_mul(chunks) } else { Some(chunks) };
        match per_rank.and_then(|per_rank| per_rank.checked_mul(ranks)) {
            Some(cells) if cells <= Self::MAX_CELLS => Ok(Self {
                kind,
                ranks: ranks as u32,
                chunks: chunks as u32,
                outputs: chunks as u32,
                in_place: false,
                root: 0,
                destination: ranks as u32 - 1,
                table: None,
                expected: None,
            }),
            _ => Err(CollectiveError::TooLarge { ranks, chunks }),
        }
    }

    /// The number of chunks when a program does not state one: as many as ranks for all-reduce, else one.
    #[must_use]
    pub fn default_chunks(kind: CollectiveKind, ranks: usize) -> usize {
        if kind == CollectiveKind::AllReduce { ranks } else { 1 }
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

    /// An all-to-all of one chunk a pair.
    ///
    /// # Errors
    /// See [`Collective::new`].
    pub fn all_to_all(ranks: usize) -> Result<Self, CollectiveError> {
        Self::new(CollectiveKind::AllToAll, ranks, 1)
    }

    /// An all-to-all with `table[i][j]` chunks from rank i to rank j.
    ///
    /// All chunks have the same size; the size of the collective is what the rank sends that sends most.
    ///
    /// # Errors
    /// A table that is not square, that is empty or all zero, or too large a one.
    pub fn all_to_all_v(table: &[Vec<usize>]) -> Result<Self, CollectiveError> {
        let ranks = table.len();
        if let Some((row, entries)) = table.iter().enumerate().find(|(_, row)| row.len() != ranks) {
            return Err(CollectiveError::TableShape { row, got: entries.len(), ranks });
        }
        let sent = table.iter().map(|row| row.iter().fold(0_usize, |sum, n| sum.saturating_add(*n)));
        let received =
            (0..ranks).map(|to| table.iter().fold(0_usize, |sum, row| sum.saturating_add(row[to])));
        let chunks = sent.chain(received).max().unwrap_or(0);
        // An equal number of chunks for everybody bounds the memory, and is checked as that of the others is.
        let collective = Self::new(CollectiveKind::Custom, ranks, chunks)?;
        let flat: Arc<[u32]> = table.iter().flatten().map(|chunks| *chunks as u32).collect();
        Ok(Self { kind: CollectiveKind::AllToAllV, table: Some(flat), ..collective })
    }

    /// The same, after checking that the receivers expect what the senders send: `expected[j][i]` chunks at rank j
    /// from rank i.
    ///
    /// # Errors
    /// The first pair that disagrees.
    pub fn receiving(self, expected: &[Vec<usize>]) -> Result<Self, CollectiveError> {
        let ranks = self.ranks();
        for to in 0..ranks {
            for from in 0..ranks {
                let expects = expected.get(to).and_then(|row| row.get(from)).copied().unwrap_or(0);
                let sends = self.table_entry(from as u32, to as u32) as usize;
                if sends != expects {
                    return Err(CollectiveError::TablesDisagree { from, to, sends, expects });
                }
            }
        }
        Ok(self)
    }

    /// A collective that the program defines by [`crate::Program::expect`].
    ///
    /// # Errors
    /// See [`Collective::new`].
    pub fn custom(ranks: usize, inputs: usize, outputs: usize) -> Result<Self, CollectiveError> {
        Self::new(CollectiveKind::Custom, ranks, inputs.max(outputs))?;
        if outputs == 0 {
            return Err(CollectiveError::NoChunks);
        }
        let collective = Self::new(CollectiveKind::Custom, ranks, inputs)?;
        Ok(Self { outputs: outputs as u32, ..collective })
    }

    /// The same, with input and output in one buffer.
    ///
    /// # Errors
    /// All-to-all-v and send-recv have no such form; a custom collective needs buffers of one length.
    pub fn in_place(self) -> Result<Self, CollectiveError> {
        match self.kind {
            CollectiveKind::AllToAllV | CollectiveKind::SendRecv => {
                Err(CollectiveError::NotInPlace(self.kind))
            }
            CollectiveKind::Custom if self.chunks != self.outputs => Err(CollectiveError::UnequalBuffers {
                inputs: self.chunks as usize,
                outputs: self.outputs as usize,
            }),
            _ => Ok(Self { in_place: true, ..self }),
        }
    }

    /// The same, with another root: of broadcast, reduce, gather and scatter.
    ///
    /// # Errors
    /// A root that is no rank, or a collective without one.
    pub fn rooted(self, root: usize) -> Result<Self, CollectiveError> {
        use CollectiveKind::{Broadcast, Gather, Reduce, Scatter};
        if !matches!(self.kind, Broadcast | Reduce | Gather | Scatter) {
            return Err(CollectiveError::NoRoot(self.kind));
        }
        self.check_rank("root", root)?;
        Ok(Self { root: root as u32, ..self })
    }

    /// The same send-recv between other ranks.
    ///
    /// # Errors
    /// A rank that does not exist, or another collective.
    pub fn between(self, source: usize, destination: usize) -> Result<Self, CollectiveError> {
        if self.kind != CollectiveKind::SendRecv {
            return Err(CollectiveError::NoRoot(self.kind));
        }
        self.check_rank("source", source)?;
        self.check_rank("destination", destination)?;
        Ok(Self { root: source as u32, destination: destination as u32, ..self })
    }

    fn check_rank(&self, role: &'static str, rank: usize) -> Result<(), CollectiveError> {
        let ranks = self.ranks();
        if rank < ranks { Ok(()) } else { Err(CollectiveError::NoSuchRank { role, rank, ranks }) }
    }

    /// The same, with another number of chunks (see [`Collective::new`]).
    ///
    /// # Errors
    /// See [`Collective::new`].
    pub fn with_chunks(self, chunks: usize) -> Result<Self, CollectiveError> {
        let new = Self::new(self.kind, self.ranks as usize, chunks)?;
        Ok(Self { chunks: new.chunks, outputs: new.outputs, ..self })
    }

    /// The same collective with every chunk divided into `parts`.
    pub(crate) fn refined(&self, parts: u32) -> Result<Self, CollectiveError> {
        let too_large = || CollectiveError::TooLarge {
            ranks: self.ranks(),
            chunks: (self.chunks.max(self.outputs) as usize).saturating_mul(parts as usize),
        };
        let times = |chunks: u32| chunks.checked_mul(parts).ok_or_else(too_large);
        let (chunks, outputs) = (times(self.chunks)?, times(self.outputs)?);
        let kind = if self.kind == CollectiveKind::AllToAllV { CollectiveKind::Custom } else { self.kind };
        Self::new(kind, self.ranks(), chunks.max(outputs) as usize)?;
        let table = self.table.as_ref().map(|table| table.iter().map(|entry| entry * parts).collect());
        Ok(Self { chunks, outputs, table, ..self.clone() })
    }

    /// The same custom collective with another definition.
    pub(crate) fn expecting(self, expected: Expectations) -> Self {
        Self { expected: Some(Arc::new(expected)), ..self }
    }

    /// What a custom collective wants, by rank and output chunk: contributions, by chunk and rank.
    pub(crate) fn expected(&self) -> Option<&Expectations> {
        self.expected.as_deref()
    }

    /// Whether nothing states what must hold at the end: a custom collective that was read from a file which
    /// cannot say. A verdict on its schedules is then one without a post-condition.
    ///
    /// ```
    /// use collective_dsl::Collective;
    /// assert!(Collective::custom(2, 1, 1)?.is_unspecified());
    /// assert!(!Collective::all_reduce(2)?.is_unspecified());
    /// # Ok::<(), collective_dsl::CollectiveError>(())
    /// ```
    #[must_use]
    pub fn is_unspecified(&self) -> bool {
        self.kind == CollectiveKind::Custom && self.expected.is_none()
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

    /// The number of chunks that it was made with (see [`Collective::new`]).
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.chunks as usize
    }

    /// The root; the source of send-recv; 0 for the others.
    #[must_use]
    pub fn root(&self) -> RankId {
        RankId(self.root)
    }

    /// The destination of send-recv; the last rank for the others.
    #[must_use]
    pub fn destination(&self) -> RankId {
        RankId(self.destination)
    }

    /// How many chunks rank `from` has for rank `to`, in all-to-all and all-to-all-v; `None` for other collectives, and for
    /// ranks that do not exist.
    ///
    /// ```
    /// use collective_dsl::Collective;
    /// let v = Collective::all_to_all_v(&[vec![0, 3], vec![1, 2]])?;
    /// assert_eq!((v.chunks_between(0, 1), v.chunks_between(1, 0), v.chunks_between(0, 2)), (Some(3), Some(1), None));
    /// assert_eq!(Collective::all_to_all(4)?.chunks_between(0, 3), Some(1));
    /// assert_eq!(Collective::all_gather(4)?.chunks_between(0, 3), None);
    /// # Ok::<(), collective_dsl::CollectiveError>(())
    /// ```
    #[must_use]
    pub fn chunks_between(&self, from: usize, to: usize) -> Option<usize> {
        let ranks = self.ranks();
        match self.kind {
            _ if from >= ranks || to >= ranks => None,
            CollectiveKind::AllToAll => Some(self.chunks()),
            CollectiveKind::AllToAllV => Some(self.table_entry(from as u32, to as u32) as usize),
            _ => None,
        }
    }

    /// How many chunks a rank sends to each, for all-to-all-v.
    pub(crate) fn table_row(&self, rank: RankId) -> Option<&[u32]> {
        let ranks = self.ranks();
        self.table.as_ref()?.get(rank.index() * ranks..(rank.index() + 1) * ranks)
    }

    /// Whether input and output share one buffer.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Chunks of the largest input of a rank.
    #[must_use]
    pub fn input_chunks(&self) -> usize {
        match self.kind {
            CollectiveKind::AllToAllV => self.largest(Self::input_chunks_of),
            _ => self.input_chunks_of(RankId(self.root)),
        }
    }

    /// Chunks of the largest output of a rank.
    #[must_use]
    pub fn output_chunks(&self) -> usize {
        match self.kind {
            CollectiveKind::AllToAllV => self.largest(Self::output_chunks_of),
            CollectiveKind::SendRecv => self.output_chunks_of(RankId(self.destination)),
            _ => self.output_chunks_of(RankId(self.root)),
        }
    }

    fn largest(&self, chunks: fn(&Self, RankId) -> usize) -> usize {
        (0..self.ranks).map(|rank| chunks(self, RankId(rank))).max().unwrap_or(0)
    }

    /// Chunks of a rank's input.
    #[must_use]
    pub fn input_chunks_of(&self, rank: RankId) -> usize {
        let (chunks, ranks) = (self.chunks as usize, self.ranks());
        match self.kind {
            CollectiveKind::AllReduce
            | CollectiveKind::AllGather
            | CollectiveKind::Reduce
            | CollectiveKind::Gather
            | CollectiveKind::Custom => chunks,
            CollectiveKind::ReduceScatter | CollectiveKind::AllToAll => chunks * ranks,
            CollectiveKind::Broadcast | CollectiveKind::SendRecv => {
                if rank.0 == self.root {
                    chunks
                } else {
                    0
                }
            }
            CollectiveKind::Scatter => {
                if rank.0 == self.root {
                    chunks * ranks
                } else {
                    0
                }
            }
            CollectiveKind::AllToAllV => {
                (0..self.ranks).map(|to| self.table_entry(rank.0, to) as usize).sum()
            }
            CollectiveKind::Barrier => 1,
        }
    }

    /// Chunks of a rank's output.
    #[must_use]
    pub fn output_chunks_of(&self, rank: RankId) -> usize {
        let (chunks, ranks) = (self.chunks as usize, self.ranks());
        match self.kind {
            CollectiveKind::AllReduce
            | CollectiveKind::ReduceScatter
            | CollectiveKind::Broadcast
            | CollectiveKind::Scatter => chunks,
            CollectiveKind::AllGather | CollectiveKind::AllToAll => chunks * ranks,
            CollectiveKind::Reduce => {
                if rank.0 == self.root {
                    chunks
                } else {
                    0
                }
            }
            CollectiveKind::Gather => {
                if rank.0 == self.root {
                    chunks * ranks
                } else {
                    0
                }
            }
            CollectiveKind::SendRecv => {
                if rank.0 == self.destination {
                    chunks
                } else {
                    0
                }
            }
            CollectiveKind::AllToAllV => {
                (0..self.ranks).map(|from| self.table_entry(from, rank.0) as usize).sum()
            }
            CollectiveKind::Barrier => 1,
            CollectiveKind::Custom => self.outputs as usize,
        }
    }

    /// Chunks from one rank to another, of all-to-all-v.
    pub(crate) fn table_entry(&self, from: u32, to: u32) -> u32 {
        let at = from as usize * self.ranks() + to as usize;
        self.table.as_ref().and_then(|table| table.get(at)).copied().unwrap_or(0)
    }

    /// Logical chunks: parts that the collective's whole data are divided into.
    ///
    /// Two chunks of different ranks that are to be added are contributions to one logical chunk.
    #[must_use]
    pub fn logical_chunks(&self) -> usize {
        self.input_chunks().max(self.output_chunks())
    }

    /// How elements are divided into logical chunks.
    pub(crate) fn division(&self) -> Division {
        let chunks = match self.kind {
            CollectiveKind::AllToAllV => self.input_chunks().max(1) as u32,
            _ => self.chunks,
        };
        Division { kind: self.kind, ranks: self.ranks, chunks }
    }

    /// The number of elements in a logical chunk when the collective has `elements` in all.
    ///
    /// Of N elements in k parts the first N mod k get one more. Collectives in which every rank has a part of its
    /// own divide by rank first, then each rank's part into its chunks.
    #[must_use]
    pub fn elements(&self, elements: u64, chunk: u32) -> u64 {
        self.division().elements(elements, chunk)
    }

    /// The logical chunk that a chunk of a rank's input holds at the start.
    #[must_use]
    pub fn input_data(&self, rank: RankId, index: u32) -> u32 {
        match self.kind {
            CollectiveKind::AllGather | CollectiveKind::Gather => rank.0 * self.chunks + index,
            _ => index,
        }
    }

    /// What a chunk of a rank's output must hold at the end; `None` if anything will do.
    #[must_use]
    pub fn wanted(&self, rank: RankId, index: u32) -> Option<Wanted> {
        let one = |chunk, from| Some(Wanted { parts: smallvec![(chunk, Contributors::One(from))] });
        let all = |chunk| Some(Wanted { parts: smallvec![(chunk, Contributors::All)] });
        match self.kind {
            CollectiveKind::AllReduce | CollectiveKind::Reduce => all(index),
            CollectiveKind::ReduceScatter => all(rank.0 * self.chunks + index),
            CollectiveKind::AllGather | CollectiveKind::Gather => one(index, RankId(index / self.chunks)),
            CollectiveKind::AllToAll => {
                one(rank.0 * self.chunks + index % self.chunks, RankId(index / self.chunks))
            }
            CollectiveKind::Broadcast | CollectiveKind::SendRecv => one(index, RankId(self.root)),
            CollectiveKind::Scatter => one(rank.0 * self.chunks + index, RankId(self.root)),
            CollectiveKind::AllToAllV => {
                let mut index = index;
                for from in 0..self.ranks {
                    let count = self.table_entry(from, rank.0);
                    if index < count {
                        let before: u32 = (0..rank.0).map(|to| self.table_entry(from, to)).sum();
                        return one(before + index, RankId(from));
                    }
                    index -= count;
                }
                None
            }
            CollectiveKind::Barrier => Some(Wanted { parts: smallvec![(0, Contributors::AllAtLeastOnce)] }),
            CollectiveKind::Custom => {
                let contributions = self.expected.as_ref()?.get(&(rank.0, index))?;
                let mut parts: SmallVec<[(u32, Contributors); 1]> = SmallVec::new();
                for (chunk, from) in contributions {
                    match parts.last_mut() {
                        Some((last, Contributors::These(ranks))) if last == chunk => {
                            ranks.push(RankId(*from))
                        }
                        _ => parts.push((*chunk, Contributors::These(vec![RankId(*from)]))),
                    }
                }
                Some(Wanted { parts })
            }
        }
    }

    /// The buffer that really holds `input[index]` of a rank, and the index in it.
    #[must_use]
    pub fn locate_input(&self, rank: RankId, index: u32) -> (Space, u32) {
        match (self.in_place, self.kind) {
            (true, CollectiveKind::AllGather) => (Space::Output, rank.0 * self.chunks + index),
            (true, CollectiveKind::Gather) if rank.0 == self.root => {
                (Space::Output, rank.0 * self.chunks + index)
            }
            (true, CollectiveKind::Broadcast) => (Space::Output, index),
            _ => (Space::Input, index),
        }
    }

    /// The chunk of a rank's input that a chunk of a real buffer is, if it is one.
    #[must_use]
    pub fn input_at(&self, rank: RankId, space: Space, index: u32) -> Option<u32> {
        let (buffer, first) = self.locate_input(rank, 0);
        let input = index.checked_sub(first)?;
        (space == buffer && (input as usize) < self.input_chunks_of(rank)).then_some(input)
    }

    /// The buffer that really holds `output[index]` of a rank, and the index in it.
    #[must_use]
    pub fn locate_output(&self, rank: RankId, index: u32) -> (Space, u32) {
        use CollectiveKind::{AllReduce, AllToAll, Barrier, Custom, Reduce, ReduceScatter, Scatter};
        match (self.in_place, self.kind) {
            (true, AllReduce | AllToAll | Reduce | Barrier | Custom) => (Space::Input, index),
            (true, ReduceScatter) => (Space::Input, rank.0 * self.chunks + index),
            (true, Scatter) if rank.0 == self.root => (Space::Input, rank.0 * self.chunks + index),
            _ => (Space::Output, index),
        }
    }

    /// Chunks of a real buffer of a rank: 0 when it is a window of the other, or not there.
    #[must_use]
    pub fn space_chunks(&self, rank: RankId, space: Space) -> usize {
        let (chunks, other) = match space {
            Space::Input => (self.input_chunks_of(rank), self.locate_input(rank, 0).0),
            Space::Output => (self.output_chunks_of(rank), self.locate_output(rank, 0).0),
            Space::Scratch(_) => return 0,
        };
        if other == space { chunks } else { 0 }
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
        let ag = Collective::all_gather(4).unwrap().with_chunks(2).unwrap().in_place().unwrap();
        assert_eq!(ag.locate_input(RankId(3), 1), (Space::Output, 7));
        let chunks = |c: &Collective, rank| {
            (c.space_chunks(RankId(rank), Space::Input), c.space_chunks(RankId(rank), Space::Output))
        };
        assert_eq!(chunks(&ag, 1), (0, 8));
        let rs = Collective::reduce_scatter(4).unwrap().in_place().unwrap();
        assert_eq!(rs.locate_output(RankId(2), 0), (Space::Input, 2));
        // Case D46: windows follow the root.
        let gather = Collective::new(CollectiveKind::Gather, 4, 2).unwrap().rooted(2).unwrap();
        let gather = gather.in_place().unwrap();
        assert_eq!(gather.locate_input(RankId(2), 1), (Space::Output, 5));
        assert_eq!(gather.locate_input(RankId(1), 1), (Space::Input, 1));
        assert_eq!((chunks(&gather, 2), chunks(&gather, 1)), ((0, 8), (2, 0)));
        let broadcast = Collective::new(CollectiveKind::Broadcast, 4, 1).unwrap().rooted(2).unwrap();
        assert_eq!((chunks(&broadcast, 2), chunks(&broadcast, 0)), ((1, 1), (0, 1)));
        assert_eq!(chunks(&broadcast.in_place().unwrap(), 2), (0, 1));
    }

    #[test]
    fn size_tables_that_do_not_add_up_are_refused_with_the_pair() {
        // Case D47.
        let table = [vec![2, 1, 0], vec![0, 2, 3], vec![1, 1, 1]];
        let v = Collective::all_to_all_v(&table).unwrap();
        assert_eq!((v.input_chunks_of(RankId(1)), v.output_chunks_of(RankId(2))), (5, 4));
        // Rank 2's output: nothing from rank 0, three from rank 1 (its chunks 2..5), one from itself.
        let wanted = |index| v.wanted(RankId(2), index).unwrap().parts[0].clone();
        assert_eq!(wanted(0), (2, Contributors::One(RankId(1))));
        assert_eq!(wanted(3), (2, Contributors::One(RankId(2))));
        let expected = [vec![2, 0, 1], vec![1, 2, 1], vec![0, 2, 1]];
        let error = v.receiving(&expected).unwrap_err();
        assert_eq!(error.to_string(), "1→2: sends 3, expects 2");
        let error = Collective::all_to_all_v(&[vec![1, 2], vec![1]]).unwrap_err();
        assert_eq!(error.to_string(), "row 1 of the size table has 1 entries: 2 ranks need 2");
    }

    #[test]
    fn impossible_collectives_are_refused() {
        assert_eq!(Collective::all_reduce(0), Err(CollectiveError::NoRanks));
        assert!(Collective::all_reduce(1_000_000).is_err());
        assert_eq!(Collective::new(CollectiveKind::AllReduce, 2, 0), Err(CollectiveError::NoChunks));
        let broadcast = Collective::new(CollectiveKind::Broadcast, 4, 1).unwrap();
        let error = broadcast.rooted(4).unwrap_err().to_string();
        assert_eq!(error, "the root 4 does not exist: ranks go from 0 to 3");
        assert!(Collective::all_reduce(2).unwrap().rooted(1).is_err());
        assert!(Collective::new(CollectiveKind::SendRecv, 2, 1).unwrap().in_place().is_err());
        assert!(Collective::all_to_all(8).unwrap().division().check(12).is_err());
    }
}
