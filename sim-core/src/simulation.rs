//! The entry point: what to simulate, and how.

use chakra_et::graph::{Graph, SymmetricGraph};

use crate::compat::Compat;
use crate::engine::{self, Setup};
use crate::error::SimError;
use crate::model::loggp::LogGp;
use crate::model::{Conventions, Model};
use crate::report::Report;
use crate::topology::Topology;
use crate::units::Picos;

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
    topology: Option<&'a Topology>,
    model: Model,
    conventions: Conventions,
    compat: Option<Compat>,
    loggp: LogGp,
    fold: bool,
}

impl<'a> Simulation<'a> {
    /// A simulation on `topology`, with [`Model::LinkQueue`] and [`Conventions::Exact`].
    #[must_use]
    pub fn new(topology: &'a Topology) -> Self {
        Self { topology: Some(topology), model: Model::LinkQueue, ..Self::with_loggp(LogGp::default()) }
    }

    /// A simulation of [`Model::LogGp`] with the given parameters; it needs no topology.
    ///
    /// ```
    /// use chakra_et::graph::{Graph, Op, Origin, RankGraph};
    /// use sim_core::{LogGp, Simulation};
    ///
    /// let mut ranks = [RankGraph::builder(), RankGraph::builder()];
    /// ranks[0].push(Op::Send { dst: 1, tag: 0, bytes: 1001 }, [], Origin::default())?;
    /// ranks[1].push(Op::Recv { src: 0, tag: 0, bytes: 1001 }, [], Origin::default())?;
    /// let graph = Graph::new(ranks.map(|rank| rank.finish()).into());
    /// let report = Simulation::with_loggp("L=2500ns,o=1500ns,g=1000ns,G=6ns/B".parse()?).run(&graph)?;
    /// // The sender is free after o, the receiver after o + L + o + 1000 G.
    /// assert_eq!(report.finish, ["1.5 us".parse()?, "11.5 us".parse()?]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_loggp(loggp: LogGp) -> Self {
        Self {
            topology: None,
            model: Model::LogGp,
            conventions: Conventions::Exact,
            compat: None,
            loggp,
            fold: true,
        }
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

    /// Issues the nodes of a rank as another simulator does, or with None all that are ready.
    #[must_use]
    pub fn compat(self, compat: Option<Compat>) -> Self {
        Self { compat, ..self }
    }

    /// With other parameters of [`Model::LogGp`].
    #[must_use]
    pub fn loggp(self, loggp: LogGp) -> Self {
        Self { loggp, ..self }
    }

    /// Whether one rank may stand for all where all do the same (the default): contention-free models
    /// only. The times are the same either way.
    #[must_use]
    pub fn fold(self, fold: bool) -> Self {
        Self { fold, ..self }
    }

    /// Executes a graph, rank i of which sits at rank i of the topology.
    ///
    /// The result depends on nothing but the arguments.
    ///
    /// # Errors
    /// [`SimError`] says what the graph holds that cannot be executed, or who waits for whom.
    pub fn run(&self, graph: &Graph) -> Result<Report, SimError> {
        Ok(engine::run(self.setup(false), graph)?.0)
    }

    /// As [`Simulation::run`], and says when each node finished: by rank, then by number of the node.
    ///
    /// Takes 8 bytes a node more.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn run_with_times(&self, graph: &Graph) -> Result<(Report, Vec<Vec<Picos>>), SimError> {
        let (report, times) = engine::run(self.setup(true), graph)?;
        Ok((report, times.unwrap_or_default()))
    }

    /// Executes a graph in which all ranks do the same: in the time of one rank, where one can stand for all.
    ///
    /// That is so under the contention-free models where any two ranks are as far apart as the two that
    /// they are relabelled to, which is checked. Otherwise the graph is expanded.
    ///
    /// # Errors
    /// As [`Simulation::run`]; and [`SimError::CannotFold`] if the graph would have to be expanded and is too large.
    pub fn run_symmetric(&self, graph: &SymmetricGraph) -> Result<Report, SimError> {
        engine::run_symmetric(self.setup(false), graph)
    }

    fn setup(&self, times: bool) -> Setup<'a> {
        let Self { topology, model, conventions, compat, loggp, fold } = *self;
        Setup { topology, model, conventions, compat, loggp, fold, times }
    }
}
