//! Networks: which links there are and which of them a message takes.
//!
//! A [`Topology`] is a product of [`Dimension`]s. Rank ids count through the coordinates, dimension 0
//! fastest: id = c0 + n0·(c1 + n1·(c2 + …)). A dimension is replicated for each combination of the
//! other coordinates, its *rows*: Switch(8) × Switch(4) is 4 nodes of 8 GPUs, and GPU k of every node
//! hangs with its own NIC on the k-th of 8 rails.
//!
//! Links are directed and numbered in closed form, so that a topology takes no memory for them.
//! Routes go dimension by dimension, 0 first. With the feature `config`, `load` reads topologies
//! from files.
//!
//! ```
//! use sim_core::topology::{Dimension, Topology};
//!
//! let cluster = Topology::new([
//!     Dimension::switch(8, "400 GB/s".parse()?, "500 ns".parse()?),
//!     Dimension::switch(4, "400 Gb/s".parse()?, "2 us".parse()?),
//! ])?;
//! assert_eq!(cluster.rank_count(), 32);
//!
//! // GPU 3 of node 0 to GPU 4 of node 1: through the node's switch to GPU 4, then along rail 4.
//! let mut route = Vec::new();
//! cluster.route(3, 12, &mut route);
//! let links: Vec<String> = route.iter().filter_map(|id| cluster.link(*id)).map(|l| l.description).collect();
//! assert_eq!(
//!     links,
//!     [
//!         "dimension 0 (Switch of 8), row 0, up-link of rank 3",
//!         "dimension 0 (Switch of 8), row 0, down-link of rank 4",
//!         "dimension 1 (Switch of 4), row 4, up-link of rank 4",
//!         "dimension 1 (Switch of 4), row 4, down-link of rank 12",
//!     ]
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "config")]
mod astra_yaml;
#[cfg(feature = "config")]
mod config_error;
mod dimension;
#[cfg(feature = "config")]
mod load;
#[cfg(feature = "config")]
mod own_toml;

use thiserror::Error;

use crate::units::{Bandwidth, Latency};

#[cfg(feature = "config")]
pub use config_error::ConfigError;
pub use dimension::{Dimension, DimensionKind};
#[cfg(feature = "config")]
pub use load::{LoadedTopology, load, parse_astra_yaml, parse_toml};

/// The number of a directed link in its [`Topology`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub u64);

/// A directed link.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// What the link carries.
    pub bandwidth: Bandwidth,
    /// How long a bit is on its way.
    pub latency: Latency,
    /// Which link it is, such as "dimension 1 (Switch of 4), row 3, up-link of rank 11".
    pub description: String,
}

/// Dimensions that make no topology.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// There are no dimensions.
    #[error("a topology has at least one dimension, but there is none")]
    NoDimension,
    /// A dimension has no members.
    #[error("dimension {dimension} has size 0: expected at least 1")]
    EmptyDimension {
        /// The dimension's position.
        dimension: usize,
    },
    /// The ranks or links cannot be numbered.
    #[error("the topology has too many {what}: expected at most {limit}")]
    TooLarge {
        /// Ranks or links.
        what: &'static str,
        /// How many there can be.
        limit: u64,
    },
}

/// A network of ranks: a product of dimensions (see the [module](self)).
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    dimensions: Vec<Placed>,
    /// By dimension, what its links are.
    classes: Vec<(Bandwidth, Latency)>,
    rank_count: u32,
    link_count: u64,
}

/// A dimension with its place in the numbering of ranks and links.
#[derive(Clone, Debug, PartialEq)]
struct Placed {
    dimension: Dimension,
    /// Distance of neighbouring members in rank ids: the product of the sizes before.
    stride: u32,
    first_link: u64,
}

/// The part of a route that lies in one dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leg {
    pub(crate) hops: u32,
    pub(crate) bandwidth: Bandwidth,
    pub(crate) latency: Latency,
}

impl Topology {
    /// The product of `dimensions`, of which the first varies fastest in the rank ids.
    ///
    /// # Errors
    /// [`TopologyError`] if there are no dimensions, one is empty, or there are more than 2^30 ranks or
    /// more than 2^64 − 1 links.
    pub fn new(dimensions: impl IntoIterator<Item = Dimension>) -> Result<Self, TopologyError> {
        /// Leaves room for flags beside a rank in the engine's compact records.
        const MAX_RANKS: u32 = 1 << 30;
        let dimensions: Vec<Dimension> = dimensions.into_iter().collect();
        if dimensions.is_empty() {
            return Err(TopologyError::NoDimension);
        }
        let mut rank_count = 1u32;
        for (at, dimension) in dimensions.iter().enumerate() {
            if dimension.size == 0 {
                return Err(TopologyError::EmptyDimension { dimension: at });
            }
            rank_count = rank_count
                .checked_mul(dimension.size)
                .filter(|&ranks| ranks <= MAX_RANKS)
                .ok_or(TopologyError::TooLarge { what: "ranks", limit: u64::from(MAX_RANKS) })?;
        }
        let (mut stride, mut first_link, mut placed) = (1, 0u64, Vec::with_capacity(dimensions.len()));
        for dimension in dimensions {
            let rows = u64::from(rank_count / dimension.size);
            let size = dimension.size;
            let links = rows.checked_mul(dimension.links_per_row());
            placed.push(Placed { dimension, stride, first_link });
            first_link = links
                .and_then(|links| first_link.checked_add(links))
                .ok_or(TopologyError::TooLarge { what: "links", limit: u64::MAX })?;
            stride *= size;
        }
        let classes =
            placed.iter().map(|placed| (placed.dimension.bandwidth, placed.dimension.latency)).collect();
        Ok(Self { dimensions: placed, classes, rank_count, link_count: first_link })
    }

    /// Number of ranks: the product of the sizes.
    #[must_use]
    pub fn rank_count(&self) -> u32 {
        self.rank_count
    }

    /// Number of directed links; their ids are 0 … `link_count` − 1.
    #[must_use]
    pub fn link_count(&self) -> u64 {
        self.link_count
    }

    /// The dimensions, the one that varies fastest first.
    pub fn dimensions(&self) -> impl ExactSizeIterator<Item = &Dimension> {
        self.dimensions.iter().map(|placed| &placed.dimension)
    }

    /// Appends the links from rank `src` to rank `dst` to `route`, in the order of travel.
    ///
    /// Dimension by dimension, 0 first; a ring the shorter way round, on a tie towards increasing ids.
    /// Nothing is appended for `src` = `dst`. Ranks outside the topology have no route of meaning.
    pub fn route(&self, src: u32, dst: u32, route: &mut Vec<LinkId>) {
        let mut at = src;
        for placed in &self.dimensions {
            let (from, to) = (placed.coordinate(at), placed.coordinate(dst));
            if from == to {
                continue;
            }
            let first = placed.first_link_of_row(at);
            placed.dimension.row_route(from, to, |link| route.push(LinkId(first + link)));
            at = at - from * placed.stride + to * placed.stride;
        }
    }

    /// What is known of a link; None if there is no such link.
    #[must_use]
    pub fn link(&self, id: LinkId) -> Option<Link> {
        let (at, placed) = self.placed_of(id)?;
        let dimension = &placed.dimension;
        let offset = id.0 - placed.first_link;
        let row = offset / dimension.links_per_row();
        // Members of a row differ only in this coordinate.
        let stride = u64::from(placed.stride);
        let base = row % stride + row / stride * stride * u64::from(dimension.size);
        let place = dimension
            .describe(offset % dimension.links_per_row(), |member| base + u64::from(member) * stride);
        Some(Link {
            bandwidth: dimension.bandwidth,
            latency: dimension.latency,
            description: format!(
                "dimension {at} ({} of {}), row {row}, {place}",
                dimension.kind, dimension.size
            ),
        })
    }

    /// What a link carries and how long a bit is on its way; of an id that there is not, some link's.
    #[must_use]
    pub fn link_timing(&self, id: LinkId) -> (Bandwidth, Latency) {
        self.link_classes()[self.dimension_of(id).unwrap_or(0)]
    }

    /// The different bandwidths and latencies of links; at least one. [`Self::dimension_of`] gives a link's.
    pub(crate) fn link_classes(&self) -> &[(Bandwidth, Latency)] {
        &self.classes
    }

    /// The class that a link belongs to; all its links have one bandwidth and latency.
    pub(crate) fn dimension_of(&self, id: LinkId) -> Option<usize> {
        self.placed_of(id).map(|(at, _)| at)
    }

    /// The legs of the route from `src` to `dst`, without its links.
    pub(crate) fn legs(&self, src: u32, dst: u32) -> impl Iterator<Item = Leg> {
        self.dimensions.iter().filter_map(move |placed| {
            let (from, to) = (placed.coordinate(src), placed.coordinate(dst));
            let Dimension { bandwidth, latency, .. } = placed.dimension;
            (from != to).then(|| Leg { hops: placed.dimension.hops(from, to), bandwidth, latency })
        })
    }

    fn placed_of(&self, id: LinkId) -> Option<(usize, &Placed)> {
        if id.0 >= self.link_count {
            return None;
        }
        // The last that begins at or before it: dimensions without links share their beginning with the next.
        self.dimensions.iter().enumerate().rev().find(|(_, placed)| placed.first_link <= id.0)
    }
}

impl Placed {
    fn coordinate(&self, rank: u32) -> u32 {
        rank / self.stride % self.dimension.size
    }

    fn first_link_of_row(&self, rank: u32) -> u64 {
        let row = rank % self.stride + rank / self.stride / self.dimension.size * self.stride;
        self.first_link + u64::from(row) * self.dimension.links_per_row()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DimensionKind::{FullyConnected, Ring, Switch};

    fn topology(dimensions: &[(DimensionKind, u32)]) -> Topology {
        let bandwidth = Bandwidth::from_bytes_per_s(50e9).unwrap();
        let latency = Latency::from_ns(500.0).unwrap();
        Topology::new(dimensions.iter().map(|&(kind, size)| Dimension { kind, size, bandwidth, latency }))
            .unwrap()
    }

    /// The route in words, by the last words of the links' descriptions.
    fn route(topology: &Topology, src: u32, dst: u32) -> Vec<String> {
        let mut route = Vec::new();
        topology.route(src, dst, &mut route);
        let words = |id| {
            let description = topology.link(id).unwrap().description;
            description.rsplit(", ").next().unwrap().to_owned()
        };
        route.into_iter().map(words).collect()
    }

    #[test]
    fn a_ring_goes_the_shorter_way_and_up_on_a_tie() {
        let ring = topology(&[(Ring, 6)]);
        assert_eq!(route(&ring, 5, 1), ["link from rank 5 to rank 0", "link from rank 0 to rank 1"]);
        assert_eq!(route(&ring, 1, 5), ["link from rank 1 to rank 0", "link from rank 0 to rank 5"]);
        assert_eq!(route(&ring, 4, 1)[0], "link from rank 4 to rank 5", "a tie goes up");
        assert_eq!(route(&ring, 4, 1).len(), 3);
    }

    #[test]
    fn a_ring_of_two_has_one_link_each_way() {
        let ring = topology(&[(Ring, 2)]);
        assert_eq!(ring.link_count(), 2);
        assert_eq!(route(&ring, 0, 1), ["link from rank 0 to rank 1"]);
        assert_eq!(route(&ring, 1, 0), ["link from rank 1 to rank 0"]);
    }

    #[test]
    fn fully_connected_has_one_link_for_each_ordered_pair() {
        let full = topology(&[(FullyConnected, 5)]);
        let mut links = Vec::new();
        for src in 0..5 {
            for dst in (0..5).filter(|&dst| dst != src) {
                assert_eq!(route(&full, src, dst), [format!("link from rank {src} to rank {dst}")]);
                full.route(src, dst, &mut links);
            }
        }
        links.sort();
        assert_eq!(links, (0..20).map(LinkId).collect::<Vec<_>>());
    }

    #[test]
    fn every_link_is_on_some_route_and_every_route_has_links() {
        for dimensions in [
            &[(Switch, 3), (Ring, 4), (FullyConnected, 2)][..],
            &[(Ring, 2), (Switch, 1), (Ring, 3)],
            &[(FullyConnected, 3), (Ring, 1), (Switch, 4)],
        ] {
            let topology = topology(dimensions);
            let mut seen = vec![false; topology.link_count() as usize];
            for src in 0..topology.rank_count() {
                for dst in 0..topology.rank_count() {
                    let mut route = Vec::new();
                    topology.route(src, dst, &mut route);
                    let hops: u32 = topology.legs(src, dst).map(|leg| leg.hops).sum();
                    assert_eq!(route.len(), hops as usize);
                    assert_eq!(src == dst, route.is_empty());
                    for id in route {
                        let link = topology.link(id).unwrap();
                        assert_eq!(topology.link_timing(id), (link.bandwidth, link.latency));
                        seen[id.0 as usize] = true;
                    }
                }
            }
            assert!(seen.into_iter().all(|seen| seen), "{dimensions:?}");
            assert_eq!(topology.link(LinkId(topology.link_count())), None);
        }
    }

    #[test]
    fn a_link_names_its_dimension_row_and_ranks() {
        let topology = topology(&[(Switch, 4), (Ring, 3)]);
        let mut links = Vec::new();
        topology.route(2, 11, &mut links);
        let descriptions: Vec<_> = links.iter().map(|&id| topology.link(id).unwrap().description).collect();
        assert_eq!(
            descriptions,
            [
                "dimension 0 (Switch of 4), row 0, up-link of rank 2",
                "dimension 0 (Switch of 4), row 0, down-link of rank 3",
                "dimension 1 (Ring of 3), row 3, link from rank 3 to rank 11",
            ]
        );
    }

    #[test]
    fn large_topologies_take_no_memory_and_too_large_ones_are_refused() {
        let bandwidth = Bandwidth::from_bytes_per_s(50e9).unwrap();
        let full = |size| Dimension::fully_connected(size, bandwidth, Latency::default());
        assert_eq!(Topology::new([full(1 << 30)]).unwrap().link_count(), (1 << 60) - (1 << 30));
        assert!(matches!(
            Topology::new([full(1 << 20); 2]),
            Err(TopologyError::TooLarge { what: "ranks", .. })
        ));
        assert_eq!(Topology::new([]), Err(TopologyError::NoDimension));
        assert_eq!(Topology::new([full(2), full(0)]), Err(TopologyError::EmptyDimension { dimension: 1 }));
    }
}
