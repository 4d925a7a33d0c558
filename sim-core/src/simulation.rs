//! The entry point: what to simulate, and how.

use chakra_et::graph::{Graph, SymmetricGraph};

use crate::compat::Compat;
use crate::engine::{self, Setup};
use crate::error::SimError;
use crate::machine::Machine;
use crate::model::loggp::LogGp;
use crate::model::{Conventions, Model};
use crate::options::{Options, Watch};
use crate::progress::Observer;
use crate::report::Report;
use crate::straggler::Straggler;
use crate::topology::{Placement, Topology};
use crate::units::{Bandwidth, Picos};
use crate::workload::Roofline;

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
    options: Options<'a>,
    compat: Option<Compat>,
    loggp: LogGp,
    fold: bool,
    placement: Option<&'a Placement>,
    machine: Option<&'a Machine>,
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
            placement: None,
            machine: None,
            options: Options::default(),
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

    /// With rank r of the graph at position r of `placement` in the topology, which may have more positions than the graph has
    /// ranks. Without, rank r sits at rank r of the topology, and they have the same number.
    #[must_use]
    pub fn placement(self, placement: &'a Placement) -> Self {
        Self { placement: Some(placement), ..self }
    }

    /// With ranks that start late or compute slowly; only under exact conventions.
    #[must_use]
    pub fn stragglers(self, stragglers: &'a [Straggler]) -> Self {
        self.with(Options { stragglers, ..self.options })
    }

    /// With overheads of each message; only under exact conventions.
    ///
    /// A message enters the network `send` after its SEND was issued, and a RECV finishes `receive` after its
    /// message is there and it was issued. The SEND still finishes at the delivery. Overheads of several
    /// messages do not add up: they occupy nothing.
    #[must_use]
    pub fn overheads(self, send: Picos, receive: Picos) -> Self {
        self.with(Options { send_overhead: send, receive_overhead: receive, ..self.options })
    }

    /// With a throughput of reductions; only under exact conventions.
    ///
    /// A COMP with operations (`num_ops` > 0) and without a stated duration takes its `tensor_size` / `bandwidth`,
    /// rounded half up to a picosecond. Copies, COMPs without operations, still take no time.
    #[must_use]
    pub fn reduce_bandwidth(self, bandwidth: Bandwidth) -> Self {
        self.with(Options { reduce_bandwidth: Some(bandwidth), ..self.options })
    }

    /// With the speed of the ranks' processors; only under exact conventions.
    ///
    /// A COMP without a stated duration takes what [`Roofline::time`] says of its `num_ops` and `tensor_size`, unless it is a
    /// reduction and there is a [`Self::reduce_bandwidth`].
    #[must_use]
    pub fn roofline(self, roofline: Roofline) -> Self {
        self.with(Options { roofline: Some(roofline), ..self.options })
    }

    /// Whether to report when each message was on its way: 24 bytes a node more.
    #[must_use]
    pub fn message_times(self, wanted: bool) -> Self {
        self.with(Options { message_times: wanted, ..self.options })
    }

    /// Whether to report the critical path: 24 bytes a node more.
    #[must_use]
    pub fn critical_path(self, wanted: bool) -> Self {
        self.with(Options { critical_path: wanted, ..self.options })
    }

    /// Whether to report what happened when, on ranks and links: 24 bytes a node and 40 a message and link more.
    ///
    /// ```
    /// use chakra_et::graph::{Graph, Op, Origin, RankGraph};
    /// use sim_core::topology::{Dimension, Topology};
    /// use sim_core::{Model, Simulation};
    ///
    /// // Rank 0 sends 1,000,000 B over two links of a line.
    /// let mut ranks = [RankGraph::builder(), RankGraph::builder(), RankGraph::builder()];
    /// ranks[0].push(Op::Send { dst: 2, tag: 0, bytes: 1_000_000 }, [], Origin::default())?;
    /// ranks[2].push(Op::Recv { src: 0, tag: 0, bytes: 1_000_000 }, [], Origin::default())?;
    /// let graph = Graph::new(ranks.map(|rank| rank.finish()).into());
    /// let line = Topology::new([Dimension::line(3, "50 GB/s".parse()?, "500 ns".parse()?)])?;
    ///
    /// let report = Simulation::new(&line).model(Model::LinkQueue).recording(true).run(&graph)?;
    /// let recording = report.recording.unwrap_or_default();
    /// // The first link is free after 20 µs, the second one is reached a latency later.
    /// let times: Vec<_> = recording.crossings.iter().map(|it| (it.start, it.finish)).collect();
    /// assert_eq!(times, [("0 ns".parse()?, "20 us".parse()?), ("20.5 us".parse()?, "40.5 us".parse()?)]);
    /// assert_eq!(recording.nodes[2][0].finish, "41 us".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn recording(self, wanted: bool) -> Self {
        self.with(Options { recording: wanted, ..self.options })
    }

    /// With somebody who hears of the progress and may end the run.
    ///
    /// Runs that need no events, those of `analytical` without further wishes, go at tens of millions of messages a
    /// second and are not looked at.
    #[must_use]
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        self.with(Options { observer: Some(Watch(observer)), ..self.options })
    }

    fn with(self, options: Options<'a>) -> Self {
        Self { options, ..self }
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

    /// With [`Model::Machine`] and the figures of a machine.
    ///
    /// The graph names the thread block and step of each node, as the ETs of this project do, in the order of thread blocks.
    #[must_use]
    pub fn machine(self, machine: &'a Machine) -> Self {
        Self { model: Model::Machine, machine: Some(machine), ..self }
    }

    /// Whether one rank may stand for all where all do the same (the default): under contention-free models and
    /// [`Model::Machine`] only. The report is the same either way, but for [`Report::folded`].
    #[must_use]
    pub fn fold(self, fold: bool) -> Self {
        Self { fold, ..self }
    }

    /// Executes a graph.
    ///
    /// The result depends on nothing but the arguments. Large graphs run in the threads of the current rayon pool.
    ///
    /// # Errors
    /// [`SimError`] says what the graph holds that cannot be executed, or who waits for whom.
    pub fn run(&self, graph: &Graph) -> Result<Report, SimError> {
        Ok(self.execute(graph, false)?.0)
    }

    /// As [`Simulation::run`], and says when each node finished: by rank, then by number of the node.
    ///
    /// Takes 8 bytes a node more.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn run_with_times(&self, graph: &Graph) -> Result<(Report, Vec<Vec<Picos>>), SimError> {
        let (report, times) = self.execute(graph, true)?;
        Ok((report, times.unwrap_or_default()))
    }

    /// Executes a graph in which all ranks do the same: in the time of one rank, where one can stand for all.
    ///
    /// That is so under the contention-free models where any two ranks are as far apart as the two that
    /// they are relabelled to, and under [`Model::Machine`] where their messages share links of the same kinds with as many others,
    /// a link of its own for each rank: which is checked. Otherwise the graph is expanded.
    ///
    /// # Errors
    /// As [`Simulation::run`]; and [`SimError::CannotFold`] if the graph would have to be expanded and is too large.
    pub fn run_symmetric(&self, graph: &SymmetricGraph) -> Result<Report, SimError> {
        self.set_up(false, |setup| engine::run_symmetric(setup, graph))
    }

    fn execute(&self, graph: &Graph, times: bool) -> Result<engine::Run, SimError> {
        self.set_up(times, |setup| engine::run(setup, graph))
    }

    /// Hands a setup with the ranks in their places to `run`.
    fn set_up<T>(
        &self,
        times: bool,
        run: impl FnOnce(Setup<'_>) -> Result<T, SimError>,
    ) -> Result<T, SimError> {
        let Self { model, conventions, compat, loggp, fold, options, machine, .. } = *self;
        let placed = match (self.topology, self.placement) {
            (Some(topology), Some(placement)) => Some(topology.placed(placement)?),
            _ => None,
        };
        let topology = placed.as_ref().or(self.topology);
        if conventions == Conventions::AstraSim
            && let Some(part) = topology.and_then(Topology::unknown_to_astra_sim)
        {
            return Err(SimError::UnknownToAstraSim { part });
        }
        run(Setup { topology, model, conventions, compat, loggp, fold, options, times, machine })
    }
}
