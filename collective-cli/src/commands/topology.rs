//! `collective topology`.

use std::path::PathBuf;

use clap::Args;
use collective::sim::Conventions;
use collective::sim::topology::{self, LinkId, Topology};
use collective::sim::units::Bandwidth;
use serde_json::{Value, json};

use crate::console;
use crate::failure::Failure;
use crate::image::ImageArguments;
use crate::output::{self, table};
use crate::picture;
use crate::placement::PlacementArgument;

/// Arguments of `collective topology`.
#[derive(Args)]
pub(crate) struct TopologyCommand {
    /// The network: this project's TOML, or ASTRA-sim's network YAML.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Rules of arithmetic, which say what a GB is in YAML: exact or astra-sim [default: astra-sim for YAML, exact for TOML].
    #[arg(long)]
    conventions: Option<Conventions>,
    /// Where ranks sit: identity, random:SEED, or a file with a position of the topology for each rank.
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<PlacementArgument>,
    /// Shows the links that a message from rank SRC to rank DST takes.
    #[arg(long, num_args = 2, value_names = ["SRC", "DST"])]
    route: Option<Vec<u32>>,
    #[command(flatten)]
    image: ImageArguments,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

impl TopologyCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.image.check()?;
        let loaded = topology::load(&self.file, self.conventions)?;
        for warning in &loaded.warnings {
            console::warn(warning);
        }
        let topology = match &self.placement {
            Some(placement) => {
                let ranks = placement.ranks().unwrap_or(loaded.topology.rank_count());
                placement.place(&loaded.topology, ranks as usize)?
            }
            None => loaded.topology,
        };
        let route = self.route.as_deref().map(|ends| self.hops(&topology, ends)).transpose()?;
        if self.image.are_given() {
            let name = self.file.file_name().unwrap_or_default().to_string_lossy();
            let title = format!("{name}: {}", topology.label());
            self.image.write(&picture::topology(&topology, &title))?;
        }
        if self.json {
            return output::print(&self.json(&topology, route.as_deref()).to_string());
        }
        output::print(&match &route {
            Some(route) => route_text(&topology, route),
            None => self.text(&topology),
        })
    }

    fn hops(&self, topology: &Topology, ends: &[u32]) -> Result<Vec<LinkId>, Failure> {
        let ranks = topology.rank_count();
        if let Some(rank) = ends.iter().find(|rank| **rank >= ranks) {
            let file = self.file.display();
            return Err(Failure::input(format!(
                "--route: {file} has no rank {rank}: expected one below {ranks}"
            )));
        }
        let mut route = Vec::new();
        if let [src, dst] = ends {
            topology.route(*src, *dst, &mut route);
        }
        Ok(route)
    }

    fn text(&self, topology: &Topology) -> String {
        let row = |name: &str, value: String| vec![name.to_owned(), value];
        let diameter = topology.diameter();
        let bound = if diameter.exact { "" } else { "at most " };
        let [least, most] = topology.injection().map(gigabytes);
        let sent = if least == most { format!("{most} GB/s") } else { format!("{least} to {most} GB/s") };
        let mut rows = vec![row("ranks", topology.rank_count().to_string())];
        if topology.is_placed() {
            rows.push(row("positions", topology.position_count().to_string()));
        }
        rows.extend([
            row(
                "switches and cards",
                (topology.device_count() - u64::from(topology.position_count())).to_string(),
            ),
            row("directed links", topology.link_count().to_string()),
            row("longest route", format!("{bound}{}", hops(diameter.hops))),
            row("a rank sends", sent),
        ]);
        if let Some(halving) = topology.halving_bandwidth() {
            rows.push(row("between halves, one way", format!("{} GB/s", gigabytes(halving))));
        }
        let mut groups =
            vec![["dimension", "links", "count", "bandwidth", "latency"].map(str::to_owned).to_vec()];
        let kinds = kinds_are_stated(topology);
        if kinds {
            groups[0].push("kind".to_owned());
        }
        for group in topology.link_groups() {
            let (bandwidth, latency) = (group.link.bandwidth.to_string(), group.link.latency.to_string());
            let mut cells =
                vec![group.part.to_string(), group.what, group.count.to_string(), bandwidth, latency];
            if kinds {
                cells.push(group.kind.to_string());
            }
            groups.push(cells);
        }
        let mut text =
            format!("{}: {}\n\n{}\n{}", self.file.display(), topology.label(), table(&rows), table(&groups));
        let (notes, warnings) = (topology.notes(), warnings(topology));
        if !notes.is_empty() || !warnings.is_empty() {
            text.push('\n');
        }
        notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
        warnings.iter().for_each(|warning| text.push_str(&format!("warning: {warning}\n")));
        text
    }

    fn json(&self, topology: &Topology, route: Option<&[LinkId]>) -> Value {
        let diameter = topology.diameter();
        let groups: Vec<Value> = topology
            .link_groups()
            .into_iter()
            .map(|group| {
                json!({
                    "dimension": group.part, "what": group.what, "count": group.count,
                    "bandwidth_gb_per_s": gigabytes(group.link.bandwidth.bytes_per_s()),
                    "latency_ns": group.link.latency.as_ns(), "kind": group.kind.name(),
                })
            })
            .collect();
        let route = route.map(|route| {
            let hop = |id: &LinkId| {
                let (bandwidth, latency) = topology.link_timing(*id);
                json!({
                    "link": topology.link(*id).map(|link| link.description),
                    "bandwidth_gb_per_s": gigabytes(bandwidth.bytes_per_s()), "latency_ns": latency.as_ns(),
                    "kind": topology.link_kind(*id).name(),
                })
            };
            route.iter().map(hop).collect::<Vec<_>>()
        });
        json!({
            "topology": self.file.display().to_string(),
            "label": topology.label(),
            "ranks": topology.rank_count(),
            "positions": topology.position_count(),
            "devices": topology.device_count(),
            "links": topology.link_count(),
            "longest_route_hops": diameter.hops,
            "longest_route_is_exact": diameter.exact,
            "injection_gb_per_s": topology.injection().map(gigabytes),
            "halving_gb_per_s": topology.halving_bandwidth().map(gigabytes),
            "link_groups": groups,
            "notes": topology.notes(),
            "warnings": warnings(topology),
            "route": route,
        })
    }
}

/// Whether kinds of links are worth a column: nobody who says none needs them.
fn kinds_are_stated(topology: &Topology) -> bool {
    topology.link_groups().iter().any(|group| group.kind_is_stated)
}

/// What is probably not meant.
fn warnings(topology: &Topology) -> Vec<String> {
    let unused = topology.unused_links().unwrap_or_default();
    let Some(first) = unused.first().and_then(|id| topology.link(*id)) else { return Vec::new() };
    let (count, all) = (unused.len(), topology.link_count());
    vec![format!(
        "no route between two ranks takes {count} of the {all} links, such as {}",
        first.description
    )]
}

fn route_text(topology: &Topology, route: &[LinkId]) -> String {
    if route.is_empty() {
        return "a rank needs no link to itself".to_owned();
    }
    let kinds = kinds_are_stated(topology);
    let mut header = ["hop", "bandwidth", "latency", "link"].map(str::to_owned).to_vec();
    if kinds {
        header.insert(3, "kind".to_owned());
    }
    let rows = (1..).zip(route).map(|(hop, id): (usize, _)| {
        let (bandwidth, latency) = topology.link_timing(*id);
        let link = topology.link(*id).map_or_else(String::new, |link| link.description);
        let mut cells = vec![hop.to_string(), bandwidth.to_string(), latency.to_string(), link];
        if kinds {
            cells.insert(3, topology.link_kind(*id).to_string());
        }
        cells
    });
    let rows: Vec<_> = std::iter::once(header).chain(rows).collect();
    let timings = route.iter().map(|id| topology.link_timing(*id));
    let latency: f64 = timings.clone().map(|(_, latency)| latency.as_ns()).sum();
    let narrowest = timings.map(|(bandwidth, _)| bandwidth.bytes_per_s()).fold(f64::INFINITY, f64::min);
    let narrowest = Bandwidth::from_bytes_per_s(narrowest).map(|bandwidth| bandwidth.to_string());
    let count = hops(route.len() as u32);
    let narrowest = narrowest.unwrap_or_default();
    format!("{}\n{count}, {latency} ns, narrowest {narrowest}", table(&rows))
}

fn hops(count: u32) -> String {
    format!("{count} {}", if count == 1 { "hop" } else { "hops" })
}

/// 10^9 bytes per second, to the byte.
fn gigabytes(bytes_per_s: f64) -> f64 {
    bytes_per_s.round() / 1e9
}
