//! Makes the graph of a rank from nodes whose dependences are ids, in whatever order a file has them.
//!
//! The arrays of the graph are filled directly, so that little more memory is needed than the graph takes.
//! As long as the ids of a file are consecutive, a dependence is a number at once. From the first id on that
//! is not, ids are kept, and each dependence as two words of the same array; at the end these are replaced
//! by the number, in place.

use super::ids::Ids;
use super::{Op, Origin, RankGraph, RankGraphBuilder, TooLarge};

/// The nodes of a rank so far.
#[derive(Default)]
pub(crate) struct Assembler {
    builder: RankGraphBuilder,
    /// The id of the first node.
    first: u64,
    /// The ids of all nodes, once they are not consecutive: two words each, as they are made smaller in place.
    ids: Option<Vec<u32>>,
    /// Whether a node depends on itself.
    self_dep: bool,
}

/// The nodes do not make a graph: an id occurs twice, or a dependence is on the node itself or on none. Which,
/// is for those to say who still have the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

impl Assembler {
    pub(crate) fn len(&self) -> usize {
        self.builder.graph.len()
    }

    /// Adds the next node of the file; its dependences must ascend, without duplicates.
    pub(crate) fn push(&mut self, id: u64, op: Op, deps: &[u64], origin: Origin) -> Result<(), TooLarge> {
        self.self_dep |= deps.binary_search(&id).is_ok();
        let count = self.len() as u64;
        if count == 0 {
            self.first = id;
        }
        let first = self.first;
        let is_next = first.checked_add(count) == Some(id);
        // All are in range if the smallest and the largest are.
        let near = deps.first().is_none_or(|&dep| dep >= first)
            && deps.last().is_none_or(|&dep| dep.wrapping_sub(first) <= u64::from(u32::MAX));
        if self.ids.is_none() {
            if is_next && near {
                return self.builder.push(op, deps.iter().map(|dep| (dep - first) as u32), origin).map(drop);
            }
            self.keep_ids()?;
        }
        if let Some(ids) = &mut self.ids {
            ids.extend(words(id));
        }
        self.builder.push(op, deps.iter().flat_map(|&dep| words(dep)), origin).map(drop)
    }

    /// Goes over from numbers to ids.
    fn keep_ids(&mut self) -> Result<(), TooLarge> {
        let graph = &mut self.builder.graph;
        self.ids = Some((0..graph.ops.len() as u64).flat_map(|number| words(self.first + number)).collect());
        if u32::try_from(graph.deps.len() * 2).is_err() {
            return Err(TooLarge);
        }
        graph.deps = graph.deps.iter().flat_map(|&dep| words(self.first.wrapping_add(dep.into()))).collect();
        graph.dep_end.iter_mut().for_each(|end| *end *= 2);
        Ok(())
    }

    /// Numbers the nodes by ascending id and resolves the dependences.
    pub(crate) fn finish(self) -> Result<RankGraph, Broken> {
        self.finish_with(|_| ())
    }

    /// The same; where the nodes are not in the order of their ids, says for each number which node of the file it is.
    pub(crate) fn finish_with(self, permuted: impl FnOnce(&[u32])) -> Result<RankGraph, Broken> {
        if self.self_dep {
            return Err(Broken);
        }
        let mut graph = self.builder.finish();
        let Some(ids) = self.ids else {
            graph.ids = Ids::From(if graph.is_empty() { 0 } else { self.first });
            let nodes = graph.len();
            return if graph.deps.iter().all(|&dep| (dep as usize) < nodes) {
                Ok(graph)
            } else {
                Err(Broken)
            };
        };
        let mut ids = Ids::from_words(ids);
        let order = ids.order();
        if let Some(order) = &order {
            ids.permute(order);
            graph.permute_nodes(order);
            permuted(order);
        }
        if ids.repeat() {
            return Err(Broken);
        }
        graph.resolve(&ids).ok_or(Broken)?;
        if let Some(order) = order {
            graph.permute_deps(order);
        }
        graph.ids = ids.settled();
        Ok(graph)
    }
}

/// An id as two words.
fn words(id: u64) -> [u32; 2] {
    [(id >> 32) as u32, id as u32]
}

/// Brings the item at `order[i]` to i, without a copy of all.
pub(crate) fn permute<T: Copy>(items: &mut [T], order: &[u32]) {
    let mut done = vec![0_u64; items.len().div_ceil(64)];
    for start in 0..items.len() {
        if done[start / 64] >> (start % 64) & 1 == 1 {
            continue;
        }
        let first = items[start];
        let mut at = start;
        loop {
            done[at / 64] |= 1 << (at % 64);
            let from = order[at] as usize;
            if from == start {
                items[at] = first;
                break;
            }
            items[at] = items[from];
            at = from;
        }
    }
}

impl RankGraph {
    /// Reorders all that nodes have, but for their dependences.
    fn permute_nodes(&mut self, order: &[u32]) {
        // Where only the first nodes have an origin, the arrays are short.
        let nodes = self.len();
        self.thread_blocks.resize(if self.thread_blocks.is_empty() { 0 } else { nodes }, super::NONE);
        self.steps.resize(if self.steps.is_empty() { 0 } else { nodes }, super::NONE);
        self.source_lines.resize(if self.source_lines.is_empty() { 0 } else { nodes }, super::NONE);
        self.source_files.resize(if self.source_files.is_empty() { 0 } else { nodes }, 0);
        permute(&mut self.ops, order);
        for array in [&mut self.thread_blocks, &mut self.steps, &mut self.source_lines] {
            permute(array, order);
        }
        permute(&mut self.source_files, order);
        self.trim_origins();
    }

    /// Ends the arrays of origins with the last node that has one, as the builder leaves them.
    fn trim_origins(&mut self) {
        let used =
            |array: &[u32]| array.iter().rposition(|&value| value != super::NONE).map_or(0, |last| last + 1);
        let steps = used(&self.thread_blocks);
        self.thread_blocks.truncate(steps);
        self.steps.truncate(steps);
        let lines = used(&self.source_lines);
        self.source_lines.truncate(lines);
        self.source_files.truncate(lines);
    }

    /// Replaces the ids of dependences, two words each, by numbers; `None` if one does not exist.
    fn resolve(&mut self, ids: &Ids) -> Option<()> {
        for to in 0..self.deps.len() / 2 {
            let id = u64::from(self.deps[2 * to]) << 32 | u64::from(self.deps[2 * to + 1]);
            self.deps[to] = ids.position(id, self.ops.len())? as u32;
        }
        self.deps.truncate(self.deps.len() / 2);
        self.deps.shrink_to_fit();
        self.dep_end.iter_mut().for_each(|end| *end /= 2);
        Some(())
    }

    /// Reorders the lists of dependences. `order` becomes the array of their ends: another would be the most
    /// that loading takes.
    fn permute_deps(&mut self, mut order: Vec<u32>) {
        let mut deps = Vec::with_capacity(self.deps.len());
        for slot in &mut order {
            deps.extend_from_slice(self.deps(*slot));
            *slot = deps.len() as u32;
        }
        self.deps = deps;
        self.dep_end = order;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{SourceRef, StepRef};

    fn op(id: u64) -> Op {
        Op::Mem { store: false, bytes: id }
    }

    fn assemble(nodes: &[(u64, &[u64])]) -> Result<RankGraph, Broken> {
        let mut assembler = Assembler::default();
        for &(id, deps) in nodes {
            assembler.push(id, op(id), deps, Origin::default()).unwrap();
        }
        assembler.finish()
    }

    #[test]
    fn consecutive_ids_need_no_list() {
        let rank = assemble(&[(5, &[6]), (6, &[]), (7, &[5, 6])]).unwrap();
        assert_eq!(rank.ids, Ids::From(5));
        assert_eq!([rank.deps(0), rank.deps(1), rank.deps(2)], [&[1][..], &[], &[0, 1]]);
    }

    #[test]
    fn order_and_gaps_do_not_matter() {
        let expected = assemble(&[(3, &[]), (4, &[3, 900]), (900, &[3])]).unwrap();
        assert_eq!([expected.id(0), expected.id(1), expected.id(2)], [3, 4, 900]);
        assert_eq!(expected.deps(1), [0, 2]);
        for nodes in [
            [(900, &[3][..]), (4, &[3, 900][..]), (3, &[][..])],
            [(3, &[]), (900, &[3]), (4, &[3, 900])],
            [(4, &[3, 900]), (3, &[]), (900, &[3])],
        ] {
            assert_eq!(assemble(&nodes), Ok(expected.clone()));
        }
        assert_eq!(expected.ops(), [op(3), op(4), op(900)]);
    }

    #[test]
    fn origins_follow_their_nodes() {
        let origin = Origin {
            step: Some(StepRef { thread_block: 1, step: 2 }),
            source: Some(SourceRef { file: 3, line: 4 }),
        };
        let make = |ids: [u64; 3]| {
            let mut assembler = Assembler::default();
            for id in ids {
                let origin = if id == 2 { origin } else { Origin::default() };
                assembler.push(id, op(id), &[], origin).unwrap();
            }
            assembler.finish().unwrap()
        };
        let expected = make([1, 2, 3]);
        for ids in [[2, 1, 3], [3, 2, 1], [3, 1, 2]] {
            let rank = make(ids);
            assert_eq!(
                [0, 1, 2].map(|node| rank.origin(node)),
                [Origin::default(), origin, Origin::default()]
            );
            assert_eq!(rank, expected, "{ids:?}");
        }
    }

    #[test]
    fn what_makes_no_graph_is_refused() {
        assert_eq!(assemble(&[(1, &[1])]), Err(Broken));
        assert_eq!(assemble(&[(1, &[2])]), Err(Broken));
        assert_eq!(assemble(&[(1, &[0])]), Err(Broken));
        assert_eq!(assemble(&[(1, &[]), (1, &[])]), Err(Broken));
        assert_eq!(assemble(&[(1, &[]), (9, &[]), (1, &[])]), Err(Broken));
        assert_eq!(assemble(&[(1, &[]), (9, &[u64::MAX])]), Err(Broken));
    }
}
