//! A static count: what each link carries in each round of an algorithm, whatever its speed.

use chakra_et::graph::Graph;

use crate::engine;
use crate::error::{Overflow, SimError};
use crate::topology::{LinkId, Topology};
use crate::units::Bytes;

/// What the links carry in each round.
///
/// The *round* of a message is the number of messages that it must wait for one after the other, through the
/// dependences on SENDs and RECVs: the first round is 0, and the number of rounds is the longest chain of dependent
/// messages.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LinkLoads {
    /// By round, the links that carry messages of it, in the order of their ids.
    pub rounds: Vec<Vec<(LinkId, Bytes)>>,
}

impl LinkLoads {
    /// What the most loaded link carries in each round.
    pub fn largest(&self) -> impl ExactSizeIterator<Item = Bytes> {
        self.rounds.iter().map(|links| links.iter().map(|(_, bytes)| *bytes).max().unwrap_or_default())
    }

    /// Σ over the rounds of what the most loaded link carries: divided by the bandwidth of the links, a bound
    /// for rounds that do not overlap. None if it does not fit.
    ///
    /// On a bidirectional ring this is what the literature compares algorithms by.
    #[must_use]
    pub fn sum_of_largest(&self) -> Option<Bytes> {
        self.largest().try_fold(0u64, |sum, bytes| sum.checked_add(bytes.0)).map(Bytes)
    }
}

/// Counts the bytes of each round on each link of the routes of a topology.
///
/// ```
/// use chakra_et::graph::{Graph, Op, Origin, RankGraph};
/// use sim_core::link_loads::link_loads;
/// use sim_core::topology::{Dimension, Topology};
/// use sim_core::units::Bytes;
///
/// // Rank 0 sends 8 bytes to rank 2, two hops away on the ring, which answers rank 1 with 5.
/// let mut ranks: Vec<_> = (0..5).map(|_| RankGraph::builder()).collect();
/// ranks[0].push(Op::Send { dst: 2, tag: 0, bytes: 8 }, [], Origin::default())?;
/// let message = ranks[2].push(Op::Recv { src: 0, tag: 0, bytes: 8 }, [], Origin::default())?;
/// ranks[2].push(Op::Send { dst: 1, tag: 0, bytes: 5 }, [message], Origin::default())?;
/// ranks[1].push(Op::Recv { src: 2, tag: 0, bytes: 5 }, [], Origin::default())?;
/// let graph = Graph::new(ranks.into_iter().map(|rank| rank.finish()).collect());
///
/// let ring = Topology::new([Dimension::ring(5, "50 GB/s".parse()?, "500 ns".parse()?)])?;
/// let loads = link_loads(&ring, &graph)?;
/// assert_eq!(loads.rounds.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
/// assert_eq!(loads.sum_of_largest(), Some(Bytes(13)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SimError`], as of a simulation: what the graph holds that cannot be executed, or who waits for whom.
pub fn link_loads(topology: &Topology, graph: &Graph) -> Result<LinkLoads, SimError> {
    let messages = engine::in_rounds(topology, graph)?;
    let (mut crossings, mut route) = (Vec::new(), Vec::new());
    for message in &messages {
        topology.route(message.src, message.dst, &mut route);
        crossings.extend(route.drain(..).map(|link| (message.issued.0, link, message.bytes.0)));
    }
    crossings.sort_unstable();
    let mut loads = LinkLoads::default();
    for (round, link, bytes) in crossings {
        let round = usize::try_from(round).map_err(|_| Overflow::MESSAGES)?;
        // Every round up to the last has messages.
        if loads.rounds.len() <= round {
            loads.rounds.resize(round + 1, Vec::new());
        }
        match loads.rounds[round].last_mut() {
            Some((last, sum)) if *last == link => {
                sum.0 = sum.0.checked_add(bytes).ok_or(Overflow::BYTES)?;
            }
            _ => loads.rounds[round].push((link, Bytes(bytes))),
        }
    }
    Ok(loads)
}
