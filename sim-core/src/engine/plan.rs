//! Checks a graph and prepares it for the run: node states, connections, pairs of ranks.
//!
//! Ranks are prepared in parallel; connections are numbered by source rank and key, so the numbers do
//! not depend on the threads.

use chakra_et::graph::{Graph, Op, RankGraph};
use rayon::prelude::*;

use super::connection::{CROSSING, Connection, Key};
use super::crossing::Crossing;
use super::node::{NONE, RankState, Ranks};
use super::{Overflow, SimError};
use crate::events::MOST_RANKS;
use crate::model::Conventions;
use crate::model::network::Pair;
use crate::units::Bytes;

/// What a block of ranks begins with.
pub(super) struct Plan {
    pub(super) ranks: Ranks,
    /// The connections on which these ranks send, from the first on.
    pub(super) first_connection: u32,
    pub(super) connections: Vec<Connection>,
    /// The connections on which they receive from other blocks, from the first on.
    pub(super) first_crossing: u32,
    pub(super) crossings: Vec<Crossing>,
}

/// Connections and pairs of ranks, before the nodes.
pub(super) struct Draft {
    /// By source rank, sorted.
    keys: Vec<Vec<Key>>,
    /// By source rank, the number of its first connection.
    first: Vec<u32>,
    connections: Vec<Connection>,
    pub(super) pairs: Vec<Pair>,
    /// The size of the smallest message.
    pub(super) least: Bytes,
    conventions: Conventions,
}

impl Draft {
    pub(super) fn new(graph: &Graph, conventions: Conventions) -> Result<Self, SimError> {
        if graph.rank_count() >= MOST_RANKS {
            return Err(Overflow::RANKS.into());
        }
        let ranks = 0..graph.rank_count() as u32;
        let keys = ranks.into_par_iter().map(|rank| check(graph, rank, conventions));
        let (keys, least): (Vec<Vec<Key>>, Vec<Bytes>) = in_order(keys.collect())?.into_iter().unzip();

        let (mut connections, mut pairs) = (Vec::new(), Vec::<Pair>::new());
        let mut first = Vec::with_capacity(keys.len());
        for (src, keys) in (0..).zip(&keys) {
            first.push(connections.len() as u32);
            for key in keys {
                let pair = Pair { src, dst: key.peer };
                if pairs.last() != Some(&pair) {
                    pairs.push(pair);
                }
                connections.push(Connection::new(src, key.peer, (pairs.len() - 1) as u32));
            }
            if connections.len() >= CROSSING as usize {
                return Err(Overflow::CONNECTIONS.into());
            }
        }
        let least = least.into_iter().min().unwrap_or(Bytes(0));
        Ok(Self { keys, first, connections, pairs, least, conventions })
    }

    /// The plan of all ranks.
    pub(super) fn plan(self, graph: &Graph) -> Result<Plan, SimError> {
        let states = self.states(graph)?;
        Ok(Plan {
            ranks: Ranks::new(0, states),
            first_connection: 0,
            connections: self.connections,
            first_crossing: 0,
            crossings: Vec::new(),
        })
    }

    /// The plans of blocks of neighbouring ranks, each of which begins at one of `starts`, the first at 0.
    pub(super) fn divided(mut self, graph: &Graph, starts: &[u32]) -> Result<Vec<Plan>, SimError> {
        let crossings = self.mark_crossings(starts);
        let mut states = self.states(graph)?.into_iter();
        let ends = starts.iter().skip(1).copied().chain([graph.rank_count() as u32]);
        let Self { first, connections, .. } = self;
        let count = connections.len() as u32;
        let (mut connections, mut first_crossing) = (connections.into_iter(), 0);
        let plans = starts.iter().zip(ends).zip(crossings).map(|((start, end), crossings)| {
            let begin = |rank: u32| first.get(rank as usize).copied().unwrap_or(count);
            let (from, to) = (begin(*start), begin(end));
            let plan = Plan {
                ranks: Ranks::new(*start, states.by_ref().take((end - start) as usize).collect()),
                first_connection: from,
                connections: connections.by_ref().take((to - from) as usize).collect(),
                first_crossing,
                crossings,
            };
            first_crossing += plan.crossings.len() as u32;
            plan
        });
        Ok(plans.collect())
    }

    /// Numbers the connections between blocks by the block of the receiver.
    fn mark_crossings(&mut self, starts: &[u32]) -> Vec<Vec<Crossing>> {
        let block = |rank: u32| starts.partition_point(|start| *start <= rank) - 1;
        let mut crossings: Vec<Vec<Crossing>> = starts.iter().map(|_| Vec::new()).collect();
        let crosses = |connection: &Connection| {
            let to = block(connection.dst);
            (block(connection.src) != to).then_some(to)
        };
        let mut next = vec![0; starts.len()];
        for to in self.connections.iter().filter_map(crosses) {
            next[to] += 1;
        }
        let mut begin = 0;
        next.iter_mut().for_each(|count| begin += std::mem::replace(count, begin));
        for connection in &mut self.connections {
            if let Some(to) = crosses(connection) {
                connection.cross(next[to]);
                next[to] += 1;
                crossings[to].push(Crossing::new(connection.dst));
            }
        }
        crossings
    }

    fn states(&self, graph: &Graph) -> Result<Vec<RankState>, SimError> {
        let ranks = 0..graph.rank_count() as u32;
        let states = ranks.into_par_iter().map(|rank| self.prepare(graph.rank(rank as usize), rank));
        in_order(states.collect())
    }

    /// The connection from a rank, or its crossing; `NONE` if nothing is ever sent on it.
    fn connection(&self, src: u32, key: Key) -> u32 {
        let at = self.keys[src as usize].binary_search(&key);
        at.map_or(NONE, |at| self.first[src as usize] + at as u32)
    }

    fn prepare(&self, graph: &RankGraph, rank: u32) -> Result<RankState, SimError> {
        let mut state = RankState::new(graph)?;
        // Neighbouring nodes mostly use the same connection: one memory for SENDs, one for RECVs.
        let mut last = [(NONE, None, NONE); 2];
        for (node, op) in state.nodes.iter_mut().zip(graph.ops()) {
            let (side, src, key) = match *op {
                Op::Send { dst, tag, bytes } => (0, rank, Key::new(self.conventions, dst, tag, bytes)),
                Op::Recv { src, tag, bytes } => (1, src, Key::new(self.conventions, rank, tag, bytes)),
                _ => continue,
            };
            if (last[side].0, last[side].1) != (src, Some(key)) {
                let mut connection = self.connection(src, key);
                let crossing = self.connections.get(connection as usize).and_then(Connection::crossing);
                if let (Some(number), true) = (crossing, src != rank) {
                    connection = CROSSING | number;
                }
                last[side] = (src, Some(key), connection);
            }
            node.connection = last[side].2;
        }
        Ok(state)
    }
}

/// The first error is that of the lowest rank, whichever thread was first.
fn in_order<T>(results: Vec<Result<T, SimError>>) -> Result<Vec<T>, SimError> {
    results.into_iter().collect()
}

/// Checks the nodes of a rank; the keys of the connections on which it sends, sorted, and its smallest message.
fn check(graph: &Graph, rank: u32, conventions: Conventions) -> Result<(Vec<Key>, Bytes), SimError> {
    let nodes = graph.rank(rank as usize);
    let (mut keys, mut least) = (Vec::new(), u64::MAX);
    for (node, op) in (0..).zip(nodes.ops()) {
        let id = || nodes.id(node);
        if let Some(dep) = nodes.deps(node).iter().find(|dep| **dep as usize >= nodes.len()) {
            return Err(SimError::MissingDependence { rank, node: id(), dependence: *dep });
        }
        let peer = match *op {
            Op::Send { dst, tag, bytes } => {
                let key = Key::new(conventions, dst, tag, bytes);
                if keys.last() != Some(&key) {
                    keys.push(key);
                }
                least = least.min(bytes);
                dst
            }
            Op::Recv { src, .. } => src,
            Op::Comp { .. } => continue,
            other => return Err(SimError::Unsupported { rank, node: id(), what: describe(other) }),
        };
        if peer == rank {
            return Err(SimError::SelfMessage { rank, node: id() });
        }
        if peer as usize >= graph.rank_count() {
            return Err(SimError::NoSuchPeer { rank, node: id(), peer, ranks: graph.rank_count() });
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys.shrink_to_fit();
    Ok((keys, Bytes(least)))
}

fn describe(op: Op) -> String {
    match op {
        Op::Coll { kind, .. } => format!("a COMM_COLL node (collective type {kind})"),
        Op::Mem { store: false, .. } => "a MEM_LOAD node".to_owned(),
        Op::Mem { store: true, .. } => "a MEM_STORE node".to_owned(),
        Op::Other { node_type } => format!("a node of type {node_type}"),
        _ => "a node".to_owned(),
    }
}
