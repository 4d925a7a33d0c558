//! The kinds of collectives.

use std::fmt;

use crate::proto::CollectiveCommType;

/// What a COMM_COLL node does: the ten kinds of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CollectiveKind {
    /// Every rank gets the sum of all buffers.
    AllReduce,
    /// The root gets the sum of all buffers.
    Reduce,
    /// Every rank gets the inputs of all, one after the other.
    AllGather,
    /// The root gets the inputs of all.
    Gather,
    /// Every rank gets its part of the root's buffer.
    Scatter,
    /// Every rank gets the root's buffer.
    Broadcast,
    /// Every rank sends a part of its buffer to every other.
    AllToAll,
    /// Every rank gets its part of the sum of all buffers.
    ReduceScatter,
    /// The same with equal parts, a name that MPI has for it.
    ReduceScatterBlock,
    /// Nobody goes on before all have come.
    Barrier,
}

impl CollectiveKind {
    /// All kinds, by their value in files.
    pub const ALL: [Self; 10] = [
        Self::AllReduce,
        Self::Reduce,
        Self::AllGather,
        Self::Gather,
        Self::Scatter,
        Self::Broadcast,
        Self::AllToAll,
        Self::ReduceScatter,
        Self::ReduceScatterBlock,
        Self::Barrier,
    ];

    /// The kind of a `comm_type`; None for values that the format does not define.
    #[must_use]
    pub fn from_wire(comm_type: u32) -> Option<Self> {
        Self::ALL.get(comm_type as usize).copied()
    }

    /// The value of `comm_type`.
    #[must_use]
    pub fn wire(self) -> u32 {
        match self {
            Self::AllReduce => CollectiveCommType::AllReduce as u32,
            Self::Reduce => CollectiveCommType::Reduce as u32,
            Self::AllGather => CollectiveCommType::AllGather as u32,
            Self::Gather => CollectiveCommType::Gather as u32,
            Self::Scatter => CollectiveCommType::Scatter as u32,
            Self::Broadcast => CollectiveCommType::Broadcast as u32,
            Self::AllToAll => CollectiveCommType::AllToAll as u32,
            Self::ReduceScatter => CollectiveCommType::ReduceScatter as u32,
            Self::ReduceScatterBlock => CollectiveCommType::ReduceScatterBlock as u32,
            Self::Barrier => CollectiveCommType::Barrier as u32,
        }
    }

    /// The name in snake case, such as `all_reduce`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::Reduce => "reduce",
            Self::AllGather => "all_gather",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Broadcast => "broadcast",
            Self::AllToAll => "all_to_all",
            Self::ReduceScatter => "reduce_scatter",
            Self::ReduceScatterBlock => "reduce_scatter_block",
            Self::Barrier => "barrier",
        }
    }

    /// Whether one rank is the root.
    #[must_use]
    pub fn has_root(self) -> bool {
        matches!(self, Self::Reduce | Self::Gather | Self::Scatter | Self::Broadcast)
    }

    /// The size of a collective by the convention of nccl-tests, from its `comm_size` and the number of ranks: an
    /// all-gather's and a gather's `comm_size` is the input of one rank, and the size is that of the gathered buffer. None
    /// if it does not fit.
    #[must_use]
    pub fn size(self, comm_size: u64, ranks: u64) -> Option<u64> {
        match self {
            Self::AllGather | Self::Gather => comm_size.checked_mul(ranks),
            _ => Some(comm_size),
        }
    }
}

impl fmt::Display for CollectiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbered_as_in_the_format() {
        for (value, kind) in (0..).zip(CollectiveKind::ALL) {
            assert_eq!(kind.wire(), value);
            assert_eq!(CollectiveKind::from_wire(value), Some(kind));
            let name = CollectiveCommType::try_from(value as i32).unwrap().as_str_name().to_lowercase();
            assert_eq!(kind.name(), name);
        }
        assert_eq!(CollectiveKind::from_wire(10), None);
    }
}
