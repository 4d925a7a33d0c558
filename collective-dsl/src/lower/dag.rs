//! The instruction DAG as a value: what each operation has to wait for, and why.
//!
//! An operation between ranks is one node, sending and receiving end together. Its dependences are the data hazards of the chunks
//! that it touches, each kept only where no other implies it: a read waits for the last write (read after
//! write), a write for the reads since that write (write after read), or, where there are none, for the write itself
//! (write after write); a computation also waits for the one before of its rank. The longest chain that leads to a node is its level, by which the order pass goes.

use std::borrow::Cow;
use std::fmt;

use smallvec::SmallVec;

use super::layout::RankLayout;
use super::replicate;
use crate::compute::ChunkRun;
use crate::diagnostic::Diagnostics;
use crate::ids::RankId;
use crate::trace::{OpKind, Slice, Trace};

/// Why an operation waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Hazard {
    /// It reads what the other writes.
    ReadAfterWrite,
    /// It overwrites what the other reads.
    WriteAfterRead,
    /// It overwrites what the other writes.
    WriteAfterWrite,
    /// Both are computations of one rank, which run one at a time.
    Stream,
}

impl Hazard {
    /// The usual abbreviation: `RAW`, `WAR`, `WAW`; `SEQ` for computations in a row.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Hazard::ReadAfterWrite => "RAW",
            Hazard::WriteAfterRead => "WAR",
            Hazard::WriteAfterWrite => "WAW",
            Hazard::Stream => "SEQ",
        }
    }
}

/// One edge: an operation that has to be complete before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Dependence {
    /// The other operation.
    pub on: u32,
    /// Why.
    pub hazard: Hazard,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DagNode {
    /// The length of the longest chain of hazards that leads to it; 1 for one that waits for nothing.
    pub level: u32,
    /// What it waits for, ascending.
    pub depends: SmallVec<[Dependence; 2]>,
}

/// The operations of a program and what each waits for.
///
/// ```
/// use collective_dsl::{Buffer::Input, Collective, Dag, Hazard, Program};
///
/// let p = Program::new(Collective::all_reduce(2)?.with_chunks(1)?.in_place()?);
/// let sum = p.chunk(0, Input, 0).reduce(p.chunk(1, Input, 0));
/// sum.copy_to(1, Input, 0);
/// let trace = p.finish("pair")?;
/// let dag = Dag::of(&trace)?;
/// let hazards: Vec<Hazard> = dag.nodes()[1].depends.iter().map(|dependence| dependence.hazard).collect();
/// // The copy reads the sum, and overwrites what the sum was made of.
/// assert_eq!(hazards, [Hazard::ReadAfterWrite, Hazard::WriteAfterRead]);
/// assert!(dag.to_string().contains("op1 copy r1 i[0] = r0 i[0]  level 2  RAW op0, WAR op0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dag<'t> {
    trace: Cow<'t, Trace>,
    nodes: Vec<DagNode>,
}

/// A chunk: its last writer, and who has read it since.
#[derive(Clone, Default)]
struct Cell {
    writer: Option<u32>,
    readers: SmallVec<[u32; 2]>,
}

impl<'t> Dag<'t> {
    /// The DAG of a program, with the instances that its options ask for. The cost is linear in the chunks that
    /// operations touch.
    ///
    /// # Errors
    /// Options that make no sense.
    pub fn of(trace: &'t Trace) -> Result<Self, Diagnostics> {
        let trace = match replicate::replicate(trace)? {
            Some(replicated) => Cow::Owned(replicated),
            None => Cow::Borrowed(trace),
        };
        let nodes = nodes(&trace);
        Ok(Self { trace, nodes })
    }

    /// The program, its instances made.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// A node for each operation of the program, in its order.
    #[must_use]
    pub fn nodes(&self) -> &[DagNode] {
        &self.nodes
    }
}

fn nodes(trace: &Trace) -> Vec<DagNode> {
    let ranks = trace.collective.ranks() as u32;
    let layouts: Vec<RankLayout> = (0..ranks).map(|rank| RankLayout::new(trace, RankId(rank))).collect();
    let mut memory: Vec<Vec<Cell>> =
        layouts.iter().map(|layout| vec![Cell::default(); layout.cells()]).collect();
    let cells = |ChunkRun { first, count }: ChunkRun<Slice>| {
        let begin = layouts[first.rank.index()].flat(first);
        begin..begin + count as usize
    };
    let mut computed: Vec<Option<u32>> = vec![None; layouts.len()];
    let mut nodes: Vec<DagNode> = Vec::with_capacity(trace.ops.len());
    let mut found: Vec<Dependence> = Vec::new();
    for (i, op) in (0..).zip(&trace.ops) {
        for src in trace.sources(op) {
            for cell in &mut memory[op.src.rank.index()][cells(src)] {
                found.extend(cell.writer.map(|on| Dependence { on, hazard: Hazard::ReadAfterWrite }));
                cell.readers.push(i);
            }
        }
        for dst in trace.destinations(op) {
            for cell in &mut memory[op.dst.rank.index()][cells(dst)] {
                let hazard = match op.kind {
                    OpKind::Reduce => Some(Hazard::ReadAfterWrite),
                    OpKind::Copy | OpKind::Compute(_) => {
                        cell.readers.is_empty().then_some(Hazard::WriteAfterWrite)
                    }
                };
                found.extend(cell.writer.zip(hazard).map(|(on, hazard)| Dependence { on, hazard }));
                let readers = cell.readers.drain(..).filter(|reader| *reader != i);
                found.extend(readers.map(|on| Dependence { on, hazard: Hazard::WriteAfterRead }));
                cell.writer = Some(i);
            }
        }
        if matches!(op.kind, OpKind::Compute(_)) {
            let before = computed[op.src.rank.index()].replace(i);
            found.extend(before.map(|on| Dependence { on, hazard: Hazard::Stream }));
        }
        found.sort_unstable();
        found.dedup();
        let level = 1 + found.iter().map(|before| nodes[before.on as usize].level).max().unwrap_or(0);
        nodes.push(DagNode { level, depends: found.drain(..).collect() });
    }
    nodes
}

impl fmt::Display for Dag<'_> {
    /// One line an operation: what it is (as in the trace), its level, what it waits for, its source line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let collective = &self.trace.collective;
        writeln!(f, "dag {} {} {} ranks", self.trace.name, collective.kind(), collective.ranks())?;
        for (i, (op, node)) in self.trace.ops.iter().zip(&self.nodes).enumerate() {
            self.trace.write_op(f, i)?;
            write!(f, "  level {}", node.level)?;
            for (position, Dependence { on, hazard }) in node.depends.iter().enumerate() {
                let comma = if position == 0 { " " } else { "," };
                write!(f, "{comma} {} op{on}", hazard.name())?;
            }
            self.trace.write_site(f, op)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer::{Input, Output, Scratch};
    use crate::collective::{Collective, CollectiveKind};
    use crate::lower::order::order;
    use crate::options::Options;
    use crate::program::Program;

    fn edges(p: Program) -> Vec<Vec<(u32, &'static str)>> {
        let trace = p.finish("test").unwrap();
        let dag = Dag::of(&trace).unwrap();
        let of_node =
            |node: &DagNode| node.depends.iter().map(|edge| (edge.on, edge.hazard.name())).collect();
        dag.nodes().iter().map(of_node).collect()
    }

    #[test]
    fn each_hazard_is_named_and_what_others_imply_is_left_out() {
        let p = Program::new(Collective::custom(2, 3, 1).unwrap());
        p.chunk(0, Input, 0).copy_to(1, Scratch("s"), 0);
        // Overwrites what nobody has read: op0's.
        p.chunk(0, Input, 1).copy_to(1, Scratch("s"), 0);
        // Reads it twice.
        p.chunk(1, Scratch("s"), 0).copy_to(0, Output, 0);
        p.chunk(1, Input, 0).reduce(p.chunk(1, Scratch("s"), 0));
        // Overwrites what op2 and op3 have read; op1 is behind them.
        p.chunk(0, Input, 2).copy_to(1, Scratch("s"), 0);
        // Adds to what op4 wrote, and reads what op3 summed.
        p.chunk(1, Scratch("s"), 0).reduce(p.chunk(1, Input, 0));
        assert_eq!(
            edges(p),
            [
                vec![],
                vec![(0, "WAW")],
                vec![(1, "RAW")],
                vec![(1, "RAW")],
                vec![(2, "WAR"), (3, "WAR")],
                vec![(3, "RAW"), (4, "RAW")],
            ]
        );
    }

    #[test]
    fn runs_of_chunks_wait_for_each_of_their_parts() {
        let p = Program::new(Collective::all_reduce(1).unwrap().with_chunks(4).unwrap());
        p.chunks(0, Input, 0, 2).copy_to(0, Scratch("s"), 0);
        p.chunks(0, Input, 2, 2).copy_to(0, Scratch("s"), 2);
        p.chunks(0, Scratch("s"), 1, 2).copy_to(0, Output, 0);
        p.chunks(0, Input, 0, 4).copy_to(0, Scratch("s"), 0);
        let waw_and_war = vec![(0, "WAW"), (1, "WAW"), (2, "WAR")];
        assert_eq!(edges(p), [vec![], vec![], vec![(0, "RAW"), (1, "RAW")], waw_and_war]);
    }

    #[test]
    fn instances_are_operations_of_their_own() {
        let p = Program::new(Collective::all_reduce(2).unwrap().with_chunks(1).unwrap().in_place().unwrap());
        let p = p.with_options(Options { instances: 3, ..Options::default() });
        p.chunk(0, Input, 0).reduce(p.chunk(1, Input, 0)).copy_to(1, Input, 0);
        let trace = p.finish("test").unwrap();
        let dag = Dag::of(&trace).unwrap();
        assert_eq!((dag.trace().ops.len(), dag.nodes().len()), (6, 6));
        assert!(
            dag.nodes()[3..]
                .iter()
                .enumerate()
                .all(|(i, node)| { node.depends.iter().all(|edge| edge.on == i as u32) && node.level == 2 })
        );
    }

    /// The level of the order pass, which keeps no edges, is the longest chain of these.
    #[test]
    fn levels_are_those_that_the_order_pass_goes_by() {
        let mut state = 7_u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for _ in 0..50 {
            let collective = Collective::new(CollectiveKind::AllReduce, 3, 5).unwrap().in_place().unwrap();
            let p = Program::new(collective);
            for _ in 0..40 {
                let count = 1 + below(2);
                let (from, to) = ((below(3), below(6 - count)), (below(3), below(6 - count)));
                let apart = from.0 != to.0 || from.1.abs_diff(to.1) >= count;
                match below(2) {
                    0 if apart => {
                        p.chunks(from.0, Input, from.1, count).copy_to(to.0, Input, to.1);
                    }
                    1 if apart => {
                        let moved = p.chunks(from.0, Input, from.1, count);
                        p.chunks(to.0, Input, to.1, count).reduce(moved);
                    }
                    _ => {}
                }
            }
            let trace = p.finish("random").unwrap();
            assert!(trace.ops.len() > 15);
            let levels: Vec<u32> = Dag::of(&trace).unwrap().nodes().iter().map(|node| node.level).collect();
            let by_order: Vec<u32> = order(&trace).keys.iter().map(|key| key.level).collect();
            assert_eq!(levels, by_order);
        }
    }
}
