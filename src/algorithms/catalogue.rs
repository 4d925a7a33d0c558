//! What an entry of the library claims about itself: for which ranks it is, and what it costs.

use std::cmp::Reverse;
use std::fmt;

use num_rational::Ratio;

use crate::sim::topology::{Dimension, LinkSpec, Topology, TopologyError};
use crate::sim::units::{Bandwidth, Bytes, Latency, Picos};
use crate::{AlgorithmDef, Diagnostics, Schedule, Size, compile};

/// A share of the collective's size S, the size of the size column of nccl-tests.
pub type Share = Ratio<u64>;

/// An algorithm of the library: its definition, and what it claims.
///
/// ```
/// use collective::algorithms::{self, Share};
///
/// let ring = algorithms::find("allreduce_ring").unwrap();
/// // 5 ranks, 1 channel: 8 rounds, in which each rank sends 8/5 of the data.
/// let cost = ring.cost(&[5, 1]);
/// assert_eq!((cost.rounds(), cost.sent), (8, Share::new(8, 5)));
/// assert_eq!(ring.choices(5), [[5, 1], [5, 2]]);
/// // What it claims is what it does.
/// assert_eq!(ring.compile(true, &[5, 1])?.message_count(), 5 * 8);
/// # Ok::<(), collective::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Algorithm {
    /// The function: name, documentation, collective, parameters.
    pub def: AlgorithmDef,
    /// For which numbers of ranks it is, in words: "any", "powers of two".
    pub ranks: &'static str,
    /// In which buffers it works.
    pub placement: Placement,
    /// The network on which [`Cost::time`] holds exactly.
    pub network: Network,
    pub(super) choices: fn(usize) -> Vec<Vec<usize>>,
    pub(super) cost: fn(&[usize]) -> Cost,
}

impl Algorithm {
    /// The name of the function.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.def.name
    }

    /// The values of the parameters, in the order of the definition's, that are worth trying on a number of ranks, the first
    /// what one would take without more knowledge; empty if the algorithm is not for that many ranks.
    ///
    /// They are a choice, not all: an algorithm with channels takes any number of them.
    #[must_use]
    pub fn choices(&self, ranks: usize) -> Vec<Vec<usize>> {
        (self.choices)(ranks)
    }

    /// What the algorithm costs with these parameters, by theory.
    ///
    /// `values` are one of a parameter in the order of the definition's, such that the algorithm compiles: for
    /// others the cost has no meaning.
    ///
    /// # Panics
    /// The number of values is not that of the parameters.
    #[must_use]
    pub fn cost(&self, values: &[usize]) -> Cost {
        assert_eq!(values.len(), self.def.params.len(), "{} wants one value a parameter", self.def.name);
        (self.cost)(values)
    }

    /// Traces, lowers and verifies the algorithm, in place or not.
    ///
    /// # Errors
    /// The algorithm is not for these parameters.
    pub fn compile(&self, in_place: bool, values: &[usize]) -> Result<Schedule, Diagnostics> {
        compile(&(self.def.trace)(in_place, values)?)
    }
}

/// In which buffers an algorithm works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Input and output may be one buffer or two.
    Both,
    /// Only two buffers: it reads its input while it writes the output.
    OutOfPlace,
    /// Only one buffer.
    InPlace,
}

impl Placement {
    /// Whether the algorithm works in place (`true`) or out of place (`false`).
    #[must_use]
    pub fn allows(self, in_place: bool) -> bool {
        match self {
            Self::Both => true,
            Self::OutOfPlace => !in_place,
            Self::InPlace => in_place,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Both => "in place or not",
            Self::OutOfPlace => "out of place",
            Self::InPlace => "in place",
        })
    }
}

/// The networks for which theory gives the time of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// Every rank has one port, a link to and a link from one switch: for algorithms in which a rank sends one message
    /// and receives one message at a time. α is twice the latency of a link.
    Switch,
    /// A link from every rank to every other: for algorithms in which a rank sends to many at once. α is the
    /// latency of a link.
    FullyConnected,
    /// A torus with a link each way between neighbours, whose shape is in the algorithm's parameters: after the number of
    /// ranks come the members of its dimensions, but for the last, which has what remains. α is the latency of a link.
    Torus {
        /// How many dimensions.
        dimensions: usize,
    },
}

impl Network {
    /// The network for an algorithm with these values of its parameters, the first of which is the number of ranks.
    ///
    /// ```
    /// use collective::algorithms;
    ///
    /// let algorithm = algorithms::find("allreduce_torus_3d").unwrap();
    /// let network = algorithm.network.topology(&[24, 4, 3, 1], "50 GB/s".parse()?, "1 us".parse()?)?;
    /// let sizes: Vec<u32> = network.dimensions().map(|dimension| dimension.size).collect();
    /// assert_eq!(sizes, [4, 3, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There are no ranks, or too many.
    pub fn topology(
        self,
        values: &[usize],
        bandwidth: Bandwidth,
        latency: Latency,
    ) -> Result<Topology, TopologyError> {
        // What no topology can have is refused as too many.
        let size = |members: usize| u32::try_from(members).unwrap_or(u32::MAX);
        let (ranks, shape) = values.split_first().map_or((0, values), |(ranks, shape)| (*ranks, shape));
        match self {
            Self::Switch => Topology::new([Dimension::switch(size(ranks), bandwidth, latency)]),
            Self::FullyConnected => {
                Topology::new([Dimension::fully_connected(size(ranks), bandwidth, latency)])
            }
            Self::Torus { dimensions } => {
                let given = &shape[..shape.len().min(dimensions.saturating_sub(1))];
                let rest =
                    ranks / given.iter().fold(1usize, |all, members| all.saturating_mul(*members)).max(1);
                let sizes = given.iter().chain([&rest]).map(|members| size(*members));
                Topology::torus(sizes, LinkSpec::new(bandwidth, latency))
            }
        }
    }

    /// The time from the first byte's departure to its arrival; `latency` is that of a link.
    #[must_use]
    pub fn alpha(self, latency: Picos) -> Picos {
        match self {
            Self::Switch => Picos(latency.0.saturating_mul(2)),
            Self::FullyConnected | Self::Torus { .. } => latency,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Switch => "Switch",
            Self::FullyConnected => "FullyConnected",
            Self::Torus { .. } => "Torus",
        })
    }
}

/// Messages of one size that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// How many.
    pub count: u64,
    /// The size of each, as a share of S; messages that share a link at the same time count as one of all their bytes.
    pub share: Share,
}

/// What an algorithm costs by theory, in the α-β model: a message of b bytes takes α + b/B.
///
/// It is what the simulator says under the model `fluid` on the algorithm's [`Network`], for traces that hold what the
/// algorithm itself demands ([`NodeOrder::Dataflow`](crate::et::NodeOrder::Dataflow)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The chain of most dependent messages, which takes longest, from the first to the last.
    pub chain: Vec<Rounds>,
    /// Chains that may take longer than that one, by the size: with fewer messages, but larger ones.
    pub others: Vec<Vec<Rounds>>,
    /// What the rank that sends most sends, as a share of S.
    pub sent: Share,
}

impl Cost {
    /// Rounds of messages of equal size, in each of which every rank sends no more than one.
    #[must_use]
    pub fn rounds_of(rounds: impl IntoIterator<Item = (usize, Share)>) -> Self {
        let chain = chain_of(rounds);
        let sent = chain.iter().map(|rounds| rounds.share * rounds.count).sum();
        Self { chain, others: Vec::new(), sent }
    }

    /// The same, with another chain that takes longer for some sizes.
    ///
    /// ```
    /// use collective::algorithms::{Cost, Share};
    /// # use collective::{Size, sim::units::Picos};
    /// // Three messages of a quarter each, or one of everything.
    /// let cost = Cost::rounds_of([(3, Share::new(1, 4))]).or_rounds_of([(1, Share::from(1))]);
    /// let time = |bytes| cost.time(Picos(1_000_000), "1 GB/s".parse().unwrap(), Size::bytes(bytes));
    /// assert_eq!(cost.rounds(), 3);
    /// // 3 · (1 us + 1 us); 1 us + 40 us.
    /// assert_eq!((time(4_000), time(40_000)), (Some(Picos(6_000_000)), Some(Picos(41_000_000))));
    /// ```
    #[must_use]
    pub fn or_rounds_of(mut self, rounds: impl IntoIterator<Item = (usize, Share)>) -> Self {
        self.others.push(chain_of(rounds));
        self
    }

    /// Several chains, of which one or the other takes longest, as the size is.
    #[must_use]
    pub fn longest_of(chains: impl IntoIterator<Item = Vec<Rounds>>, sent: Share) -> Self {
        let mut others: Vec<Vec<Rounds>> = chains.into_iter().collect();
        // The first of the longest, so that nothing depends on the order of the others.
        others.sort_by_key(|chain| Reverse(messages(chain)));
        let chain = if others.is_empty() { Vec::new() } else { others.remove(0) };
        Self { chain, others, sent }
    }

    /// The same, with another share for the rank that sends most.
    #[must_use]
    pub fn with_sent(self, sent: Share) -> Self {
        Self { sent, ..self }
    }

    /// How many messages follow one another.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.chains().map(|chain| messages(chain)).max().unwrap_or(0)
    }

    fn chains(&self) -> impl Iterator<Item = &Vec<Rounds>> {
        [&self.chain].into_iter().chain(&self.others)
    }

    /// The longest chain's time in the α-β model, Σ (α + b/B), each message rounded to a picosecond, half up.
    ///
    /// Exact for sizes of which every share is whole; else each message is rounded up to a byte. None if the time does
    /// not fit.
    #[must_use]
    pub fn time(&self, alpha: Picos, bandwidth: Bandwidth, size: Size) -> Option<Picos> {
        self.chains().try_fold(Picos::ZERO, |longest, chain| {
            let time = chain.iter().try_fold(Picos::ZERO, |time, rounds| {
                let bytes = u128::from(size.in_bytes()) * u128::from(*rounds.share.numer());
                let bytes = u64::try_from(bytes.div_ceil(u128::from(*rounds.share.denom()))).ok()?;
                let message = bandwidth.transfer_time(Bytes(bytes))?.checked_add(alpha)?;
                time.checked_add(Picos(message.0.checked_mul(rounds.count)?))
            })?;
            Some(longest.max(time))
        })
    }
}

/// How many messages a chain has.
fn messages(chain: &[Rounds]) -> u64 {
    chain.iter().map(|rounds| rounds.count).sum()
}

/// The rounds that there are.
fn chain_of(rounds: impl IntoIterator<Item = (usize, Share)>) -> Vec<Rounds> {
    let rounds = rounds.into_iter().filter(|(count, _)| *count > 0);
    rounds.map(|(count, share)| Rounds { count: count as u64, share }).collect()
}

/// 1/n.
pub(super) fn one_of(n: usize) -> Share {
    Share::new_raw(1, n.max(1) as u64)
}

/// a/b.
pub(super) fn share(a: usize, b: usize) -> Share {
    Share::new(a as u64, b.max(1) as u64)
}

/// The numbers that divide `n`, from large to small.
pub(super) fn divisors(n: usize) -> impl Iterator<Item = usize> {
    (1..=n).rev().filter(move |divisor| n.is_multiple_of(*divisor))
}
