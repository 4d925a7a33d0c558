//! A network from a TOML file: what it amounts to, which way messages go, and what becomes of an algorithm when it is changed.
//!
//! The file is `cluster.toml`, four nodes of eight GPUs with a network card each. Beside it stand two cheaper variants of the same 32 GPUs:
//! two cards a node, and the cards on a tree of switches with a quarter of the bandwidth at the top. One all-reduce is simulated on each.
//!
//! `cargo run --release --features topology-files --example topology_from_toml`, or with files of yours: `… -- FILE.toml …`
//! (`docs/topologies.md` has all kinds). The feature is not needed where the `collective` command is built as well, as in this repository.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use collective::algorithms::{allreduce_hierarchical, allreduce_ring};
use collective::et::{self, EtOptions, NodeOrder};
use collective::sim::topology::{Topology, load, parse_toml};
use collective::sim::units::Bytes;
use collective::sim::{Model, Simulation};
use collective::{Schedule, Size};

pub(crate) const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/cluster.toml");

/// Two cards for the eight GPUs of a node, all on one switch.
pub(crate) const TWO_CARDS: &str = r#"
[[dimension]]
kind = "cluster"
nodes = 4
cards = 2
wiring = "by-node"
card-bandwidth = "64 GB/s"   # four GPUs share a card's PCIe link
card-latency = "300 ns"

[[dimension.node]]
kind = "switch"
size = 8
bandwidth = "450 GB/s"
latency = "250 ns"

[[dimension.network]]
kind = "switch"
size = 8
bandwidth = "400 Gb/s"
latency = "1.5 us"
"#;

/// A card for each GPU, but four leaves with two links each to the spines for the eight cards below.
pub(crate) const THIN_TREE: &str = r#"
[[dimension]]
kind = "cluster"
nodes = 4
cards = 8
wiring = "by-node"

[[dimension.node]]
kind = "switch"
size = 8
bandwidth = "450 GB/s"
latency = "250 ns"

[[dimension.network]]
kind = "leaf-spine"
leaves = 4
hosts = 8
spines = 2
bandwidth = "400 Gb/s"
latency = "750 ns"
"#;

/// The figures of a topology, its sorts of links, and one route.
fn describe(out: &mut dyn Write, name: &str, topology: &Topology) -> io::Result<()> {
    let gb = |bytes_per_s: f64| format!("{:.1} GB/s", bytes_per_s / 1e9);
    writeln!(out, "{name}: {}", topology.label())?;
    let diameter = topology.diameter();
    let at_most = if diameter.exact { "" } else { "at most " };
    let [least, most] = topology.injection();
    writeln!(
        out,
        "  {} ranks, {} links, {} devices",
        topology.rank_count(),
        topology.link_count(),
        topology.device_count()
    )?;
    writeln!(
        out,
        "  longest route {at_most}{} hops; a rank can send {} to {}",
        diameter.hops,
        gb(least),
        gb(most)
    )?;
    match topology.halving_bandwidth() {
        Some(bandwidth) => writeln!(out, "  across the narrowest cut into halves: {}", gb(bandwidth))?,
        None => writeln!(out, "  no figure for a cut into halves: it is not that regular")?,
    }
    for group in topology.link_groups() {
        let (bandwidth, latency) = (group.link.bandwidth, group.link.latency);
        writeln!(out, "  {:>4} × {:<28} {bandwidth}, {latency}", group.count, group.what)?;
    }
    for note in topology.notes() {
        writeln!(out, "  {note}")?;
    }
    let mut route = Vec::new();
    let (from, to) = (3, topology.rank_count().saturating_sub(4));
    topology.route(from, to, &mut route);
    writeln!(out, "  from rank {from} to rank {to}:")?;
    for link in route.iter().filter_map(|id| topology.link(*id)) {
        writeln!(out, "    {}", link.description)?;
    }
    writeln!(out)
}

/// Microseconds of an algorithm on a network. Nodes of the graph wait for the data that they need.
pub(crate) fn micros(schedule: &Schedule, size: Bytes, topology: &Topology) -> Result<f64, Box<dyn Error>> {
    let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(Size::bytes(size.0)) };
    let graph = et::graph(schedule, &options)?;
    Ok(Simulation::new(topology).model(Model::Fluid).run(&graph)?.makespan.as_ns() / 1000.0)
}

pub(crate) fn show(out: &mut dyn Write, files: &[String]) -> Result<(), Box<dyn Error>> {
    let mut networks: Vec<(String, Topology)> = Vec::new();
    if files.is_empty() {
        // The ending says which format a file has; messages about what is wrong with it name the file and the line.
        networks.push(("cluster.toml".to_owned(), load(Path::new(CLUSTER), None)?.topology));
        for (name, text) in [("two cards", TWO_CARDS), ("thin tree", THIN_TREE)] {
            networks.push((name.to_owned(), parse_toml(text, name, None)?.topology));
        }
    }
    for file in files {
        networks.push((file.clone(), load(Path::new(file), None)?.topology));
    }
    for (name, topology) in &networks {
        describe(out, name, topology)?;
    }

    writeln!(out, "All-reduce, us (model fluid; each on all ranks of its network):\n")?;
    writeln!(out, "{:<24} | {:^32} | {:^32}", "", "one ring", "hierarchical, 8 a node")?;
    let sizes = [1 << 16, 1 << 22, 1 << 28].map(Bytes);
    let heads = sizes.map(|size| format!("{:>10}", size.to_string())).join(" ");
    writeln!(out, "{:<24} | {heads} | {heads}", "network")?;
    for (name, topology) in &networks {
        let ranks = topology.rank_count() as usize;
        let ring = allreduce_ring::compile(ranks, 1)?;
        let cells = |schedule: Option<&Schedule>| -> Result<String, Box<dyn Error>> {
            let Some(schedule) = schedule else { return Ok(format!("{:>32}", "not for so many ranks")) };
            let times: Result<Vec<f64>, _> =
                sizes.iter().map(|size| micros(schedule, *size, topology)).collect();
            Ok(times?.iter().map(|time| format!("{time:>10.2}")).collect::<Vec<_>>().join(" "))
        };
        let levels = allreduce_hierarchical::compile(ranks, 8, 0, 1).ok();
        writeln!(out, "{name:<24} | {} | {}", cells(Some(&ring))?, cells(levels.as_ref())?)?;
    }

    let typo = "[[dimension]]\nkind = \"switch\"\nsize = 8\nbandwidth = \"400 Gbs\"\nlatency = \"1 us\"\n";
    if let Err(error) = parse_toml(typo, "typo.toml", None) {
        writeln!(out, "\nA mistake in a file is named with its line:\n  {error}")?;
    }
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    show(&mut io::stdout().lock(), &std::env::args().skip(1).collect::<Vec<_>>())
}
