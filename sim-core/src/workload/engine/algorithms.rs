//! Algorithms, each checked and prepared once for all its uses.

use std::sync::Arc;

use chakra_et::graph::{Graph, Op};
use rustc_hash::FxHashMap;

use super::program::Program;
use super::urgency;
use crate::error::Overflow;
use crate::model::Conventions;
use crate::workload::Algorithm;

/// ASTRA-sim keeps the upper tags for itself.
const ASTRA_SIM_TAGS: u32 = 500_000_000;

/// An algorithm as the engine runs it.
pub(super) struct Prepared {
    pub(super) algorithm: Arc<Algorithm>,
    /// By rank of the algorithm.
    pub(super) programs: Vec<Program>,
    /// Sending and receiving rank of each connection.
    pub(super) connections: Vec<(u32, u32)>,
    /// By rank, which node makes which chunk of the output: node and chunk, ascending. Only where somebody waits for chunks.
    makes: Vec<Vec<(u32, u32)>>,
    /// By rank and node, how many messages follow from it on. Only where a computation makes chunks.
    urgencies: Vec<Vec<u32>>,
}

/// Why an algorithm cannot be executed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    #[error("the algorithm {name:?} is for {has} ranks, but the group has {wants}")]
    Ranks { name: String, has: usize, wants: usize },
    #[error("the algorithm {name:?} cannot be executed: rank {rank}, node {node} {what}")]
    Node { name: String, rank: usize, node: u64, what: String },
    #[error(transparent)]
    Overflow(#[from] Overflow),
}

/// What tells the connections apart that leave a rank of a graph.
pub(super) fn key(conventions: Conventions, tag: u32, bytes: u64) -> (u32, u64) {
    match conventions {
        Conventions::Exact => (tag, 0),
        Conventions::AstraSim => (tag % ASTRA_SIM_TAGS, bytes),
    }
}

impl Prepared {
    pub(super) fn new(
        algorithm: Arc<Algorithm>,
        ranks: usize,
        conventions: Conventions,
    ) -> Result<Self, Unfit> {
        let graph = algorithm.graph();
        if graph.rank_count() != ranks {
            let name = algorithm.name().to_owned();
            return Err(Unfit::Ranks { name, has: graph.rank_count(), wants: ranks });
        }
        let (mut numbers, mut connections) = (FxHashMap::default(), Vec::new());
        let mut programs = Vec::with_capacity(ranks);
        for rank in 0..ranks {
            let nodes = graph.rank(rank);
            let mut program = Program::new(checked(&algorithm, graph, rank)?, |node| nodes.deps(node))?;
            for (node, op) in program.ops.iter().enumerate() {
                let (src, dst, tag, bytes) = match *op {
                    Op::Send { dst, tag, bytes } => (rank as u32, dst, tag, bytes),
                    Op::Recv { src, tag, bytes } => (src, rank as u32, tag, bytes),
                    _ => continue,
                };
                let number = *numbers.entry((src, dst, key(conventions, tag, bytes))).or_insert_with(|| {
                    connections.push((src, dst));
                    connections.len() - 1
                });
                program.attached[node] = u32::try_from(number).map_err(|_| Overflow::CONNECTIONS)?;
            }
            programs.push(program);
        }
        Ok(Self { algorithm, programs, connections, makes: Vec::new(), urgencies: Vec::new() })
    }

    /// Prepares for those that wait for chunks.
    pub(super) fn index_outputs(&mut self) {
        if !self.makes.is_empty() {
            return;
        }
        let of_rank = |chunks: &Vec<Vec<u32>>| {
            let pairs =
                (0..).zip(chunks).flat_map(|(chunk, nodes)| nodes.iter().map(move |node| (*node, chunk)));
            let mut pairs: Vec<(u32, u32)> = pairs.collect();
            pairs.sort_unstable();
            pairs
        };
        self.makes = self.algorithm.outputs().iter().map(of_rank).collect();
    }

    /// Prepares for computations that make chunks in the order in which they are needed.
    pub(super) fn index_inputs(&mut self) {
        if self.urgencies.is_empty() {
            self.urgencies = urgency::of(self.algorithm.graph());
        }
    }

    /// By node of a rank, how many messages follow from it on; empty if nobody asked for it.
    pub(super) fn urgencies(&self, rank: usize) -> &[u32] {
        self.urgencies.get(rank).map_or(&[], Vec::as_slice)
    }

    /// The chunks of the output that a node of a rank makes.
    pub(super) fn makes(&self, rank: u32, node: u32) -> impl Iterator<Item = u32> + '_ {
        let all = self.makes.get(rank as usize).map_or(&[][..], Vec::as_slice);
        let from = all.partition_point(|pair| pair.0 < node);
        all[from..].iter().take_while(move |pair| pair.0 == node).map(|pair| pair.1)
    }
}

/// The operations of a rank, if all can be executed.
fn checked(algorithm: &Algorithm, graph: &Graph, rank: usize) -> Result<Vec<Op>, Unfit> {
    let nodes = graph.rank(rank);
    for (node, op) in (0..).zip(nodes.ops()) {
        let unfit = |what: String| Unfit::Node {
            name: algorithm.name().to_owned(),
            rank,
            node: nodes.id(node),
            what,
        };
        if let Some(dep) = nodes.deps(node).iter().find(|dep| **dep as usize >= nodes.len()) {
            return Err(unfit(format!("depends on the {dep}-th node of its rank, which does not exist")));
        }
        let peer = match *op {
            Op::Send { dst, .. } => dst,
            Op::Recv { src, .. } => src,
            Op::Comp { .. } => continue,
            _ => return Err(unfit("is none of COMM_SEND, COMM_RECV and COMP".to_owned())),
        };
        if peer as usize == rank {
            return Err(unfit("exchanges a message with its own rank".to_owned()));
        }
        if peer as usize >= graph.rank_count() {
            let ranks = graph.rank_count();
            return Err(unfit(format!("names the peer {peer}: expected a rank below {ranks}")));
        }
    }
    check_chunks(algorithm, rank).map_err(|(node, what)| Unfit::Node {
        name: algorithm.name().to_owned(),
        rank,
        node: node.into(),
        what,
    })?;
    if let Some(cycle) = nodes.cycle() {
        let what = "waits for itself".to_owned();
        let name = algorithm.name().to_owned();
        return Err(Unfit::Node { name, rank, node: nodes.id(cycle[0]), what });
    }
    Ok(nodes.ops().to_vec())
}

/// Whether the nodes that chunks name are there.
fn check_chunks(algorithm: &Algorithm, rank: usize) -> Result<(), (u32, String)> {
    let nodes = algorithm.graph().rank(rank).len();
    for chunks in [algorithm.inputs(), algorithm.outputs()] {
        let named = chunks.get(rank).into_iter().flatten().flatten();
        if let Some(node) = named.copied().find(|node| *node as usize >= nodes) {
            return Err((node, "is said to read or make a chunk, but does not exist".to_owned()));
        }
    }
    Ok(())
}
