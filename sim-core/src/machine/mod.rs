//! The model `machine`: thread blocks that take turns, connections with slots, protocols with costs.
//!
//! The other models execute messages. What decides a collective on a real GPU is beside the links the thread blocks that move
//! the data: how many there are, what each can copy, how long a step and a slice of it take, how many slots a connection has. A
//! [`Machine`] is the figures of one; a graph says by [`Origin::step`](chakra_et::graph::Origin::step) which thread block does what.

#[cfg(feature = "config")]
mod file;
mod parameters;

use chakra_et::graph::{Graph, SymmetricGraph};

use crate::engine::{Run, Setup};
use crate::error::SimError;
use crate::report::Report;

#[cfg(feature = "config")]
pub use file::{BUILTIN, builtin, find, load, parse, to_toml};
pub use parameters::{Completion, Costs, LinkCosts, LinkKind, Machine, Protocol};

pub(crate) fn run(setup: Setup<'_>, _graph: &Graph) -> Result<Run, SimError> {
    let _machine = setup.machine.ok_or(SimError::NoMachine)?;
    Err(SimError::NotWithMachine { what: "anything yet".to_owned() })
}

pub(crate) fn run_symmetric(setup: Setup<'_>, graph: &SymmetricGraph) -> Result<Report, SimError> {
    Ok(run(setup, &graph.expand())?.0)
}
