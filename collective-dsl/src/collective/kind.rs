//! The kinds of collective, by name.

use std::fmt;

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
    /// Rank r ends with the r-th part of every rank's input, in the order of the ranks.
    AllToAll,
    /// As all-to-all, with a number of chunks of its own for every pair of ranks.
    AllToAllV,
    /// Every rank ends with the input of the root.
    Broadcast,
    /// The root ends with the sum over all ranks of every chunk.
    Reduce,
    /// The root ends with the inputs of all ranks, in the order of the ranks.
    Gather,
    /// Rank r ends with the r-th part of the root's input.
    Scatter,
    /// One rank ends with the input of another.
    SendRecv,
    /// Every rank ends with a token that depends on every rank.
    Barrier,
    /// What the program states.
    Custom,
}

impl CollectiveKind {
    /// All kinds.
    pub const ALL: [CollectiveKind; 12] = [
        CollectiveKind::AllReduce,
        CollectiveKind::AllGather,
        CollectiveKind::ReduceScatter,
        CollectiveKind::AllToAll,
        CollectiveKind::AllToAllV,
        CollectiveKind::Broadcast,
        CollectiveKind::Reduce,
        CollectiveKind::Gather,
        CollectiveKind::Scatter,
        CollectiveKind::SendRecv,
        CollectiveKind::Barrier,
        CollectiveKind::Custom,
    ];

    /// The name in code and in traces: `all_reduce`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CollectiveKind::AllReduce => "all_reduce",
            CollectiveKind::AllGather => "all_gather",
            CollectiveKind::ReduceScatter => "reduce_scatter",
            CollectiveKind::AllToAll => "all_to_all",
            CollectiveKind::AllToAllV => "all_to_all_v",
            CollectiveKind::Broadcast => "broadcast",
            CollectiveKind::Reduce => "reduce",
            CollectiveKind::Gather => "gather",
            CollectiveKind::Scatter => "scatter",
            CollectiveKind::SendRecv => "send_recv",
            CollectiveKind::Barrier => "barrier",
            CollectiveKind::Custom => "custom",
        }
    }

    /// The kind behind a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether every rank has a part of its own in the larger buffer, so that data are divided by rank first.
    pub(super) fn divides_by_rank(self) -> bool {
        matches!(
            self,
            CollectiveKind::AllGather
                | CollectiveKind::ReduceScatter
                | CollectiveKind::AllToAll
                | CollectiveKind::Gather
                | CollectiveKind::Scatter
        )
    }
}

impl fmt::Display for CollectiveKind {
    /// The name in prose: `all-reduce`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().replace('_', "-"))
    }
}
