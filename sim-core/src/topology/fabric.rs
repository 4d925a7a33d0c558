//! The kinds of parts that a topology is made of.

use std::sync::Arc;

use super::cluster::Cluster;
use super::dimension::Dimension;
use super::dragonfly::Dragonfly;
use super::fat_tree::FatTree;
use super::graph::LinkGraph;
use super::leaf_spine::LeafSpine;
use super::wiring::Wiring;

/// One part of a product.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fabric {
    Plain(Dimension),
    LeafSpine(LeafSpine),
    FatTree(FatTree),
    Dragonfly(Dragonfly),
    Cluster(Arc<Cluster>),
    Graph(Arc<LinkGraph>),
}

impl Fabric {
    pub(super) fn wiring(&self) -> &dyn Wiring {
        match self {
            Self::Plain(part) => part,
            Self::LeafSpine(part) => part,
            Self::FatTree(part) => part,
            Self::Dragonfly(part) => part,
            Self::Cluster(part) => part.as_ref(),
            Self::Graph(part) => part.as_ref(),
        }
    }

    /// What the part is, with its figures.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Plain(part) => format!("{} of {}", part.kind, part.size),
            Self::LeafSpine(part) => {
                format!(
                    "LeafSpine of {} leaves with {} hosts, {} spines",
                    part.leaves, part.hosts, part.spines
                )
            }
            Self::FatTree(part) => format!(
                "FatTree of {} pods with {} edges of {} hosts and {} aggregations of {} cores",
                part.pods, part.edges, part.hosts, part.aggregations, part.cores
            ),
            Self::Dragonfly(part) => format!(
                "Dragonfly of {} groups with {} routers of {} hosts and {} global ports",
                part.groups, part.routers, part.hosts, part.globals
            ),
            Self::Cluster(part) => format!(
                "Cluster of {} nodes ({}) with {} cards each, {} ({})",
                part.nodes,
                part.node.label(),
                part.cards,
                match part.order {
                    super::CardOrder::ByNode => "one network, by node",
                    super::CardOrder::ByRail => "one network, by rail",
                    super::CardOrder::Rails => "a network for each rail",
                },
                part.network.label()
            ),
            Self::Graph(part) => {
                format!("LinkList of {} ranks, {} switches", part.members(), part.devices())
            }
        }
    }
}

impl From<Dimension> for Fabric {
    fn from(part: Dimension) -> Self {
        Self::Plain(part)
    }
}

impl From<LeafSpine> for Fabric {
    fn from(part: LeafSpine) -> Self {
        Self::LeafSpine(part)
    }
}

impl From<FatTree> for Fabric {
    fn from(part: FatTree) -> Self {
        Self::FatTree(part)
    }
}

impl From<Dragonfly> for Fabric {
    fn from(part: Dragonfly) -> Self {
        Self::Dragonfly(part)
    }
}

impl From<Arc<Cluster>> for Fabric {
    fn from(part: Arc<Cluster>) -> Self {
        Self::Cluster(part)
    }
}

impl From<LinkGraph> for Fabric {
    fn from(part: LinkGraph) -> Self {
        Self::Graph(Arc::new(part))
    }
}
