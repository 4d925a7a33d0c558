//! Algorithms in which all ranks do the same, as graphs of one rank: for simulations of very many ranks.
//!
//! They make what the library's algorithms of the same names make (with one channel, in the order of thread blocks),
//! without the trace of all ranks. A ring over 131,072 ranks has 34 billion messages, but a rank of it only
//! 262,142; [`Simulation::run_symmetric`](crate::sim::Simulation::run_symmetric) simulates that rank for all.
//!
//! `size` is the whole size of the collective in bytes, as in the size column of nccl-tests. Chunks must be
//! equal, so it must be a multiple of the number of ranks. `reduce_micros` gives the duration of a reduction
//! by its bytes; [`free`] is none.
//!
//! ```
//! use collective::sim::topology::{Dimension, Topology};
//! use collective::sim::{Model, Simulation};
//! use collective::symmetric;
//!
//! let ranks = 131_072;
//! let ring = symmetric::allreduce_ring(ranks, u64::from(ranks) * 50_000, symmetric::free)?;
//! let network = Topology::new([Dimension::ring(ranks, "50 GB/s".parse()?, "500 ns".parse()?)])?;
//! let report = Simulation::new(&network).model(Model::Analytical).run_symmetric(&ring)?;
//! // 2(n−1) rounds of 500 ns + 1 µs.
//! assert_eq!(report.makespan.as_ns(), 2.0 * 131_071.0 * 1_500.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use chakra_et::graph::{
    CollectiveInfo, Op, Origin, RankGraph, RankGraphBuilder, SymmetricGraph, Symmetry, SymmetryError,
    TooLarge,
};

/// Why there is no such graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymmetricError {
    /// The chunks would not be equal.
    Uneven {
        /// The size in bytes.
        size: u64,
        /// Number of ranks.
        ranks: u32,
    },
    /// No ranks, or none of the numbers of ranks that the algorithm is for.
    Ranks {
        /// Number of ranks.
        ranks: u32,
        /// What is expected.
        expected: &'static str,
    },
    /// A rank has too many nodes.
    TooLarge(TooLarge),
    /// The ranks cannot be relabelled.
    Symmetry(SymmetryError),
}

impl fmt::Display for SymmetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uneven { size, ranks } => write!(
                f,
                "{size} bytes do not divide into {ranks} equal chunks, so not all ranks do the same: expected a multiple of {ranks}"
            ),
            Self::Ranks { ranks, expected } => write!(f, "there are {ranks} ranks: expected {expected}"),
            Self::TooLarge(error) => error.fmt(f),
            Self::Symmetry(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SymmetricError {}

impl From<TooLarge> for SymmetricError {
    fn from(error: TooLarge) -> Self {
        Self::TooLarge(error)
    }
}

impl From<SymmetryError> for SymmetricError {
    fn from(error: SymmetryError) -> Self {
        Self::Symmetry(error)
    }
}

/// Reductions that take no time.
#[must_use]
pub fn free(_bytes: u64) -> u64 {
    0
}

/// All-reduce by a ring: [`allreduce_ring`](fn@crate::algorithms::allreduce_ring) with one channel.
///
/// # Errors
/// See [`SymmetricError`].
pub fn allreduce_ring(
    ranks: u32,
    size: u64,
    reduce_micros: impl Fn(u64) -> u64,
) -> Result<SymmetricGraph, SymmetricError> {
    let chunk = chunk(ranks, size)?;
    let mut rank = Chain::default();
    for _ in 1..ranks {
        rank.exchange(1, ranks - 1, chunk)?;
        rank.reduce(chunk, &reduce_micros)?;
    }
    for _ in 1..ranks {
        rank.exchange(1, ranks - 1, chunk)?;
    }
    rank.finish(Symmetry::rotation(ranks), "allreduce_ring", "all_reduce", size)
}

/// All-gather by a ring: [`allgather_ring`](fn@crate::algorithms::allgather_ring) with one channel.
///
/// # Errors
/// See [`SymmetricError`].
pub fn allgather_ring(ranks: u32, size: u64) -> Result<SymmetricGraph, SymmetricError> {
    let chunk = chunk(ranks, size)?;
    let mut rank = Chain::default();
    for _ in 1..ranks {
        rank.exchange(1, ranks - 1, chunk)?;
    }
    rank.finish(Symmetry::rotation(ranks), "allgather_ring", "all_gather", size)
}

/// Reduce-scatter by a ring: [`reduce_scatter_ring`](fn@crate::algorithms::reduce_scatter_ring) with one channel.
///
/// # Errors
/// See [`SymmetricError`].
pub fn reduce_scatter_ring(
    ranks: u32,
    size: u64,
    reduce_micros: impl Fn(u64) -> u64,
) -> Result<SymmetricGraph, SymmetricError> {
    let chunk = chunk(ranks, size)?;
    let mut rank = Chain::default();
    for _ in 1..ranks {
        rank.exchange(1, ranks - 1, chunk)?;
        rank.reduce(chunk, &reduce_micros)?;
    }
    rank.finish(Symmetry::rotation(ranks), "reduce_scatter_ring", "reduce_scatter", size)
}

/// All-reduce by halving and doubling:
/// [`allreduce_recursive_halving_doubling`](fn@crate::algorithms::allreduce_recursive_halving_doubling).
///
/// # Errors
/// See [`SymmetricError`].
pub fn allreduce_recursive_halving_doubling(
    ranks: u32,
    size: u64,
    reduce_micros: impl Fn(u64) -> u64,
) -> Result<SymmetricGraph, SymmetricError> {
    let (rounds, chunk) = (cube(ranks)?, chunk(ranks, size)?);
    let mut rank = Chain::default();
    for distance in (0..rounds).rev().map(|round| 1 << round) {
        let bytes = chunk * u64::from(distance);
        rank.exchange(distance, distance, bytes)?;
        rank.reduce(bytes, &reduce_micros)?;
    }
    for distance in (0..rounds).map(|round| 1 << round) {
        rank.exchange(distance, distance, chunk * u64::from(distance))?;
    }
    rank.finish(Symmetry::xor(ranks)?, "allreduce_recursive_halving_doubling", "all_reduce", size)
}

/// All-reduce by recursive doubling: in round k every rank exchanges all its data with the rank whose number
/// differs in bit k, and adds.
///
/// Rounds: log2 n. Bytes sent by each rank: S·log2 n. For small sizes.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.
///
/// # Errors
/// See [`SymmetricError`]; the size may be any.
pub fn allreduce_recursive_doubling(
    ranks: u32,
    size: u64,
    reduce_micros: impl Fn(u64) -> u64,
) -> Result<SymmetricGraph, SymmetricError> {
    let rounds = cube(ranks)?;
    let mut rank = Chain::default();
    for distance in (0..rounds).map(|round| 1 << round).filter(|_| size > 0) {
        rank.exchange(distance, distance, size)?;
        rank.reduce(size, &reduce_micros)?;
    }
    rank.finish(Symmetry::xor(ranks)?, "allreduce_recursive_doubling", "all_reduce", size)
}

/// The equal share of a rank.
fn chunk(ranks: u32, size: u64) -> Result<u64, SymmetricError> {
    if ranks == 0 {
        return Err(SymmetricError::Ranks { ranks, expected: "at least 1" });
    }
    if !size.is_multiple_of(u64::from(ranks)) {
        return Err(SymmetricError::Uneven { size, ranks });
    }
    Ok(size / u64::from(ranks))
}

/// The dimension of the hypercube of so many ranks.
fn cube(ranks: u32) -> Result<u32, SymmetricError> {
    let power = ranks.is_power_of_two().then(|| ranks.ilog2());
    power.ok_or(SymmetricError::Ranks { ranks, expected: "a power of two" })
}

/// The nodes of rank 0, each of which waits for the one before: one thread block.
#[derive(Default)]
struct Chain {
    rank: RankGraphBuilder,
    last: Option<u32>,
}

impl Chain {
    fn push(&mut self, op: Op) -> Result<(), TooLarge> {
        self.last = Some(self.rank.push(op, self.last, Origin::default())?);
        Ok(())
    }

    /// Sends, then receives as much. There are no empty messages.
    fn exchange(&mut self, dst: u32, src: u32, bytes: u64) -> Result<(), TooLarge> {
        if bytes == 0 {
            return Ok(());
        }
        self.push(Op::Send { dst, tag: 0, bytes })?;
        self.push(Op::Recv { src, tag: 0, bytes })
    }

    fn reduce(&mut self, bytes: u64, micros: &impl Fn(u64) -> u64) -> Result<(), TooLarge> {
        if bytes == 0 {
            return Ok(());
        }
        self.push(Op::Comp { micros: micros(bytes), ops: 0, bytes })
    }

    fn finish(
        mut self,
        symmetry: Symmetry,
        name: &str,
        collective: &str,
        size: u64,
    ) -> Result<SymmetricGraph, SymmetricError> {
        if self.last.is_none() {
            // A rank without work has one node that does nothing, as in a trace.
            self.push(Op::Comp { micros: 0, ops: 0, bytes: 0 })?;
        }
        let mut info = CollectiveInfo::default();
        info.name = name.to_owned();
        info.collective = collective.to_owned();
        info.in_place = true;
        info.size_bytes = size;
        info.element_type = "u8".to_owned();
        info.chunks = u64::from(symmetry.rank_count());
        let rank: RankGraph = self.rank.finish();
        Ok(SymmetricGraph::new(symmetry, rank)?.with_info(info))
    }
}
