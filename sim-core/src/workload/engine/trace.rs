//! The nodes of a rank of the workload, ready for the run: each with the lane that serves it.

use chakra_et::graph::Op;
use chakra_et::workload::RankWorkload;
use rustc_hash::FxHashMap;

use super::lanes::LaneKind;
use super::program::{NONE, Program};
use super::split::{Split, Tile};
use crate::compat::Compat;
use crate::error::Overflow;

/// The nodes of a rank.
pub(super) struct Trace {
    pub(super) program: Program,
    /// By node, the index of its lane, or NONE.
    pub(super) lanes: Vec<u32>,
    pub(super) kinds: Vec<LaneKind>,
    /// By node, the number of the node of the workload that it is, or is a part of; empty if nothing was split.
    numbers: Vec<u32>,
    /// The nodes that are parts of one of the workload.
    pub(super) tiles: FxHashMap<u32, Tile>,
    /// By collective, who waits for which chunk of it: chunk and node, ascending.
    pub(super) waiters: FxHashMap<u32, Vec<(u32, u32)>>,
    /// By collective, who makes which chunk of its input: chunk and node.
    pub(super) feeders: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl Trace {
    /// The trace of a rank, of whose nodes those in `splits` are divided.
    pub(super) fn new(
        nodes: &RankWorkload,
        splits: &FxHashMap<u32, Split>,
        compat: Option<Compat>,
    ) -> Result<Self, Overflow> {
        let graph = nodes.graph();
        let mut numbers = Vec::new();
        let (mut tiles, mut waiters, mut feeders) = Default::default();
        let program = if splits.is_empty() {
            Program::new(graph.ops().to_vec(), |node| graph.deps(node))?
        } else {
            let divided = super::split::divide(graph, splits)?;
            numbers = divided.numbers;
            tiles = divided.tiles;
            waiters = divided.waiters;
            feeders = divided.feeders;
            Program::new(divided.ops, |node| {
                let begin = if node == 0 { 0 } else { divided.ends[node as usize - 1] };
                &divided.deps[begin as usize..divided.ends[node as usize] as usize]
            })?
        };
        let mut trace =
            Self { program, lanes: Vec::new(), kinds: Vec::new(), numbers, tiles, waiters, feeders };
        // A tile waits for its chunk as for a node.
        for tile in trace.waiters.values().flatten().map(|(_, tile)| *tile as usize) {
            trace.program.deps[tile] += 1;
        }
        trace.program.roots.retain(|node| trace.program.deps[*node as usize] == 0);
        trace.assign_lanes(nodes, compat);
        Ok(trace)
    }

    fn assign_lanes(&mut self, nodes: &RankWorkload, compat: Option<Compat>) {
        let kind = |node: u32, op: &Op| LaneKind::of(*op, nodes.traits(self.number(node)), compat);
        let of_nodes: Vec<Option<LaneKind>> =
            (0..).zip(&self.program.ops).map(|(node, op)| kind(node, op)).collect();
        let mut kinds: Vec<LaneKind> = of_nodes.iter().copied().flatten().collect();
        kinds.sort_unstable();
        kinds.dedup();
        let index = |kind: LaneKind| kinds.binary_search(&kind).map_or(NONE, |at| at as u32);
        self.lanes = of_nodes.into_iter().map(|kind| kind.map_or(NONE, index)).collect();
        self.kinds = kinds;
    }

    /// The number in the workload of a node, or of that which it is a part of.
    #[inline]
    pub(super) fn number(&self, node: u32) -> u32 {
        self.numbers.get(node as usize).copied().unwrap_or(node)
    }

    /// The first node that is, or is a part of, one of the workload.
    pub(super) fn node(&self, number: u32) -> u32 {
        if self.numbers.is_empty() {
            return number;
        }
        self.numbers.partition_point(|of| *of < number) as u32
    }
}
