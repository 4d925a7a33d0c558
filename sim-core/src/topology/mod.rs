//! Networks: which links there are and which of them a message takes.
//!
//! A [`Topology`] is a product of parts. A part is a [`Dimension`], whose links are all alike, or one of
//!
//! * [`LeafSpine`], [`FatTree`]: layers of switches, with ECMP or routing by destination ([`Routing`]);
//! * [`Dragonfly`];
//! * [`Cluster`]: nodes of ranks (themselves a topology), joined by network cards through a network (a topology too),
//!   rail-optimised or not;
//! * [`LinkList`]: any links, such as the hybrid cube mesh of a DGX-1.
//!
//! Rank ids count through the coordinates, part 0 fastest: id = c0 + n0·(c1 + n1·(c2 + …)). A part is replicated for each
//! combination of the other coordinates, its *rows*: Switch(8) × Switch(4) is 4 nodes of 8 GPUs, and GPU k of every node hangs
//! with its own card on the k-th of 8 rails. The product of rings is a torus, that of lines a mesh.
//!
//! Links are directed and, but for a link list, numbered and routed in closed form, so that a topology takes no memory for them.
//! Routes go part by part, 0 first. With the feature `config`, `load` reads topologies from files; `docs/topologies.md` shows
//! every kind.
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
//!         "rank 3 → switch 0 of dimension 0",
//!         "switch 0 of dimension 0 → rank 4",
//!         "rank 4 → switch 4 of dimension 1",
//!         "switch 4 of dimension 1 → rank 12",
//!     ]
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "config")]
mod astra_yaml;
mod cluster;
#[cfg(feature = "config")]
mod config_error;
mod dimension;
mod dragonfly;
mod error;
mod fabric;
mod fat_tree;
mod figures;
mod graph;
mod leaf_spine;
mod link;
#[cfg(feature = "config")]
mod load;
#[cfg(feature = "config")]
mod own_toml;
mod part;
mod placement;
mod product;
mod routing;
#[cfg(test)]
mod tests;
mod text_place;
mod wiring;

pub use cluster::{CardOrder, Cluster};
#[cfg(feature = "config")]
pub use config_error::ConfigError;
pub use dimension::{Dimension, DimensionKind};
pub use dragonfly::Dragonfly;
pub use error::TopologyError;
pub use fat_tree::FatTree;
pub use figures::LinkGroup;
pub use graph::{LinkList, Node};
pub use leaf_spine::LeafSpine;
pub(crate) use link::Leg;
pub use link::{Device, DeviceId, DeviceKind, Link, LinkId, LinkSpec};
#[cfg(feature = "config")]
pub use load::{LoadedTopology, load, parse_astra_yaml, parse_toml, parse_toml_named};
#[cfg(feature = "config")]
pub(crate) use own_toml::{declared as declared_toml, write as write_toml};
pub use placement::{Placement, PlacementError};
pub use product::Topology;
pub use routing::Routing;
pub use text_place::TextPlace;
pub use wiring::Diameter;

/// A count that is at least 1, and so small that the product of three and its double fit 64 bits.
fn checked_figure(what: &'static str, value: u32) -> Result<(), TopologyError> {
    const MOST: u32 = 1 << 20;
    if (1..=MOST).contains(&value) {
        return Ok(());
    }
    let expected = format!("a whole number from 1 to {MOST}");
    Err(TopologyError::Figure { what, value: u64::from(value), expected })
}
