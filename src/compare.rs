//! Several algorithms for one collective on one network, at several sizes: which is fastest where.
//!
//! ```
//! use collective::compare::{Candidate, compare};
//! use collective::et::{EtOptions, NodeOrder};
//! use collective::sim::topology::{Dimension, Topology};
//! use collective::sim::{Model, Simulation};
//! use collective::{CollectiveKind, Size};
//!
//! let (candidates, _) = Candidate::of_the_library(CollectiveKind::AllReduce, 8);
//! let network = Topology::new([Dimension::switch(8, "50 GB/s".parse()?, "500 ns".parse()?)])?;
//! let simulation = Simulation::new(&network).model(Model::Fluid);
//! let sizes: Vec<Size> = (10..=28).map(|exponent| Size::bytes(1 << exponent)).collect();
//! let options = EtOptions { order: NodeOrder::Dataflow, ..EtOptions::new(sizes[0]) };
//! let comparison = compare(&simulation, &candidates, &sizes, &options);
//!
//! // What takes fewest rounds wins small sizes, what sends fewest bytes large ones.
//! let stretches = comparison.stretches();
//! assert!(stretches.len() > 1);
//! let last = stretches.last().expect("a stretch");
//! assert_eq!(last.until.in_bytes(), 1 << 28);
//! println!("{} wins from {} bytes on", comparison.rows[last.row].label, last.from.in_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rayon::prelude::*;

use crate::algorithms::{self, Algorithm};
use crate::et::{self, EtError, EtOptions};
use crate::sim::units::Picos;
use crate::sim::{SimError, Simulation};
use crate::{CollectiveKind, Diagnostics, Protocol, Schedule, Size, Trace, compile};

/// How many times the interval between two sizes with different winners is halved.
const HALVINGS: u32 = 6;

/// How an algorithm is lowered, where that is not as its function says: what matters under
/// [`Model::Machine`](crate::sim::Model::Machine).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// The protocol of all connections.
    pub protocol: Option<Protocol>,
    /// Number of replicas of the whole program, each over a share of the data.
    pub instances: Option<u32>,
}

impl Variant {
    /// As the function says.
    pub const OWN: Self = Self { protocol: None, instances: None };

    /// Has a trace lowered so.
    pub fn apply(&self, trace: &mut Trace) {
        trace.options.protocol = self.protocol.unwrap_or(trace.options.protocol);
        trace.options.instances = self.instances.unwrap_or(trace.options.instances);
    }
}

/// An algorithm that takes part, verified.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it is called in the results.
    pub label: String,
    /// What it does.
    pub schedule: Schedule,
}

impl Candidate {
    /// An algorithm of the library with the given values of its parameters; in place if it can be.
    ///
    /// It is called by its name and the parameters other than the number of ranks: `allreduce_ring(channels=2)`.
    ///
    /// # Errors
    /// The algorithm is not for these parameters.
    pub fn new(algorithm: &Algorithm, values: &[usize]) -> Result<Self, Diagnostics> {
        Self::lowered(algorithm, values, Variant::OWN)
    }

    /// The same, lowered in a way of its own, which the name says too: `allreduce_ring(channels=2, LL, instances=4)`.
    ///
    /// # Errors
    /// The algorithm is not for these parameters, or cannot be lowered so.
    pub fn lowered(algorithm: &Algorithm, values: &[usize], variant: Variant) -> Result<Self, Diagnostics> {
        let mut trace = (algorithm.def.trace)(algorithm.placement.allows(true), values)?;
        variant.apply(&mut trace);
        Ok(Self { label: label(algorithm, values, variant), schedule: compile(&trace)? })
    }

    /// All algorithms of the library for a collective and a number of ranks, with all their
    /// [choices](Algorithm::choices) of parameters; and those that do not compile, for their programs are too large for
    /// so many ranks.
    #[must_use]
    pub fn of_the_library(kind: CollectiveKind, ranks: usize) -> (Vec<Self>, Vec<LeftOut>) {
        Self::of_algorithms(algorithms::all().filter(|it| it.def.kind == kind), ranks, &[Variant::OWN])
    }

    /// Some algorithms with all their [choices](Algorithm::choices) of parameters, each lowered in several ways; and what of
    /// that does not compile.
    #[must_use]
    pub fn of_algorithms<'a>(
        algorithms: impl IntoIterator<Item = &'a Algorithm>,
        ranks: usize,
        variants: &[Variant],
    ) -> (Vec<Self>, Vec<LeftOut>) {
        let mut all: Vec<(&Algorithm, Vec<usize>, Variant)> = Vec::new();
        for algorithm in algorithms {
            for values in algorithm.choices(ranks) {
                all.extend(variants.iter().map(|variant| (algorithm, values.clone(), *variant)));
            }
        }
        let compiled: Vec<Result<Self, LeftOut>> = all
            .par_iter()
            .map(|(algorithm, values, variant)| {
                Self::lowered(algorithm, values, *variant)
                    .map_err(|why| LeftOut { label: label(algorithm, values, *variant), why })
            })
            .collect();
        let (mut candidates, mut left_out) = (Vec::new(), Vec::new());
        for one in compiled {
            match one {
                Ok(candidate) => candidates.push(candidate),
                Err(one) => left_out.push(one),
            }
        }
        (candidates, left_out)
    }
}

/// The name of an algorithm with its parameters other than the number of ranks, and how it is lowered.
fn label(algorithm: &Algorithm, values: &[usize], variant: Variant) -> String {
    let others = algorithm.def.params.iter().zip(values).filter(|(param, _)| param.name != "ranks");
    let others = others.map(|(param, value)| format!("{}={value}", param.name));
    let protocol = variant.protocol.map(|protocol| protocol.name().to_owned());
    let instances = variant.instances.map(|instances| format!("instances={instances}"));
    let others: Vec<String> = others.chain(protocol).chain(instances).collect();
    match others.as_slice() {
        [] => algorithm.name().to_owned(),
        others => format!("{}({})", algorithm.name(), others.join(", ")),
    }
}

/// An algorithm of the library that cannot take part.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeftOut {
    /// What it would be called.
    pub label: String,
    /// Why it does not compile.
    pub why: Diagnostics,
}

/// Why a candidate has no time for a size.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoTime {
    /// It cannot be brought to the size.
    #[error(transparent)]
    Size(#[from] EtError),
    /// It cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

/// The results of one candidate.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The candidate.
    pub label: String,
    /// The time for each size, in the order of [`Comparison::sizes`].
    pub times: Vec<Result<Picos, NoTime>>,
}

/// From which size to which one candidate is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stretch {
    /// Its index in [`Comparison::rows`].
    pub row: usize,
    /// The smallest size.
    pub from: Size,
    /// The largest size.
    pub until: Size,
}

/// The results of all candidates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The sizes, ascending.
    pub sizes: Vec<Size>,
    /// One row a candidate, in their order.
    pub rows: Vec<Row>,
    /// For each size but the last: up to where the winner there wins, and from where the next one's does.
    between: Vec<Option<(Size, Size)>>,
}

impl Comparison {
    /// The candidates that have a time for the size of an index, the fastest first; of equally fast ones the earlier row.
    #[must_use]
    pub fn ranking(&self, size: usize) -> Vec<(usize, Picos)> {
        let timed = self.rows.iter().enumerate();
        let timed = timed.filter_map(|(row, results)| Some((row, *results.times.get(size)?.as_ref().ok()?)));
        let mut ranking: Vec<(usize, Picos)> = timed.collect();
        ranking.sort_by_key(|(_, time)| *time);
        ranking
    }

    /// The fastest candidate for the size of an index, and its time.
    #[must_use]
    pub fn best(&self, size: usize) -> Option<(usize, Picos)> {
        self.ranking(size).first().copied()
    }

    /// Which candidate is the fastest from where to where.
    ///
    /// Between two sizes with different winners the two were compared at further sizes; a third that wins only
    /// there is not seen.
    #[must_use]
    pub fn stretches(&self) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for (index, size) in self.sizes.iter().enumerate() {
            let Some((row, _)) = self.best(index) else { continue };
            let change = index.checked_sub(1).and_then(|before| self.between[before]);
            match stretches.last_mut() {
                Some(last) if last.row == row => last.until = *size,
                Some(last) => {
                    let (until, from) = change.unwrap_or((last.until, *size));
                    last.until = until;
                    stretches.push(Stretch { row, from, until: *size });
                }
                None => stretches.push(Stretch { row, from: *size, until: *size }),
            }
        }
        stretches
    }
}

/// Simulates every candidate at every size, in parallel; where the winner changes from one size to the next, the two are
/// compared at further sizes in between.
///
/// `options` say how schedules become graphs; their size is not used. The result does not depend on the number of
/// threads.
#[must_use]
pub fn compare(
    simulation: &Simulation<'_>,
    candidates: &[Candidate],
    sizes: &[Size],
    options: &EtOptions,
) -> Comparison {
    let mut sizes = sizes.to_vec();
    sizes.sort_by_key(|size| size.in_bytes());
    sizes.dedup_by_key(|size| size.in_bytes());
    let time = |candidate: &Candidate, size: Size| -> Result<Picos, NoTime> {
        let graph = et::graph(&candidate.schedule, &EtOptions { size, ..*options })?;
        Ok(simulation.run(&graph)?.makespan)
    };
    let cells: Vec<(&Candidate, Size)> =
        candidates.iter().flat_map(|candidate| sizes.iter().map(move |size| (candidate, *size))).collect();
    let mut times =
        cells.par_iter().map(|(candidate, size)| time(candidate, *size)).collect::<Vec<_>>().into_iter();
    let rows = candidates.iter().map(|candidate| Row {
        label: candidate.label.clone(),
        times: times.by_ref().take(sizes.len()).collect(),
    });
    let rows = rows.collect();
    let mut comparison = Comparison { between: vec![None; sizes.len().saturating_sub(1)], sizes, rows };
    comparison.between = (0..comparison.between.len())
        .into_par_iter()
        .map(|index| {
            let (low, high) = (comparison.best(index)?.0, comparison.best(index + 1)?.0);
            let is_low = |size: Size| -> Option<bool> {
                let [low, high] = [low, high].map(|row| time(&candidates[row], size).ok());
                Some(low? <= high?)
            };
            (low != high)
                .then(|| bisect(comparison.sizes[index], comparison.sizes[index + 1], candidates, is_low))?
        })
        .collect();
    comparison
}

/// Narrows down where one winner follows another.
fn bisect(
    low: Size,
    high: Size,
    candidates: &[Candidate],
    is_low: impl Fn(Size) -> Option<bool>,
) -> Option<(Size, Size)> {
    // Whole elements for every rank, so that all collectives have such a size.
    let ranks = candidates.first()?.schedule.ranks.len() as u64;
    let unit = low.element_type().bytes() * ranks.max(1);
    let (mut below, mut above) = (low, high);
    for _ in 0..HALVINGS {
        // The geometric mean: sizes are compared by their ratio.
        let middle = (below.in_bytes() as f64 * above.in_bytes() as f64).sqrt() as u64 / unit * unit;
        if middle <= below.in_bytes() || middle >= above.in_bytes() {
            break;
        }
        let middle = Size::bytes(middle).with_type(low.element_type());
        if is_low(middle)? { below = middle } else { above = middle }
    }
    Some((below, above))
}
