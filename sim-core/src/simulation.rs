//! The entry point: what to simulate, and how.

use chakra_et::graph::Graph;

use crate::engine;
use crate::error::SimError;
use crate::model::{Conventions, Model};
use crate::report::Report;
use crate::topology::{Placement, Topology};

/// A simulation to be run: a topology, a model and conventions.
///
/// ```
/// use chakra_et::graph::{Graph, Op, Origin, RankGraph};
/// use sim_core::topology::{Dimension, Topology};
/// use sim_core::{Conventions, Model, Simulation};
///
/// // Rank 0 sends 1,000,000 B to rank 4, half way round a ring.
/// let mut ranks: Vec<_> = (0..8).map(|_| RankGraph::builder()).collect();
/// ranks[0].push(Op::Send { dst: 4, tag: 0, bytes: 1_000_000 }, [], Origin::default())?;
/// ranks[4].push(Op::Recv { src: 0, tag: 0, bytes: 1_000_000 }, [], Origin::default())?;
/// let graph = Graph::new(ranks.into_iter().map(|rank| rank.finish()).collect());
///
/// let ring = Topology::new([Dimension::ring(8, "50 GB/s".parse()?, "500 ns".parse()?)])?;
/// let simulation = Simulation::new(&ring).conventions(Conventions::Exact);
/// // 4 · 500 ns + 20 µs, and 4 · (500 ns + 20 µs).
/// assert_eq!(simulation.model(Model::Analytical).run(&graph)?.makespan, "22 us".parse()?);
/// assert_eq!(simulation.model(Model::LinkQueue).run(&graph)?.makespan, "82 us".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Simulation<'a> {
    topology: &'a Topology,
    model: Model,
    conventions: Conventions,
    placement: Option<&'a Placement>,
}

impl<'a> Simulation<'a> {
    /// A simulation on `topology`, with [`Model::LinkQueue`] and [`Conventions::Exact`].
    #[must_use]
    pub fn new(topology: &'a Topology) -> Self {
        Self { topology, model: Model::LinkQueue, conventions: Conventions::Exact, placement: None }
    }

    /// With another model.
    #[must_use]
    pub fn model(self, model: Model) -> Self {
        Self { model, ..self }
    }

    /// With other conventions.
    #[must_use]
    pub fn conventions(self, conventions: Conventions) -> Self {
        Self { conventions, ..self }
    }

    /// With rank r of the graph at position r of `placement` in the topology, which may have more positions than the graph has
    /// ranks. Without, rank r sits at rank r of the topology, and they have the same number.
    #[must_use]
    pub fn placement(self, placement: &'a Placement) -> Self {
        Self { placement: Some(placement), ..self }
    }

    /// Executes a graph.
    ///
    /// The result depends on nothing but the arguments.
    ///
    /// # Errors
    /// [`SimError`] says what the graph holds that cannot be executed, or who waits for whom.
    pub fn run(&self, graph: &Graph) -> Result<Report, SimError> {
        let placed = self.placement.map(|placement| self.topology.placed(placement)).transpose()?;
        let topology = placed.as_ref().unwrap_or(self.topology);
        if self.conventions == Conventions::AstraSim
            && let Some(part) = topology.unknown_to_astra_sim()
        {
            return Err(SimError::UnknownToAstraSim { part });
        }
        engine::run(topology, self.model, self.conventions, graph)
    }
}
