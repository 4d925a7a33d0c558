//! Looking at a run while it goes on, and ending it early.

use std::ops::ControlFlow;

use crate::units::{Bytes, Picos};

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The simulated time reached.
    pub time: Picos,
    /// Number of finished nodes.
    pub finished: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of messages delivered.
    pub messages: u64,
    /// Sum of their sizes.
    pub bytes: Bytes,
    /// Number of events so far: what the run spends its time on.
    pub events: u64,
}

/// Hears of the progress of a run, about once in 65,536 events, and may end it.
///
/// [`Simulation::observer`](crate::Simulation::observer) says which runs have events. A closure does. What it is told, and when,
/// depends on nothing but the arguments of the run and, if that is large, the number of threads; it may be told of the
/// beginning twice, where a run in several threads turns out not to pay or to get stuck. When it looks at a clock or a signal,
/// where a run ends that it breaks off is its own affair.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use chakra_et::graph::{Graph, Op, Origin, RankGraph};
/// use sim_core::topology::{Dimension, Topology};
/// use sim_core::{Progress, SimError, Simulation};
///
/// // A million COMPs, one after the other.
/// let mut rank = RankGraph::builder();
/// let mut last = None;
/// for _ in 0..1_000_000 {
///     last = Some(rank.push(Op::Comp { micros: 1, ops: 0, bytes: 0 }, last, Origin::default())?);
/// }
/// let graph = Graph::new(vec![rank.finish()]);
/// let topology = Topology::new([Dimension::ring(1, "50 GB/s".parse()?, "500 ns".parse()?)])?;
/// let impatient = |progress: &Progress| match progress.time < "200 ms".parse().unwrap() {
///     true => ControlFlow::Continue(()),
///     false => ControlFlow::Break(()),
/// };
/// match Simulation::new(&topology).observer(&impatient).run(&graph) {
///     Err(SimError::Stopped(so_far)) => assert!(so_far.progress.finished < 300_000),
///     other => panic!("not stopped: {other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer: Sync {
    /// Takes note of the progress; `Break` ends the run with [`crate::SimError::Stopped`].
    fn observe(&self, progress: &Progress) -> ControlFlow<()>;
}

impl<F: Fn(&Progress) -> ControlFlow<()> + Sync> Observer for F {
    fn observe(&self, progress: &Progress) -> ControlFlow<()> {
        self(progress)
    }
}

/// What a run that was broken off had found out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartialReport {
    /// How far it came.
    pub progress: Progress,
    /// When each rank finished the last of the nodes that it did finish.
    pub finish: Vec<Picos>,
}
