//! `collective simulate`.

mod conditions;
mod figures;
mod links;
mod messages;
mod path;
mod pictures;
mod report;
mod speeds;
mod unfinished;
mod watch;
mod workload;

use std::path::{Path, PathBuf};

use chakra_et::graph::{Graph, SymmetricGraph};
use clap::Args;
use collective::et::{EtOptions, NodeOrder};
use collective::sim::machine::{Machine, Protocol};
use collective::sim::report::busbw_factor;
use collective::sim::topology::{self, LoadedTopology};
use collective::sim::units::Bytes;
use collective::sim::{Compat, Conventions, LogGp, Model, Progress, Report, SimError, Simulation};
use collective::{AlgorithmDef, Schedule, Size, algorithms, et, symmetric};

use self::conditions::Conditions;
use self::pictures::PictureArguments;
use self::report::Found;
use self::watch::Watch;
use self::workload::WorkloadArguments;
use crate::console;
use crate::failure::Failure;
use crate::machine::{self, MachineArguments};
use crate::output;
use crate::placement::PlacementArgument;
use crate::program::{self, DataArguments, ProgramArguments, similar};
use crate::stage::{stage, timed};
use crate::xml;

/// Arguments of `collective simulate`.
#[derive(Args)]
pub(crate) struct Simulate {
    /// The prefix PREFIX of traces PREFIX.0.et, PREFIX.1.et, …, an MSCCL XML file FILE.xml, or a built-in algorithm.
    /// If traces and an algorithm have the name, it is the traces; write ./NAME for a prefix without directory.
    #[arg(value_name = "INPUT", value_parser = program::names(), hide_possible_values = true)]
    what: Option<String>,
    /// The network: this project's TOML, or ASTRA-sim's network YAML. All models but loggp need it, machine if the machine has none.
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// How messages use the network: analytical, link-queue, fluid, loggp or machine [default for workloads: fluid, under the
    /// astra-sim conventions analytical].
    #[arg(long, value_name = "MODEL")]
    model: Option<Model>,
    #[command(flatten)]
    machine: MachineArguments,
    /// What the model loggp takes for a message, such as L=2500ns,o=1500ns,g=1000ns,G=6ns/B (also the defaults).
    #[arg(long, value_name = "PARAMETERS")]
    loggp: Option<LogGp>,
    /// Rules of arithmetic: exact or astra-sim [default: astra-sim for YAML, exact for TOML].
    #[arg(long)]
    conventions: Option<Conventions>,
    /// Where ranks sit: identity, random:SEED, or a file with a position of the topology for each rank. The rest of the topology
    /// stays free.
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<PlacementArgument>,
    /// As which simulator a rank issues its nodes: astra-sim has one send or collective and one computation of a rank at a
    /// time. Model and conventions stay as they are.
    #[arg(long)]
    compat: Option<Compat>,
    /// Simulates every rank, even where all do the same and one could stand for them.
    #[arg(long)]
    no_fold: bool,
    #[command(flatten)]
    program: ProgramArguments,
    /// The collective that foreign traces implement, such as all_reduce, for the bus bandwidth.
    #[arg(long, value_parser = known_collective)]
    collective: Option<String>,
    #[command(flatten)]
    conditions: Conditions,
    /// Says what determines the time: the chain of messages and computations back from the last rank to finish, by
    /// cause and by source line. Of a workload also the first, the last and the longest steps, with `--critical-path=all` every one, as with
    /// --json.
    #[arg(long, value_name = "STEPS", num_args = 0..=1, require_equals = true, default_missing_value = "longest",
          hide_possible_values = true)]
    critical_path: Option<PathShown>,
    /// Says how much each figure of the machine is worth to the time, also where that takes long: the model runs twice a figure.
    #[arg(long)]
    figures: bool,
    /// Says what the links carried, the busiest first; with --json all of them.
    #[arg(long)]
    links: bool,
    /// Writes when each message was sent and delivered, as comma-separated values.
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pictures: PictureArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
}

fn known_collective(name: &str) -> Result<String, String> {
    // Those for which nccl-tests define a bus bandwidth, and the two for which there is none.
    if busbw_factor(name, 2).is_some() || ["barrier", "custom"].contains(&name) {
        return Ok(name.to_owned());
    }
    Err("expected all_reduce, all_gather, reduce_scatter, all_to_all, gather, scatter, broadcast, reduce, send_recv, \
         barrier or custom"
        .to_owned())
}

/// Which steps of a workload's critical path are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PathShown {
    /// The first, the last and the longest.
    Longest,
    All,
}

/// What is executed.
enum Program {
    Each(Graph),
    /// Too large to be written out: all ranks do what the first does.
    Alike(SymmetricGraph),
}

impl Program {
    fn rank_count(&self) -> usize {
        match self {
            Self::Each(graph) => graph.rank_count(),
            Self::Alike(graph) => graph.rank_count() as usize,
        }
    }

    fn node_count(&self) -> u64 {
        match self {
            Self::Each(graph) => graph.node_count() as u64,
            Self::Alike(graph) => graph.node_count(),
        }
    }

    fn run(&self, simulation: &Simulation<'_>) -> Result<Report, SimError> {
        match self {
            Self::Each(graph) => simulation.run(graph),
            Self::Alike(graph) => simulation.run_symmetric(graph),
        }
    }

    /// The protocol whose costs it has on a machine.
    fn protocol(&self) -> Option<Protocol> {
        match self {
            Self::Each(graph) => machine::protocol(graph.info.as_ref()),
            Self::Alike(graph) => machine::protocol(graph.info()),
        }
    }
}

/// From so many nodes on an algorithm is not compiled where the graph of one rank can be had without: the result is the
/// same, but compiling takes seconds, and from a few thousand ranks on more memory than there is.
const MANY_NODES: u64 = 1 << 20;

/// What is known of a graph beside its nodes.
struct Subject {
    program: Program,
    name: String,
    /// Of a built-in algorithm, by name.
    parameters: Vec<(&'static str, usize)>,
    collective: Option<String>,
    size: Option<Bytes>,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match &self.workload.workload {
            Some(prefix) => self.run_workload(prefix),
            None => self.run_algorithm(),
        }
    }

    fn run_algorithm(mut self) -> Result<(), Failure> {
        if let Some(argument) = self.workload.first_for_workloads() {
            return Err(Failure::input(format!("{argument} goes with --workload PREFIX")));
        }
        if self.what.is_none() {
            return Err(Failure::input(
                "nothing to simulate: expected traces, an XML file or a built-in algorithm, or --workload PREFIX",
            ));
        }
        self.pictures.check()?;
        let models = "analytical, link-queue, fluid, loggp or machine";
        self.model = self.machine.model(self.model);
        let model = self.model.ok_or_else(|| Failure::input(format!("--model is needed: {models}")))?;
        let machine = self.machine.load(model)?;
        self.refuse_what_machines_lack(model)?;
        let watch = Watch::begin()?;
        let mut loaded = self.load(model, machine.as_ref())?;
        let subject = match self.algorithm() {
            Some(algorithm) => {
                let placed = self.placement.as_ref().and_then(PlacementArgument::ranks);
                let ranks = placed.or(loaded.as_ref().map(|loaded| loaded.topology.rank_count()));
                if let Some(ranks) = ranks {
                    self.program.ranks.get_or_insert(ranks as usize);
                }
                self.compile(algorithm)?
            }
            None if xml::is_xml(Path::new(self.what())) => self.import()?,
            None => self.read()?,
        };
        if let Some(placement) = &self.placement {
            let Some(loaded) = &mut loaded else {
                return Err(Failure::input("--placement goes with --topology: loggp has no places"));
            };
            loaded.topology = placement.place(&loaded.topology, subject.program.rank_count())?;
        }
        let loggp = self.loggp.unwrap_or_default();
        let simulation = match &loaded {
            Some(loaded) => Simulation::new(&loaded.topology).conventions(loaded.conventions).loggp(loggp),
            None => Simulation::with_loggp(loggp).conventions(self.conventions.unwrap_or(Conventions::Exact)),
        };
        let simulation = match &machine {
            Some(machine) => simulation.machine(machine),
            None => simulation.model(model),
        };
        let simulation = simulation.compat(self.compat).fold(!self.no_fold);
        let simulation = self.conditions.apply(simulation).observer(&watch);
        let is_recorded = self.pictures.are_given();
        let simulation = simulation.critical_path(self.wants_path(is_recorded)).recording(is_recorded);
        let simulation = simulation.message_times(self.messages.is_some());
        console::info(|| self.taken(&subject, model, loaded.as_ref()));
        let result = timed("simulating", || subject.program.run(&simulation));
        watch.end();
        match result {
            Ok(report) => {
                if let (Some(file), Some(times)) = (&self.messages, &report.message_times) {
                    output::write_file(file, &messages::csv(times))?;
                }
                if let Program::Each(graph) = &subject.program {
                    self.draw(&subject, graph, loaded.as_ref(), &report)?;
                }
                let worth = match (&machine, &loaded) {
                    (Some(machine), Some(loaded)) => {
                        self.worth(machine, loaded, &subject.program, &report)?
                    }
                    _ => None,
                };
                let found = Found { loaded: loaded.as_ref(), report: &report, worth: worth.as_ref() };
                output::print(&if self.json {
                    self.json_report(&subject, &found).to_string()
                } else {
                    self.text_report(&subject, &found)
                })
            }
            Err(SimError::Stopped(so_far)) => {
                output::print(&if self.json {
                    unfinished::interrupted_json(&so_far).to_string()
                } else {
                    unfinished::interrupted_text(&so_far)
                })?;
                let Progress { time, finished, nodes, .. } = so_far.progress;
                Err(Failure::Interrupted(format!(
                    "{}: interrupted at {time} with {finished} of {nodes} nodes finished",
                    self.what()
                )))
            }
            Err(SimError::Stuck(stuck)) => {
                if self.json {
                    output::print(&unfinished::stuck_json(&stuck).to_string())?;
                }
                Err(Failure::Verdict(format!("{}: {stuck}", self.what())))
            }
            Err(error @ SimError::SizeMismatch { .. }) => {
                Err(Failure::Verdict(format!("{}: {error}", self.what())))
            }
            Err(error @ SimError::RankCount { graph, topology }) => {
                let free = "; `--placement identity` leaves the rest of the topology free";
                let hint = if graph < topology as usize { free } else { "" };
                Err(Failure::input(format!("{} on {}: {error}{hint}", self.what(), self.network())))
            }
            Err(error @ SimError::CannotFold { .. }) if subject.parameters.contains(&("outer", 1)) => {
                let hint = "; with halving and doubling between nodes (--set outer=2) one can on trees too";
                Err(Failure::input(format!("{}: {error}{hint}", self.what())))
            }
            Err(error @ SimError::Unsupported { .. }) => {
                let hint = "; --workload simulates traces whose collectives are single nodes";
                Err(Failure::input(format!("{}: {error}{hint}", self.what())))
            }
            Err(error) => Err(Failure::input(format!("{}: {error}", self.what()))),
        }
    }

    /// What only a model with messages has, by the name of the argument.
    fn refuse_what_machines_lack(&self, model: Model) -> Result<(), Failure> {
        if model != Model::Machine {
            return if self.figures {
                Err(Failure::input(format!("--figures is for --model machine, not {model}")))
            } else {
                Ok(())
            };
        }
        if self.critical_path.is_some() {
            return Err(Failure::input(
                "--critical-path: the model machine has none; what its figures are worth says what determines the time",
            ));
        }
        if self.program.data.order == Some(NodeOrder::Dataflow) {
            return Err(Failure::input(
                "--order dataflow: the model machine executes thread blocks, whose order is --order threadblock",
            ));
        }
        Ok(())
    }

    /// Whether the critical path is to be found: for pictures too, where the model has one.
    fn wants_path(&self, is_recorded: bool) -> bool {
        self.critical_path.is_some() || is_recorded && self.model != Some(Model::Machine)
    }

    /// The network, which loggp can do without, and machines may have themselves.
    fn load(&self, model: Model, machine: Option<&Machine>) -> Result<Option<LoadedTopology>, Failure> {
        if self.loggp.is_some() && model != Model::LogGp {
            return Err(Failure::input(format!("--loggp is for --model loggp, not {model}")));
        }
        if let (Some(machine), None) = (machine, &self.topology) {
            if self.conventions == Some(Conventions::AstraSim) {
                return Err(Failure::input("--conventions astra-sim: the model machine has exact ones only"));
            }
            return MachineArguments::topology(machine).map(Some);
        }
        if self.topology.is_none() && model != Model::LogGp {
            return Err(Failure::input(format!("--model {model} needs --topology FILE")));
        }
        self.read_topology()
    }

    fn read_topology(&self) -> Result<Option<LoadedTopology>, Failure> {
        let Some(path) = &self.topology else { return Ok(None) };
        // ASTRA-sim has no such machines, so that its files do not bring its conventions.
        let of_machine = (self.model == Some(Model::Machine)).then_some(Conventions::Exact);
        let conventions = self.conventions.or(of_machine);
        let loaded = stage(&format!("reading {}", path.display()), || topology::load(path, conventions))?;
        for warning in &loaded.warnings {
            console::warn(warning);
        }
        Ok(Some(loaded))
    }

    /// What is simulated with what, also where nothing was said.
    fn taken(&self, subject: &Subject, model: Model, loaded: Option<&LoadedTopology>) -> String {
        let conventions = match loaded {
            Some(loaded) => loaded.conventions,
            None => self.conventions.unwrap_or(Conventions::Exact),
        };
        let placement = self.placement.as_ref().map_or("identity".to_owned(), ToString::to_string);
        let engine = match &subject.program {
            Program::Alike(_) => "one rank for all, which do the same",
            Program::Each(_) if self.no_fold => "every rank",
            Program::Each(_) => "every rank, unless all do the same",
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        format!(
            "model {}, {conventions} conventions, placement {placement}, {} ranks on {}; simulated is {engine}, in up to {threads} threads",
            self.model_in_words(&subject.program, model).trim_end_matches(','),
            subject.program.rank_count(),
            self.network()
        )
    }

    /// What is simulated, as it was named.
    fn what(&self) -> &str {
        self.what.as_deref().unwrap_or_default()
    }

    /// What the simulation ran on, in words.
    fn network(&self) -> String {
        match (&self.topology, &self.machine.machine) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(machine)) => format!("the topology of {machine}"),
            (None, None) => "no topology".to_owned(),
        }
    }

    /// The model in words: with the machine, and the protocol whose figures it takes.
    fn model_in_words(&self, program: &Program, model: Model) -> String {
        match &self.machine.machine {
            Some(machine) => {
                let protocol = program.protocol().map_or("", Protocol::name);
                format!("{model} {machine}, protocol {protocol},")
            }
            None => model.name().to_owned(),
        }
    }

    /// The built-in algorithm that is meant, if it is not traces.
    fn algorithm(&self) -> Option<&'static AlgorithmDef> {
        let is_path = Path::new(self.what()).components().count() > 1;
        let has_files = Path::new(&format!("{}.0.et", self.what())).exists();
        if is_path || has_files {
            None
        } else {
            algorithms::find(self.what()).map(|algorithm| &algorithm.def)
        }
    }

    fn compile(&self, algorithm: &AlgorithmDef) -> Result<Subject, Failure> {
        let parameters = self.program.parameters(algorithm)?;
        match self.symmetric(algorithm, &parameters) {
            Some(graph) => {
                let (name, collective) = (algorithm.name, algorithm.kind.name());
                self.described(Program::Alike(graph), name, parameters, collective)
            }
            None => {
                let schedule = self
                    .program
                    .schedule(algorithm)
                    .map_err(|failure| failure.and_for_input(|| self.folding_hint(algorithm, &parameters)))?;
                self.subject(&schedule, parameters)
            }
        }
    }

    /// What to say of an algorithm that is too large rank by rank, where one rank could stand for all at another size.
    fn folding_hint(&self, algorithm: &AlgorithmDef, parameters: &[(&'static str, usize)]) -> String {
        let size = self.program.data.full_size();
        let ranks =
            parameters.iter().find(|(name, _)| *name == "ranks").map_or(1, |(_, ranks)| *ranks as u64);
        let whole = ranks.saturating_mul(size.element_type().bytes());
        let Some(next) = size.in_bytes().max(1).checked_next_multiple_of(whole) else { return String::new() };
        let next = Size::bytes(next).with_type(size.element_type());
        match symmetric::find(algorithm.name, parameters, next, symmetric::free) {
            Some(_) if size.in_bytes() != next.in_bytes() => format!(
                "; where the size is a multiple of {whole} bytes, such as --size {}, all ranks do the same, and one can stand \
                 for all",
                next.in_bytes()
            ),
            Some(_) => "; without --critical-path, pictures and --order dataflow one rank can stand for all"
                .to_owned(),
            None => String::new(),
        }
    }

    /// The graph of one rank for all, where the algorithm has one and is large.
    fn symmetric(
        &self,
        algorithm: &AlgorithmDef,
        parameters: &[(&'static str, usize)],
    ) -> Option<SymmetricGraph> {
        let EtOptions { size, reduce_rate, order, .. } = self.program.data.et_options();
        let lowering = &self.program.lowering;
        let is_own = lowering.protocol.is_none() && lowering.instances.is_none();
        let is_same = order == NodeOrder::ThreadBlock
            && self.critical_path.is_none()
            && !self.pictures.are_given()
            && is_own;
        let find = || symmetric::find(algorithm.name, parameters, size, |bytes| reduce_rate.micros(bytes));
        is_same.then(find).flatten().filter(|graph| graph.node_count() > MANY_NODES)
    }

    /// An MSCCL XML file, verified as a built-in algorithm is.
    fn import(&self) -> Result<Subject, Failure> {
        let path = Path::new(self.what());
        if !self.program.set.is_empty() {
            return Err(Failure::input("--set is for built-in algorithms; an XML file has no parameters"));
        }
        if self.program.lowering.instances.is_some() {
            return Err(Failure::input(
                "--instances is for built-in algorithms; an XML file is lowered already",
            ));
        }
        let imported = xml::read(path)?;
        xml::warn_of_size(&imported, path, self.program.data.full_size().in_bytes());
        let mut schedule = imported.schedule;
        schedule.protocol = self.program.lowering.protocol.unwrap_or(schedule.protocol);
        let found = schedule.collective.ranks();
        if let Some(ranks) = self.program.ranks.filter(|ranks| *ranks != found) {
            return Err(Failure::input(format!("{} has {found} ranks, not {ranks}", self.what())));
        }
        xml::verified(&schedule, path)?;
        self.subject(&schedule, Vec::new())
    }

    fn subject(
        &self,
        schedule: &Schedule,
        parameters: Vec<(&'static str, usize)>,
    ) -> Result<Subject, Failure> {
        let graph = stage("making the graph", || et::graph(schedule, &self.program.data.et_options()));
        let graph = graph.map_err(Failure::input)?;
        let collective = schedule.collective.kind().name();
        self.described(Program::Each(graph), &schedule.name, parameters, collective)
    }

    fn described(
        &self,
        program: Program,
        name: &str,
        parameters: Vec<(&'static str, usize)>,
        collective: &str,
    ) -> Result<Subject, Failure> {
        if self.collective.is_some() {
            return Err(Failure::input("--collective is for traces; an algorithm knows its collective"));
        }
        Ok(Subject {
            program,
            name: name.to_owned(),
            parameters,
            collective: Some(collective.to_owned()),
            size: Some(Bytes(self.program.data.full_size().in_bytes())),
        })
    }

    fn read(&self) -> Result<Subject, Failure> {
        let ProgramArguments { ranks, set, data, lowering } = &self.program;
        let DataArguments { size, element_type, reduce_rate, order } = data;
        let read = stage(&format!("reading {}", self.what()), || chakra_et::read_trace(self.what()));
        let mut graph = read.map_err(|error| {
            let looks_like_name = matches!(error, chakra_et::ReadError::NoFiles { .. });
            let hint = if looks_like_name {
                format!("; nor is it a built-in algorithm{}", similar(self.what()))
            } else {
                String::new()
            };
            Failure::input(format!("{error}{hint}"))
        })?;
        if !set.is_empty() || element_type.is_some() || reduce_rate.is_some() || order.is_some() {
            return Err(Failure::input(
                "--set, --type, --reduce-rate and --order are for built-in algorithms; traces are already compiled",
            ));
        }
        if lowering.instances.is_some() {
            return Err(Failure::input(
                "--instances is for built-in algorithms; traces are already compiled",
            ));
        }
        self.override_protocol(&mut graph)?;
        if let Some(ranks) = ranks
            && *ranks != graph.rank_count()
        {
            let found = graph.rank_count();
            return Err(Failure::input(format!("{} has {found} ranks, not {ranks}", self.what())));
        }
        let info = graph.info.clone();
        if let (Some(info), Some(size)) = (&info, size)
            && info.size_bytes != size.0
        {
            return Err(Failure::input(format!(
                "{} was compiled for {} bytes, not {}: compile it again with --size",
                self.what(),
                info.size_bytes,
                size.0
            )));
        }
        Ok(Subject {
            name: info.as_ref().map_or_else(|| self.what().to_owned(), |info| info.name.clone()),
            parameters: Vec::new(),
            collective: self.collective.clone().or(info.as_ref().map(|info| info.collective.clone())),
            size: size.or(info.map(|info| Bytes(info.size_bytes))),
            program: Program::Each(graph),
        })
    }

    /// Traces keep their steps; of their protocol only the costs of a machine depend.
    fn override_protocol(&self, graph: &mut Graph) -> Result<(), Failure> {
        let Some(protocol) = self.program.lowering.protocol else { return Ok(()) };
        if self.model != Some(Model::Machine) {
            return Err(Failure::input("--protocol of traces makes a difference under --model machine only"));
        }
        let Some(info) = &mut graph.info else {
            return Err(Failure::input(format!(
                "{}: --protocol is for traces of a compiled algorithm, which these are not",
                self.what()
            )));
        };
        protocol.name().clone_into(&mut info.protocol);
        Ok(())
    }
}
