//! Which nodes of a schedule's graph are the first to need a chunk of the input, and which make the chunks of the output.

use chakra_et::graph::Op;
use thiserror::Error;

use super::nodes;
use super::sizes::Sizes;
use super::{EtError, EtOptions};
use crate::diagnostic::Diagnostics;
use crate::schedule::{Schedule, Step, StepId, StepKind};
use crate::size::Size;
use crate::verify;

/// The nodes at the ends of a graph, for what comes before it and after it chunk by chunk.
///
/// Numbers of nodes, as in the graph of [`super::graph()`], of any size but 0, in either order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkNodes {
    /// By rank and chunk of the rank's input: the nodes that may not start before the chunk is there.
    pub inputs: Vec<Vec<Vec<u32>>>,
    /// By rank and chunk of the rank's output: the nodes that must have finished before the chunk is what it will be,
    /// one or, where it is there from the beginning, none.
    pub outputs: Vec<Vec<Vec<u32>>>,
}

/// Why the nodes at the ends are not known.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ChunksError {
    /// The schedule has no graph.
    #[error(transparent)]
    Et(#[from] EtError),
    /// The schedule does not run to its end.
    #[error(transparent)]
    Stuck(#[from] Diagnostics),
}

/// The nodes at the ends of a schedule's graph; see [`verify::ends`].
///
/// ```
/// use collective_dsl::{Buffer::{Input, Output}, Collective, Program, compile, et};
///
/// // In place rank 1 has its own chunk from the beginning.
/// let p = Program::new(Collective::all_gather(2)?.in_place()?);
/// for rank in 0..2 {
///     p.chunk(rank, Input, 0).copy_to(1 - rank, Output, rank);
/// }
/// let schedule = compile(&p.finish("pair")?)?;
/// let chunks = et::chunk_nodes(&schedule)?;
/// let graph = et::graph(&schedule, &et::EtOptions::new(collective_dsl::Size::bytes(1024)))?;
/// let [received] = chunks.outputs[1][0][..] else { unreachable!("one node makes it") };
/// assert_eq!(graph.rank(1).op(received), chakra_et::graph::Op::Recv { src: 0, tag: 0, bytes: 512 });
/// assert!(chunks.outputs[1][1].is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The schedule has no graph, or does not run to its end.
pub fn chunk_nodes(schedule: &Schedule) -> Result<ChunkNodes, ChunksError> {
    super::check(schedule)?;
    let ends = verify::ends(schedule)?;
    // Numbers depend on the steps alone.
    let sizes = Sizes::unknown(schedule);
    let mut found = ChunkNodes { inputs: Vec::new(), outputs: Vec::new() };
    for (rank, (first, last)) in ends.first.iter().zip(&ends.last).enumerate() {
        let nodes = Numbers::of(schedule, rank, &sizes)?;
        let step = |id: &StepId| {
            &schedule.ranks[rank].thread_blocks[id.thread_block.index()].steps[id.step as usize]
        };
        let reads = |id: &StepId| nodes.of_step(id, reads_in(step(id)));
        let writes = |id: &StepId| nodes.of_step(id, writes_in(step(id)));
        // Who touches a chunk first reads it, or writes over it.
        let touches = |id: &StepId| if has_read(step(id)) { reads(id) } else { writes(id) };
        found.inputs.push(first.iter().map(|steps| steps.iter().filter_map(touches).collect()).collect());
        found.outputs.push(last.iter().map(|step| step.iter().filter_map(writes).collect()).collect());
    }
    Ok(found)
}

/// The nodes of a step, in their order.
#[derive(Clone, Copy)]
enum Part {
    Receive,
    Compute,
    Send,
}

fn has_read(step: &Step) -> bool {
    step.kind.reads_src() || step.kind == StepKind::Compute
}

/// The node that reads the rank's memory.
fn reads_in(step: &Step) -> Part {
    if step.kind == StepKind::Send { Part::Send } else { Part::Compute }
}

/// The node that writes the rank's memory.
fn writes_in(step: &Step) -> Part {
    if step.kind.receives() && !step.kind.reduces() { Part::Receive } else { Part::Compute }
}

/// The numbers of a rank's nodes, by thread block, step and part.
struct Numbers(Vec<Vec<[Option<u32>; 3]>>);

impl Numbers {
    fn of(schedule: &Schedule, rank: usize, sizes: &Sizes) -> Result<Self, EtError> {
        let blocks = &schedule.ranks[rank].thread_blocks;
        let mut numbers: Vec<_> = blocks.iter().map(|block| vec![[None; 3]; block.steps.len()]).collect();
        let mut next = 0;
        nodes::for_each(schedule, rank, sizes, &EtOptions::new(Size::bytes(0)), &[], |node| {
            if let Some(at) = node.origin.step {
                let part = match node.op {
                    Op::Recv { .. } => Part::Receive,
                    Op::Send { .. } => Part::Send,
                    _ => Part::Compute,
                };
                numbers[at.thread_block as usize][at.step as usize][part as usize] = Some(next);
            }
            next += 1;
            Ok(())
        })?;
        Ok(Self(numbers))
    }

    fn of_step(&self, id: &StepId, part: Part) -> Option<u32> {
        self.0[id.thread_block.index()][id.step as usize][part as usize]
    }
}
