//! `collective report`.

mod subject;

use std::path::{Path, PathBuf};

use chakra_et::graph::Graph;
use clap::Args;
use collective::compare::{Candidate, compare};
use collective::et::NodeOrder;
use collective::sim::machine::Machine;
use collective::sim::report::{algbw_gb_per_s, busbw_gb_per_s};
use collective::sim::topology::{self, LoadedTopology};
use collective::sim::units::{Bytes, Picos};
use collective::sim::{self, Conventions, LogGp, Model, SimError, Simulation};
use collective::verify::Verdict;
use collective::{Rule, Size};

use self::subject::Subject;
use super::compare::Sizes;
use crate::failure::Failure;
use crate::machine::MachineArguments;
use crate::placement::PlacementArgument;
use crate::program::ProgramArguments;
use crate::recording::Recording;
use crate::report::{Page, Run, SizeRow, page};
use crate::{console, output, units_shown};

/// Arguments of `collective report`.
#[derive(Args)]
#[command(after_help = "docs/report-page.md says how to read the page.")]
pub(crate) struct Report {
    /// The page to write: a file whose name ends in .html.
    #[arg(value_name = "PAGE", value_parser = page_name)]
    output: PathBuf,
    /// What it is about: a built-in algorithm, an MSCCL XML file FILE.xml, or the prefix PREFIX of traces PREFIX.0.et, ….
    #[arg(value_name = "INPUT", value_parser = crate::program::names(), hide_possible_values = true)]
    what: String,
    /// The network: this project's TOML, or ASTRA-sim's network YAML. Without it nothing is simulated, except under loggp
    /// and on machines with a topology of their own.
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// How messages use the network: analytical, link-queue, fluid, loggp or machine [default: fluid].
    #[arg(long, value_name = "MODEL")]
    model: Option<Model>,
    #[command(flatten)]
    machine: MachineArguments,
    /// What the model loggp takes for a message, such as L=2500ns,o=1500ns,g=1000ns,G=6ns/B (also the defaults).
    #[arg(long, value_name = "PARAMETERS")]
    loggp: Option<LogGp>,
    /// Rules of arithmetic: exact or astra-sim [default: astra-sim for YAML with analytical and link-queue, else exact].
    #[arg(long)]
    conventions: Option<Conventions>,
    /// Where ranks sit: identity, random:SEED, or a file with a position of the topology for each rank.
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<PlacementArgument>,
    /// The sizes of the curves: FROM..TO in factors of 2, FROM..TO:FACTOR, or a list such as 1KiB,64KiB,1MiB
    /// [default: 1KiB..1GiB:4, for schedules that are not large].
    #[arg(long, value_name = "SIZES")]
    sizes: Option<Sizes>,
    #[command(flatten)]
    program: ProgramArguments,
}

/// The name of a page: whoever gives the algorithm first is told so.
fn page_name(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_page = path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
    });
    if is_page {
        Ok(path)
    } else {
        Err("expected the page to write first, with a name that ends in .html".to_owned())
    }
}

/// More nodes make no page that can be read.
const MOST_NODES: usize = 1 << 22;
/// Up to here all sizes take a few seconds.
const MANY_NODES: usize = 1 << 17;

impl Report {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.output.is_dir() {
            return Err(Failure::input(format!("{}: is a folder, not a page", self.output.display())));
        }
        let machine = self.machine.load(self.model())?;
        let mut loaded = self.load(machine.as_ref())?;
        let mut subject = self.subject(loaded.as_ref())?;
        if let Some(placement) = &self.placement {
            let Some(loaded) = &mut loaded else {
                return Err(Failure::input("--placement goes with --topology"));
            };
            loaded.topology = placement.place(&loaded.topology, subject.ranks)?;
        }
        let is_wrong = subject.verdict.as_ref().is_some_and(|report| report.verdict() != Verdict::Pass);
        if is_wrong {
            subject.notes.push("It was not simulated, as it is wrong.".to_owned());
        }
        let run = self.simulate(&subject, loaded.as_ref(), machine.as_ref())?;
        let sizes = if run.is_some() {
            self.curve(&mut subject, loaded.as_ref(), machine.as_ref())?
        } else {
            Vec::new()
        };
        let of_machine = || self.machine.machine.as_deref().map(|name| shown(Path::new(name)));
        let network = self.topology.as_deref().map(shown);
        let network = network.or_else(|| of_machine().map(|name| format!("the topology of {name}")));
        let machine_name = of_machine();
        let name = match (&network, &self.placement) {
            (Some(name), Some(placement)) => {
                format!("{name} (placement {})", shown(Path::new(&placement.to_string())))
            }
            (Some(name), None) => name.clone(),
            (None, _) => String::new(),
        };
        if run.is_none() && !is_wrong {
            subject.notes.push("Nothing was simulated: no topology was given.".to_owned());
        }
        let bandwidths = |time: Picos| self.bandwidths(&subject, subject.size, time);
        let text = page(&Page {
            name: &subject.name,
            summary: subject.summary,
            collective: subject.collective.as_deref(),
            parameters: self.parameters(&subject),
            ranks: subject.ranks,
            size: if run.is_some() { subject.size } else { None },
            schedule: subject.schedule.as_ref(),
            verdict: subject.verdict.as_ref(),
            theory: subject.theory.as_ref(),
            topology: loaded.as_ref().map(|loaded| (&loaded.topology, name.as_str())),
            machine: machine_name.as_deref(),
            run: run.as_ref().map(|(report, recording)| {
                let (algbw, busbw) = bandwidths(report.makespan);
                Run { report, recording, algbw, busbw }
            }),
            sizes,
            notes: subject
                .notes
                .iter()
                .chain(run.iter().flat_map(|(report, _)| &report.notes))
                .cloned()
                .collect(),
            command: command_line(std::env::args()),
        });
        output::write_file(&self.output, &text)?;
        let time = run
            .as_ref()
            .map_or(String::new(), |(report, _)| format!(", {}", units_shown::time(report.makespan)));
        let verdict = subject.verdict.as_ref().map_or("not verified", |report| report.verdict().name());
        output::print(&format!("{}: {}, {verdict}{time}", self.output.display(), subject.name))?;
        match subject.verdict.map(|report| report.verdict()) {
            Some(Verdict::Broken(Rule::Malformed)) => {
                Err(Failure::input(format!("{}: malformed", self.what)))
            }
            Some(Verdict::Broken(rule)) => Err(Failure::Verdict(format!(
                "{}: {}; {} says more",
                self.what,
                rule.name(),
                self.output.display()
            ))),
            _ => Ok(()),
        }
    }

    fn model(&self) -> Model {
        let model = self.machine.model(self.model);
        model.unwrap_or(if self.loggp.is_some() { Model::LogGp } else { Model::Fluid })
    }

    fn load(&self, machine: Option<&Machine>) -> Result<Option<LoadedTopology>, Failure> {
        if self.loggp.is_some() && self.model() != Model::LogGp {
            return Err(Failure::input(format!("--loggp is for --model loggp, not {}", self.model())));
        }
        if machine.is_some() && self.program.data.order == Some(NodeOrder::Dataflow) {
            return Err(Failure::input(
                "--order dataflow: the model machine executes thread blocks, whose order is --order threadblock",
            ));
        }
        let Some(path) = &self.topology else {
            if let Some(machine) = machine {
                return MachineArguments::topology(machine).map(Some);
            }
            if self.model.is_some_and(|model| model != Model::LogGp) {
                return Err(Failure::input(format!("--model {} needs --topology FILE", self.model())));
            }
            if self.sizes.is_some() && self.model() != Model::LogGp {
                return Err(Failure::input("--sizes needs --topology FILE: nothing is simulated without"));
            }
            return Ok(None);
        };
        let is_of_astra_sim = matches!(self.model(), Model::Analytical | Model::LinkQueue);
        let conventions = self.conventions.or((!is_of_astra_sim).then_some(Conventions::Exact));
        let loaded = topology::load(path, conventions).map_err(Failure::input)?;
        for warning in &loaded.warnings {
            console::warn(warning);
        }
        Ok(Some(loaded))
    }

    fn parameters(&self, subject: &Subject) -> String {
        let others = subject.parameters.iter().filter(|(name, _)| *name != "ranks");
        let list: Vec<String> = others.map(|(name, value)| format!("{name} = {value}")).collect();
        list.join(", ")
    }

    fn bandwidths(&self, subject: &Subject, size: Option<Bytes>, time: Picos) -> (Option<f64>, Option<f64>) {
        let Some(size) = size else { return (None, None) };
        let ranks = u32::try_from(subject.ranks).unwrap_or(u32::MAX);
        let busbw = subject.collective.as_deref().and_then(|name| busbw_gb_per_s(name, ranks, size, time));
        (algbw_gb_per_s(size, time), busbw)
    }

    fn simulation<'a>(
        &self,
        loaded: Option<&'a LoadedTopology>,
        machine: Option<&'a Machine>,
    ) -> Option<Simulation<'a>> {
        let loggp = self.loggp.unwrap_or_default();
        let simulation = match loaded {
            Some(loaded) => Simulation::new(&loaded.topology).conventions(loaded.conventions).loggp(loggp),
            None if self.model() == Model::LogGp => {
                Simulation::with_loggp(loggp).conventions(self.conventions.unwrap_or(Conventions::Exact))
            }
            None => return None,
        };
        Some(match machine {
            Some(machine) => simulation.machine(machine),
            None => simulation.model(self.model()),
        })
    }

    fn simulate(
        &self,
        subject: &Subject,
        loaded: Option<&LoadedTopology>,
        machine: Option<&Machine>,
    ) -> Result<Option<(sim::Report, Recording)>, Failure> {
        let (Some(graph), Some(simulation)) = (&subject.graph, self.simulation(loaded, machine)) else {
            return Ok(None);
        };
        let nodes = graph.node_count();
        if nodes > MOST_NODES {
            return Err(Failure::input(format!(
                "{}: {nodes} nodes are too many for a page, which can show {MOST_NODES}; `collective simulate` has the figures",
                self.what
            )));
        }
        let network =
            self.topology.as_ref().map_or("no topology".to_owned(), |path| path.display().to_string());
        // The model machine has no critical path.
        match simulation.critical_path(machine.is_none()).recording(true).run(graph) {
            Ok(report) => {
                let topology = loaded.map(|loaded| &loaded.topology);
                let recording = Recording::of(graph, &report, topology)
                    .ok_or_else(|| Failure::input(format!("{}: the run was not recorded", self.what)))?;
                Ok(Some((report, recording)))
            }
            Err(error @ (SimError::Stuck(_) | SimError::SizeMismatch { .. })) => {
                Err(Failure::Verdict(format!("{}: {error}", self.what)))
            }
            Err(error @ SimError::RankCount { graph, topology }) => {
                let free = "; `--placement identity` leaves the rest of the topology free";
                let hint = if graph < topology as usize { free } else { "" };
                Err(Failure::input(format!("{} on {network}: {error}{hint}", self.what)))
            }
            Err(error) => Err(Failure::input(format!("{}: {error}", self.what))),
        }
    }

    /// The same at other sizes, where there is a schedule to make them from.
    fn curve(
        &self,
        subject: &mut Subject,
        loaded: Option<&LoadedTopology>,
        machine: Option<&Machine>,
    ) -> Result<Vec<SizeRow>, Failure> {
        let (Some(schedule), Some(simulation)) = (&subject.schedule, self.simulation(loaded, machine)) else {
            return match self.sizes {
                Some(_) => Err(Failure::input(format!(
                    "{}: --sizes needs a schedule, which these traces do not hold",
                    self.what
                ))),
                None => Ok(Vec::new()),
            };
        };
        let nodes = subject.graph.as_ref().map_or(0, Graph::node_count);
        if self.sizes.is_none() && nodes > MANY_NODES {
            subject.notes.push(
                "Other sizes are left out, as the schedule is large: --sizes 1KiB..1GiB:4 shows them."
                    .to_owned(),
            );
            return Ok(Vec::new());
        }
        let sizes: Vec<Size> = match &self.sizes {
            Some(sizes) => sizes.0.iter().map(|size| size.0).collect::<Vec<_>>(),
            None => (5..=15).map(|power| 1u64 << (2 * power)).collect(),
        }
        .into_iter()
        .map(|bytes| Size::bytes(bytes).with_type(subject.options.size.element_type()))
        .collect();
        let candidate = Candidate { label: subject.name.clone(), schedule: schedule.clone() };
        let comparison = compare(&simulation, &[candidate], &sizes, &subject.options);
        let mut rows = Vec::new();
        let times = comparison.rows.first().map(|row| row.times.as_slice()).unwrap_or_default();
        for (size, time) in comparison.sizes.iter().zip(times) {
            let size = Bytes(size.in_bytes());
            match time {
                Ok(time) => {
                    let (algbw, busbw) = self.bandwidths(subject, Some(size), *time);
                    rows.push(SizeRow { size, time: *time, algbw, busbw });
                }
                Err(error) => return Err(Failure::input(format!("{}, {size}: {error}", self.what))),
            }
        }
        Ok(rows)
    }
}

/// A path as a page names it: one that is given from the root says where somebody's files lie, which is nobody's business.
fn shown(path: &Path) -> String {
    match path.file_name().filter(|_| path.is_absolute()) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    }
}

/// The command line, with paths as they are shown.
fn command_line(arguments: impl Iterator<Item = String>) -> String {
    let shown = arguments.skip(1).map(|argument| {
        let argument = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => format!("{name}={}", shown(Path::new(value))),
            _ => shown(Path::new(&argument)),
        };
        if argument.is_empty()
            || argument.contains(|c: char| c.is_whitespace() || "'\"$&|<>;*?()".contains(c))
        {
            format!("'{}'", argument.replace('\'', "'\\''"))
        } else {
            argument
        }
    });
    ["collective".to_owned()].into_iter().chain(shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_one_that_can_be_typed_anywhere() {
        let arguments = [
            "/usr/bin/collective",
            "report",
            "/home/me/a b.html",
            "x.xml",
            "--topology=/etc/net.toml",
            "--size",
            "1 MiB",
        ];
        let shown = command_line(arguments.into_iter().map(str::to_owned));
        assert_eq!(shown, "collective report 'a b.html' x.xml --topology=net.toml --size '1 MiB'");
    }
}
