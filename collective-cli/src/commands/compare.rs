//! `collective compare`.

mod show;

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use collective::algorithms;
use collective::compare::{Candidate, LeftOut, compare};
use collective::et::{EtOptions, NodeOrder, ReduceRate};
use collective::sim::topology::{self, LoadedTopology};
use collective::sim::units::Bytes;
use collective::sim::{Conventions, LogGp, Model, Simulation};
use collective::{CollectiveKind, ElementType, Size};

use crate::chart::{self, Source, Table};
use crate::console;
use crate::failure::Failure;
use crate::image::ImageArguments;
use crate::output;
use crate::placement::PlacementArgument;
use crate::stage::stage;
use crate::{program, xml};

/// Arguments of `collective compare`.
#[derive(Args)]
pub(crate) struct Compare {
    /// Further algorithms to compare: MSCCL XML files for the same collective and number of ranks.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The collective: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, gather, scatter or barrier.
    #[arg(long, value_parser = kind)]
    collective: CollectiveKind,
    /// Number of ranks [default: as many as the topology has].
    #[arg(long, value_name = "N")]
    ranks: Option<usize>,
    /// The network: this project's TOML, or ASTRA-sim's network YAML. All models but loggp need it.
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// The sizes: FROM..TO in factors of 2, FROM..TO:FACTOR, or a list such as 1KiB,64KiB,1MiB.
    #[arg(long, value_name = "SIZES", default_value = "1KiB..1GiB")]
    sizes: Sizes,
    /// Only this algorithm of the library, with all its choices of parameters; may be repeated.
    #[arg(long = "algorithm", value_name = "NAME", value_parser = program::names(), hide_possible_values = true)]
    only: Vec<String>,
    /// How messages use the network: analytical, link-queue, fluid or loggp.
    #[arg(long, default_value_t = Model::Fluid)]
    model: Model,
    /// What the model loggp takes for a message, such as L=2500ns,o=1500ns,g=1000ns,G=6ns/B (also the defaults).
    #[arg(long, value_name = "PARAMETERS")]
    loggp: Option<LogGp>,
    /// Rules of arithmetic: exact or astra-sim [default: astra-sim for YAML with analytical and link-queue, else exact].
    #[arg(long)]
    conventions: Option<Conventions>,
    /// Where ranks sit: identity, random:SEED, or a file with a position of the topology for each rank.
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<PlacementArgument>,
    /// What a step waits for: `dataflow`, only the data that it needs and the order of messages, or `threadblock`, the order in
    /// which a GPU runs.
    #[arg(long, value_name = "ORDER", default_value_t = NodeOrder::Dataflow)]
    order: NodeOrder,
    /// How fast a rank reduces: a rate such as 50GB/s [default: no time].
    #[arg(long, value_name = "RATE")]
    reduce_rate: Option<ReduceRate>,
    /// Type of an element: i8, f16, bf16, i32, f32, i64 or f64 [default: f32].
    #[arg(long = "type", value_name = "TYPE")]
    element_type: Option<ElementType>,
    /// Prints JSON: every time of every algorithm.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    image: ImageArguments,
    /// What --svg and --png draw by size [default: time].
    #[arg(long, value_name = "FIGURE")]
    plot: Option<chart::Y>,
}

/// A collective by its name, with `-` or `_`.
fn kind(name: &str) -> Result<CollectiveKind, String> {
    let known: Vec<CollectiveKind> = kinds();
    let wanted = name.replace('-', "_");
    known.iter().copied().find(|kind| kind.name() == wanted).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|kind| kind.name().replace('_', "-")).collect();
        format!(
            "there is nothing to compare for \"{name}\"; the library has algorithms for {}",
            names.join(", ")
        )
    })
}

/// The collectives of the library, in its order.
fn kinds() -> Vec<CollectiveKind> {
    let mut kinds: Vec<CollectiveKind> = Vec::new();
    for kind in algorithms::all().map(|algorithm| algorithm.def.kind) {
        if !kinds.contains(&kind) && kind != CollectiveKind::Custom {
            kinds.push(kind);
        }
    }
    kinds
}

/// The argument of `--sizes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<Bytes>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// More are a mistake.
        const MOST: usize = 10_000;
        let size = |text: &str| text.trim().parse::<Bytes>().map_err(|error| error.to_string());
        let Some((from, rest)) = text.split_once("..") else {
            return text.split(',').map(size).collect::<Result<_, _>>().map(Sizes);
        };
        let (to, factor) = rest.split_once(':').unwrap_or((rest, "2"));
        let (from, to) = (size(from)?, size(to)?);
        let factor = match factor.trim().parse::<u64>() {
            Ok(factor) if factor >= 2 => factor,
            _ => return Err(format!("\"{factor}\" is no factor: expected a whole number from 2 on")),
        };
        if from.0 == 0 || from > to {
            return Err(format!("{from}..{to} holds no sizes: expected FROM..TO with 0 < FROM ≤ TO"));
        }
        let next = |size: &Bytes| size.0.checked_mul(factor).map(Bytes);
        let sizes = std::iter::successors(Some(from), next).take_while(|size| *size <= to).take(MOST);
        Ok(Self(sizes.collect()))
    }
}

impl Compare {
    pub(crate) fn run(self) -> Result<(), Failure> {
        chart::check(&self.image, self.plot)?;
        let mut loaded = self.load()?;
        let placed = self.placement.as_ref().and_then(PlacementArgument::ranks);
        let of_topology = loaded.as_ref().map(|loaded| loaded.topology.rank_count());
        let ranks = self.ranks.or(placed.or(of_topology).map(|ranks| ranks as usize));
        let Some(ranks) = ranks else {
            return Err(Failure::input("without a topology the number of ranks is needed: --ranks N"));
        };
        if let Some(placement) = &self.placement {
            let Some(loaded) = &mut loaded else {
                return Err(Failure::input("--placement goes with --topology: loggp has no places"));
            };
            loaded.topology = placement.place(&loaded.topology, ranks)?;
        }
        if let Some(loaded) = &loaded
            && loaded.topology.rank_count() as usize != ranks
        {
            return Err(Failure::input(format!(
                "{} has {} ranks, not {ranks}; `--placement identity` leaves the rest of a larger topology free",
                self.network(),
                loaded.topology.rank_count()
            )));
        }
        let (candidates, left_out) = self.candidates(ranks)?;
        let loggp = self.loggp.unwrap_or_default();
        let simulation = match &loaded {
            Some(loaded) => Simulation::new(&loaded.topology).conventions(loaded.conventions).loggp(loggp),
            None => Simulation::with_loggp(loggp).conventions(self.conventions.unwrap_or(Conventions::Exact)),
        };
        let simulation = simulation.model(self.model);
        let element_type = self.element_type.unwrap_or_default();
        let sizes: Vec<Size> =
            self.sizes.0.iter().map(|size| Size::bytes(size.0).with_type(element_type)).collect();
        let first = sizes.first().copied().unwrap_or_else(|| Size::bytes(0));
        let options = EtOptions {
            order: self.order,
            reduce_rate: self.reduce_rate.unwrap_or_default(),
            ..EtOptions::new(first)
        };
        let what = format!("simulating {} algorithms at {} sizes", candidates.len(), sizes.len());
        let comparison = stage(&what, || compare(&simulation, &candidates, &sizes, &options));
        let times = || comparison.rows.iter().flat_map(|row| &row.times);
        if times().all(Result::is_err)
            && let Some(Err(why)) = times().next()
        {
            return Err(Failure::input(format!("no algorithm has a time for any of these sizes: {why}")));
        }
        let conventions = loaded.map_or(Conventions::Exact, |loaded| loaded.conventions);
        let shown = show::Shown { arguments: &self, ranks, conventions, comparison, left_out };
        if self.image.are_given()
            && let Some(table) = Table::of_comparison(&shown.json())
        {
            chart::draw(&self.image, Source { name: self.network(), table }, self.plot)?;
        }
        output::print(&if self.json { shown.json().to_string() } else { shown.text() })
    }

    /// The network, which loggp can do without.
    fn load(&self) -> Result<Option<LoadedTopology>, Failure> {
        if self.loggp.is_some() && self.model != Model::LogGp {
            return Err(Failure::input(format!("--loggp is for --model loggp, not {}", self.model)));
        }
        let Some(path) = &self.topology else {
            let needed = || Failure::input(format!("--model {} needs --topology FILE", self.model));
            return if self.model == Model::LogGp { Ok(None) } else { Err(needed()) };
        };
        let is_of_astra_sim = matches!(self.model, Model::Analytical | Model::LinkQueue);
        let conventions = self.conventions.or((!is_of_astra_sim).then_some(Conventions::Exact));
        let loaded = topology::load(path, conventions)?;
        for warning in &loaded.warnings {
            console::warn(warning);
        }
        Ok(Some(loaded))
    }

    /// What the simulation ran on, in words.
    fn network(&self) -> String {
        self.topology.as_ref().map_or_else(|| "no topology".to_owned(), |path| path.display().to_string())
    }

    /// The algorithms of the library that apply, and the user's.
    fn candidates(&self, ranks: usize) -> Result<(Vec<Candidate>, Vec<LeftOut>), Failure> {
        let (mut candidates, mut left_out) = (Vec::new(), Vec::new());
        if self.only.is_empty() {
            (candidates, left_out) = Candidate::of_the_library(self.collective, ranks);
        }
        for (index, name) in self.only.iter().enumerate() {
            if !self.only[..index].contains(name) {
                candidates.extend(self.chosen(name, ranks)?);
            }
        }
        for path in &self.files {
            let schedule = xml::read(path)?.schedule;
            let (kind, found) = (schedule.collective.kind(), schedule.collective.ranks());
            if (kind, found) != (self.collective, ranks) {
                return Err(Failure::input(format!(
                    "{}: is {} among {found} ranks, not {} among {ranks}",
                    path.display(),
                    kind.name(),
                    self.collective.name()
                )));
            }
            xml::verified(&schedule, path)?;
            candidates.push(Candidate { label: path.display().to_string(), schedule });
        }
        if candidates.is_empty() {
            let why = left_out.first().map(|one| format!(": {}: {}", one.label, one.why)).unwrap_or_default();
            return Err(Failure::input(format!(
                "the library has no algorithm for {} among {ranks} ranks{why}",
                self.collective.name()
            )));
        }
        Ok((candidates, left_out))
    }

    /// An algorithm of the library that was asked for.
    fn chosen(&self, name: &str, ranks: usize) -> Result<Vec<Candidate>, Failure> {
        let of_this_kind = || algorithms::all().filter(|algorithm| algorithm.def.kind == self.collective);
        let Some(algorithm) = of_this_kind().find(|algorithm| algorithm.name() == name) else {
            let names: Vec<&str> = of_this_kind().map(|algorithm| algorithm.name()).collect();
            return Err(Failure::input(format!(
                "there is no algorithm \"{name}\" for {}; there are {}",
                self.collective.name(),
                names.join(", ")
            )));
        };
        let choices = algorithm.choices(ranks);
        if choices.is_empty() {
            return Err(Failure::input(format!(
                "{name} is not for {ranks} ranks: it is for {}",
                algorithm.ranks
            )));
        }
        Ok(choices.iter().map(|values| Candidate::new(algorithm, values)).collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_a_range_or_a_list() {
        let bytes = |text: &str| {
            text.parse::<Sizes>().map(|sizes| sizes.0.iter().map(|size| size.0).collect::<Vec<_>>())
        };
        assert_eq!(bytes("1KiB..8KiB"), Ok(vec![1024, 2048, 4096, 8192]));
        assert_eq!(bytes("1KB..1MB:10"), Ok(vec![1_000, 10_000, 100_000, 1_000_000]));
        assert_eq!(bytes("3, 1MiB"), Ok(vec![3, 1 << 20]));
        assert_eq!(bytes("0"), Ok(vec![0]));
        for wrong in ["", "1KiB..", "8..4", "0..4", "1..4:1", "1..4:x", "1,,2"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(bytes("1..18446744073709551615").map(|sizes| sizes.len()), Ok(64));
    }
}
