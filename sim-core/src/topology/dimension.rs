//! One dimension of a topology: the links of one row, and routes among its members.
//!
//! | kind | links of a row of n, in the order of their numbers | hops |
//! |---|---|---|
//! | Ring | i → i+1 for each i, then i → i−1 for each i; of 2: one each way | the shorter way |
//! | Switch | up-link of each member, then down-link of each member | 2 |
//! | FullyConnected | for each member the links to the others, ascending | 1 |

use std::fmt;

use crate::units::{Bandwidth, Latency};

/// How the members of a dimension are wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DimensionKind {
    /// A directed link each way between neighbours, the last and the first included.
    Ring,
    /// An up-link and a down-link for each member, through one switch without a limit of its own.
    Switch,
    /// A directed link for each ordered pair.
    FullyConnected,
}

impl fmt::Display for DimensionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ring => "Ring",
            Self::Switch => "Switch",
            Self::FullyConnected => "FullyConnected",
        })
    }
}

/// One dimension of a [`Topology`](super::Topology).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dimension {
    /// How the members are wired.
    pub kind: DimensionKind,
    /// Number of members in a row, at least 1.
    pub size: u32,
    /// Bandwidth of each directed link.
    pub bandwidth: Bandwidth,
    /// Latency of each directed link; a message through a switch pays it twice.
    pub latency: Latency,
}

impl Dimension {
    /// A bidirectional ring.
    #[must_use]
    pub fn ring(size: u32, bandwidth: Bandwidth, latency: Latency) -> Self {
        Self { kind: DimensionKind::Ring, size, bandwidth, latency }
    }

    /// A switch with one up-link and one down-link for each member.
    #[must_use]
    pub fn switch(size: u32, bandwidth: Bandwidth, latency: Latency) -> Self {
        Self { kind: DimensionKind::Switch, size, bandwidth, latency }
    }

    /// A link from each member to each other one.
    #[must_use]
    pub fn fully_connected(size: u32, bandwidth: Bandwidth, latency: Latency) -> Self {
        Self { kind: DimensionKind::FullyConnected, size, bandwidth, latency }
    }

    pub(super) fn links_per_row(&self) -> u64 {
        let size = u64::from(self.size);
        match self.kind {
            _ if size == 1 => 0,
            DimensionKind::Ring if size == 2 => 2,
            DimensionKind::Ring | DimensionKind::Switch => 2 * size,
            DimensionKind::FullyConnected => size * (size - 1),
        }
    }

    /// Number of links between two different members.
    pub(super) fn hops(&self, from: u32, to: u32) -> u32 {
        match self.kind {
            DimensionKind::Ring => {
                let up = self.distance_up(from, to);
                up.min(self.size - up)
            }
            DimensionKind::Switch => 2,
            DimensionKind::FullyConnected => 1,
        }
    }

    /// Calls `hop` with the number of each link between two different members, in the order of travel.
    pub(super) fn row_route(&self, from: u32, to: u32, mut hop: impl FnMut(u64)) {
        let size = u64::from(self.size);
        let (first, last) = (u64::from(from), u64::from(to));
        match self.kind {
            DimensionKind::Ring => {
                let up = self.distance_up(from, to);
                let hops = u64::from(up.min(self.size - up));
                if up <= self.size - up {
                    (0..hops).for_each(|k| hop((first + k) % size));
                } else {
                    (0..hops).for_each(|k| hop(size + (first + size - k) % size));
                }
            }
            DimensionKind::Switch => {
                hop(first);
                hop(size + last);
            }
            DimensionKind::FullyConnected => hop(first * (size - 1) + last - u64::from(last > first)),
        }
    }

    /// Says which link of a row it is, given the rank ids of the row's members.
    pub(super) fn describe(&self, link: u64, rank_of: impl Fn(u32) -> u64) -> String {
        let size = u64::from(self.size);
        let rank = |member: u64| rank_of((member % size) as u32);
        match self.kind {
            DimensionKind::Ring => {
                let (from, step) = if link < size { (link, 1) } else { (link - size, size - 1) };
                format!("link from rank {} to rank {}", rank(from), rank(from + step))
            }
            DimensionKind::Switch if link < size => format!("up-link of rank {}", rank(link)),
            DimensionKind::Switch => format!("down-link of rank {}", rank(link - size)),
            DimensionKind::FullyConnected => {
                let (from, other) = (link / (size - 1), link % (size - 1));
                format!("link from rank {} to rank {}", rank(from), rank(other + u64::from(other >= from)))
            }
        }
    }

    /// Steps from one member to another in the direction of increasing ids.
    fn distance_up(&self, from: u32, to: u32) -> u32 {
        if to >= from { to - from } else { self.size - from + to }
    }
}
