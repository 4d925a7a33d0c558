//! The compact in-memory form of a trace: what a simulator walks.
//!
//! A [`Graph`] holds one [`RankGraph`] per rank. The nodes of a rank are numbered densely from 0 in
//! ascending order of their id in the file; their dependences (data and control alike) lie in one
//! array, so that a node costs at most 64 bytes with two dependences and its [`Origin`]; where ids are not
//! consecutive, each costs 4 more, or 8 if they are more than 2^32 apart. Cycles are not excluded: [`RankGraph::cycle`] looks for one.
//! Names and further attributes stay in the lossless [`crate::ReadNode`].
//!
//! ```
//! use chakra_et::graph::{Graph, Op, Origin, RankGraph};
//!
//! let mut sender = RankGraph::builder();
//! sender.push(Op::Send { dst: 1, tag: 0, bytes: 1024 }, [], Origin::default())?;
//! let mut receiver = RankGraph::builder();
//! let message = receiver.push(Op::Recv { src: 0, tag: 0, bytes: 1024 }, [], Origin::default())?;
//! receiver.push(Op::Comp { micros: 7, ops: 256, bytes: 1024 }, [message], Origin::default())?;
//! let graph = Graph::new(vec![sender.finish(), receiver.finish()]);
//! assert_eq!(graph.rank(1).deps(1), [message]);
//! # Ok::<(), chakra_et::graph::TooLarge>(())
//! ```

pub(crate) mod assemble;
mod cycle;
mod ids;
mod symmetric;

use thiserror::Error;

use ids::Ids;
pub use symmetric::{SymmetricGraph, Symmetry, SymmetryError};

/// What a node does, with the figures that a simulation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Sends a message to another rank.
    Send {
        /// The receiving rank: the position in the communicator.
        dst: u32,
        /// Separates independent streams of messages between two ranks: the channel.
        tag: u32,
        /// The size of the message.
        bytes: u64,
    },
    /// Receives a message from another rank.
    Recv {
        /// The sending rank: the position in the communicator.
        src: u32,
        /// Separates independent streams of messages between two ranks: the channel.
        tag: u32,
        /// The size of the message.
        bytes: u64,
    },
    /// Computes: a copy, a reduction, a kernel.
    Comp {
        /// Stated duration in whole microseconds (the unit of the format); 0 when not stated.
        micros: u64,
        /// Number of operations; 0 for a copy.
        ops: u64,
        /// Size of the tensor that the operation touches (`tensor_size`).
        bytes: u64,
    },
    /// A whole collective, to be expanded into an algorithm.
    Coll {
        /// The wire value of `CollectiveCommType` (0 is ALL_REDUCE).
        kind: u32,
        /// Size of the collective as the format counts it (`comm_size`).
        bytes: u64,
    },
    /// A load from memory (`store` false) or a store to it (`store` true).
    Mem {
        /// Whether the access writes.
        store: bool,
        /// Size of the access (`tensor_size`).
        bytes: u64,
    },
    /// Any other node: METADATA, INVALID, or a type that the format does not define.
    Other {
        /// The wire value of the node type.
        node_type: i32,
    },
}

impl Op {
    /// Whether it sends a message.
    #[inline]
    #[must_use]
    pub fn is_send(&self) -> bool {
        matches!(self, Self::Send { .. })
    }
}

/// Where a node comes from: its place in a schedule and the line that caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// Thread block and step in the schedule.
    pub step: Option<StepRef>,
    /// Source line, with the file as an index into [`Graph::source_files`].
    pub source: Option<SourceRef>,
}

/// A step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepRef {
    /// Thread block on the rank (`tb_id`).
    pub thread_block: u32,
    /// Step within the thread block (`local_time_step`).
    pub step: u32,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceRef {
    /// Index into [`Graph::source_files`].
    pub file: u16,
    /// Line, counted from 1.
    pub line: u32,
}

/// A rank has more nodes or dependences than fit 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a rank has more than {} nodes or dependences", u32::MAX)]
pub struct TooLarge;

/// One collective whose algorithm a graph holds: what `GlobalMetadata` says of it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CollectiveInfo {
    /// The algorithm's name.
    pub name: String,
    /// The collective in snake case: `all_reduce`, `all_gather`, `reduce_scatter`, ...
    pub collective: String,
    /// Whether input and output are one buffer.
    pub in_place: bool,
    /// Bytes of the collective, by the convention of nccl-tests' size column.
    pub size_bytes: u64,
    /// Element type, such as `f32`.
    pub element_type: String,
    /// Chunks that the whole size is divided into.
    pub chunks: u64,
    /// The protocol of the connections, such as `Simple`; empty where nothing is said of it.
    pub protocol: String,
}

/// The compact graph of a whole trace.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Graph {
    ranks: Vec<RankGraph>,
    /// Files that [`SourceRef::file`] names.
    pub source_files: Vec<String>,
    /// The collective that the graph implements, where the trace says so.
    pub info: Option<CollectiveInfo>,
}

impl Graph {
    /// A graph of the given ranks, in order.
    #[must_use]
    pub fn new(ranks: Vec<RankGraph>) -> Self {
        Self { ranks, source_files: Vec::new(), info: None }
    }

    /// Number of ranks.
    #[must_use]
    pub fn rank_count(&self) -> usize {
        self.ranks.len()
    }

    /// The nodes of one rank.
    ///
    /// # Panics
    /// If `rank` is not below [`Graph::rank_count`].
    #[must_use]
    pub fn rank(&self, rank: usize) -> &RankGraph {
        &self.ranks[rank]
    }

    /// All ranks in order.
    #[must_use]
    pub fn ranks(&self) -> &[RankGraph] {
        &self.ranks
    }

    /// Number of nodes of all ranks together.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.ranks.iter().map(RankGraph::len).sum()
    }

    /// The source line of a node, as file and line, where known.
    #[must_use]
    pub fn source(&self, rank: usize, node: u32) -> Option<(&str, u32)> {
        let source = self.ranks.get(rank)?.origin(node).source?;
        Some((self.source_files.get(usize::from(source.file))?, source.line))
    }
}

/// The compact graph of one rank.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RankGraph {
    ops: Vec<Op>,
    /// `dep_end[i]` is the end of node i's dependences in `deps`; they begin where node i − 1's end.
    dep_end: Vec<u32>,
    deps: Vec<u32>,
    ids: Ids,
    /// Thread block of each node, `NONE` where unknown; empty when unknown for all. The next two likewise.
    thread_blocks: Vec<u32>,
    steps: Vec<u32>,
    /// File in the upper 8 bits would not do for large builds, so file and line lie apart.
    source_files: Vec<u16>,
    source_lines: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl RankGraph {
    /// Starts an empty rank.
    #[must_use]
    pub fn builder() -> RankGraphBuilder {
        RankGraphBuilder::default()
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether the rank has no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// What the node does.
    ///
    /// # Panics
    /// If there is no such node; so do the methods below.
    #[inline]
    #[must_use]
    pub fn op(&self, node: u32) -> Op {
        self.ops[node as usize]
    }

    /// What each node does, in the order of the nodes.
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The nodes that must finish before this one starts. They may have larger numbers.
    #[inline]
    #[must_use]
    pub fn deps(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let begin = if node == 0 { 0 } else { self.dep_end[node - 1] as usize };
        &self.deps[begin..self.dep_end[node] as usize]
    }

    /// The node's id in the file.
    #[must_use]
    pub fn id(&self, node: u32) -> u64 {
        self.ids.get(node as usize, self.len())
    }

    /// The number of the node that has this id in the file, if there is one.
    ///
    /// ```
    /// use chakra_et::graph::{Op, Origin, RankGraph};
    ///
    /// let mut builder = RankGraph::builder();
    /// builder.push(Op::Other { node_type: 1 }, [], Origin::default())?;
    /// builder.push(Op::Other { node_type: 1 }, [], Origin::default())?;
    /// builder.set_ids(vec![7, 40]);
    /// let rank = builder.finish();
    /// assert_eq!([rank.find(40), rank.find(8)], [Some(1), None]);
    /// # Ok::<(), chakra_et::graph::TooLarge>(())
    /// ```
    #[must_use]
    pub fn find(&self, id: u64) -> Option<u32> {
        u32::try_from(self.ids.position(id, self.len())?).ok()
    }

    /// Bytes that the graph occupies besides the struct itself.
    #[must_use]
    pub fn heap_size(&self) -> usize {
        fn bytes<T>(items: &Vec<T>) -> usize {
            items.capacity() * size_of::<T>()
        }
        bytes(&self.ops)
            + bytes(&self.dep_end)
            + bytes(&self.deps)
            + self.ids.heap_size()
            + bytes(&self.thread_blocks)
            + bytes(&self.steps)
            + bytes(&self.source_files)
            + bytes(&self.source_lines)
    }

    /// Where the node comes from.
    #[must_use]
    pub fn origin(&self, node: u32) -> Origin {
        let at = node as usize;
        let step = match self.thread_blocks.get(at) {
            Some(&thread_block) if thread_block != NONE => {
                Some(StepRef { thread_block, step: self.steps[at] })
            }
            _ => None,
        };
        let source = match self.source_lines.get(at) {
            Some(&line) if line != NONE => Some(SourceRef { file: self.source_files[at], line }),
            _ => None,
        };
        Origin { step, source }
    }

    /// Replaces what each node does.
    pub(crate) fn map_ops(&mut self, mut op: impl FnMut(usize, Op) -> Op) {
        for (node, own) in self.ops.iter_mut().enumerate() {
            *own = op(node, *own);
        }
    }

    /// Replaces each source file by the one that `numbers` gives for it. Every file must be in range.
    pub(crate) fn renumber_source_files(&mut self, numbers: &[u16]) {
        for (file, line) in self.source_files.iter_mut().zip(&self.source_lines) {
            if *line != NONE {
                *file = numbers[usize::from(*file)];
            }
        }
    }
}

/// Builds a [`RankGraph`] node by node.
#[derive(Clone, Debug, Default)]
pub struct RankGraphBuilder {
    graph: RankGraph,
}

impl RankGraphBuilder {
    /// Adds a node and returns its number, which is also its id unless [`RankGraphBuilder::set_ids`] says otherwise.
    ///
    /// `deps` may name nodes that are added later.
    ///
    /// # Errors
    /// [`TooLarge`] if the rank outgrows 32 bits.
    pub fn push(
        &mut self,
        op: Op,
        deps: impl IntoIterator<Item = u32>,
        origin: Origin,
    ) -> Result<u32, TooLarge> {
        let graph = &mut self.graph;
        let node = u32::try_from(graph.ops.len()).map_err(|_| TooLarge)?;
        graph.deps.extend(deps);
        graph.dep_end.push(u32::try_from(graph.deps.len()).map_err(|_| TooLarge)?);
        graph.ops.push(op);
        if let Some(at) = origin.step {
            graph.thread_blocks.resize(node as usize, NONE);
            graph.steps.resize(node as usize, NONE);
            graph.thread_blocks.push(at.thread_block);
            graph.steps.push(at.step);
        }
        if let Some(source) = origin.source {
            graph.source_lines.resize(node as usize, NONE);
            graph.source_files.resize(node as usize, 0);
            graph.source_lines.push(source.line);
            graph.source_files.push(source.file);
        }
        Ok(node)
    }

    /// Gives the nodes the ids that they have in a file, ascending, in the order in which they were added.
    ///
    /// # Panics
    /// If there are not as many ids as nodes, or they do not ascend.
    pub fn set_ids(&mut self, ids: Vec<u64>) {
        assert_eq!(ids.len(), self.graph.ops.len(), "one id for each node");
        assert!(ids.is_sorted_by(|a, b| a < b), "ids must ascend, as nodes are numbered by them");
        self.graph.ids = Ids::from_sorted(ids);
    }

    /// The finished rank.
    #[must_use]
    pub fn finish(self) -> RankGraph {
        let mut graph = self.graph;
        // A graph is kept for long and never grows: what the vectors hold in reserve would be lost.
        graph.ops.shrink_to_fit();
        graph.dep_end.shrink_to_fit();
        graph.deps.shrink_to_fit();
        graph.thread_blocks.shrink_to_fit();
        graph.steps.shrink_to_fit();
        graph.source_files.shrink_to_fit();
        graph.source_lines.shrink_to_fit();
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: Op = Op::Comp { micros: 0, ops: 0, bytes: 8 };

    #[test]
    fn a_node_takes_at_most_64_bytes_with_two_dependences_and_its_origin() {
        // Ids with gaps, to be sure.
        let nodes = 1000;
        let mut builder = RankGraph::builder();
        for node in 0..nodes {
            let origin = Origin {
                step: Some(StepRef { thread_block: node, step: node }),
                source: Some(SourceRef { file: 1, line: node }),
            };
            builder.push(COPY, [node, (node + 1) % nodes], origin).unwrap();
        }
        builder.set_ids((0..u64::from(nodes)).map(|node| node * 4_000_000).collect());
        assert!(builder.finish().heap_size() <= 64 * nodes as usize);
    }

    #[test]
    fn each_node_has_its_own_dependences() -> Result<(), TooLarge> {
        let mut builder = RankGraph::builder();
        builder.push(COPY, [2, 1], Origin::default())?;
        builder.push(COPY, [], Origin::default())?;
        builder.push(COPY, [1], Origin::default())?;
        let rank = builder.finish();
        assert_eq!([rank.deps(0), rank.deps(1), rank.deps(2)], [&[2, 1][..], &[], &[1]]);
        Ok(())
    }

    #[test]
    fn origins_stay_with_their_nodes_when_others_have_none() -> Result<(), TooLarge> {
        let step = Some(StepRef { thread_block: 1, step: 2 });
        let source = Some(SourceRef { file: 3, line: 4 });
        let origins = [
            Origin::default(),
            Origin { step, source: None },
            Origin::default(),
            Origin { step: None, source },
            Origin { step, source },
            Origin::default(),
        ];
        let mut builder = RankGraph::builder();
        for origin in origins {
            builder.push(COPY, [], origin)?;
        }
        let rank = builder.finish();
        assert_eq!([0, 1, 2, 3, 4, 5].map(|node| rank.origin(node)), origins);
        Ok(())
    }

    #[test]
    fn consecutive_ids_take_no_memory() -> Result<(), TooLarge> {
        let rank = |ids: [u64; 2]| {
            let mut builder = RankGraph::builder();
            builder.push(COPY, [], Origin::default())?;
            builder.push(COPY, [], Origin::default())?;
            builder.set_ids(ids.to_vec());
            Ok(builder.finish())
        };
        let (dense, last, sparse) = (rank([5, 6])?, rank([u64::MAX - 1, u64::MAX])?, rank([5, 9])?);
        assert_eq!(dense.ids, Ids::From(5));
        assert_eq!([dense.id(1), last.id(1), sparse.id(1)], [6, u64::MAX, 9]);
        assert_eq!([dense.find(6), last.find(u64::MAX), sparse.find(9)], [Some(1); 3]);
        assert_eq!([dense.find(4), dense.find(7), last.find(0), sparse.find(6)], [None; 4]);
        Ok(())
    }
}
