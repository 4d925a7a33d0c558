//! The engine of contention-free models: a sweep instead of events.
//!
//! Where messages do not disturb each other, the time of a node is a maximum of sums of the times of
//! others, and the order of evaluation does not matter (Kahn 1974; a timed event graph of Baccelli et
//! al., *Synchronization and Linearity*). So each rank is run as far as it gets, as one process or, where its dependences
//! allow that, as several ([`lanes`]); a RECV takes the next arrival from the FIFO channel of its connection or
//! waits for one. There is no clock and no queue of events, and a channel holds only what is under way.
//!
//! The k-th SEND of a connection belongs to the k-th RECV *issued*. That is known without a clock only
//! where dependences order the SENDs of each connection, and its RECVs; thread blocks do. Other graphs
//! are left to the event engine. So is everything that goes wrong: the sweep then says `None`, and the event
//! engine, which knows the time of each step, finds the words.
//!
//! With several threads the ranks are divided into partitions that run in rounds, each until nothing
//! more can; messages across partitions are handed over between the rounds. Times are integers, and
//! only sums and maxima of them are formed, so the result is the same for any number of threads.

mod channel;
pub(super) mod lanes;
mod partition;
mod ports;

use std::ops::Range;

use chakra_et::graph::{Graph, Op, Symmetry};
use rayon::prelude::*;

use self::partition::Partition;
use crate::model::Conventions;
use crate::model::network::ContentionFree;
use crate::units::Picos;

/// What a sweep found out.
pub(super) struct Outcome {
    /// By rank.
    pub(super) finish: Vec<Picos>,
    pub(super) messages: u64,
    pub(super) bytes: u64,
    /// By rank and node, if asked for.
    pub(super) times: Option<Vec<Vec<Picos>>>,
}

/// Below this number of nodes a thread a second thread costs more than it brings.
const NODES_PER_THREAD: usize = 1 << 19;

/// Runs a graph, and notes the time of each node if `RECORD`; None if the event engine has to.
pub(super) fn run<C: ContentionFree, const RECORD: bool>(
    graph: &Graph,
    conventions: Conventions,
    costs: &C,
) -> Option<Outcome> {
    let threads = (graph.node_count() / NODES_PER_THREAD).clamp(1, rayon::current_num_threads());
    run_in_partitions::<C, RECORD>(graph, conventions, costs, threads)
}

/// As [`run`], in so many partitions.
pub(super) fn run_in_partitions<C: ContentionFree, const RECORD: bool>(
    graph: &Graph,
    conventions: Conventions,
    costs: &C,
    partitions: usize,
) -> Option<Outcome> {
    let ranges = divide(graph, partitions);
    let starts: Vec<u32> = ranges.iter().map(|range| range.start).collect();
    let mut partitions: Vec<Partition<'_, C, RECORD>> =
        ranges.into_iter().map(|ranks| Partition::new(graph, conventions, costs, ranks, None)).collect();
    match &mut partitions[..] {
        [partition] => partition.run()?,
        _ => run_in_rounds(&mut partitions, &starts)?,
    }
    let times = RECORD.then(Vec::new);
    let none = Outcome { finish: Vec::new(), messages: 0, bytes: 0, times };
    partitions.into_iter().try_fold(none, |mut all, partition| {
        let part = partition.outcome()?;
        all.finish.extend(part.finish);
        all.messages += part.messages;
        all.bytes = all.bytes.checked_add(part.bytes)?;
        if let (Some(all), Some(part)) = (&mut all.times, part.times) {
            all.extend(part);
        }
        Some(all)
    })
}

/// Runs the first rank of a graph for all; None if that is not the same, or the event engine has to.
///
/// Every rank must do what the first does, relabelled. A message that the first sends to rank p is then also
/// sent, at the same time, by the rank that p is relabelled from to the first, so the first receives it
/// itself. What has one solution, unrelabelled, has it for all ranks: the times of a sweep are determined.
pub(super) fn run_folded<C: ContentionFree>(
    graph: &Graph,
    symmetry: &Symmetry,
    conventions: Conventions,
    costs: &C,
) -> Option<Outcome> {
    if !is_invariant(graph, symmetry, costs) {
        return None;
    }
    let ranks = symmetry.rank_count();
    let mut partition = Partition::<C, false>::new(graph, conventions, costs, 0..1, Some(symmetry));
    partition.run()?;
    let Outcome { finish, messages, bytes, .. } = partition.outcome()?;
    Some(Outcome {
        finish: vec![*finish.first()?; ranks as usize],
        messages: messages.checked_mul(u64::from(ranks))?,
        bytes: bytes.checked_mul(u64::from(ranks))?,
        times: None,
    })
}

/// Whether messages of the first rank take as long as those that they are relabelled to.
fn is_invariant<C: ContentionFree>(graph: &Graph, symmetry: &Symmetry, costs: &C) -> bool {
    let Some(first) = graph.ranks().first() else { return false };
    let mut peers: Vec<u32> = first.ops().iter().filter_map(destination).collect();
    peers.sort_unstable();
    peers.dedup();
    let ranks = symmetry.rank_count();
    peers.into_iter().all(|peer| {
        let Some(of_first) = (peer < ranks && peer != 0).then(|| costs.route(0, peer)).flatten() else {
            return false;
        };
        (1..ranks).into_par_iter().all(|rank| {
            costs.route(rank, symmetry.moved(peer, rank)).is_some_and(|route| costs.alike(&of_first, &route))
        })
    })
}

fn destination(op: &Op) -> Option<u32> {
    match *op {
        Op::Send { dst, .. } => Some(dst),
        _ => None,
    }
}

/// Ranks in ranges of about as many nodes each.
fn divide(graph: &Graph, partitions: usize) -> Vec<Range<u32>> {
    let ranks = graph.rank_count() as u32;
    let share = graph.node_count().div_ceil(partitions).max(1);
    let (mut ranges, mut start, mut nodes) = (Vec::with_capacity(partitions), 0, 0);
    for (rank, of_rank) in (0..).zip(graph.ranks()) {
        nodes += of_rank.len();
        if nodes >= share * (ranges.len() + 1) {
            ranges.push(start..rank + 1);
            start = rank + 1;
        }
    }
    if start < ranks || ranges.is_empty() {
        ranges.push(start..ranks);
    }
    ranges
}

fn run_in_rounds<C: ContentionFree, const RECORD: bool>(
    partitions: &mut [Partition<'_, C, RECORD>],
    starts: &[u32],
) -> Option<()> {
    loop {
        partitions.par_iter_mut().try_for_each(Partition::run)?;
        let mut moved = false;
        for at in 0..partitions.len() {
            for parcel in partitions[at].take_parcels() {
                let to = starts.partition_point(|start| *start <= parcel.dst) - 1;
                partitions[to].receive_parcel(parcel)?;
                moved = true;
            }
        }
        if !moved {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use chakra_et::graph::RankGraph;

    use super::*;

    #[test]
    fn ranks_are_divided_by_their_nodes() {
        let rank = |nodes: u32| {
            let mut rank = RankGraph::builder();
            for _ in 0..nodes {
                let op = chakra_et::graph::Op::Comp { micros: 0, ops: 0, bytes: 0 };
                rank.push(op, [], Default::default()).unwrap();
            }
            rank.finish()
        };
        let divided = |nodes: &[u32], partitions| {
            divide(&Graph::new(nodes.iter().map(|nodes| rank(*nodes)).collect()), partitions)
        };
        assert_eq!(divided(&[1, 1, 1, 1], 2), [0..2, 2..4]);
        assert_eq!(divided(&[6, 1, 1, 0], 2), [0..1, 1..3, 3..4]);
        assert_eq!(divided(&[0, 0], 2), vec![0..2; 1]);
        assert_eq!(divided(&[], 3), vec![0..0; 1]);
        assert_eq!(divided(&[2, 2, 2], 8).len(), 3);
    }
}
