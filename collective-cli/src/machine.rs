//! The argument that says on which machine thread blocks run, under the model machine.

use std::ffi::OsStr;

use chakra_et::graph::CollectiveInfo;
use clap::Args;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use collective::sim::Model;
use collective::sim::machine::{self, BUILTIN, Machine, Protocol};
use collective::sim::topology::LoadedTopology;

use crate::failure::Failure;

/// On which machine.
#[derive(Args, Clone, Default)]
pub(crate) struct MachineArguments {
    /// The machine of the model machine: one that is built in, such as mi300x, or a TOML file; `collective machines` lists and
    /// shows them. Implies --model machine, and its topology if it has one.
    #[arg(long, value_name = "MACHINE", value_parser = names(), hide_possible_values = true)]
    pub(crate) machine: Option<String>,
}

/// The parser of an argument that names a machine: shells complete those that are built in.
pub(crate) fn names() -> Names {
    Names
}

/// See [`names`].
#[derive(Clone)]
pub(crate) struct Names;

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(BUILTIN.into_iter().map(PossibleValue::new)))
    }
}

impl MachineArguments {
    /// The model that was given, or that the machine implies.
    pub(crate) fn model(&self, given: Option<Model>) -> Option<Model> {
        given.or(self.machine.as_ref().map(|_| Model::Machine))
    }

    /// The machine, where the model has one.
    pub(crate) fn load(&self, model: Model) -> Result<Option<Machine>, Failure> {
        match (&self.machine, model) {
            (Some(name), Model::Machine) => Ok(Some(machine::find(name)?)),
            (Some(_), model) => Err(Failure::input(format!("--machine is for --model machine, not {model}"))),
            (None, Model::Machine) => Err(Failure::input(format!(
                "--model machine needs --machine MACHINE: a TOML file, or one that is built in: {}",
                BUILTIN.join(", ")
            ))),
            (None, _) => Ok(None),
        }
    }

    /// The machine's own topology, for where none was given.
    pub(crate) fn topology(machine: &Machine) -> Result<LoadedTopology, Failure> {
        let own = machine.topology.clone().map(LoadedTopology::from);
        own.ok_or_else(|| {
            Failure::input(format!(
                "the machine {} has no topology of its own: expected --topology FILE",
                machine.name
            ))
        })
    }
}

/// The protocol whose costs a graph has on a machine: what it states, else Simple; None for a name that is none.
pub(crate) fn protocol(info: Option<&CollectiveInfo>) -> Option<Protocol> {
    match info.map_or("", |info| &info.protocol) {
        "" => Some(Protocol::Simple),
        name => name.parse().ok(),
    }
}
