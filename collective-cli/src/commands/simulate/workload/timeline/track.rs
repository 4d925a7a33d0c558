//! Processes and threads of a timeline.

use collective::sim::topology::{LinkId, Topology};
use collective::sim::workload::Track;

/// A track, whose group is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Gpu { rank: u32, stream: u32 },
    Cpu { rank: u32, thread: u32 },
    Memory { rank: u32 },
    Group { rank: u32, group: u32 },
    Messages { rank: u32 },
    ThreadBlock { rank: u32, group: u32, thread_block: u32 },
    Link { link: LinkId },
}

impl Key {
    /// The key of a track; none for one that this version does not know.
    pub(super) fn of(track: &Track<'_>, group_of: impl Fn(&str) -> u32) -> Option<Self> {
        Some(match *track {
            Track::Gpu { rank, stream } => Self::Gpu { rank, stream },
            Track::Cpu { rank, thread } => Self::Cpu { rank, thread },
            Track::Memory { rank } => Self::Memory { rank },
            Track::Group { rank, group } => Self::Group { rank, group: group_of(group) },
            Track::Messages { rank } => Self::Messages { rank },
            Track::ThreadBlock { rank, group, thread_block } => {
                Self::ThreadBlock { rank, group: group_of(group), thread_block }
            }
            Track::Link { link } => Self::Link { link },
            _ => return None,
        })
    }

    /// The rank; none for links.
    pub(super) fn rank(self) -> Option<u32> {
        match self {
            Self::Gpu { rank, .. }
            | Self::Cpu { rank, .. }
            | Self::Memory { rank }
            | Self::Group { rank, .. }
            | Self::Messages { rank }
            | Self::ThreadBlock { rank, .. } => Some(rank),
            Self::Link { .. } => None,
        }
    }

    /// What the thread is called.
    pub(super) fn label(self, names: &[String], topology: Option<&Topology>) -> String {
        let group = |group: u32| match names.get(group as usize) {
            Some(name) if !name.is_empty() => format!("group {name}"),
            _ => "all ranks".to_owned(),
        };
        match self {
            Self::Gpu { stream, .. } => format!("GPU stream {stream}"),
            Self::Cpu { thread, .. } => format!("CPU thread {thread}"),
            Self::Memory { .. } => "memory".to_owned(),
            Self::Group { group: of, .. } => format!("collectives, {}", group(of)),
            Self::Messages { .. } => "messages".to_owned(),
            Self::ThreadBlock { group: of, thread_block, .. } => {
                format!("thread block {thread_block}, {}", group(of))
            }
            Self::Link { link } => topology
                .and_then(|topology| topology.link(link))
                .map_or_else(|| format!("link {}", link.0), |link| link.description),
        }
    }

    /// Where the thread is shown in its process: by kind, then by number.
    pub(super) fn place(self, lane: u32) -> u64 {
        // Of each as many as fit; what is beyond is shown in any order.
        let place = |kind: u64, group: u32, number: u32| {
            let (group, number, lane) = (group.min(9_999), number.min(999), lane.min(9));
            kind * 100_000_000 + u64::from(group) * 10_000 + u64::from(number) * 10 + u64::from(lane)
        };
        match self {
            Self::Gpu { stream, .. } => place(0, 0, stream),
            Self::Cpu { thread, .. } => place(1, 0, thread),
            Self::Memory { .. } => place(2, 0, 0),
            Self::Group { group, .. } => place(3, group, 0),
            Self::Messages { .. } => place(4, 0, 0),
            Self::ThreadBlock { group, thread_block, .. } => place(5, group, thread_block),
            Self::Link { link } => link.0.min(99_999_999) * 10 + u64::from(lane.min(9)),
        }
    }
}
