//! Finds out what is wrong with the nodes of a rank, and says where.
//!
//! This is the plain way to the graph of a rank, which keeps whatever a message about a fault needs. It is
//! taken for files that [`crate::graph::assemble`] has found to be broken, and it is what that is tested
//! against.

use crate::attr::AttrError;
use crate::error::{DepKind, FileError, Place, Problem};
use crate::graph::{Op, Origin, RankGraph};
use crate::proto::Node;
use crate::rank::drop_foreign_source;
use crate::view;

/// The nodes of a rank, in the order of the file, with dependences still by id.
#[derive(Default)]
pub(crate) struct PendingRank {
    /// Size of the collective, where the metadata states it.
    collective_size: Option<u64>,
    source_files: usize,
    nodes: Vec<Pending>,
    /// The dependences of all nodes: of each first the data dependences, then the others.
    deps: Vec<u64>,
    decompressed: bool,
    /// The first node with id 0.
    id_0: Option<u64>,
}

struct Pending {
    id: u64,
    offset: u64,
    op: Op,
    origin: Origin,
    /// End of the data dependences in `deps`; they begin where those of the node before end.
    data_end: usize,
    control_end: usize,
}

impl PendingRank {
    /// An empty rank; `source_files` is how many files its nodes may refer to.
    pub(crate) fn new(collective_size: Option<u64>, source_files: usize) -> Self {
        Self { collective_size, source_files, ..Self::default() }
    }

    /// Adds the next node of the file.
    ///
    /// # Errors
    /// Also if the message has no bytes although id 0 is taken: a file may have as many of those as it has
    /// bytes, so they are not collected.
    pub(crate) fn push(&mut self, place: Place, node: &Node, empty: bool) -> Result<(), FileError> {
        let op = view::op(node, self.collective_size);
        self.push_op(place, node, op, empty)
    }

    /// The same for a node of which it was found out what it does.
    pub(crate) fn push_op(
        &mut self,
        place: Place,
        node: &Node,
        op: Result<Op, AttrError>,
        empty: bool,
    ) -> Result<(), FileError> {
        if let (true, Some(first)) = (empty, self.id_0) {
            return Err(FileError { place, problem: Problem::DuplicateId { first } });
        }
        if node.id == 0 && self.id_0.is_none() {
            self.id_0 = place.index;
        }
        let op = op.map_err(|error| FileError { place, problem: Problem::Attr(Box::new(error)) })?;
        let mut origin = view::origin(node);
        drop_foreign_source(&mut origin, self.source_files);
        self.deps.extend_from_slice(&node.data_deps);
        let data_end = self.deps.len();
        self.deps.extend_from_slice(&node.ctrl_deps);
        let control_end = self.deps.len();
        self.decompressed = place.decompressed;
        self.nodes.push(Pending { id: node.id, offset: place.offset, op, origin, data_end, control_end });
        Ok(())
    }

    /// Numbers the nodes by ascending id and resolves the dependences.
    pub(crate) fn finish(self) -> Result<RankGraph, FileError> {
        let order = self.order();
        let ids: Vec<u64> = order.iter().map(|&at| self.nodes[at].id).collect();
        if let Some(twice) = ids.windows(2).position(|pair| pair[0] == pair[1]) {
            // The sort is stable, so the first in the file comes first.
            let first = order[twice] as u64;
            return Err(self.fail(order[twice + 1], Problem::DuplicateId { first }));
        }
        if ids.is_empty() {
            return Ok(RankGraph::default());
        }
        let mut builder = RankGraph::builder();
        let mut deps = Vec::new();
        for &at in &order {
            self.resolve(at, &ids, &mut deps)?;
            let node = &self.nodes[at];
            builder
                .push(node.op, deps.iter().copied(), node.origin)
                .map_err(|error| self.fail(at, Problem::TooLarge(error)))?;
        }
        builder.set_ids(ids);
        Ok(builder.finish())
    }

    /// The positions of the nodes in the file, by ascending id.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&at| self.nodes[at].id);
        order
    }

    /// The dependences of a node as numbers, ascending and without duplicates.
    fn resolve(&self, at: usize, ids: &[u64], deps: &mut Vec<u32>) -> Result<(), FileError> {
        let node = &self.nodes[at];
        let begin = if at == 0 { 0 } else { self.nodes[at - 1].control_end };
        deps.clear();
        for (offset, &dep) in self.deps[begin..node.control_end].iter().enumerate() {
            let kind = if begin + offset < node.data_end { DepKind::Data } else { DepKind::Control };
            if dep == node.id {
                return Err(self.fail(at, Problem::SelfDep { kind, dep }));
            }
            let number =
                ids.binary_search(&dep).map_err(|_| self.fail(at, Problem::DanglingDep { kind, dep }))?;
            let number = u32::try_from(number)
                .map_err(|_| self.fail(at, Problem::TooLarge(crate::graph::TooLarge)))?;
            deps.push(number);
        }
        deps.sort_unstable();
        deps.dedup();
        Ok(())
    }

    fn fail(&self, at: usize, problem: Problem) -> FileError {
        let node = &self.nodes[at];
        let place = Place {
            offset: node.offset,
            decompressed: self.decompressed,
            index: Some(at as u64),
            id: Some(node.id),
        };
        FileError { place, problem }
    }
}
