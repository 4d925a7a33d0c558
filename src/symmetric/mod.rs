//! Algorithms in which all ranks do the same, as graphs of one rank: for simulations of very many ranks.
//!
//! They make what the library's algorithms of the same names make (in the order of thread blocks), node by node, without the trace of all ranks. A ring over 131,072 ranks has 34 billion messages, but a rank of it only
//! 262,142; [`Simulation::run_symmetric`](crate::sim::Simulation::run_symmetric) simulates that rank for all.
//!
//! `size` is the whole size of the collective in bytes, as in the size column of nccl-tests; an element is a byte. Chunks must be
//! equal, so it must be a multiple of the number of ranks, and of channels. `reduce_micros` gives the duration of a reduction
//! by its bytes; [`free`] is none. [`find`] has them by the library's names.
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

mod blocks;

use std::fmt;

use chakra_et::graph::{SymmetricGraph, Symmetry, SymmetryError, TooLarge};

use crate::algorithms::levels;
use collective_dsl::Size;

use self::blocks::{Blocks, Step, StepId};

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
        /// Number of channels.
        channels: u32,
    },
    /// No channels, or too many for so many ranks.
    Channels {
        /// Number of channels.
        channels: u32,
        /// The largest number that is expected.
        most: u32,
    },
    /// No ranks, or none of the numbers of ranks that the algorithm is for.
    Ranks {
        /// Number of ranks.
        ranks: u32,
        /// What is expected.
        expected: &'static str,
    },
    /// None of the numbers of nodes that the algorithm is for.
    Nodes {
        /// Number of nodes.
        nodes: u32,
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
            Self::Uneven { size, ranks, channels } => {
                let chunks = u64::from(*ranks) * u64::from(*channels);
                write!(
                    f,
                    "{size} bytes do not divide into {chunks} equal chunks, so not all ranks do the same: expected a multiple \
                     of {chunks}"
                )
            }
            Self::Channels { channels, most } => {
                write!(f, "there are {channels} channels: expected 1 to {most}")
            }
            Self::Ranks { ranks, expected } => write!(f, "there are {ranks} ranks: expected {expected}"),
            Self::Nodes { nodes, expected } => write!(f, "there are {nodes} nodes: expected {expected}"),
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

/// The graph of a library algorithm by its name and parameters, if there is one here for them.
///
/// None as well where it would not be the library's: where chunks are unequal or empty, or there is only one rank.
///
/// ```
/// use collective::{Size, symmetric};
///
/// let size = Size::bytes(131_072 * 4);
/// let find = |name, parameters: &[_]| symmetric::find(name, parameters, size, symmetric::free);
/// let ring = find("allreduce_ring", &[("ranks", 131_072), ("channels", 1)]).unwrap();
/// assert_eq!(ring.node_count(), 131_072 * 5 * 131_071);
/// // No two channels of so little data.
/// assert_eq!(find("allreduce_ring", &[("ranks", 131_072), ("channels", 2)]), None);
/// ```
#[must_use]
pub fn find(
    name: &str,
    parameters: &[(&str, usize)],
    size: Size,
    reduce_micros: impl Fn(u64) -> u64,
) -> Option<SymmetricGraph> {
    let (&(first, ranks), others) = parameters.split_first()?;
    let ranks = u32::try_from(ranks).ok().filter(|ranks| first == "ranks" && *ranks > 1)?;
    let bytes = size.in_bytes();
    let channels = match others {
        [("channels", channels)] => u32::try_from(*channels).ok()?,
        _ => 1,
    };
    // Recursive doubling sends whole vectors, the others chunks of equal numbers of elements.
    let parts = match name {
        "allreduce_recursive_doubling" => 1,
        _ => u64::from(ranks) * u64::from(channels),
    };
    if bytes == 0 || !bytes.is_multiple_of(parts.checked_mul(size.element_type().bytes())?) {
        return None;
    }
    let graph = match (name, others) {
        ("allreduce_ring", [("channels", _)]) => allreduce_rings(ranks, channels, bytes, reduce_micros),
        ("allgather_ring", [("channels", _)]) => allgather_rings(ranks, channels, bytes),
        ("reduce_scatter_ring", [("channels", _)]) => {
            reduce_scatter_rings(ranks, channels, bytes, reduce_micros)
        }
        ("allreduce_recursive_doubling", []) => allreduce_recursive_doubling(ranks, bytes, reduce_micros),
        ("allreduce_recursive_halving_doubling", []) => {
            allreduce_recursive_halving_doubling(ranks, bytes, reduce_micros)
        }
        ("allreduce_hierarchical", [("gpus", gpus), ("inner", levels::DIRECT), ("outer", outer)]) => {
            let between = match *outer {
                levels::RING => BetweenNodes::Ring,
                levels::HALVING_DOUBLING => BetweenNodes::HalvingDoubling,
                _ => return None,
            };
            let gpus = u32::try_from(*gpus).ok().filter(|gpus| *gpus > 0 && ranks.is_multiple_of(*gpus))?;
            allreduce_hierarchical(ranks / gpus, gpus, between, bytes, reduce_micros)
        }
        _ => return None,
    };
    graph.ok()
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
    allreduce_rings(ranks, 1, size, reduce_micros)
}

/// All-reduce by rings, one for each channel: [`allreduce_ring`](fn@crate::algorithms::allreduce_ring).
///
/// ```
/// use collective::symmetric;
///
/// let rings = symmetric::allreduce_rings(1024, 8, 1 << 30, symmetric::free)?;
/// // In each of 8 rings, 1,023 steps around to add and as many to hand out, of 5 nodes together.
/// assert_eq!(rings.node_count(), 1024 * 8 * 1023 * 5);
/// # Ok::<(), symmetric::SymmetricError>(())
/// ```
///
/// # Errors
/// See [`SymmetricError`]; there must be at least one channel.
pub fn allreduce_rings(
    ranks: u32,
    channels: u32,
    size: u64,
    reduce_micros: impl Fn(u64) -> u64,
) -> Result<SymmetricGraph, SymmetricError> {
    let (chunks, chunk) = chunks(ranks, channels, size)?;
    let mut blocks = Blocks::default();
    for channel in 0..channels {
        ring(&mut blocks, channel, 1, ranks, chunk, None);
    }
    let names = ("allreduce_ring", "all_reduce");
    blocks.finish(Symmetry::rotation(ranks), names, (size, chunks), reduce_micros)
}

/// All-gather by a ring: [`allgather_ring`](fn@crate::algorithms::allgather_ring) with one channel.
///
/// # Errors
/// See [`SymmetricError`].
pub fn allgather_ring(ranks: u32, size: u64) -> Result<SymmetricGraph, SymmetricError> {
    allgather_rings(ranks, 1, size)
}

/// All-gather by rings, one for each channel: [`allgather_ring`](fn@crate::algorithms::allgather_ring).
///
/// # Errors
/// See [`SymmetricError`]; there must be at least one channel.
pub fn allgather_rings(ranks: u32, channels: u32, size: u64) -> Result<SymmetricGraph, SymmetricError> {
    let (chunks, chunk) = chunks(ranks, channels, size)?;
    let mut blocks = Blocks::default();
    once_around(&mut blocks, channels, ranks, chunk, |step| step);
    let names = ("allgather_ring", "all_gather");
    blocks.finish(Symmetry::rotation(ranks), names, (size, chunks), free)
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
    reduce_scatter_rings(ranks, 1, size, reduce_micros)
}

/// Reduce-scatter by rings, one for each channel: [`reduce_scatter_ring`](fn@crate::algorithms::reduce_scatter_ring).
///
/// # Errors
/// See [`SymmetricError`]; there must be at least one channel.
pub fn reduce_scatter_rings(
    ranks: u32,
    channels: u32,
    size: u64,
    reduce_micros: impl Fn(u64) -> u64,
) -> Result<SymmetricGraph, SymmetricError> {
    let (chunks, chunk) = chunks(ranks, channels, size)?;
    let mut blocks = Blocks::default();
    once_around(&mut blocks, channels, ranks, chunk, Step::and_reduce);
    let names = ("reduce_scatter_ring", "reduce_scatter");
    blocks.finish(Symmetry::rotation(ranks), names, (size, chunks), reduce_micros)
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
    let rounds = cube(ranks)?;
    let (chunks, chunk) = chunks(ranks, 1, size)?;
    let mut blocks = Blocks::default();
    halving_doubling(&mut blocks, 1, rounds, chunk, None);
    let names = ("allreduce_recursive_halving_doubling", "all_reduce");
    blocks.finish(Symmetry::xor(ranks)?, names, (size, chunks), reduce_micros)
}

/// All-reduce by recursive doubling: [`allreduce_recursive_doubling`](fn@crate::algorithms::allreduce_recursive_doubling), of a power of
/// two of ranks. In round k every rank exchanges all its data with the rank whose number
/// differs in bit k, and adds.
///
/// Rounds: log2 n. Bytes sent by each rank: S·log2 n. For small sizes. What arrives is kept in a scratch buffer until
/// it is added.
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
    let mut blocks = Blocks::default();
    let mut before: Option<StepId> = None;
    for distance in (0..rounds).map(|round| 1 << round) {
        let (receiver, sender) = (blocks.open(distance, distance), blocks.open(distance, distance));
        // There is one place for what arrives.
        blocks.push(receiver, Step::receive(size).after(before));
        let sent = blocks.push(sender, Step::send(size).after(before));
        // Only then may the sum be overwritten.
        before = Some(blocks.push(receiver, Step::reduce(size).after([sent])));
    }
    let names = ("allreduce_recursive_doubling", "all_reduce");
    blocks.finish(Symmetry::xor(ranks)?, names, (size, 1), reduce_micros)
}

/// How the nodes of [`allreduce_hierarchical`] all-reduce what they have added up inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BetweenNodes {
    /// A ring over the nodes for each piece: 2(nodes−1) rounds.
    Ring,
    /// Recursive halving and doubling for each piece, of a power of two of nodes: 2·log2(nodes) rounds.
    HalvingDoubling,
}

/// All-reduce on two levels: [`allreduce_hierarchical`](fn@crate::algorithms::allreduce_hierarchical), between nodes as said.
///
/// There are `nodes` · `gpus` ranks; rank = node·gpus + GPU. Every GPU adds up its piece of the data, received from all others
/// of its node at once; the GPUs of one number all-reduce it among the nodes; each gives it to the others of its node.
///
/// On a tree of switches a node is as far from one neighbour as from another only if both lie behind the same switch. So the
/// ranks of a ring over all nodes take different times there, while halving and doubling pairs nodes over whole subtrees: then
/// one rank stands for all, wherever the sizes of the subtrees are powers of two.
///
/// # Errors
/// See [`SymmetricError`]; there must be at least two nodes.
pub fn allreduce_hierarchical(
    nodes: u32,
    gpus: u32,
    between: BetweenNodes,
    size: u64,
    reduce_micros: impl Fn(u64) -> u64,
) -> Result<SymmetricGraph, SymmetricError> {
    if nodes < 2 {
        return Err(SymmetricError::Nodes { nodes, expected: "at least 2" });
    }
    let ranks = nodes.checked_mul(gpus).ok_or(SymmetryError::NoTorus)?;
    let (chunks, chunk) = chunks(ranks, 1, size)?;
    let mut blocks = Blocks::default();
    // Every GPU has its piece, as many chunks as there are nodes, from the next GPU first.
    let piece = chunk * u64::from(nodes);
    let mut added: Option<StepId> = None;
    let inside: Vec<(usize, usize)> = (1..gpus)
        .map(|distance| {
            let peers = [distance, gpus - distance];
            let receiver = blocks.open(peers[0], peers[0]);
            added = Some(blocks.push(receiver, Step::receive(piece).and_reduce().after(added)));
            let sender = blocks.open(peers[1], peers[1]);
            blocks.push(sender, Step::send(piece));
            (receiver, sender)
        })
        .collect();
    let (symmetry, complete) = match between {
        BetweenNodes::Ring => {
            (Symmetry::torus(&[gpus, nodes])?, ring(&mut blocks, 0, gpus, nodes, chunk, added))
        }
        BetweenNodes::HalvingDoubling => {
            let power = nodes.is_power_of_two().then(|| nodes.ilog2());
            let rounds = power.ok_or(SymmetricError::Nodes { nodes, expected: "a power of two" })?;
            let mut sizes = vec![gpus];
            sizes.extend((0..rounds).map(|_| 2));
            let complete = halving_doubling(&mut blocks, gpus, rounds, chunk, added);
            (Symmetry::torus(&sizes)?, complete)
        }
    };
    for (at, (receiver, sender)) in inside.iter().enumerate() {
        // Into the piece that was sent to that GPU, by the thread block that counts from the other end.
        let sent = (inside[inside.len() - 1 - at].1, 0);
        blocks.push(*receiver, Step::receive(piece).after([sent]));
        blocks.push(*sender, Step::send(piece).after(complete.clone()));
    }
    let names = ("allreduce_hierarchical", "all_reduce");
    blocks.finish(symmetry, names, (size, chunks), reduce_micros)
}

/// Every rank's data once around a ring on each channel, with something done to what a rank receives.
fn once_around(blocks: &mut Blocks, channels: u32, ranks: u32, chunk: u64, then: impl Fn(Step) -> Step) {
    for channel in 0..channels {
        match ranks {
            0 | 1 => {}
            2 => {
                // Nothing is passed on, so sending and receiving have nothing to do with each other.
                let receiver = blocks.open_on(channel, 1, 1);
                blocks.push(receiver, then(Step::receive(chunk)));
                let sender = blocks.open_on(channel, 1, 1);
                blocks.push(sender, Step::send(chunk));
            }
            _ => {
                let block = blocks.open_on(channel, 1, ranks - 1);
                blocks.push(block, Step::send(chunk));
                for _ in 2..ranks {
                    blocks.push(block, then(Step::receive(chunk)).and_send());
                }
                blocks.push(block, then(Step::receive(chunk)));
            }
        }
    }
}

/// A ring of `count` ranks on a channel, `stride` apart, after a step; the steps after which a rank has the whole sum.
fn ring(
    blocks: &mut Blocks,
    channel: u32,
    stride: u32,
    count: u32,
    chunk: u64,
    after: Option<StepId>,
) -> Vec<StepId> {
    if count < 2 {
        return after.into_iter().collect();
    }
    let block = blocks.open_on(channel, stride, (count - 1) * stride);
    blocks.push(block, Step::send(chunk).after(after));
    for _ in 1..count {
        blocks.push(block, Step::receive(chunk).and_reduce().and_send());
    }
    for _ in 2..count {
        blocks.push(block, Step::receive(chunk).and_send());
    }
    vec![blocks.push(block, Step::receive(chunk))]
}

/// Recursive halving and doubling of 2^`rounds` ranks, `stride` apart, after a step; the steps after which a rank has the
/// whole sum.
fn halving_doubling(
    blocks: &mut Blocks,
    stride: u32,
    rounds: u32,
    chunk: u64,
    mut after: Option<StepId>,
) -> Vec<StepId> {
    // A thread block to receive and one to send, but for the last halving, which goes over into the first doubling.
    let mut halvings = Vec::new();
    for distance in (1..rounds).rev().map(|round| 1 << round) {
        let (peer, bytes) = (distance * stride, chunk * u64::from(distance));
        let (receiver, sender) = (blocks.open(peer, peer), blocks.open(peer, peer));
        let reduced = blocks.push(receiver, Step::receive(bytes).and_reduce().after(after));
        let sent = blocks.push(sender, Step::send(bytes).after(after));
        halvings.push((receiver, sender, bytes, sent));
        after = Some(reduced);
    }
    let mut complete = Vec::new();
    if rounds > 0 {
        let block = blocks.open(stride, stride);
        blocks.push(block, Step::send(chunk).after(after));
        blocks.push(block, Step::receive(chunk).and_reduce().and_send());
        complete.push(blocks.push(block, Step::receive(chunk)));
    }
    for (receiver, sender, bytes, sent) in halvings.into_iter().rev() {
        blocks.push(sender, Step::send(bytes).after(complete.clone()));
        complete.push(blocks.push(receiver, Step::receive(bytes).after([sent])));
    }
    complete
}

/// The chunks, one for each rank and channel, and the bytes of each.
fn chunks(ranks: u32, channels: u32, size: u64) -> Result<(u64, u64), SymmetricError> {
    // A rank of a ring has five nodes for each other rank.
    const MOST: u32 = 1 << 22;
    if ranks == 0 || ranks > MOST {
        return Err(SymmetricError::Ranks { ranks, expected: "1 to 4194304" });
    }
    let most = MOST / ranks;
    if channels == 0 || channels > most {
        return Err(SymmetricError::Channels { channels, most });
    }
    let chunks = u64::from(ranks) * u64::from(channels);
    if !size.is_multiple_of(chunks) {
        return Err(SymmetricError::Uneven { size, ranks, channels });
    }
    Ok((chunks, size / chunks))
}

/// The dimension of the hypercube of so many ranks.
fn cube(ranks: u32) -> Result<u32, SymmetricError> {
    let power = ranks.is_power_of_two().then(|| ranks.ilog2());
    power.ok_or(SymmetricError::Ranks { ranks, expected: "a power of two" })
}
