//! Links and devices, as a topology names them.

use crate::units::{Bandwidth, Latency};

/// The number of a directed link in its [`Topology`](super::Topology).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub u64);

/// The number of a device in its [`Topology`](super::Topology): the positions of ranks first, then cards and switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId(pub u64);

/// What a link to be declared carries, and how long a bit is on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSpec {
    /// Bandwidth of each direction.
    pub bandwidth: Bandwidth,
    /// Latency of each direction.
    pub latency: Latency,
}

impl LinkSpec {
    /// A link of this bandwidth and latency.
    #[must_use]
    pub fn new(bandwidth: Bandwidth, latency: Latency) -> Self {
        Self { bandwidth, latency }
    }
}

/// A directed link.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// What the link carries.
    pub bandwidth: Bandwidth,
    /// How long a bit is on its way.
    pub latency: Latency,
    /// Which link it is, such as "leaf 3 → spine 1".
    pub description: String,
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// This rank.
    Rank(u32),
    /// A position at which no rank was placed.
    Free,
    /// A network card.
    Card,
    /// A switch or router.
    Switch,
}

/// A device: a rank, a card or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// Its name, such as "rank 3" or "leaf 1".
    pub name: String,
    /// What it is.
    pub kind: DeviceKind,
    /// The part of the product that it belongs to; 0 for ranks.
    pub part: usize,
    /// How far from the ranks: 0 for ranks, 1 for what they hang on, and so on.
    pub tier: u32,
    /// Whether it joins ranks within a node: a device of part 0 of several, or of a cluster's node.
    pub within_node: bool,
}

/// The part of a route with links of one sort.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leg {
    pub(crate) hops: u32,
    pub(crate) bandwidth: Bandwidth,
    pub(crate) latency: Latency,
}
