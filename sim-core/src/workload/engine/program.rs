//! The nodes of one rank, of a trace or of an algorithm, as the engine runs them.

use chakra_et::graph::Op;

use crate::error::Overflow;
use crate::events::MOST_NODES;

/// No node, no connection, no part.
pub(super) const NONE: u32 = u32::MAX;

/// Nodes with who waits for whom.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// By node: of a SEND or RECV its connection, of a collective its number.
    pub(super) attached: Vec<u32>,
    /// By node, the number of nodes that it waits for.
    pub(super) deps: Vec<u32>,
    /// By node, where its part of `successors` ends; it begins where that of the node before ends.
    ends: Vec<u32>,
    successors: Vec<u32>,
    /// The nodes that wait for nothing.
    pub(super) roots: Vec<u32>,
}

impl Program {
    /// From operations, and the nodes that each waits for.
    pub(super) fn new<'a>(ops: Vec<Op>, deps_of: impl Fn(u32) -> &'a [u32]) -> Result<Self, Overflow> {
        let count = u32::try_from(ops.len()).ok().filter(|count| *count < MOST_NODES as u32);
        let count = count.ok_or(Overflow::DEPENDENCES)?;
        let mut deps = Vec::with_capacity(ops.len());
        let mut ends = vec![0_u32; ops.len()];
        let mut total = 0_usize;
        for node in 0..count {
            let of_node = deps_of(node);
            deps.push(of_node.len() as u32);
            total += of_node.len();
            of_node.iter().for_each(|dep| ends[*dep as usize] += 1);
        }
        u32::try_from(total).map_err(|_| Overflow::DEPENDENCES)?;
        // Counting sort by dependence; afterwards each list ascends and ends where it says.
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut successors = vec![0; total];
        for node in 0..count {
            for dep in deps_of(node) {
                let end = &mut ends[*dep as usize];
                successors[*end as usize] = node;
                *end += 1;
            }
        }
        let roots = (0..count).filter(|node| deps[*node as usize] == 0).collect();
        Ok(Self { attached: vec![NONE; ops.len()], ops, deps, ends, successors, roots })
    }

    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// The nodes that wait for a node, in ascending order.
    #[inline]
    pub(super) fn successors(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let begin = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.successors[begin as usize..self.ends[node] as usize]
    }
}
