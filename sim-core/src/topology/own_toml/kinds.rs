//! Each kind of part: its keys, and what they make.

use crate::config_table::{Fault, Table, Value};
use crate::machine::LinkKind;
use crate::topology::{
    CardOrder, Cluster, Dimension, DimensionKind, Dragonfly, FatTree, LeafSpine, LinkList, LinkSpec, Node,
    Routing, Topology,
};
use crate::units::Bandwidth;

const KINDS: &str = "\"ring\", \"one-way-ring\", \"line\", \"switch\", \"fully-connected\", \"hypercube\", \"mesh\", \"torus\", \
\"leaf-spine\", \"fat-tree\", \"dragonfly\", \"cluster\", \"dgx-1\" or \"links\"";

/// The product of the parts.
pub(super) fn product(parts: Vec<Table<'_>>) -> Result<Topology, Fault> {
    let first = parts.first().map(|part| part.fault(""));
    let topologies = parts.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
    let place = first.map(|(place, _)| place).unwrap_or_default();
    Topology::product(topologies).map_err(|error| (place, error.to_string()))
}

fn part(table: Table<'_>) -> Result<Topology, Fault> {
    let kind = table.need("kind")?;
    let name = kind.text(KINDS)?;
    let plain = |kind| {
        let (size, LinkSpec { bandwidth, latency }) = (table.count("size")?, link(&table)?);
        Ok(Topology::new([Dimension { kind, size, bandwidth, latency }]))
    };
    let topology = match name {
        "ring" => plain(DimensionKind::Ring)?,
        "one-way-ring" => plain(DimensionKind::OneWayRing)?,
        "line" => plain(DimensionKind::Line)?,
        "switch" => plain(DimensionKind::Switch)?,
        "fully-connected" => plain(DimensionKind::FullyConnected)?,
        "hypercube" => plain(DimensionKind::Hypercube)?,
        "mesh" => Topology::mesh(sizes(&table)?, link(&table)?),
        "torus" => Topology::torus(sizes(&table)?, link(&table)?),
        "leaf-spine" => leaf_spine(&table)?.build(),
        "fat-tree" => fat_tree(&table)?.build(),
        "dragonfly" => dragonfly(&table)?.build(),
        "cluster" => cluster(&table)?.build(),
        "dgx-1" => LinkList::dgx1(link(&table)?).map_err(|error| kind.fault(error))?.build(),
        "links" => links(&table)?.build(),
        _ => return Err(kind.wrong(KINDS)),
    };
    // A list of links has them under this key.
    let links = if name == "links" { None } else { link_kind(&table)? };
    table.finish()?;
    let topology = topology.map_err(|error| kind.fault(format!("{name}: {error}")))?;
    Ok(match links {
        Some(links) => topology.with_link_kind(links),
        None => topology,
    })
}

/// The kind of the links, if it is said.
fn link_kind(table: &Table<'_>) -> Result<Option<LinkKind>, Fault> {
    const NAMES: &str = "\"plain\", \"nvlink\", \"xgmi\", \"pcie\" or \"network\"";
    let Some(value) = table.get("link") else { return Ok(None) };
    value.text(NAMES)?.parse().map(Some).map_err(|_| value.wrong(NAMES))
}

fn sizes(table: &Table<'_>) -> Result<Vec<u32>, Fault> {
    let size = table.need("size")?;
    let sizes = size.elements("a list with the size of each axis, such as [4, 4, 4]")?;
    if sizes.is_empty() {
        return Err(size.wrong("at least one axis"));
    }
    sizes.iter().map(Value::count).collect()
}

fn link(table: &Table<'_>) -> Result<LinkSpec, Fault> {
    Ok(LinkSpec::new(table.quantity("bandwidth")?, table.quantity("latency")?))
}

/// A link with keys of its own, like another where they are not there.
fn link_like(
    table: &Table<'_>,
    bandwidth: &'static str,
    latency: &'static str,
    other: LinkSpec,
) -> Result<LinkSpec, Fault> {
    Ok(LinkSpec::new(
        table.quantity_or(bandwidth, other.bandwidth)?,
        table.quantity_or(latency, other.latency)?,
    ))
}

/// The links upwards from a switch: by their own bandwidth, or by how much less they carry than comes from below.
struct Up<'a> {
    table: &'a Table<'a>,
    keys: [&'static str; 3],
    /// What they are like where nothing is said.
    other: LinkSpec,
    /// Bytes per second that can come from below.
    below: f64,
    /// Number of links upwards.
    links: u32,
}

impl Up<'_> {
    fn read(self) -> Result<LinkSpec, Fault> {
        let [bandwidth, latency, over] = self.keys;
        let link = link_like(self.table, bandwidth, latency, self.other)?;
        let Some(value) = self.table.get(over) else { return Ok(link) };
        if self.table.get(bandwidth).is_some() {
            return Err(value.fault(format!("{over} and {bandwidth} say the same: expected one of them")));
        }
        let each = self.below / f64::from(self.links) / value.factor()?;
        let bandwidth = Bandwidth::from_bytes_per_s(each).map_err(|error| value.wrong(error))?;
        Ok(LinkSpec { bandwidth, ..link })
    }
}

fn routing(table: &Table<'_>) -> Result<Routing, Fault> {
    let seed = table.get("seed");
    let number = |seed: &Value<'_>| seed.integer().ok_or_else(|| seed.wrong("a whole number, at least 0"));
    match table.get("routing") {
        None => Ok(Routing::Ecmp { seed: seed.as_ref().map_or(Ok(0), number)? }),
        Some(value) => match (value.text("\"ecmp\" or \"destination\"")?, seed) {
            ("ecmp", seed) => Ok(Routing::Ecmp { seed: seed.as_ref().map_or(Ok(0), number)? }),
            ("destination", None) => Ok(Routing::Destination),
            ("destination", Some(seed)) => {
                Err(seed.fault("routing by destination has no seed: only \"ecmp\" has one"))
            }
            _ => Err(value.wrong("\"ecmp\" or \"destination\"")),
        },
    }
}

fn leaf_spine(table: &Table<'_>) -> Result<LeafSpine, Fault> {
    let [leaves, hosts, spines] = ["leaves", "hosts", "spines"].map(|key| table.count(key));
    let (leaves, hosts, spines, host) = (leaves?, hosts?, spines?, link(table)?);
    let keys = ["uplink-bandwidth", "uplink-latency", "oversubscription"];
    let below = f64::from(hosts) * host.bandwidth.bytes_per_s();
    let uplink = Up { table, keys, other: host, below, links: spines }.read()?;
    Ok(LeafSpine { leaves, hosts, spines, host, uplink, routing: routing(table)? })
}

fn fat_tree(table: &Table<'_>) -> Result<FatTree, Fault> {
    let host = link(table)?;
    let keys = ["pods", "edges", "aggregations", "cores", "hosts"];
    let [pods, edges, aggregations, cores, hosts] = match table.get("k") {
        Some(k) => {
            let tree = FatTree::k_ary(k.count()?, host).map_err(|error| k.fault(error))?;
            let full = [tree.pods, tree.edges, tree.aggregations, tree.cores, tree.hosts];
            let mut figures = [0; 5];
            for ((figure, key), full) in figures.iter_mut().zip(keys).zip(full) {
                *figure = table.count_or(key, full)?;
            }
            figures
        }
        None => {
            let mut figures = [0; 5];
            for (figure, key) in figures.iter_mut().zip(keys) {
                *figure = table
                    .get(key)
                    .ok_or_else(|| {
                        table.fault(format!(
                            "the key {key} is missing: expected k, or all of {}",
                            keys.join(", ")
                        ))
                    })?
                    .count()?;
            }
            figures
        }
    };
    let edge_uplink = Up {
        table,
        keys: ["uplink-bandwidth", "uplink-latency", "oversubscription"],
        other: host,
        below: f64::from(hosts) * host.bandwidth.bytes_per_s(),
        links: aggregations,
    };
    let edge_uplink = edge_uplink.read()?;
    let core_uplink = Up {
        table,
        keys: ["core-bandwidth", "core-latency", "core-oversubscription"],
        other: edge_uplink,
        below: f64::from(edges) * edge_uplink.bandwidth.bytes_per_s(),
        links: cores,
    };
    let core_uplink = core_uplink.read()?;
    let routing = routing(table)?;
    Ok(FatTree { pods, edges, aggregations, cores, hosts, host, edge_uplink, core_uplink, routing })
}

fn dragonfly(table: &Table<'_>) -> Result<Dragonfly, Fault> {
    let [groups, routers, hosts, globals] =
        ["groups", "routers", "hosts", "global-links"].map(|key| table.count(key));
    let (groups, routers, hosts, globals, host) = (groups?, routers?, hosts?, globals?, link(table)?);
    let local = link_like(table, "local-bandwidth", "local-latency", host)?;
    let global = link_like(table, "global-bandwidth", "global-latency", host)?;
    Ok(Dragonfly { groups, routers, hosts, globals, host, local, global, routing: routing(table)? })
}

fn cluster(table: &Table<'_>) -> Result<Cluster, Fault> {
    let (nodes, cards) = (table.count("nodes")?, table.count("cards")?);
    let nested = |key: &'static str, example: &str| {
        let parts = table.tables(key)?;
        if parts.is_empty() {
            return Err(
                table.fault(format!("the key {key} is missing: expected [[dimension.{key}]] with {example}"))
            );
        }
        product(parts)
    };
    let node = nested("node", "the links within a node")?;
    let network = nested("network", "the links among the cards")?;
    let card_link = match (table.get("card-bandwidth"), table.get("card-latency")) {
        (None, None) => None,
        (Some(bandwidth), Some(latency)) => Some(LinkSpec::new(bandwidth.quantity()?, latency.quantity()?)),
        (Some(_), None) => return Err(table.fault("the key card-latency is missing beside card-bandwidth")),
        (None, Some(_)) => return Err(table.fault("the key card-bandwidth is missing beside card-latency")),
    };
    const ORDERS: &str =
        "\"rails\" (a network for each card number), \"by-node\" or \"by-rail\" (one network)";
    let wiring = table.need("wiring")?;
    let order = match wiring.text(ORDERS)? {
        "rails" => CardOrder::Rails,
        "by-node" => CardOrder::ByNode,
        "by-rail" => CardOrder::ByRail,
        _ => return Err(wiring.wrong(ORDERS)),
    };
    let through_peer = match table.get("through-peer") {
        None => order == CardOrder::Rails,
        Some(value) => match (value.truth()?, order) {
            (false, CardOrder::Rails) => {
                return Err(
                    value.wrong("true, as nothing but the nodes joins the rails of wiring = \"rails\"")
                );
            }
            (through, _) => through,
        },
    };
    Ok(Cluster { nodes, node, cards, card_link, network, order, through_peer })
}

fn links<'a>(table: &Table<'a>) -> Result<LinkList, Fault> {
    let ranks = table.count("ranks")?;
    let mut list = LinkList::new(ranks);
    let mut names = Vec::new();
    if let Some(switches) = table.get("switches") {
        for name in switches.elements("a list of names")? {
            let text = name.text("a list of names")?;
            if names.contains(&text) {
                return Err(name.fault(format!("there are two switches named {text:?}")));
            }
            names.push(text);
            list.switch(text);
        }
    }
    if let Some(forward) = table.get("ranks-forward") {
        list.ranks_forward(forward.truth()?);
    }
    let default = [table.get("bandwidth"), table.get("latency")];
    let node = |value: &Value<'_>| {
        let switch = value.as_text().and_then(|text| names.iter().position(|name| *name == text));
        let rank = value.integer().and_then(|rank| u32::try_from(rank).ok()).filter(|rank| *rank < ranks);
        // There are fewer switches than characters.
        let node = rank.map(Node::Rank).or(switch.map(|at| Node::Switch(at as u32)));
        node.ok_or_else(|| value.wrong(format!("a rank below {ranks} or the name of a switch")))
    };
    let mut seen = std::collections::HashMap::new();
    for link in table.tables("link")? {
        let of = |key, default: Option<Value<'a>>| {
            let missing = || link.fault(format!("the key {key} is missing, here and in the dimension"));
            link.get(key).or(default).ok_or_else(missing)
        };
        let (bandwidth, latency) = (of("bandwidth", default[0])?, of("latency", default[1])?);
        let spec = LinkSpec::new(bandwidth.quantity()?, latency.quantity()?);
        const ENDS: &str = "between = [a, b] for both ways, or from and to for one";
        let (ends, both, place) = match (link.get("between"), link.get("from"), link.get("to")) {
            (Some(between), None, None) => {
                let ends = between.elements("two ends")?;
                let [a, b] = <[Value<'_>; 2]>::try_from(ends).map_err(|_| between.wrong("two ends"))?;
                ([node(&a)?, node(&b)?], true, between.place())
            }
            (None, Some(from), Some(to)) => ([node(&from)?, node(&to)?], false, from.place()),
            _ => return Err(link.fault(format!("a link has {ENDS}"))),
        };
        let kind = link_kind(&link)?;
        link.finish()?;
        let [a, b] = ends;
        let name = |node| match node {
            Node::Rank(rank) => format!("rank {rank}"),
            Node::Switch(at) => names.get(at as usize).map_or_else(String::new, |name| (*name).to_owned()),
        };
        if a == b {
            return Err((place, format!("a link joins {} to itself", name(a))));
        }
        let directions = [(a, b), (b, a)];
        for (from, to) in directions.into_iter().take(if both { 2 } else { 1 }) {
            if let Some(before) = seen.insert((from, to), place.line) {
                let there = before.map_or_else(String::new, |line| format!(", in line {line}"));
                return Err((
                    place,
                    format!(
                        "the link from {} to {} is there already{there}: give one link the bandwidth of both",
                        name(from),
                        name(to)
                    ),
                ));
            }
            list.one_way_of_kind(from, to, spec, kind);
        }
    }
    Ok(list)
}
