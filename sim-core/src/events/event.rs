//! Events, and their keys.

use super::MessageId;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A message is at the end of a hop.
    Arrival(MessageId),
    /// A link with a queue falls free, or what else the model has a number for.
    LinkFree(u32),
    /// A COMP has ended, or the first of several that end together.
    Computed { rank: u32, node: u32 },
    /// A RECV has its message, or a SEND has finished apart from its message's arrival.
    Received { rank: u32, node: u32 },
    /// A rank that is late begins.
    Start { rank: u32 },
    /// The overhead of a SEND is over.
    Inject { rank: u32, node: u32 },
    /// A message is there whose SEND belongs to somebody else.
    Landed(MessageId),
}

/// Room for the kind of an event.
pub(super) const KIND_BITS: u32 = 3;

/// Below these, keys are total: they fit their bits.
pub(crate) const MOST_RANKS: usize = (1 << (64 - NODE_BITS - KIND_BITS)) - 1;
pub(crate) const MOST_NODES: usize = 1 << NODE_BITS;
const NODE_BITS: u32 = 31;

impl Event {
    /// Kind and contents.
    #[inline]
    pub(super) fn pack(self) -> (u64, u32, u32) {
        match self {
            Self::Arrival(message) => (0, message.index(), 0),
            Self::LinkFree(link) => (1, link, 0),
            Self::Computed { rank, node } => (2, rank, node),
            Self::Received { rank, node } => (3, rank, node),
            Self::Start { rank } => (4, rank, 0),
            Self::Inject { rank, node } => (5, rank, node),
            Self::Landed(message) => (6, message.index(), 0),
        }
    }

    #[inline]
    pub(super) fn unpack(kind: u64, first: u32, second: u32) -> Self {
        match kind & ((1 << KIND_BITS) - 1) {
            0 => Self::Arrival(MessageId::new(first)),
            1 => Self::LinkFree(first),
            2 => Self::Computed { rank: first, node: second },
            3 => Self::Received { rank: first, node: second },
            4 => Self::Start { rank: first },
            5 => Self::Inject { rank: first, node: second },
            _ => Self::Landed(MessageId::new(first)),
        }
    }

    /// The key of an event without a message.
    #[inline]
    pub(super) fn key(self) -> u64 {
        match self {
            Self::Computed { rank, node } | Self::Received { rank, node } | Self::Inject { rank, node } => {
                node_key(rank, node)
            }
            Self::Start { rank } => node_key(rank, 0),
            // Below the keys of all ranks.
            Self::LinkFree(number) => u64::from(number) << KIND_BITS,
            // Theirs are those of their messages: see `schedule_message`.
            Self::Arrival(_) | Self::Landed(_) => 0,
        }
    }
}

/// What an event of a node or of the message of a SEND is ordered by, with room for its kind.
#[inline]
pub(super) fn node_key(rank: u32, node: u32) -> u64 {
    (u64::from(rank) + 1) << (NODE_BITS + KIND_BITS) | u64::from(node) << KIND_BITS
}
