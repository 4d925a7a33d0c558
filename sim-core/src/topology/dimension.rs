//! One dimension of a topology: the links of one row, and routes among its members.
//!
//! | kind | links of a row of n, in the order of their numbers | hops |
//! |---|---|---|
//! | Ring | i → i+1 for each i, then i → i−1 for each i; of 2: one each way | the shorter way |
//! | OneWayRing | i → i+1 for each i | (to − from) mod n |
//! | Line | i → i+1 for each i but the last, then i → i−1 for each i but the first | \|to − from\| |
//! | Switch | up-link of each member, then down-link of each member | 2 |
//! | FullyConnected | for each member the links to the others, ascending | 1 |
//! | Hypercube | for each member the links that flip bit 0, 1, … of its number | bits that differ |

use std::fmt;

use super::wiring::{Diameter, End, OwnDevice, Span, Wiring};
use super::{LinkSpec, TopologyError};
use crate::units::{Bandwidth, Latency};

/// How the members of a dimension are wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DimensionKind {
    /// A directed link each way between neighbours, the last and the first included.
    Ring,
    /// A directed link from each member to the next, and from the last to the first.
    OneWayRing,
    /// A directed link each way between neighbours, and none between the last and the first.
    Line,
    /// An up-link and a down-link for each member, through one switch without a limit of its own.
    Switch,
    /// A directed link for each ordered pair.
    FullyConnected,
    /// A directed link each way between members whose numbers differ in one bit; a power of two of members.
    Hypercube,
}

impl fmt::Display for DimensionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ring => "Ring",
            Self::OneWayRing => "OneWayRing",
            Self::Line => "Line",
            Self::Switch => "Switch",
            Self::FullyConnected => "FullyConnected",
            Self::Hypercube => "Hypercube",
        })
    }
}

/// One dimension of a [`Topology`](super::Topology) whose links are all alike.
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

    /// A ring whose links lead only upwards, and from the last to the first.
    #[must_use]
    pub fn one_way_ring(size: u32, bandwidth: Bandwidth, latency: Latency) -> Self {
        Self { kind: DimensionKind::OneWayRing, size, bandwidth, latency }
    }

    /// A line: a bidirectional ring without the links between the last and the first. The product of lines is a mesh.
    #[must_use]
    pub fn line(size: u32, bandwidth: Bandwidth, latency: Latency) -> Self {
        Self { kind: DimensionKind::Line, size, bandwidth, latency }
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

    /// A hypercube; `size` is a power of two.
    #[must_use]
    pub fn hypercube(size: u32, bandwidth: Bandwidth, latency: Latency) -> Self {
        Self { kind: DimensionKind::Hypercube, size, bandwidth, latency }
    }

    pub(super) fn check(&self, at: usize) -> Result<(), TopologyError> {
        match self.kind {
            _ if self.size == 0 => Err(TopologyError::EmptyDimension { dimension: at }),
            DimensionKind::Hypercube if !self.size.is_power_of_two() => {
                Err(TopologyError::NoPowerOfTwo { size: self.size })
            }
            _ => Ok(()),
        }
    }

    fn links_per_row(&self) -> u64 {
        let size = u64::from(self.size);
        match self.kind {
            _ if size == 1 => 0,
            DimensionKind::Ring if size == 2 => 2,
            DimensionKind::Ring | DimensionKind::Switch => 2 * size,
            DimensionKind::OneWayRing => size,
            DimensionKind::Line => 2 * (size - 1),
            DimensionKind::FullyConnected => size * (size - 1),
            DimensionKind::Hypercube => size * u64::from(self.bits()),
        }
    }

    /// Number of links between two different members.
    pub(super) fn hops(&self, from: u32, to: u32) -> u32 {
        match self.kind {
            DimensionKind::Ring => {
                let up = self.distance_up(from, to);
                up.min(self.size - up)
            }
            DimensionKind::OneWayRing => self.distance_up(from, to),
            DimensionKind::Line => from.abs_diff(to),
            DimensionKind::Switch => 2,
            DimensionKind::FullyConnected => 1,
            DimensionKind::Hypercube => (from ^ to).count_ones(),
        }
    }

    /// Calls `hop` with the number of each link between two different members, in the order of travel.
    #[inline]
    pub(super) fn row_route(&self, from: u32, to: u32, mut hop: impl FnMut(u64)) {
        let size = u64::from(self.size);
        let (first, last) = (u64::from(from), u64::from(to));
        match self.kind {
            DimensionKind::Ring | DimensionKind::OneWayRing => {
                let up = self.distance_up(from, to);
                if up <= self.size - up || self.kind == DimensionKind::OneWayRing {
                    (0..u64::from(up)).for_each(|k| hop((first + k) % size));
                } else {
                    (0..u64::from(self.size - up)).for_each(|k| hop(size + (first + size - k) % size));
                }
            }
            DimensionKind::Line if from < to => (first..last).for_each(hop),
            // The first link down is that of member 1.
            DimensionKind::Line => (last + 1..=first).rev().for_each(|member| hop(size - 1 + member - 1)),
            DimensionKind::Switch => {
                hop(first);
                hop(size + last);
            }
            DimensionKind::FullyConnected => hop(first * (size - 1) + last - u64::from(last > first)),
            DimensionKind::Hypercube => {
                let (bits, mut at) = (self.bits(), from);
                for bit in (0..bits).filter(|bit| (from ^ to) >> bit & 1 == 1) {
                    hop(u64::from(at) * u64::from(bits) + u64::from(bit));
                    at ^= 1 << bit;
                }
            }
        }
    }

    /// Steps from one member to another in the direction of increasing ids.
    fn distance_up(&self, from: u32, to: u32) -> u32 {
        if to >= from { to - from } else { self.size - from + to }
    }

    /// Of a hypercube, in how many bits members can differ.
    fn bits(&self) -> u32 {
        self.size.trailing_zeros()
    }

    /// The link of all.
    pub(super) fn link(&self) -> LinkSpec {
        LinkSpec { bandwidth: self.bandwidth, latency: self.latency }
    }
}

impl Wiring for Dimension {
    fn members(&self) -> u32 {
        self.size
    }

    fn devices(&self) -> u64 {
        u64::from(self.kind == DimensionKind::Switch && self.size > 1)
    }

    fn spans(&self) -> Vec<Span> {
        let what = match self.kind {
            DimensionKind::Ring | DimensionKind::OneWayRing => "ring link",
            DimensionKind::Line => "line link",
            DimensionKind::Switch => "switch link",
            DimensionKind::FullyConnected => "direct link",
            DimensionKind::Hypercube => "hypercube link",
        };
        vec![Span::new(what, self.links_per_row(), self.link())]
    }

    fn ends(&self, link: u64) -> (End, End) {
        let size = u64::from(self.size);
        // Every member fits 32 bits, as the size does.
        let member = |member: u64| End::Member((member % size) as u32);
        let (from, to) = match self.kind {
            DimensionKind::Ring | DimensionKind::OneWayRing if link < size => (link, link + 1),
            DimensionKind::Ring | DimensionKind::OneWayRing => (link - size, link - 1),
            DimensionKind::Line if link < size - 1 => (link, link + 1),
            DimensionKind::Line => (link + 2 - size, link + 1 - size),
            DimensionKind::Switch if link < size => return (member(link), End::Device(0)),
            DimensionKind::Switch => return (End::Device(0), member(link - size)),
            DimensionKind::FullyConnected => {
                let (from, other) = (link / (size - 1), link % (size - 1));
                (from, other + u64::from(other >= from))
            }
            DimensionKind::Hypercube => {
                let bits = u64::from(self.bits());
                (link / bits, (link / bits) ^ (1 << (link % bits)))
            }
        };
        (member(from), member(to))
    }

    fn device(&self, _: u64) -> OwnDevice {
        OwnDevice::switch("switch".to_owned(), 1)
    }

    fn route(&self, from: u32, to: u32, hop: &mut dyn FnMut(u64)) {
        self.row_route(from, to, hop);
    }

    fn diameter(&self) -> Diameter {
        Diameter::exact(match self.kind {
            _ if self.size == 1 => 0,
            DimensionKind::Ring => self.size / 2,
            DimensionKind::OneWayRing | DimensionKind::Line => self.size - 1,
            DimensionKind::Switch => 2,
            DimensionKind::FullyConnected => 1,
            DimensionKind::Hypercube => self.bits(),
        })
    }

    fn injection(&self) -> [f64; 2] {
        let [least, most] = match self.kind {
            _ if self.size == 1 => [0, 0],
            DimensionKind::Ring if self.size == 2 => [1, 1],
            DimensionKind::Ring => [2, 2],
            DimensionKind::OneWayRing | DimensionKind::Switch => [1, 1],
            DimensionKind::Line => [1, 2.min(self.size - 1)],
            DimensionKind::FullyConnected => [self.size - 1; 2],
            DimensionKind::Hypercube => [self.bits(); 2],
        };
        [least, most].map(|links| f64::from(links) * self.bandwidth.bytes_per_s())
    }

    fn halving(&self) -> Option<f64> {
        if self.size < 2 || !self.size.is_multiple_of(2) {
            return None;
        }
        let half = f64::from(self.size / 2);
        let links = match self.kind {
            DimensionKind::Ring if self.size > 2 => 2.0,
            DimensionKind::Ring | DimensionKind::OneWayRing | DimensionKind::Line => 1.0,
            DimensionKind::Switch | DimensionKind::Hypercube => half,
            DimensionKind::FullyConnected => half * half,
        };
        Some(links * self.bandwidth.bytes_per_s())
    }
}
