//! The thread blocks of rank 0, and the nodes that they make.

use chakra_et::graph::{
    CollectiveInfo, Op, Origin, RankGraph, RankGraphBuilder, StepRef, SymmetricGraph, Symmetry, TooLarge,
};
use collective_dsl::Protocol;

use super::SymmetricError;

/// A step, by its thread block and its number there.
pub(super) type StepId = (usize, usize);

/// What a step does, in this order; with none of it, it does not exist.
#[derive(Default)]
pub(super) struct Step {
    receives: bool,
    reduces: bool,
    sends: bool,
    bytes: u64,
    depends: Vec<StepId>,
}

impl Step {
    /// Receives so much.
    pub(super) fn receive(bytes: u64) -> Self {
        Self { receives: true, bytes, ..Self::default() }
    }

    /// Reduces so much.
    pub(super) fn reduce(bytes: u64) -> Self {
        Self { reduces: true, bytes, ..Self::default() }
    }

    /// Sends so much.
    pub(super) fn send(bytes: u64) -> Self {
        Self { sends: true, bytes, ..Self::default() }
    }

    /// And reduces what it has received.
    pub(super) fn and_reduce(self) -> Self {
        Self { reduces: true, ..self }
    }

    /// And sends what it has then.
    pub(super) fn and_send(self) -> Self {
        Self { sends: true, ..self }
    }

    /// After steps of other thread blocks.
    pub(super) fn after(self, steps: impl IntoIterator<Item = StepId>) -> Self {
        Self { depends: steps.into_iter().collect(), ..self }
    }
}

struct Block {
    /// The peers: it sends to one and receives from one.
    dst: u32,
    src: u32,
    channel: u32,
    steps: Vec<Step>,
}

/// The thread blocks of rank 0.
#[derive(Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
}

impl Blocks {
    /// A further thread block on channel 0; its number.
    pub(super) fn open(&mut self, dst: u32, src: u32) -> usize {
        self.open_on(0, dst, src)
    }

    /// A further thread block on a channel; its number.
    pub(super) fn open_on(&mut self, channel: u32, dst: u32, src: u32) -> usize {
        self.blocks.push(Block { dst, src, channel, steps: Vec::new() });
        self.blocks.len() - 1
    }

    /// A further step of a thread block.
    pub(super) fn push(&mut self, block: usize, step: Step) -> StepId {
        let steps = &mut self.blocks[block].steps;
        steps.push(step);
        (block, steps.len() - 1)
    }

    /// The nodes, numbered as those of a compiled algorithm: in waves, one step of every thread block that can go on.
    ///
    /// A step waits for the one before it in its thread block and for those that it names, which must not wait for it.
    fn nodes(&self, reduce_micros: impl Fn(u64) -> u64) -> Result<RankGraph, TooLarge> {
        let mut rank = RankGraph::builder();
        // By thread block and step, its last node.
        let mut last: Vec<Vec<u32>> = self.blocks.iter().map(|_| Vec::new()).collect();
        let mut open: Vec<usize> = (0..self.blocks.len()).collect();
        while !open.is_empty() {
            open.retain(|&number| {
                let block = &self.blocks[number];
                // One that cannot go on is asked again in the next wave.
                block.steps.len() > last[number].len()
            });
            for &number in &open {
                let block = &self.blocks[number];
                let step = &block.steps[last[number].len()];
                if step.depends.iter().any(|(on, step)| last[*on].len() <= *step) {
                    continue;
                }
                let mut deps: Vec<u32> = step.depends.iter().map(|(on, step)| last[*on][*step]).collect();
                deps.extend(last[number].last());
                deps.sort_unstable();
                deps.dedup();
                // There are fewer of both than nodes.
                let at = StepRef { thread_block: number as u32, step: last[number].len() as u32 };
                let node = block.nodes_of(step, at, deps, &mut rank, &reduce_micros)?;
                last[number].push(node);
            }
        }
        Ok(rank.finish())
    }

    /// The graph of all ranks, of so many bytes in so many chunks. A rank without data has one node that does nothing, as in a trace.
    pub(super) fn finish(
        self,
        symmetry: Symmetry,
        (name, collective): (&str, &str),
        (size, chunks): (u64, u64),
        reduce_micros: impl Fn(u64) -> u64,
    ) -> Result<SymmetricGraph, SymmetricError> {
        let mut rank = self.nodes(reduce_micros)?;
        if size == 0 || rank.is_empty() {
            let mut idle = RankGraph::builder();
            idle.push(Op::Comp { micros: 0, ops: 0, bytes: 0 }, [], Origin::default())?;
            rank = idle.finish();
        }
        let mut info = CollectiveInfo::default();
        info.name = name.to_owned();
        info.collective = collective.to_owned();
        info.in_place = true;
        info.size_bytes = size;
        info.element_type = "i8".to_owned();
        info.chunks = chunks;
        info.protocol = Protocol::default().name().to_owned();
        Ok(SymmetricGraph::new(symmetry, rank)?.with_info(info))
    }
}

impl Block {
    /// The nodes of a step, each after the one before; the last of them.
    fn nodes_of(
        &self,
        step: &Step,
        at: StepRef,
        mut deps: Vec<u32>,
        rank: &mut RankGraphBuilder,
        reduce_micros: &impl Fn(u64) -> u64,
    ) -> Result<u32, TooLarge> {
        let (bytes, tag) = (step.bytes, self.channel);
        let receive = step.receives.then_some(Op::Recv { src: self.src, tag, bytes });
        // An element is a byte, so there are as many operations.
        let reduce = || Op::Comp { micros: reduce_micros(bytes), ops: bytes, bytes };
        let send = step.sends.then_some(Op::Send { dst: self.dst, tag, bytes });
        let mut last = 0;
        for op in [receive, step.reduces.then(reduce), send].into_iter().flatten() {
            last = rank.push(op, deps.drain(..), Origin { step: Some(at), source: None })?;
            deps.push(last);
        }
        Ok(last)
    }
}
