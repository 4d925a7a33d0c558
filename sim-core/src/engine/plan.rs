//! Checks a graph and prepares it for the run: node states, connections, pairs of ranks.
//!
//! Ranks are prepared in parallel; connections are numbered by source rank and key, so the numbers do
//! not depend on the threads.

use chakra_et::graph::{Graph, Op, RankGraph};
use rayon::prelude::*;

use super::connection::{Connection, Key};
use super::node::{NONE, RankState};
use super::{Overflow, SimError};
use crate::model::Conventions;
use crate::model::network::Pair;

pub(super) struct Plan {
    pub(super) ranks: Vec<RankState>,
    pub(super) connections: Vec<Connection>,
    pub(super) pairs: Vec<Pair>,
}

impl Plan {
    pub(super) fn new(graph: &Graph, conventions: Conventions) -> Result<Self, SimError> {
        let ranks = 0..graph.rank_count() as u32;
        let keys = ranks.clone().into_par_iter().map(|rank| check(graph, rank, conventions));
        let keys: Vec<Vec<Key>> = in_order(keys.collect())?;

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
            if connections.len() >= NONE as usize {
                return Err(Overflow::CONNECTIONS.into());
            }
        }
        let lookup = Lookup { keys, first, conventions };
        let states = ranks.into_par_iter().map(|rank| prepare(graph.rank(rank as usize), rank, &lookup));
        Ok(Self { ranks: in_order(states.collect())?, connections, pairs })
    }
}

/// The first error is that of the lowest rank, whichever thread was first.
fn in_order<T>(results: Vec<Result<T, SimError>>) -> Result<Vec<T>, SimError> {
    results.into_iter().collect()
}

/// Checks the nodes of a rank; the keys of the connections on which it sends, sorted.
fn check(graph: &Graph, rank: u32, conventions: Conventions) -> Result<Vec<Key>, SimError> {
    let nodes = graph.rank(rank as usize);
    let mut keys = Vec::new();
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
    Ok(keys)
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

/// From keys to connections.
struct Lookup {
    /// By source rank, sorted.
    keys: Vec<Vec<Key>>,
    /// By source rank, the number of its first connection.
    first: Vec<u32>,
    conventions: Conventions,
}

impl Lookup {
    /// The connection from a rank; `NONE` if nothing is ever sent on it.
    fn connection(&self, src: u32, key: Key) -> u32 {
        let at = self.keys[src as usize].binary_search(&key);
        at.map_or(NONE, |at| self.first[src as usize] + at as u32)
    }
}

fn prepare(graph: &RankGraph, rank: u32, lookup: &Lookup) -> Result<RankState, SimError> {
    let mut state = RankState::new(graph)?;
    // Neighbouring nodes mostly use the same connection: one memory for SENDs, one for RECVs.
    let mut last = [(NONE, None, NONE); 2];
    for (node, op) in state.nodes.iter_mut().zip(graph.ops()) {
        let (side, src, key) = match *op {
            Op::Send { dst, tag, bytes } => (0, rank, Key::new(lookup.conventions, dst, tag, bytes)),
            Op::Recv { src, tag, bytes } => (1, src, Key::new(lookup.conventions, rank, tag, bytes)),
            _ => continue,
        };
        if (last[side].0, last[side].1) != (src, Some(key)) {
            last[side] = (src, Some(key), lookup.connection(src, key));
        }
        node.connection = last[side].2;
    }
    Ok(state)
}
