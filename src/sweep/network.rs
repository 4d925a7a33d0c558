//! On what a point is simulated.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::outcome::{NoResult, Why};
use crate::sim::machine::Machine;
use crate::sim::straggler::Straggler;
use crate::sim::topology::{Placement, Topology};
use crate::sim::units::{Bandwidth, Picos};
use crate::sim::{Conventions, LogGp, Model, Simulation};

/// What real ranks have and the models leave out; only under exact conventions. By default nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// What they are called in the results.
    pub name: String,
    /// Ranks that start late or compute slowly.
    pub stragglers: Vec<Straggler>,
    /// As in [`Simulation::overheads`].
    pub send_overhead: Picos,
    /// As in [`Simulation::overheads`].
    pub receive_overhead: Picos,
    /// As in [`Simulation::reduce_bandwidth`].
    pub reduce_bandwidth: Option<Bandwidth>,
}

/// Where ranks sit in a topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placing {
    /// Rank r at position r, and the topology has no others.
    #[default]
    Whole,
    /// Rank r at position r; the rest of a larger topology stays free.
    Identity,
    /// At random positions of the topology, which may be larger.
    Random {
        /// Which random positions.
        seed: u64,
    },
}

/// On what points are simulated: a topology, a model, conventions and conditions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Network {
    /// What the topology is called in the results; empty without one.
    pub name: String,
    /// The topology; None for [`Model::LogGp`], which takes none, and where there is one for each number of ranks.
    pub topology: Option<Arc<Topology>>,
    /// The model.
    pub model: Model,
    /// The conventions.
    pub conventions: Conventions,
    /// What the model loggp takes for a message.
    pub loggp: LogGp,
    /// Where ranks sit.
    pub placing: Placing,
    /// What real ranks have.
    pub conditions: Arc<Conditions>,
    /// The machine of the model machine.
    pub machine: Option<Arc<Machine>>,
    /// Instead of `topology`: one for each number of ranks.
    scaled: Option<Arc<Scaled>>,
}

/// By number of ranks a topology, or why there is none.
type Scaled = BTreeMap<usize, Result<Arc<Topology>, String>>;

impl Network {
    /// A network whose ranks have no conditions.
    #[must_use]
    pub fn new(name: &str, topology: Arc<Topology>, model: Model, conventions: Conventions) -> Self {
        let with_loggp = Self::with_loggp(LogGp::default());
        Self { name: name.to_owned(), topology: Some(topology), model, conventions, ..with_loggp }
    }

    /// The model [`Model::LogGp`], without a topology.
    #[must_use]
    pub fn with_loggp(loggp: LogGp) -> Self {
        Self {
            name: String::new(),
            topology: None,
            model: Model::LogGp,
            conventions: Conventions::Exact,
            loggp,
            placing: Placing::Whole,
            conditions: Arc::default(),
            machine: None,
            scaled: None,
        }
    }

    /// A network with a topology for each number of ranks, or why there is none for that many: so that networks grow with the ranks.
    #[must_use]
    pub fn scaled(
        name: &str,
        topologies: impl IntoIterator<Item = (usize, Result<Arc<Topology>, String>)>,
        model: Model,
        conventions: Conventions,
    ) -> Self {
        let scaled = Some(Arc::new(topologies.into_iter().collect()));
        let with_loggp = Self::with_loggp(LogGp::default());
        Self { name: name.to_owned(), model, conventions, scaled, ..with_loggp }
    }

    /// The topology for so many ranks, None without one; or why there is none.
    fn topology_for(&self, ranks: usize) -> Result<Option<&Arc<Topology>>, NoResult> {
        let Some(scaled) = &self.scaled else { return Ok(self.topology.as_ref()) };
        let why = |reason: &str| NoResult::new(Why::Topology, reason);
        match scaled.get(&ranks) {
            Some(Ok(topology)) => Ok(Some(topology)),
            Some(Err(reason)) => Err(why(reason)),
            None => Err(why(&format!("there is no topology for {ranks} ranks"))),
        }
    }

    /// With ranks in other places.
    #[must_use]
    pub fn placing(self, placing: Placing) -> Self {
        Self { placing, ..self }
    }

    /// With [`Model::Machine`] and the figures of a machine.
    #[must_use]
    pub fn machine(self, machine: Arc<Machine>) -> Self {
        Self { model: Model::Machine, machine: Some(machine), ..self }
    }

    /// With other conditions.
    #[must_use]
    pub fn conditions(self, conditions: Arc<Conditions>) -> Self {
        Self { conditions, ..self }
    }

    /// Whether so many ranks go on it.
    pub(super) fn check(&self, ranks: usize) -> Result<(), NoResult> {
        let Some(topology) = self.topology_for(ranks)? else { return Ok(()) };
        let positions = topology.position_count();
        let (whole, fits) = (self.placing == Placing::Whole, ranks <= positions as usize);
        if fits && (!whole || ranks == topology.rank_count() as usize) {
            return Ok(());
        }
        let found = format!("the topology has {} ranks, not {ranks}", topology.rank_count());
        let hint = if whole && fits { "; placement = \"identity\" leaves the rest free" } else { "" };
        Err(NoResult::new(Why::Topology, format!("{found}{hint}")))
    }

    /// Where so many ranks sit; None if that is not to be said.
    pub(super) fn placement(&self, ranks: usize) -> Result<Option<Placement>, NoResult> {
        let (Some(topology), Ok(count)) = (self.topology_for(ranks)?, u32::try_from(ranks)) else {
            return Ok(None);
        };
        match self.placing {
            Placing::Whole => Ok(None),
            Placing::Identity => Ok(Some(Placement::identity(count))),
            Placing::Random { seed } => Placement::random(count, topology.position_count(), seed)
                .map(Some)
                .map_err(|error| NoResult::new(Why::Topology, error)),
        }
    }

    /// The simulation of so many ranks.
    pub(super) fn simulation<'a>(
        &'a self,
        ranks: usize,
        placement: Option<&'a Placement>,
    ) -> Result<Simulation<'a>, NoResult> {
        let Self { model, conventions, loggp, conditions, .. } = self;
        let simulation = match self.topology_for(ranks)? {
            Some(topology) => Simulation::new(topology).loggp(*loggp).conventions(*conventions),
            None => Simulation::with_loggp(*loggp).conventions(*conventions),
        };
        let simulation = match placement {
            Some(placement) => simulation.placement(placement),
            None => simulation,
        };
        let simulation = match &self.machine {
            Some(machine) => simulation.machine(machine),
            None => simulation.model(*model),
        };
        let simulation = simulation
            .stragglers(&conditions.stragglers)
            .overheads(conditions.send_overhead, conditions.receive_overhead);
        Ok(match conditions.reduce_bandwidth {
            Some(bandwidth) => simulation.reduce_bandwidth(bandwidth),
            None => simulation,
        })
    }
}
