//! A part with its place in the numbering of ranks, links and devices.

use std::sync::Arc;

use super::fabric::Fabric;
use super::wiring::{End, Span};
use super::{Leg, LinkSpec};
use crate::machine::LinkKind;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) fabric: Fabric,
    /// What was said of the kind of its links.
    pub(super) stated: Option<LinkKind>,
    /// Number of members of a row.
    pub(super) members: u32,
    /// Distance of neighbouring members in rank ids: the product of the members of the parts before.
    pub(super) stride: u32,
    pub(super) rows: u64,
    pub(super) first_link: u64,
    pub(super) links_per_row: u64,
    /// Counted without the ranks.
    pub(super) first_device: u64,
    pub(super) devices_per_row: u64,
    /// Where links of one class begin in a row, and the class.
    pub(super) classes: Arc<[(u64, u32)]>,
    /// The kind of its links if they are all of one.
    pub(super) kind: Option<LinkKind>,
}

impl Part {
    pub(super) fn coordinate(&self, position: u32) -> u32 {
        position / self.stride % self.members
    }

    pub(super) fn row(&self, position: u32) -> u64 {
        u64::from(position % self.stride + position / self.stride / self.members * self.stride)
    }

    /// The links of a row, in the order of their numbers.
    pub(super) fn spans(&self) -> Vec<Span> {
        let spans = self.fabric.wiring().spans().into_iter();
        spans.map(|span| span.stated_around(self.stated)).collect()
    }

    /// The greatest kind of the links between two different coordinates; `kinds` has that of each class.
    pub(super) fn route_kind(&self, from: u32, to: u32, kinds: &[LinkKind]) -> LinkKind {
        self.kind.unwrap_or_else(|| {
            let mut most = LinkKind::default();
            // Rows are alike.
            self.fabric
                .wiring()
                .route(from, to, &mut |link| most = most.max(kinds[self.class(link) as usize]));
            most
        })
    }

    /// Calls `hop` with the id of each link in this part, from the coordinate of `at` to that of `dst`.
    #[inline]
    pub(super) fn route(&self, at: u32, from: u32, to: u32, mut hop: impl FnMut(u64)) {
        let first = self.first_link + self.row(at) * self.links_per_row;
        match &self.fabric {
            Fabric::Plain(dimension) => dimension.row_route(from, to, |link| hop(first + link)),
            fabric => fabric.wiring().route(from, to, &mut |link| hop(first + link)),
        }
    }

    /// The class of a link, by its number within the part.
    pub(super) fn class(&self, link: u64) -> u32 {
        match self.classes.as_ref() {
            [(_, class)] => *class,
            classes => {
                let in_row = link % self.links_per_row;
                let after = classes.partition_point(|(first, _)| *first <= in_row);
                after.checked_sub(1).map_or(0, |at| classes[at].1)
            }
        }
    }

    /// Calls `leg` with each leg of the way between two different coordinates.
    #[inline]
    pub(super) fn each_leg(&self, from: u32, to: u32, links: &[LinkSpec], leg: &mut impl FnMut(Leg)) {
        match &self.fabric {
            Fabric::Plain(dimension) => {
                let hops = dimension.hops(from, to);
                leg(Leg { hops, bandwidth: dimension.bandwidth, latency: dimension.latency });
            }
            fabric => {
                let mut last: Option<Leg> = None;
                fabric.wiring().route(from, to, &mut |link| {
                    let LinkSpec { bandwidth, latency } = links[self.class(link) as usize];
                    match &mut last {
                        // Neighbours of one sort are one leg.
                        Some(last) if (last.bandwidth, last.latency) == (bandwidth, latency) => {
                            last.hops += 1
                        }
                        last => {
                            if let Some(done) = last.replace(Leg { hops: 1, bandwidth, latency }) {
                                leg(done);
                            }
                        }
                    }
                });
                last.into_iter().for_each(leg);
            }
        }
    }

    /// The position that a member of a row is.
    pub(super) fn position(&self, row: u64, member: u32) -> u64 {
        // Members of a row differ only in this coordinate.
        let stride = u64::from(self.stride);
        row % stride + row / stride * stride * u64::from(self.members) + u64::from(member) * stride
    }

    /// The devices at the ends of a link, by its number within the part; `positions` come before all others.
    pub(super) fn ends(&self, link: u64, positions: u64) -> (u64, u64) {
        let row = link / self.links_per_row;
        let (from, to) = self.fabric.wiring().ends(link % self.links_per_row);
        let device = |end| match end {
            End::Member(member) => self.position(row, member),
            End::Device(device) => positions + self.first_device + row * self.devices_per_row + device,
        };
        (device(from), device(to))
    }
}
