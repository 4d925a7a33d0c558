//! The entry point.

use chakra_et::workload::Workload;

use super::algorithm::Algorithms;
use super::costs::{Costs, Memory, Roofline};
use super::engine::{self, Settings};
use super::error::WorkloadError;
use super::report::WorkloadReport;
use super::timeline::Timeline;
use crate::compat::Compat;
use crate::error::SimError;
use crate::model::{Conventions, Model};
use crate::options::{Options, Watch};
use crate::progress::Observer;
use crate::straggler::Straggler;
use crate::topology::{Placement, Topology};
use crate::units::{Bandwidth, Picos};

/// A simulation of workloads to be run: a topology, a model, and what holds for the ranks.
///
/// ```
/// use std::error::Error;
/// use std::sync::Arc;
///
/// use chakra_et::graph::{Graph, Op, Origin, RankGraph};
/// use chakra_et::workload::{CollectiveKind, Cost, WorkloadBuilder};
/// use sim_core::topology::{Dimension, Topology};
/// use sim_core::workload::{Algorithm, Algorithms, Choice, Use, WorkloadSimulation};
/// use sim_core::Model;
///
/// /// Rank 0 sends to rank 1, for whatever is asked.
/// struct OneMessage;
///
/// impl Algorithms for OneMessage {
///     fn algorithm(&self, collective: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
///         let (mut send, mut recv) = (RankGraph::builder(), RankGraph::builder());
///         send.push(Op::Send { dst: 1, tag: 0, bytes: collective.bytes }, [], Origin::default())?;
///         recv.push(Op::Recv { src: 0, tag: 0, bytes: collective.bytes }, [], Origin::default())?;
///         let graph = Graph::new(vec![send.finish(), recv.finish()]);
///         Ok(Choice::new(Arc::new(Algorithm::new("one message", graph))))
///     }
/// }
///
/// // Rank 0 computes for 10 µs and broadcasts 50 kB, while rank 1 computes for 5 µs.
/// let mut step = WorkloadBuilder::new(2);
/// let product = step.compute(0, "product", Cost::micros(10), &[])?;
/// step.collective(0, "result", CollectiveKind::Broadcast, 50_000, 0, &[product])?;
/// step.compute(1, "other", Cost::micros(5), &[])?;
/// step.collective(1, "result", CollectiveKind::Broadcast, 50_000, 0, &[])?;
///
/// let ring = Topology::new([Dimension::ring(2, "50 GB/s".parse()?, "500 ns".parse()?)])?;
/// let simulation = WorkloadSimulation::new(&ring).model(Model::Analytical);
/// let report = simulation.run(&step.finish(), &OneMessage)?;
/// assert_eq!(report.makespan, "11.5 us".parse()?);
/// // Rank 1 waited for 10 µs, and computed during 5 of the 11.5.
/// assert_eq!(report.ranks[1].waited, "10 us".parse()?);
/// assert_eq!(report.ranks[1].exposed, "6.5 us".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WorkloadSimulation<'a> {
    topology: &'a Topology,
    model: Model,
    conventions: Conventions,
    compat: Option<Compat>,
    options: Options<'a>,
    costs: Costs,
    placement: Option<&'a Placement>,
}

impl<'a> WorkloadSimulation<'a> {
    /// A simulation on `topology`, with [`Model::Fluid`] and [`Conventions::Exact`].
    #[must_use]
    pub fn new(topology: &'a Topology) -> Self {
        Self {
            topology,
            model: Model::Fluid,
            conventions: Conventions::Exact,
            compat: None,
            options: Options::default(),
            costs: Costs::default(),
            placement: None,
        }
    }

    /// With another model: analytical, link-queue or fluid.
    #[must_use]
    pub fn model(self, model: Model) -> Self {
        Self { model, ..self }
    }

    /// With other conventions.
    #[must_use]
    pub fn conventions(self, conventions: Conventions) -> Self {
        Self { conventions, ..self }
    }

    /// With the rules of another simulator for what a rank does at once, or with None the own ones.
    #[must_use]
    pub fn compat(self, compat: Option<Compat>) -> Self {
        Self { compat, ..self }
    }

    /// With the speed of processors, for computations that state operations and bytes but no duration.
    #[must_use]
    pub fn roofline(self, roofline: Roofline) -> Self {
        Self { costs: Costs { roofline: Some(roofline), ..self.costs }, ..self }
    }

    /// With the speed of local memory, for loads and stores; without, they take no time.
    #[must_use]
    pub fn local_memory(self, memory: Memory) -> Self {
        Self { costs: Costs { local: Some(memory), ..self.costs }, ..self }
    }

    /// With the speed of remote memory; without, it is as local memory.
    #[must_use]
    pub fn remote_memory(self, memory: Memory) -> Self {
        Self { costs: Costs { remote: Some(memory), ..self.costs }, ..self }
    }

    /// With ranks that start late or compute slowly; only under exact conventions.
    #[must_use]
    pub fn stragglers(self, stragglers: &'a [Straggler]) -> Self {
        self.with(Options { stragglers, ..self.options })
    }

    /// With overheads of each message, as [`Simulation::overheads`](crate::Simulation::overheads).
    #[must_use]
    pub fn overheads(self, send: Picos, receive: Picos) -> Self {
        self.with(Options { send_overhead: send, receive_overhead: receive, ..self.options })
    }

    /// With a throughput of the reductions in algorithms, as
    /// [`Simulation::reduce_bandwidth`](crate::Simulation::reduce_bandwidth); without, the roofline holds for them as well.
    #[must_use]
    pub fn reduce_bandwidth(self, bandwidth: Bandwidth) -> Self {
        self.with(Options { reduce_bandwidth: Some(bandwidth), ..self.options })
    }

    /// With somebody who hears of the progress and may end the run.
    #[must_use]
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        self.with(Options { observer: Some(Watch(observer)), ..self.options })
    }

    /// With rank r of the workload at position r of `placement` in the topology.
    #[must_use]
    pub fn placement(self, placement: &'a Placement) -> Self {
        Self { placement: Some(placement), ..self }
    }

    fn with(self, options: Options<'a>) -> Self {
        Self { options, ..self }
    }

    /// Executes a workload.
    ///
    /// The result depends on nothing but the arguments.
    ///
    /// # Errors
    ///
    /// What the workload or an algorithm holds that cannot be executed, or who waits for whom.
    pub fn run(
        &self,
        workload: &Workload,
        algorithms: &dyn Algorithms,
    ) -> Result<WorkloadReport, WorkloadError> {
        self.execute(workload, algorithms, None)
    }

    /// As [`Self::run`], and tells a timeline what happens.
    ///
    /// # Errors
    ///
    /// As [`Self::run`].
    pub fn run_with_timeline(
        &self,
        workload: &Workload,
        algorithms: &dyn Algorithms,
        timeline: &mut dyn Timeline,
    ) -> Result<WorkloadReport, WorkloadError> {
        self.execute(workload, algorithms, Some(timeline))
    }

    fn execute(
        &self,
        workload: &Workload,
        algorithms: &dyn Algorithms,
        timeline: Option<&mut dyn Timeline>,
    ) -> Result<WorkloadReport, WorkloadError> {
        let Self { model, conventions, compat, options, costs, .. } = *self;
        let placed = match self.placement {
            Some(placement) => Some(self.topology.placed(placement).map_err(SimError::from)?),
            None => None,
        };
        let topology = placed.as_ref().unwrap_or(self.topology);
        self.check(topology, workload.rank_count())?;
        let settings = Settings { conventions, compat, options, costs };
        engine::run(workload, algorithms, topology, model, settings, timeline)
    }

    /// Whether the parts of the setup fit each other, and the workload.
    fn check(&self, topology: &Topology, ranks: usize) -> Result<(), SimError> {
        let Self { model, conventions, options, .. } = *self;
        if ranks != topology.rank_count() as usize {
            return Err(SimError::RankCount { graph: ranks, topology: topology.rank_count() });
        }
        if conventions == Conventions::AstraSim {
            let dimensions = topology.part_count();
            if let Some(part) = topology.unknown_to_astra_sim() {
                return Err(SimError::UnknownToAstraSim { part });
            }
            if model == Model::LinkQueue && dimensions > 1 {
                return Err(SimError::OneDimensionOnly { dimensions });
            }
            if model == Model::Fluid {
                return Err(SimError::ExactOnly { model, conventions });
            }
        }
        options.check(conventions, topology.rank_count())
    }
}
