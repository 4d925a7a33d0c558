//! `collective simulate --workload`.

mod arguments;
mod choice;
mod collectives;
mod dry_run;
mod figures;
mod findings;
mod groups;
mod path;
mod replicate;
mod report;
mod spent;
mod timeline;
mod unfinished;

use std::path::Path;

use chakra_et::RankFiles;
use chakra_et::workload::{Finding, LoadError, Loaded, ReadOptions, check, load};
use chakra_et::{Problem, ReadError};
use collective::sim::topology::LoadedTopology;
use collective::sim::workload::{Roofline, WorkloadError, WorkloadReport, WorkloadSimulation};
use collective::sim::{Conventions, Model, Progress, SimError};
use collective::workload::Expander;

pub(super) use self::arguments::WorkloadArguments;
use self::choice::Chooser;
use self::report::Outcome;
pub(super) use self::timeline::TimelineFile;
use super::Simulate;
use super::unfinished::{interrupted_json, interrupted_text};
use super::watch::Watch;
use crate::console;
use crate::failure::Failure;
use crate::output;
use crate::placement::PlacementArgument;

impl Simulate {
    /// Simulates the workload of a prefix.
    pub(super) fn run_workload(&self, prefix: &Path) -> Result<(), Failure> {
        self.refuse_arguments_of_algorithms()?;
        let watch = Watch::begin()?;
        let mut topology = self.topology_of_workload()?;
        let chooser = self.chooser(topology.as_ref())?;
        let mut options = ReadOptions::default();
        options.drop_dangling = self.workload.drop_dangling;
        let groups = self.workload.groups()?;
        let Loaded { workload, warnings, .. } =
            load(prefix, groups.as_ref(), &options).map_err(|error| unreadable(&error))?;
        let (workload, notes) = self.workload.replication.apply(workload)?;
        let mut findings = check(&workload);
        let roofline = self.roofline(&chooser);
        let has_roofline =
            |finding: &Finding| finding.id == "computation-needs-roofline" && roofline.is_some();
        findings.retain(|finding| !self.workload.settles(finding.id) && !has_roofline(finding));
        for warning in findings::warnings(&warnings, &findings) {
            console::warn(warning);
        }
        let subject = Subject { prefix, workload, findings, notes };
        if self.workload.dry_run {
            dry_run::show(&subject, &chooser, self.workload.per_group, self.json)?;
        }
        if let Some(verdict) = findings::verdict(&subject.findings) {
            if self.json && !self.workload.dry_run {
                output::print(&subject.refused_json(verdict).to_string())?;
            }
            let errors = findings::errors(&subject.findings);
            return Err(Failure::Verdict(format!("{}: it cannot run:{errors}", prefix.display())));
        }
        self.workload.replication.write(&subject.workload)?;
        let Some(topology) = topology.as_mut().filter(|_| !self.workload.dry_run) else { return Ok(()) };
        if let Some(placement) = &self.placement {
            topology.topology = placement.place(&topology.topology, subject.workload.rank_count())?;
        }
        let mut timeline = None;
        if let Some(path) = &self.pictures.timeline {
            self.refuse_input_as_output(path, prefix)?;
            let names = subject.workload.groups().iter().map(|group| group.name.clone()).collect();
            // A workload that is simulated has as many ranks as the topology.
            let ranks = subject.workload.rank_count() as u32;
            timeline = Some(TimelineFile::create(path, names, ranks, Some(&topology.topology))?);
        }
        let result = self.simulate(&subject, topology, &chooser, &watch, timeline.as_mut());
        watch.end();
        // What happened until a run got stuck or was broken off is worth looking at, too.
        let is_seen = matches!(
            result,
            Ok(_) | Err(WorkloadError::Stuck(_) | WorkloadError::Simulation(SimError::Stopped(_)))
        );
        if let Some(timeline) = timeline.filter(|_| is_seen) {
            timeline.finish()?;
        }
        self.tell(&subject, topology, &chooser, result)
    }

    fn simulate(
        &self,
        subject: &Subject<'_>,
        topology: &LoadedTopology,
        chooser: &Chooser,
        watch: &Watch,
        timeline: Option<&mut TimelineFile<'_>>,
    ) -> Result<WorkloadReport, WorkloadError> {
        let simulation = WorkloadSimulation::new(&topology.topology)
            .model(self.model_of_workload(topology.conventions))
            .conventions(topology.conventions)
            .compat(self.compat);
        let simulation = self.conditions.apply_to_workload(simulation).observer(watch);
        let mut simulation = self.workload.apply(simulation);
        if let Some(roofline) = self.roofline(chooser) {
            simulation = simulation.roofline(roofline);
        }
        match timeline {
            Some(timeline) => simulation.run_with_timeline(&subject.workload, chooser, timeline),
            None => simulation.run(&subject.workload, chooser),
        }
    }

    /// Prints what came of it.
    fn tell(
        &self,
        subject: &Subject<'_>,
        topology: &LoadedTopology,
        chooser: &Chooser,
        result: Result<WorkloadReport, WorkloadError>,
    ) -> Result<(), Failure> {
        let name = subject.prefix.display();
        match result {
            Ok(report) => {
                for warning in &report.warnings {
                    eprintln!("warning: {warning}");
                }
                let outcome = Outcome { command: self, subject, topology, chooser, report: &report };
                output::print(&if self.json { outcome.to_json().to_string() } else { outcome.to_text() })
            }
            Err(WorkloadError::Simulation(SimError::Stopped(so_far))) => {
                let text =
                    if self.json { interrupted_json(&so_far).to_string() } else { interrupted_text(&so_far) };
                output::print(&text)?;
                let Progress { time, finished, nodes, .. } = so_far.progress;
                Err(Failure::Interrupted(format!(
                    "{name}: interrupted at {time} with {finished} of {nodes} nodes finished"
                )))
            }
            Err(WorkloadError::Stuck(stuck)) => {
                if self.json {
                    output::print(&unfinished::stuck_json(&stuck).to_string())?;
                }
                Err(Failure::Verdict(format!("{name}: {stuck}")))
            }
            Err(
                error @ (WorkloadError::Join(_)
                | WorkloadError::OtherCollective { .. }
                | WorkloadError::Simulation(SimError::SizeMismatch { .. })),
            ) => {
                if self.json {
                    output::print(&unfinished::refused_json(&error).to_string())?;
                }
                Err(Failure::Verdict(format!("{name}: {error}")))
            }
            Err(WorkloadError::Simulation(SimError::RankCount { graph, topology })) => {
                let free = "; `--placement identity` leaves the rest of the topology free";
                let hint = if graph < topology as usize { free } else { "" };
                Err(Failure::input(format!(
                    "{name} on {}: the workload has {graph} ranks but the topology has {topology}{hint}",
                    self.network()
                )))
            }
            Err(error) => Err(Failure::input(format!("{name}: {error}"))),
        }
    }

    /// The network, which a dry run can do without.
    fn topology_of_workload(&self) -> Result<Option<LoadedTopology>, Failure> {
        if self.model == Some(Model::LogGp) {
            return Err(Failure::input(
                "--model loggp has no topology: --workload takes analytical, link-queue or fluid",
            ));
        }
        if self.model == Some(Model::Machine) {
            return Err(Failure::input(
                "--model machine executes one collective by its thread blocks: --workload takes analytical, link-queue or fluid",
            ));
        }
        if self.topology.is_none() && !self.workload.dry_run {
            return Err(Failure::input("--workload needs --topology FILE"));
        }
        self.read_topology()
    }

    /// The model asked for; else fluid, which ASTRA-sim does not have.
    fn model_of_workload(&self, conventions: Conventions) -> Model {
        self.model.unwrap_or(match conventions {
            Conventions::AstraSim => Model::Analytical,
            _ => Model::Fluid,
        })
    }

    /// Who gives the collectives their algorithms.
    fn chooser(&self, topology: Option<&LoadedTopology>) -> Result<Chooser, Failure> {
        let data = &self.program.data;
        if let Some(system) = self.workload.system()? {
            let given = [(data.reduce_rate.is_some(), "--reduce-rate"), (data.order.is_some(), "--order")];
            if let Some((_, argument)) = given.into_iter().find(|(given, _)| *given) {
                return Err(Failure::input(format!(
                    "{argument} does not go with --system: its traces say it, and its native algorithms are ASTRA-sim's"
                )));
            }
            return Ok(Chooser::System(Box::new(system)));
        }
        let expander = Expander::new(self.workload.rules()?)?;
        let expander = expander.reduce_rate(data.reduce_rate.unwrap_or_default());
        let expander = expander.order(data.order.unwrap_or_default());
        // Where ranks lie elsewhere, machines are not stretches of ranks.
        let in_order = matches!(self.placement, None | Some(PlacementArgument::Identity));
        Ok(Chooser::Rules(Box::new(match topology.filter(|_| in_order) {
            Some(loaded) => expander.on(&loaded.topology),
            None => expander,
        })))
    }

    /// How fast a rank computes: what the argument says goes before a file.
    fn roofline(&self, chooser: &Chooser) -> Option<Roofline> {
        self.conditions.roofline.or_else(|| chooser.roofline())
    }

    /// A slip of the tab key must not cost a trace.
    fn refuse_input_as_output(&self, output: &Path, prefix: &Path) -> Result<(), Failure> {
        let Ok(there) = output.canonicalize() else { return Ok(()) };
        let traces = RankFiles::find(prefix, "et").map_err(Failure::input)?;
        let traces = traces.ranks().iter().map(|(_, path)| path.as_path());
        let inputs = traces.chain(self.workload.files()).chain(self.topology.as_deref());
        match inputs.into_iter().find(|input| input.canonicalize().is_ok_and(|input| input == there)) {
            Some(input) => Err(Failure::input(format!(
                "--timeline {} would replace {}, which is read",
                output.display(),
                input.display()
            ))),
            None => Ok(()),
        }
    }

    fn refuse_arguments_of_algorithms(&self) -> Result<(), Failure> {
        let data = &self.program.data;
        let given = [
            (self.what.is_some(), "INPUT", "a workload is named by --workload alone"),
            (self.program.ranks.is_some(), "--ranks", "the traces say how many there are"),
            (!self.program.set.is_empty(), "--set", "--rules sets parameters of algorithms"),
            (data.size.is_some(), "--size", "the traces say it"),
            (data.element_type.is_some(), "--type", "the traces do not tell elements apart"),
            (self.collective.is_some(), "--collective", "the traces say it"),
            (self.loggp.is_some(), "--loggp", "it takes the models analytical, link-queue and fluid"),
            (
                self.machine.machine.is_some(),
                "--machine",
                "a machine executes one collective by its thread blocks; --workload takes the models analytical, link-queue and fluid",
            ),
            (self.figures, "--figures", "it is for --model machine"),
            (
                self.program.lowering.protocol.is_some(),
                "--protocol",
                "only --model machine tells protocols apart",
            ),
            (
                self.program.lowering.instances.is_some(),
                "--instances",
                "--rules say how collectives are carried out",
            ),
            (self.no_fold, "--no-fold", "every rank is simulated"),
            (self.messages.is_some(), "--messages", "--timeline has its messages"),
        ];
        if let Some(argument) = self.pictures.first_for_algorithms() {
            return Err(Failure::input(format!(
                "{argument} does not go with --workload: it draws one collective; --timeline FILE.json shows a workload in Perfetto"
            )));
        }
        match given.into_iter().find(|(given, ..)| *given) {
            Some((_, argument, why)) => {
                Err(Failure::input(format!("{argument} does not go with --workload: {why}")))
            }
            None => Ok(()),
        }
    }
}

/// Why a workload cannot be read, and by which argument it could.
fn unreadable(error: &LoadError) -> Failure {
    match error {
        LoadError::Trace { error: of_trace @ ReadError::Rank { error, .. } }
            if matches!(error.problem, Problem::SelfDep { .. } | Problem::DanglingDep { .. }) =>
        {
            Failure::input(format!("{of_trace}; --drop-dangling leaves out such dependences"))
        }
        error => Failure::input(error),
    }
}

/// A workload, as it was read.
struct Subject<'a> {
    prefix: &'a Path,
    workload: chakra_et::workload::Workload,
    findings: Vec<Finding>,
    /// What to say of how it was replicated.
    notes: Vec<String>,
}

impl Subject<'_> {
    /// Why a workload is not simulated.
    fn refused_json(&self, verdict: &str) -> serde_json::Value {
        serde_json::json!({
            "workload": self.prefix.display().to_string(),
            "verdict": verdict,
            "findings": findings::to_json(&self.findings),
        })
    }
}
