//! The engine of contention-free models: a sweep instead of events.
//!
//! Where messages do not disturb each other, the time of a node is a maximum of sums of the times of
//! others, and the order of evaluation does not matter (Kahn 1974; a timed event graph of Baccelli et
//! al., *Synchronization and Linearity*). So each rank is run as far as it gets. There is no clock and no queue of events.
//!
//! * Where the nodes of each rank form one chain, as with one thread block, [`chain`] keeps nothing of a node: a RECV takes
//!   the next arrival from the FIFO channel of its connection, and a channel holds only what is under way.
//! * Else [`matching`] finds out beforehand which RECV takes which SEND, ranks are divided into [`lanes`], each run in
//!   order, and [`dataflow`] runs them.
//!
//! The k-th SEND of a connection belongs to the k-th RECV *issued*. That is known without a clock only
//! where dependences order the SENDs of each connection, and its RECVs; thread blocks do. Other graphs
//! are left to the event engine. So is everything that goes wrong: the sweep then says `None`, and the event
//! engine, which knows the time of each step, finds the words.
//!
//! With several threads the ranks are divided into partitions that run in parallel [`rounds`], each until nothing
//! more can; messages across partitions are handed over between the rounds. Times are integers, and
//! only sums and maxima of them are formed, so the result is the same for any number of threads.
//!
//! Where all ranks do the same, relabelled, their nodes need not be there more than once ([`Source`]); and where their messages
//! take the same too, one of them is run for all.

mod chain;
mod channel;
mod dataflow;
mod lanes;
mod matching;
mod ports;
mod rounds;
mod source;
pub(super) mod stuck;

use std::ops::Range;

use chakra_et::graph::{Graph, Op, RankGraph, Symmetry};
use rayon::prelude::*;

use self::lanes::is_chain;
use self::source::Source;
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
    run_in_partitions::<C, RECORD>(graph, conventions, costs, threads_for(graph.node_count()))
}

/// As [`run`], in so many partitions.
pub(super) fn run_in_partitions<C: ContentionFree, const RECORD: bool>(
    graph: &Graph,
    conventions: Conventions,
    costs: &C,
    partitions: usize,
) -> Option<Outcome> {
    let source = Source::Each(graph);
    if is_for_chains(graph, C::CONCURRENT) {
        return run_chains::<C, RECORD>(source, graph, conventions, costs, partitions);
    }
    run_dataflow(source, conventions, costs, partitions, RECORD)
}

/// Runs every rank of a graph in which all do the same; None if the event engine has to.
pub(super) fn run_alike<C: ContentionFree>(
    graph: &Graph,
    symmetry: &Symmetry,
    conventions: Conventions,
    costs: &C,
) -> Option<Outcome> {
    let source = Source::Alike(graph, symmetry);
    run_dataflow(source, conventions, costs, threads_for(source.node_count()), false)
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
    let source = Source::First(graph, symmetry);
    let of_first = if is_chain(graph.ranks().first()?) {
        run_chains::<C, false>(source, graph, conventions, costs, 1)?
    } else {
        run_dataflow(source, conventions, costs, 1, false)?
    };
    let ranks = u64::from(symmetry.rank_count());
    Some(Outcome {
        finish: vec![*of_first.finish.first()?; ranks as usize],
        messages: of_first.messages.checked_mul(ranks)?,
        bytes: of_first.bytes.checked_mul(ranks)?,
        times: None,
    })
}

fn threads_for(nodes: usize) -> usize {
    (nodes / NODES_PER_THREAD).clamp(1, rayon::current_num_threads())
}

/// Whether the graph is chains, and few enough connections for their channels to be at hand.
fn is_for_chains(graph: &Graph, may_be_other: bool) -> bool {
    let ranks = graph.ranks();
    let is_scattered = || {
        let some = [ranks.first(), ranks.get(ranks.len() / 2), ranks.last()];
        may_be_other && some.into_iter().flatten().any(changes_peers)
    };
    !is_scattered() && ranks.par_iter().all(is_chain)
}

/// Whether more than half of the messages of a rank go elsewhere than the one before.
fn changes_peers(rank: &RankGraph) -> bool {
    let peers = || rank.ops().iter().filter_map(destination);
    let changes = peers().zip(peers().skip(1)).filter(|(one, next)| one != next).count();
    changes * 2 > peers().count()
}

fn run_chains<C: ContentionFree, const RECORD: bool>(
    source: Source<'_>,
    graph: &Graph,
    conventions: Conventions,
    costs: &C,
    partitions: usize,
) -> Option<Outcome> {
    let ranges = divide(source, partitions);
    let starts: Vec<u32> = ranges.iter().map(|range| range.start).collect();
    let new = |ranks| chain::Partition::<C, RECORD>::new(source, graph, conventions, costs, ranks);
    let mut partitions: Vec<_> = ranges.into_iter().map(new).collect();
    rounds::run(&mut partitions, &starts)?;
    joined(partitions.into_iter().map(chain::Partition::outcome), RECORD)
}

fn run_dataflow<C: ContentionFree>(
    source: Source<'_>,
    conventions: Conventions,
    costs: &C,
    partitions: usize,
    record: bool,
) -> Option<Outcome> {
    if !C::CONCURRENT {
        return None;
    }
    let programs = matching::programs(source, conventions)?;
    let ranges = divide(source, partitions);
    let starts: Vec<u32> = ranges.iter().map(|range| range.start).collect();
    let new = |ranks| dataflow::Partition::new(source, &programs, conventions, costs, ranks);
    let mut partitions = ranges.into_iter().map(new).collect::<Option<Vec<_>>>()?;
    rounds::run(&mut partitions, &starts)?;
    joined(partitions.into_iter().map(|partition| partition.outcome(record)), record)
}

/// What all partitions together found out.
fn joined(parts: impl Iterator<Item = Option<Outcome>>, record: bool) -> Option<Outcome> {
    let none = Outcome { finish: Vec::new(), messages: 0, bytes: 0, times: record.then(Vec::new) };
    parts.into_iter().try_fold(none, |mut all, part| {
        let part = part?;
        all.finish.extend(part.finish);
        all.messages += part.messages;
        all.bytes = all.bytes.checked_add(part.bytes)?;
        if let (Some(all), Some(part)) = (&mut all.times, part.times) {
            all.extend(part);
        }
        Some(all)
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
fn divide(source: Source<'_>, partitions: usize) -> Vec<Range<u32>> {
    let ranks = source.rank_count();
    let share = source.node_count().div_ceil(partitions).max(1);
    let (mut ranges, mut start, mut nodes) = (Vec::with_capacity(partitions), 0, 0);
    for rank in 0..ranks {
        nodes += source.programs()[source.program(rank)].len();
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
            divide(Source::Each(&Graph::new(nodes.iter().map(|nodes| rank(*nodes)).collect())), partitions)
        };
        assert_eq!(divided(&[1, 1, 1, 1], 2), [0..2, 2..4]);
        assert_eq!(divided(&[6, 1, 1, 0], 2), [0..1, 1..3, 3..4]);
        assert_eq!(divided(&[0, 0], 2), vec![0..2; 1]);
        assert_eq!(divided(&[], 3), vec![0..0; 1]);
        assert_eq!(divided(&[2, 2, 2], 8).len(), 3);
    }
}
