//! The runtimes that MSCCL XML is written for: how they name collectives, and what they can hold.

use std::fmt;
use std::str::FromStr;

use crate::collective::CollectiveKind;
use crate::options::UnknownOption;

/// A runtime, and with it a dialect of MSCCL XML.
///
/// | | `msccl` | `msccl-executor`, `rccl` |
/// |---|---|---|
/// | attributes of `algo` | up to `inplace` | and `outofplace`, `minBytes`, `maxBytes` |
/// | reduce-scatter is called | `reduce_scatter` | `reducescatter` |
/// | collectives with no name | become `custom` | are refused |
/// | all-to-all-v | `custom`, every buffer as long as the longest | refused: a file has no size table |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Target {
    /// `microsoft/msccl`, and the schedules of `microsoft/msccl-tools`.
    #[default]
    Msccl,
    /// `Azure/msccl-executor-nccl`.
    Executor,
    /// `ROCm/rccl`.
    Rccl,
}

/// How much a runtime can hold; a number is the most that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Steps of a thread block, with those that only wait.
    pub steps: usize,
    /// Thread blocks of a rank.
    pub thread_blocks: usize,
    /// Channels.
    pub channels: u32,
    /// Thread blocks of a rank that send on one channel, and that receive on one.
    pub ends_per_channel: usize,
    /// Chunks that one step moves.
    pub count: u32,
    /// The highest thread block that can be waited for: the runtimes keep it in eight bits.
    pub awaited_block: u32,
    /// The highest chunk of a buffer, and the highest step: sixteen bits.
    pub index: u32,
    /// XML elements that one rank keeps: the root, all `gpu`, and its own thread blocks and steps.
    pub elements: usize,
    /// Children of one element.
    pub children: usize,
    /// Bytes of an attribute's value.
    pub text: usize,
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 3] = [Target::Msccl, Target::Executor, Target::Rccl];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Target::Msccl => "msccl",
            Target::Executor => "msccl-executor",
            Target::Rccl => "rccl",
        }
    }

    /// What it can hold.
    ///
    /// ```
    /// use collective_dsl::msccl::Target;
    /// assert_eq!(Target::Msccl.limits().steps, 256);
    /// assert_eq!(Target::Rccl.limits().thread_blocks, 64);
    /// ```
    #[must_use]
    pub fn limits(self) -> Limits {
        let (steps, thread_blocks, channels) = match self {
            Target::Msccl => (256, 216, 32),
            // The executor's number of steps can be raised when it is built.
            Target::Executor => (64, 1024, 32),
            Target::Rccl => (64, 64, 128),
        };
        Limits {
            steps,
            thread_blocks,
            channels,
            ends_per_channel: 32,
            count: 71,
            awaited_block: 127,
            index: 32_767,
            elements: 4096,
            children: 1024,
            text: 255,
        }
    }

    /// Whether its `algo` needs `outofplace`, `minBytes` and `maxBytes`.
    pub(super) fn states_range(self) -> bool {
        self != Target::Msccl
    }

    /// Its word for a collective; `None` if it has none.
    pub(super) fn collective_name(self, kind: CollectiveKind) -> Option<&'static str> {
        match (kind, self) {
            (CollectiveKind::AllReduce, _) => Some("allreduce"),
            (CollectiveKind::AllGather, _) => Some("allgather"),
            (CollectiveKind::ReduceScatter, Target::Msccl) => Some("reduce_scatter"),
            (CollectiveKind::ReduceScatter, _) => Some("reducescatter"),
            (CollectiveKind::AllToAll, _) => Some("alltoall"),
            (CollectiveKind::Broadcast, _) => Some("broadcast"),
            (CollectiveKind::Reduce, _) => Some("reduce"),
            (_, Target::Msccl) => Some("custom"),
            (CollectiveKind::Gather, _) => Some("gather"),
            (CollectiveKind::Scatter, _) => Some("scatter"),
            _ => None,
        }
    }
}

/// The kind behind a word of any dialect; `Custom` for those that do not say enough, such as `send`.
pub(super) fn collective_kind(name: &str) -> Option<CollectiveKind> {
    match name {
        "allreduce" => Some(CollectiveKind::AllReduce),
        "allgather" => Some(CollectiveKind::AllGather),
        "reduce_scatter" | "reducescatter" => Some(CollectiveKind::ReduceScatter),
        "alltoall" => Some(CollectiveKind::AllToAll),
        "broadcast" => Some(CollectiveKind::Broadcast),
        "reduce" => Some(CollectiveKind::Reduce),
        "gather" => Some(CollectiveKind::Gather),
        "scatter" => Some(CollectiveKind::Scatter),
        "custom" | "send" | "recv" | "alltoallv" => Some(CollectiveKind::Custom),
        _ => None,
    }
}

/// All words that [`collective_kind`] knows.
pub(super) const COLLECTIVE_NAMES: &str = "allreduce, allgather, reduce_scatter (reducescatter), alltoall, \
     broadcast, reduce, gather, scatter, send, recv, alltoallv or custom";

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, UnknownOption> {
        let known = "msccl, msccl-executor or rccl";
        Self::ALL
            .into_iter()
            .find(|target| target.name() == name)
            .ok_or_else(|| UnknownOption::new("target", name, known))
    }
}
