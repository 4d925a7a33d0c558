//! Sweeps: many algorithms × ranks × parameters × sizes × networks, each point simulated.
//!
//! A [`Sweep`] is a product of axes. Its points are numbered, and their order is fixed: the algorithm changes slowest, then the
//! number of ranks, the algorithm's parameters, the size, and fastest the [`Network`] (topology, model, conventions,
//! conditions). Points that do not apply, such as an algorithm that is not for so many ranks, are in the order too: their
//! [`Outcome`] says why there is no time.
//!
//! [`Sweep::run`] simulates in several threads and hands the outcomes over in the order of the points. Points that differ only in
//! the network share a graph, those that also differ in the size a compiled schedule. The outcomes depend on nothing but
//! the sweep. [`fields`] says what is fastest where.
//!
//! With the feature `topology-files`, `parse` reads a sweep from TOML.
//!
//! ```
//! use std::sync::Arc;
//!
//! use collective::sim::topology::{Dimension, Topology};
//! use collective::sim::{Conventions, Model};
//! use collective::sweep::{Ended, Network, Shard, Subject, Sweep, fields};
//! use collective::{Size, algorithms};
//!
//! let switch = Topology::new([Dimension::switch(8, "50 GB/s".parse()?, "500 ns".parse()?)])?;
//! let network = Network::new("switch", Arc::new(switch), Model::Fluid, Conventions::Exact);
//! let names = ["allreduce_ring", "allreduce_recursive_doubling"];
//! let subjects = names.map(|name| Subject::library(algorithms::find(name).expect("it is there")));
//! let sweep = Sweep::new(subjects, [8], [Size::bytes(1 << 10), Size::bytes(1 << 28)], [network])?;
//!
//! let mut times = Vec::new();
//! let ended = sweep.run(Shard::WHOLE, 0, 2, &|| false, |_, outcome| {
//!     times.push(outcome.ok().map(|figures| figures.time));
//!     Ok::<(), std::convert::Infallible>(())
//! })?;
//! // The ring with one channel and with two, and recursive doubling, each at two sizes.
//! assert_eq!((ended, sweep.len(), times.len()), (Ended::Complete, 6, 6));
//! let fields = fields(&sweep, &times, |_| true);
//! let winners: Vec<String> = fields[0].stretches().iter().map(|stretch| sweep.unit_label(stretch.unit)).collect();
//! assert_eq!(winners, ["allreduce_recursive_doubling", "allreduce_ring(channels=1)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod best;
mod error;
#[cfg(feature = "topology-files")]
mod file;
mod network;
mod outcome;
mod plan;
mod run;
mod subject;

pub use best::{Field, Stretch, Winner, fields};
pub use error::SweepError;
#[cfg(feature = "topology-files")]
pub use file::{Parsed, parse};
pub use network::{Conditions, Network, Placing};
pub use outcome::{Figures, NoResult, Outcome, Why};
pub use plan::{Point, Shard, Sweep, Unit};
pub use run::Ended;
pub use subject::Subject;
