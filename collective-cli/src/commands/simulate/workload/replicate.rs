//! The arguments that make a workload of many ranks from one of few.

use std::path::PathBuf;

use chakra_et::workload::{GroupRule, Replication, Workload, replicate};
use clap::Args;

use crate::failure::Failure;
use crate::output;

/// How often a workload is replicated, and what becomes of its groups.
#[derive(Args)]
pub(super) struct ReplicationArguments {
    /// Makes N replicas of the workload, rank by rank. Groups are copied, so that each replica has its own; collectives on
    /// all ranks are joined to one of all replicas.
    #[arg(long, value_name = "N")]
    replicate: Option<u32>,
    /// Groups whose members of all replicas are one group, and whose collectives keep their size (data parallelism); a list
    /// of names, in which `all` is the group of all ranks and `others` those not named.
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    join: Vec<String>,
    /// The same where parameters are in shards on all members: the input of a rank in an all-gather is divided
    /// by N (FSDP).
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    shard: Vec<String>,
    /// Groups that each replica has for itself (tensor parallelism, pipelines).
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    copy: Vec<String>,
    /// Writes the workload, as it is simulated, as traces PREFIX.0.et, PREFIX.1.et, …, and its groups as
    /// PREFIX.groups.json.
    #[arg(long, value_name = "PREFIX")]
    write_workload: Option<PathBuf>,
}

impl ReplicationArguments {
    /// The first argument that was given.
    pub(super) fn first(&self) -> Option<&'static str> {
        let given = [
            (self.replicate.is_some(), "--replicate"),
            (!self.join.is_empty(), "--join"),
            (!self.shard.is_empty(), "--shard"),
            (!self.copy.is_empty(), "--copy"),
            (self.write_workload.is_some(), "--write-workload"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    /// The workload that is simulated.
    pub(super) fn apply(&self, workload: Workload) -> Result<Workload, Failure> {
        let Some(rules) = self.rules()? else { return Ok(workload) };
        replicate(&workload, &rules).map_err(|error| Failure::input(format!("--replicate: {error}")))
    }

    /// Writes it, where that is asked for.
    pub(super) fn write(&self, workload: &Workload) -> Result<(), Failure> {
        let Some(prefix) = &self.write_workload else { return Ok(()) };
        let fault = |error: &dyn std::fmt::Display| {
            Failure::input(format!("--write-workload {}: {error}", prefix.display()))
        };
        let groups = workload.groups_json().map_err(|error| fault(&error))?;
        workload.write(prefix).map_err(|error| fault(&error))?;
        let mut file = prefix.clone().into_os_string();
        file.push(".groups.json");
        output::write_file(&PathBuf::from(file), &groups)
    }

    fn rules(&self) -> Result<Option<Replication>, Failure> {
        let lists = [
            ("--join", &self.join, GroupRule::Joined),
            ("--shard", &self.shard, GroupRule::Sharded),
            ("--copy", &self.copy, GroupRule::Copied),
        ];
        let Some(copies) = self.replicate else {
            return match lists.iter().find(|(_, names, _)| !names.is_empty()) {
                Some((argument, ..)) => Err(Failure::input(format!("{argument} goes with --replicate K"))),
                None => Ok(None),
            };
        };
        let mut rules = Replication::new(copies);
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for (argument, names, rule) in lists {
            for name in names {
                if let Some((_, other)) = seen.iter().find(|(known, _)| known == name) {
                    return Err(Failure::input(format!(
                        "group {name:?} is named twice, by {other} and {argument}"
                    )));
                }
                seen.push((name, argument));
                match name.as_str() {
                    "all" => rules.all = rule,
                    "others" => rules.others = rule,
                    _ => rules.groups.push((name.clone(), rule)),
                }
            }
        }
        Ok(Some(rules))
    }
}
