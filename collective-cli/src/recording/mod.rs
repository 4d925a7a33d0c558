//! What happened in a run of one collective, as plain data: for pictures and pages.
//!
//! The engine records when each node was under way and what crossed which link; here that gets names and stands in the order in
//! which it is shown. Whatever can be simulated can be recorded, under every model and setting: links only where the model knows
//! routes.

mod links;
mod steps;
#[cfg(test)]
pub(crate) mod tests;

use chakra_et::graph::Graph;
use collective::sim::report::CriticalPath;
use collective::sim::topology::Topology;
use collective::sim::units::Picos;
use collective::sim::{Model, Report};

pub(crate) use links::{Crossing, Link};
pub(crate) use steps::{Kind, Step};

/// A run.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    /// Number of ranks.
    pub(crate) ranks: u32,
    /// The model, which says what crossings mean.
    pub(crate) model: Model,
    /// When the last rank finished.
    pub(crate) makespan: Picos,
    /// What thread blocks did: by rank, thread block, start, and number of the node.
    pub(crate) steps: Vec<Step>,
    /// The links that carried anything, in the order of their ids.
    pub(crate) links: Vec<Link>,
    /// What crossed them: by link, then in the order in which it began.
    pub(crate) crossings: Vec<Crossing>,
    /// Files that steps name.
    pub(crate) files: Vec<String>,
    /// What determines the makespan; without steps where the model cannot tell.
    pub(crate) path: CriticalPath,
}

impl Recording {
    /// The recording of a run that was asked for it and, where the model has one, for the critical path; None of one that was not.
    pub(crate) fn of(graph: &Graph, report: &Report, topology: Option<&Topology>) -> Option<Self> {
        let recording = report.recording.as_ref()?;
        let path = match report.model {
            Model::Machine => CriticalPath::default(),
            _ => report.critical_path.clone()?,
        };
        let (links, crossings) = match topology {
            Some(topology) => links::of(recording, topology, report.links.as_deref()),
            None => (Vec::new(), Vec::new()),
        };
        Some(Self {
            ranks: u32::try_from(graph.rank_count()).unwrap_or(u32::MAX),
            model: report.model,
            makespan: report.makespan,
            steps: steps::of(graph, recording, &path),
            links,
            crossings,
            files: graph.source_files.clone(),
            path,
        })
    }

    /// Whether the model says what determines the makespan.
    pub(crate) fn has_path(&self) -> bool {
        self.model != Model::Machine
    }

    /// The source line of a step, as `file:line`.
    pub(crate) fn source(&self, step: &Step) -> Option<String> {
        let (file, line) = step.source?;
        Some(format!("{}:{line}", self.files.get(usize::from(file))?))
    }

    /// What crossed a link, in the order in which it began. `link` is an index into `links`.
    pub(crate) fn crossings_of(&self, link: u32) -> &[Crossing] {
        let begin = self.crossings.partition_point(|crossing| crossing.link < link);
        let end = self.crossings.partition_point(|crossing| crossing.link <= link);
        &self.crossings[begin..end]
    }
}
