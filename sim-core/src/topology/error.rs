//! What makes no topology.

use thiserror::Error;

/// Figures that make no topology. Each message is one line.
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
    /// The ranks, links or devices cannot be numbered.
    #[error("the topology has too many {what}: expected at most {limit}")]
    TooLarge {
        /// Ranks, links or devices.
        what: &'static str,
        /// How many there can be.
        limit: u64,
    },
    /// A hypercube whose size is no power of two.
    #[error("a hypercube of {size} members: expected a power of two")]
    NoPowerOfTwo {
        /// The size as given.
        size: u32,
    },
    /// A number of parts that cannot be.
    #[error("{what} = {value}: expected {expected}")]
    Figure {
        /// Which figure.
        what: &'static str,
        /// The value as given.
        value: u64,
        /// What would do.
        expected: String,
    },
    /// The network of a cluster has another number of members than the cluster has cards.
    #[error(
        "{cards} network cards ({made_of}) are wired to a network of {members} members: expected as many"
    )]
    Cards {
        /// How many cards there are.
        cards: u64,
        /// Of what that is the product.
        made_of: String,
        /// Members of the network.
        members: u32,
    },
    /// A topology with placed ranks was to be a part of another.
    #[error("a topology with placed ranks cannot be part of another: place the ranks of the whole")]
    PlacedPart,
    /// A link from a device to itself.
    #[error("link {link} joins {device} to itself")]
    SelfLink {
        /// The link, counted from 0 in the order given.
        link: usize,
        /// The device.
        device: String,
    },
    /// Two links from one device to another.
    #[error(
        "link {link} from {from} to {to} is there already, as link {first}: give one link the bandwidth of both"
    )]
    DuplicateLink {
        /// The link, counted from 0 in the order given.
        link: usize,
        /// The earlier one.
        first: usize,
        /// Where they begin.
        from: String,
        /// Where they end.
        to: String,
    },
    /// A link with an end that there is not.
    #[error("link {link} names {end}: expected {expected}")]
    NoSuchEnd {
        /// The link, counted from 0 in the order given.
        link: usize,
        /// The end as given.
        end: String,
        /// The devices that there are.
        expected: String,
    },
    /// Two switches of one name.
    #[error("there are two switches named {name:?}")]
    DuplicateSwitch {
        /// The name.
        name: String,
    },
    /// Ranks without a way from one to the other.
    #[error("no way leads from rank {from} to rank {to}")]
    Unreachable {
        /// Where it should begin.
        from: u32,
        /// Where it should end.
        to: u32,
    },
}
