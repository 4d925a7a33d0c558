//! `collective inspect`.

mod dot;
mod node;
mod progress;
mod report;

use std::path::PathBuf;

use chakra_et::groups::Groups;
use chakra_et::validate::{Level, Options, Peers, Survey, validate};
use clap::Args;

use crate::failure::Failure;
use crate::output;

/// Arguments of `collective inspect`.
#[derive(Args)]
pub(crate) struct Inspect {
    /// The prefix PREFIX of traces PREFIX.0.et, PREFIX.1.et, …, or one file.
    #[arg(value_name = "INPUT")]
    what: PathBuf,
    /// Prints JSON, with all findings.
    #[arg(long)]
    json: bool,
    /// Shows one node in full, and what depends on it.
    #[arg(long, value_name = "ID", conflicts_with = "dot")]
    node: Option<u64>,
    /// Shows this rank only (with --node and --dot).
    #[arg(long, value_name = "RANK")]
    rank: Option<usize>,
    /// Prints the graph for Graphviz instead: of one rank, or of all if they are small.
    #[arg(long, conflicts_with = "json")]
    dot: bool,
    /// The members of communicator groups: ASTRA-sim's JSON file, such as {"5": [1, 3]}.
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,
    /// Peers of nodes on a group are positions in it, not ranks of the trace.
    #[arg(long)]
    group_peers: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let options = self.options()?;
        let progress = progress::Progress::of(&self.what);
        let survey = Survey::read(&self.what, |bytes| progress.add(bytes)).map_err(Failure::input)?;
        progress.finish();
        if let Some(rank) = self.rank
            && !survey.ranks().iter().any(|survey| survey.rank() == rank)
        {
            let ranks = survey.ranks().len();
            return Err(Failure::input(format!(
                "{} has no rank {rank}: it has {ranks}",
                self.what.display()
            )));
        }
        if self.rank.is_some() && self.node.is_none() && !self.dot {
            return Err(Failure::input("--rank goes with --node or --dot"));
        }
        if let Some(id) = self.node {
            return output::print(&node::show(&self.what, &survey, self.rank, id, self.json)?);
        }
        if self.dot {
            return output::print(&dot::graph(&survey, self.rank)?);
        }
        let findings = validate(&survey, &options);
        let text = if self.json {
            report::json(&self.what, &survey, &findings).to_string()
        } else {
            report::text(&self.what, &survey, &findings)
        };
        output::print(&text)?;
        match findings.iter().filter(|finding| finding.level() == Level::Error).count() {
            0 => Ok(()),
            errors => {
                Err(Failure::Verdict(format!("{}: {errors} finding(s) are errors", self.what.display())))
            }
        }
    }

    fn options(&self) -> Result<Options, Failure> {
        let mut options = Options::default();
        if let Some(path) = &self.groups {
            let fail = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| fail(&error))?;
            options.groups = Some(Groups::from_json(&text).map_err(|error| fail(&error))?);
        }
        if self.group_peers {
            options.peers = Peers::InGroup;
        }
        Ok(options)
    }
}
