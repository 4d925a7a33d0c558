//! What a page is about, from whatever names it.

use std::path::Path;

use chakra_et::graph::Graph;
use collective::algorithms::{self, Algorithm, Cost};
use collective::et::{self, EtOptions, Recovered};
use collective::sim::Model;
use collective::sim::topology::LoadedTopology;
use collective::sim::units::Bytes;
use collective::verify::{self, Settings, Verdict};
use collective::{Schedule, msccl};

use super::{Report, shown};
use crate::commands::convert_et;
use crate::console;
use crate::failure::Failure;
use crate::placement::PlacementArgument;
use crate::program::{DataArguments, ProgramArguments, similar};
use crate::xml;

/// What the page is about.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) summary: &'static str,
    pub(super) parameters: Vec<(&'static str, usize)>,
    pub(super) schedule: Option<Schedule>,
    /// Of the schedule.
    pub(super) verdict: Option<verify::Report>,
    /// None where it cannot be executed.
    pub(super) graph: Option<Graph>,
    pub(super) collective: Option<String>,
    pub(super) ranks: usize,
    pub(super) size: Option<Bytes>,
    /// What schedules of other sizes are made with.
    pub(super) options: EtOptions,
    pub(super) theory: Option<Cost>,
    pub(super) notes: Vec<String>,
}

impl Report {
    pub(super) fn subject(&self, loaded: Option<&LoadedTopology>) -> Result<Subject, Failure> {
        let path = Path::new(&self.what);
        let is_path = path.components().count() > 1 || Path::new(&format!("{}.0.et", self.what)).exists();
        if xml::is_xml(path) {
            return self.import(path);
        }
        match algorithms::find(&self.what).filter(|_| !is_path) {
            Some(algorithm) => self.compile(algorithm, loaded),
            None => self.read(path),
        }
    }

    fn compile(&self, algorithm: &Algorithm, loaded: Option<&LoadedTopology>) -> Result<Subject, Failure> {
        let placed = self.placement.as_ref().and_then(PlacementArgument::ranks);
        let ranks = self.program.ranks.map(|ranks| ranks as u64);
        let known = ranks.or(placed.or(loaded.map(|loaded| loaded.topology.rank_count())).map(u64::from));
        let Some(ranks) = known else {
            return Err(Failure::input(format!(
                "{} needs a number of ranks: --ranks N or --topology FILE",
                self.what
            )));
        };
        let program = ProgramArguments {
            ranks: usize::try_from(ranks).ok(),
            set: self.program.set.clone(),
            lowering: self.program.lowering,
            data: DataArguments::default(),
        };
        let parameters = program.parameters(&algorithm.def)?;
        let schedule = program.schedule(&algorithm.def)?;
        let values: Vec<usize> = parameters.iter().map(|(_, value)| *value).collect();
        let theory = algorithm.cost(&values);
        let subject = self.of_schedule(schedule)?;
        Ok(Subject { parameters, summary: algorithm.def.summary, theory: Some(theory), ..subject })
    }

    fn import(&self, path: &Path) -> Result<Subject, Failure> {
        if !self.program.set.is_empty() {
            return Err(Failure::input("--set is for built-in algorithms; an XML file has no parameters"));
        }
        self.expect_no_lowering()?;
        let imported = msccl::read(&xml::text(path)?, &shown(path))?;
        for warning in &imported.warnings {
            console::warn(format!("{}, {warning}", path.display()));
        }
        self.expect_ranks(imported.schedule.collective.ranks())?;
        let mut subject = self.of_schedule(imported.schedule)?;
        subject.notes.extend(imported.warnings.iter().map(|warning| format!("Of the file: {warning}")));
        Ok(subject)
    }

    /// Whether there is a network to simulate on.
    fn is_simulated(&self) -> bool {
        self.topology.is_some() || matches!(self.model(), Model::LogGp | Model::Machine)
    }

    /// Refuses what only built-in algorithms have.
    fn expect_no_lowering(&self) -> Result<(), Failure> {
        let lowering = &self.program.lowering;
        if lowering.instances.is_some() || lowering.protocol.is_some() {
            return Err(Failure::input(
                "--protocol and --instances are for built-in algorithms: all else is lowered already",
            ));
        }
        Ok(())
    }

    fn expect_ranks(&self, found: usize) -> Result<(), Failure> {
        match self.program.ranks.filter(|ranks| *ranks != found) {
            Some(ranks) => Err(Failure::input(format!("{} has {found} ranks, not {ranks}", self.what))),
            None => Ok(()),
        }
    }

    fn of_schedule(&self, schedule: Schedule) -> Result<Subject, Failure> {
        let options = self.program.data.et_options();
        let verdict = verify::check(&schedule, &Settings::default());
        // Of a schedule that is wrong there may be no graph; the verdict says why.
        let is_wanted = self.is_simulated() && verdict.verdict() == Verdict::Pass;
        let graph = match is_wanted {
            true => Some(et::graph(&schedule, &options).map_err(Failure::input)?),
            false => None,
        };
        Ok(Subject {
            name: schedule.name.clone(),
            summary: "",
            parameters: Vec::new(),
            collective: Some(schedule.collective.kind().name().to_owned()),
            ranks: schedule.collective.ranks(),
            size: Some(Bytes(options.size.in_bytes())),
            graph,
            schedule: Some(schedule),
            verdict: Some(verdict),
            options,
            theory: None,
            notes: Vec::new(),
        })
    }

    /// Traces, and the schedule that those of this project hold.
    fn read(&self, path: &Path) -> Result<Subject, Failure> {
        let ProgramArguments { set, data, .. } = &self.program;
        let graph = chakra_et::read_trace(&self.what).map_err(|error| {
            let looks_like_name = matches!(error, chakra_et::ReadError::NoFiles { .. });
            let hint = if looks_like_name {
                format!("; nor is it a built-in algorithm{}", similar(&self.what))
            } else {
                String::new()
            };
            Failure::input(format!("{error}{hint}"))
        })?;
        if !set.is_empty()
            || data.element_type.is_some()
            || data.reduce_rate.is_some()
            || data.order.is_some()
        {
            return Err(Failure::input(
                "--set, --type, --reduce-rate and --order are for algorithms and XML files; traces are already compiled",
            ));
        }
        if let (Some(info), Some(size)) = (&graph.info, data.size)
            && info.size_bytes != size.0
        {
            return Err(Failure::input(format!(
                "{} was compiled for {} bytes, not {}: compile it again with --size",
                self.what, info.size_bytes, size.0
            )));
        }
        self.expect_no_lowering()?;
        self.expect_ranks(graph.rank_count())?;
        let recovered = match convert_et::read_ranks(path) {
            Ok(ranks) => et::recover(&ranks)
                .map_err(|error| Failure::input(format!("{}: {error}", path.display())))
                .map(Some)?,
            Err(_) => None,
        };
        let mut notes = Vec::new();
        let mut options = data.et_options();
        let schedule = match recovered {
            Some(Recovered::Full(original)) => {
                options = EtOptions { order: original.order, ..EtOptions::new(original.size) };
                Some(original.schedule)
            }
            Some(Recovered::Opaque(opaque)) => {
                notes.push(format!(
                    "The traces hold no schedule, so that there is no picture of its steps: {opaque}."
                ));
                None
            }
            None => {
                notes.push(
                    "The traces hold no schedule, so that there is no picture of its steps.".to_owned(),
                );
                None
            }
        };
        if schedule.is_none() && !self.is_simulated() {
            return Err(Failure::input(format!(
                "{}: these traces hold no schedule: without --topology FILE there is nothing to show",
                self.what
            )));
        }
        let verdict = schedule.as_ref().map(|schedule| verify::check(schedule, &Settings::default()));
        let info = graph.info.clone();
        Ok(Subject {
            name: info.as_ref().map_or_else(|| shown(path), |info| info.name.clone()),
            summary: "",
            parameters: Vec::new(),
            collective: info.as_ref().map(|info| info.collective.clone()),
            ranks: graph.rank_count(),
            size: info.map(|info| Bytes(info.size_bytes)),
            graph: Some(graph),
            schedule,
            verdict,
            options,
            theory: None,
            notes,
        })
    }
}
