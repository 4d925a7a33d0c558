//! The arguments that are for workloads.

use std::path::{Path, PathBuf};

use chakra_et::groups::Groups;
use clap::Args;
use collective::sim::workload::{Memory, WorkloadSimulation};
use collective::workload::{AstraSystem, Rules};

use super::super::speeds;
use super::replicate::ReplicationArguments;
use crate::failure::Failure;

/// A workload, and what goes with it.
#[derive(Args)]
#[command(next_help_heading = "Workloads")]
pub(in crate::commands::simulate) struct WorkloadArguments {
    /// Simulates a training or inference step: traces PREFIX.0.et, PREFIX.1.et, … whose collectives are single nodes, each
    /// carried out by an algorithm, message by message, while the ranks compute.
    #[arg(long, value_name = "PREFIX")]
    pub(in crate::commands::simulate) workload: Option<PathBuf>,
    /// The members of communicator groups: ASTRA-sim's JSON file, such as {"5": [1, 3]} [default: the process groups that
    /// the trace describes].
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,
    /// Which algorithm which collective gets, by kind, size, group and name; the first rule that is for it
    /// (docs/workload-rules.md) [default: what NCCL would choose].
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// ASTRA-sim's system file: which traces or native algorithms carry collectives out, and the roofline
    /// (docs/astra-sim.md). --compat astra-sim goes with it, to issue nodes as ASTRA-sim does.
    #[arg(long, value_name = "FILE", conflicts_with = "rules")]
    system: Option<PathBuf>,
    /// How fast loads and stores are, such as 100ns,2TB/s [default: no time].
    #[arg(long, value_name = "SPEED", value_parser = speeds::memory)]
    memory: Option<Memory>,
    /// The same for remote memory [default: as local memory].
    #[arg(long, value_name = "SPEED", value_parser = speeds::memory)]
    remote_memory: Option<Memory>,
    /// Shows how each rank spent its time, also where there are more than 16.
    #[arg(long)]
    pub(super) per_rank: bool,
    /// Shows each group by itself. Otherwise groups with as many ranks and alike collectives share a row.
    #[arg(long)]
    pub(super) per_group: bool,
    /// Says what the workload holds, what is wrong with it, and which algorithm each collective would get, and
    /// stops there; --topology is not needed.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Leaves out dependences on nodes that there are not, as recorded traces may have them.
    #[arg(long)]
    pub(super) drop_dangling: bool,
    #[command(flatten)]
    pub(super) replication: ReplicationArguments,
}

impl WorkloadArguments {
    /// The first argument that says nothing without a workload.
    pub(in crate::commands::simulate) fn first_for_workloads(&self) -> Option<&'static str> {
        let given = [
            (self.groups.is_some(), "--groups"),
            (self.rules.is_some(), "--rules"),
            (self.system.is_some(), "--system"),
            (self.memory.is_some(), "--memory"),
            (self.remote_memory.is_some(), "--remote-memory"),
            (self.per_rank, "--per-rank"),
            (self.per_group, "--per-group"),
            (self.dry_run, "--dry-run"),
            (self.drop_dangling, "--drop-dangling"),
        ];
        let first = given.into_iter().find(|(given, _)| *given).map(|(_, name)| name);
        first.or_else(|| self.replication.first())
    }

    /// The files that say more of the workload.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.groups, &self.rules, &self.system].into_iter().flatten().map(PathBuf::as_path)
    }

    /// The members of groups, where a file says them.
    pub(super) fn groups(&self) -> Result<Option<Groups>, Failure> {
        let Some(path) = &self.groups else { return Ok(None) };
        let fault = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
        Groups::from_json(&text).map(Some).map_err(|error| fault(&error))
    }

    /// The rules, none if there is no file.
    pub(super) fn rules(&self) -> Result<Rules, Failure> {
        self.rules.as_ref().map_or_else(|| Ok(Rules::new()), |path| Rules::load(path).map_err(Failure::from))
    }

    /// ASTRA-sim's system file, if there is one.
    pub(super) fn system(&self) -> Result<Option<AstraSystem>, Failure> {
        self.system.as_ref().map(|path| AstraSystem::load(path).map_err(Failure::from)).transpose()
    }

    /// The simulation with the speeds of memory.
    pub(super) fn apply<'a>(&self, mut simulation: WorkloadSimulation<'a>) -> WorkloadSimulation<'a> {
        if let Some(memory) = self.memory {
            simulation = simulation.local_memory(memory);
        }
        if let Some(memory) = self.remote_memory {
            simulation = simulation.remote_memory(memory);
        }
        simulation
    }

    /// Whether what a finding warns of is settled by an argument.
    pub(super) fn settles(&self, finding: &str) -> bool {
        match finding {
            "memory-needs-bandwidth" => self.memory.is_some() || self.remote_memory.is_some(),
            _ => false,
        }
    }
}
