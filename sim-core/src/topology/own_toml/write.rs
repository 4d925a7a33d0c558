//! A topology as the tables of a file.

use std::fmt::{self, Write};

use crate::config_write::{bandwidth, latency, text, texts};
use crate::machine::LinkKind;
use crate::topology::cluster::Cluster;
use crate::topology::fabric::Fabric;
use crate::topology::graph::{LinkList, Node};
use crate::topology::part::Part;
use crate::topology::{CardOrder, Dimension, DimensionKind, LinkSpec, Routing, Topology};

/// Writes a table `[[header]]` for each part. Where ranks were placed is not said.
pub(crate) fn write(topology: &Topology, header: &str, file: &mut String) -> fmt::Result {
    topology.parts.iter().try_for_each(|part| write_part(part, header, file))
}

fn write_part(part: &Part, header: &str, file: &mut String) -> fmt::Result {
    writeln!(file, "\n[[{header}]]")?;
    let stated = part.stated;
    let numbers = |file: &mut String, kind: &str, figures: &[(&str, u32)]| {
        writeln!(file, "kind = {}", text(kind))?;
        link_kind(file, stated)?;
        figures.iter().try_for_each(|(key, figure)| writeln!(file, "{key} = {figure}"))
    };
    match &part.fabric {
        Fabric::Plain(Dimension { kind, size, bandwidth, latency }) => {
            numbers(file, name(*kind), &[("size", *size)])?;
            link(file, "", LinkSpec::new(*bandwidth, *latency))
        }
        Fabric::LeafSpine(part) => {
            let figures = [("leaves", part.leaves), ("hosts", part.hosts), ("spines", part.spines)];
            numbers(file, "leaf-spine", &figures)?;
            link(file, "", part.host)?;
            link(file, "uplink-", part.uplink)?;
            routing(file, part.routing)
        }
        Fabric::FatTree(part) => {
            let figures = [
                ("pods", part.pods),
                ("edges", part.edges),
                ("aggregations", part.aggregations),
                ("cores", part.cores),
                ("hosts", part.hosts),
            ];
            numbers(file, "fat-tree", &figures)?;
            link(file, "", part.host)?;
            link(file, "uplink-", part.edge_uplink)?;
            link(file, "core-", part.core_uplink)?;
            routing(file, part.routing)
        }
        Fabric::Dragonfly(part) => {
            let figures = [
                ("groups", part.groups),
                ("routers", part.routers),
                ("hosts", part.hosts),
                ("global-links", part.globals),
            ];
            numbers(file, "dragonfly", &figures)?;
            link(file, "", part.host)?;
            link(file, "local-", part.local)?;
            link(file, "global-", part.global)?;
            routing(file, part.routing)
        }
        Fabric::Cluster(part) => {
            numbers(file, "cluster", &[("nodes", part.nodes), ("cards", part.cards)])?;
            cluster(file, part, header)
        }
        Fabric::Graph(part) => {
            let list = part.list();
            numbers(file, "links", &[("ranks", list.rank_count())])?;
            links(file, list, header)
        }
    }
}

fn name(kind: DimensionKind) -> &'static str {
    match kind {
        DimensionKind::Ring => "ring",
        DimensionKind::OneWayRing => "one-way-ring",
        DimensionKind::Line => "line",
        DimensionKind::Switch => "switch",
        DimensionKind::FullyConnected => "fully-connected",
        DimensionKind::Hypercube => "hypercube",
    }
}

fn link(file: &mut String, prefix: &str, link: LinkSpec) -> fmt::Result {
    writeln!(file, "{prefix}bandwidth = {}", bandwidth(link.bandwidth))?;
    writeln!(file, "{prefix}latency = {}", latency(link.latency))
}

fn link_kind(file: &mut String, kind: Option<LinkKind>) -> fmt::Result {
    kind.map_or(Ok(()), |kind| writeln!(file, "link = {}", text(kind.name())))
}

fn routing(file: &mut String, routing: Routing) -> fmt::Result {
    match routing {
        Routing::Ecmp { seed: 0 } => Ok(()),
        Routing::Ecmp { seed } => writeln!(file, "seed = {seed}"),
        Routing::Destination => writeln!(file, "routing = \"destination\""),
    }
}

fn cluster(file: &mut String, cluster: &Cluster, header: &str) -> fmt::Result {
    let wiring = match cluster.order {
        CardOrder::Rails => "rails",
        CardOrder::ByNode => "by-node",
        CardOrder::ByRail => "by-rail",
    };
    writeln!(file, "wiring = {}", text(wiring))?;
    if cluster.through_peer && cluster.order != CardOrder::Rails {
        writeln!(file, "through-peer = true")?;
    }
    if let Some(card) = cluster.card_link {
        link(file, "card-", card)?;
    }
    write(&cluster.node, &format!("{header}.node"), file)?;
    write(&cluster.network, &format!("{header}.network"), file)
}

fn links(file: &mut String, list: &LinkList, header: &str) -> fmt::Result {
    let switches = list.switch_names();
    if !switches.is_empty() {
        writeln!(file, "switches = {}", texts(switches))?;
    }
    if !list.forwards() {
        writeln!(file, "ranks-forward = false")?;
    }
    let end = |node| match node {
        Node::Rank(rank) => rank.to_string(),
        Node::Switch(at) => switches.get(at as usize).map_or_else(String::new, |name| text(name)),
    };
    for ((from, to, spec), kind) in list.links() {
        writeln!(file, "\n[[{header}.link]]\nfrom = {}\nto = {}", end(*from), end(*to))?;
        link(file, "", *spec)?;
        link_kind(file, kind)?;
    }
    Ok(())
}
