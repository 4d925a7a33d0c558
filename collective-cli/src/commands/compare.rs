//! `collective compare`.

mod show;

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use collective::algorithms;
use collective::compare::{Candidate, LeftOut, Variant, compare};
use collective::et::{EtOptions, NodeOrder, ReduceRate};
use collective::sim::machine::Machine;
use collective::sim::topology::{self, LoadedTopology};
use collective::sim::units::Bytes;
use collective::sim::{Conventions, LogGp, Model, Simulation};
use collective::{CollectiveKind, ElementType, Protocol, Size};

use crate::chart::{self, Source, Table};
use crate::console;
use crate::failure::Failure;
use crate::image::ImageArguments;
use crate::machine::MachineArguments;
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
    /// The network: this project's TOML, or ASTRA-sim's network YAML. All models but loggp need it, machine if the machine has none.
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// The sizes: FROM..TO in factors of 2, FROM..TO:FACTOR, or a list such as 1KiB,64KiB,1MiB.
    #[arg(long, value_name = "SIZES", default_value = "1KiB..1GiB")]
    sizes: Sizes,
    /// Only this algorithm of the library, with all its choices of parameters; may be repeated.
    #[arg(long = "algorithm", value_name = "NAME", value_parser = program::names(), hide_possible_values = true)]
    only: Vec<String>,
    /// How messages use the network: analytical, link-queue, fluid, loggp or machine [default: fluid].
    #[arg(long, value_name = "MODEL")]
    model: Option<Model>,
    #[command(flatten)]
    machine: MachineArguments,
    /// The protocols that algorithms of the library are tried with, such as simple,ll [default: those of the machine; other models do
    /// not tell them apart].
    #[arg(long, value_name = "PROTOCOLS", value_delimiter = ',')]
    protocols: Vec<Protocol>,
    /// How many replicas of algorithms of the library are tried, each over a share of the data, such as 1,2,4 [default: 1,4 on a machine,
    /// else 1].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    instances: Vec<u32>,
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
    /// which a GPU runs [default: dataflow; on a machine threadblock].
    #[arg(long, value_name = "ORDER")]
    order: Option<NodeOrder>,
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
        let machine = self.machine.load(self.model())?;
        if machine.is_some() && self.order == Some(NodeOrder::Dataflow) {
            return Err(Failure::input(
                "--order dataflow: the model machine executes thread blocks, whose order is --order threadblock",
            ));
        }
        let mut loaded = self.load(machine.as_ref())?;
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
        let (candidates, left_out) = self.candidates(ranks, &self.variants(machine.as_ref()))?;
        let loggp = self.loggp.unwrap_or_default();
        let simulation = match &loaded {
            Some(loaded) => Simulation::new(&loaded.topology).conventions(loaded.conventions).loggp(loggp),
            None => Simulation::with_loggp(loggp).conventions(self.conventions.unwrap_or(Conventions::Exact)),
        };
        let simulation = match &machine {
            Some(machine) => simulation.machine(machine),
            None => simulation.model(self.model()),
        };
        let element_type = self.element_type.unwrap_or_default();
        let sizes: Vec<Size> =
            self.sizes.0.iter().map(|size| Size::bytes(size.0).with_type(element_type)).collect();
        let first = sizes.first().copied().unwrap_or_else(|| Size::bytes(0));
        let options = EtOptions {
            order: self.order(),
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

    fn model(&self) -> Model {
        self.machine.model(self.model).unwrap_or(Model::Fluid)
    }

    /// The model, with the machine.
    fn model_in_words(&self) -> String {
        let machine = self.machine.machine.as_ref().map(|machine| format!(" {machine}"));
        format!("{}{}", self.model(), machine.unwrap_or_default())
    }

    fn order(&self) -> NodeOrder {
        self.order.unwrap_or(match self.model() {
            Model::Machine => NodeOrder::ThreadBlock,
            _ => NodeOrder::Dataflow,
        })
    }

    /// How algorithms of the library are lowered, each in turn.
    fn variants(&self, machine: Option<&Machine>) -> Vec<Variant> {
        let protocols: Vec<Option<Protocol>> = match machine {
            _ if !self.protocols.is_empty() => self.protocols.iter().copied().map(Some).collect(),
            // Of the two crates' protocols the names are the same.
            Some(machine) => machine.protocols().map(|protocol| protocol.name().parse().ok()).collect(),
            None => vec![None],
        };
        let instances: Vec<Option<u32>> = match machine {
            _ if !self.instances.is_empty() => self.instances.iter().copied().map(Some).collect(),
            Some(_) => vec![Some(1), Some(4)],
            None => vec![None],
        };
        let mut variants = Vec::new();
        for protocol in protocols {
            for instances in &instances {
                let variant = Variant { protocol, instances: *instances };
                if !variants.contains(&variant) {
                    variants.push(variant);
                }
            }
        }
        variants
    }

    /// The network, which loggp can do without, and machines may have themselves.
    fn load(&self, machine: Option<&Machine>) -> Result<Option<LoadedTopology>, Failure> {
        let model = self.model();
        if self.loggp.is_some() && model != Model::LogGp {
            return Err(Failure::input(format!("--loggp is for --model loggp, not {model}")));
        }
        let Some(path) = &self.topology else {
            if let Some(machine) = machine {
                return MachineArguments::topology(machine).map(Some);
            }
            let needed = || Failure::input(format!("--model {model} needs --topology FILE"));
            return if model == Model::LogGp { Ok(None) } else { Err(needed()) };
        };
        let is_of_astra_sim = matches!(model, Model::Analytical | Model::LinkQueue);
        let conventions = self.conventions.or((!is_of_astra_sim).then_some(Conventions::Exact));
        let loaded = topology::load(path, conventions)?;
        for warning in &loaded.warnings {
            console::warn(warning);
        }
        Ok(Some(loaded))
    }

    /// What the simulation ran on, in words.
    fn network(&self) -> String {
        match (&self.topology, &self.machine.machine) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(machine)) => format!("the topology of {machine}"),
            (None, None) => "no topology".to_owned(),
        }
    }

    /// The algorithms of the library that apply, and the user's.
    fn candidates(
        &self,
        ranks: usize,
        variants: &[Variant],
    ) -> Result<(Vec<Candidate>, Vec<LeftOut>), Failure> {
        let (mut candidates, mut left_out) = (Vec::new(), Vec::new());
        if self.only.is_empty() {
            let all = algorithms::all().filter(|algorithm| algorithm.def.kind == self.collective);
            (candidates, left_out) = Candidate::of_algorithms(all, ranks, variants);
        }
        for (index, name) in self.only.iter().enumerate() {
            if !self.only[..index].contains(name) {
                candidates.extend(self.chosen(name, ranks, variants)?);
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
    fn chosen(&self, name: &str, ranks: usize, variants: &[Variant]) -> Result<Vec<Candidate>, Failure> {
        let of_this_kind = || algorithms::all().filter(|algorithm| algorithm.def.kind == self.collective);
        let Some(algorithm) = of_this_kind().find(|algorithm| algorithm.name() == name) else {
            let names: Vec<&str> = of_this_kind().map(|algorithm| algorithm.name()).collect();
            return Err(Failure::input(format!(
                "there is no algorithm \"{name}\" for {}; there are {}",
                self.collective.name(),
                names.join(", ")
            )));
        };
        if algorithm.choices(ranks).is_empty() {
            return Err(Failure::input(format!(
                "{name} is not for {ranks} ranks: it is for {}",
                algorithm.ranks
            )));
        }
        let (candidates, left_out) = Candidate::of_algorithms([algorithm], ranks, variants);
        // Who asks for one algorithm wants to know why it is not there.
        left_out.into_iter().next().map_or(Ok(candidates), |one| Err(one.why.into()))
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
