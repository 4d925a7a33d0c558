//! A graph as thread blocks of steps, and the connections between them.

use chakra_et::graph::{Graph, Op, RankGraph, StepRef, Symmetry};
use rustc_hash::FxHashMap;

use crate::error::SimError;
use crate::units::Picos;

/// No connection, no node.
pub(super) const NONE: u32 = u32::MAX;

/// The thread blocks of all ranks, or of the first that stands for all.
pub(super) struct Program {
    /// How many ranks there are.
    pub(super) ranks: u32,
    /// Whether the first rank stands for all: then both ends of a connection are on it.
    pub(super) folded: bool,
    /// By rank, then by number.
    pub(super) blocks: Vec<Block>,
    /// Those of a block are neighbours.
    pub(super) steps: Vec<Step>,
    pub(super) connections: Vec<Connection>,
    /// What steps wait for, by [`Step::waits`]: numbers of steps.
    pub(super) waits: Vec<u32>,
}

pub(super) struct Block {
    pub(super) rank: u32,
    /// Its number on the rank.
    pub(super) number: u32,
    pub(super) first_step: u32,
    pub(super) end_step: u32,
}

/// What a step does beside moving data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Nothing but what it moves: a receive, a copy, a send.
    Copy,
    /// It reduces.
    Reduce,
    /// It computes for a stated time.
    Stated(Picos),
}

/// A step: at most a receive, then a computation, then a send.
pub(super) struct Step {
    pub(super) block: u32,
    /// Its number in the thread block, as the schedule counts.
    pub(super) number: u32,
    /// The connections that it receives from and sends to, or `NONE`.
    pub(super) receive: u32,
    pub(super) send: u32,
    pub(super) work: Work,
    /// Of all rounds together.
    pub(super) bytes: u64,
    /// Its nodes are neighbours on the rank.
    pub(super) first_node: u32,
    pub(super) nodes: u32,
    pub(super) waits: (u32, u32),
}

/// The messages of one sending thread block to one receiving thread block.
pub(super) struct Connection {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) tag: u32,
    pub(super) sender: u32,
    pub(super) receiver: u32,
    /// Whether some of its sends reduce on the way, and whether some do not.
    pub(super) reduces: bool,
    pub(super) copies: bool,
}

impl Connection {
    /// Whether anything is sent over it.
    pub(super) fn sends(&self) -> bool {
        self.copies || self.reduces
    }
}

/// The numbers of connections.
struct Numbers<'a> {
    /// By which the first rank stands for all.
    symmetry: Option<&'a Symmetry>,
    /// By sending rank, receiving rank and tag.
    of: FxHashMap<(u32, u32, u32), u32>,
}

impl Numbers<'_> {
    /// The ends by which a connection is known: where one rank stands for all, those of the one that it sends over.
    fn ends(&self, src: u32, dst: u32) -> (u32, u32) {
        self.symmetry.map_or((src, dst), |symmetry| (0, symmetry.moved(dst, symmetry.back(src))))
    }
}

impl Program {
    /// All ranks of a graph.
    pub(super) fn new(graph: &Graph) -> Result<Self, SimError> {
        Self::of(graph, None)
    }

    /// The first rank of a graph, or the one that there is, which stands for all.
    pub(super) fn of_first(graph: &Graph, symmetry: &Symmetry) -> Result<Self, SimError> {
        Self::of(graph, Some(symmetry))
    }

    fn of(graph: &Graph, symmetry: Option<&Symmetry>) -> Result<Self, SimError> {
        let all = || u32::try_from(graph.rank_count()).unwrap_or(u32::MAX);
        let ranks = symmetry.map_or_else(all, Symmetry::rank_count);
        let (blocks, steps, waits, connections) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let folded = symmetry.is_some();
        let mut program = Self { ranks, folded, blocks, steps, waits, connections };
        let mut numbers = Numbers { symmetry, of: FxHashMap::default() };
        for (rank, nodes) in (0..if folded { 1 } else { ranks }).zip(graph.ranks()) {
            program.add_rank(rank, nodes, &mut numbers)?;
        }
        program.check_ends(graph)?;
        Ok(program)
    }

    /// How many ranks each of those that there are stands for.
    pub(super) fn copies(&self) -> u64 {
        if self.folded { u64::from(self.ranks) } else { 1 }
    }

    fn add_rank(&mut self, rank: u32, nodes: &RankGraph, numbers: &mut Numbers<'_>) -> Result<(), SimError> {
        let mut places = Vec::with_capacity(nodes.len());
        for (node, op) in (0u32..).zip(nodes.ops()) {
            match nodes.origin(node).step {
                Some(at) => places.push((at, node)),
                // The only node of a rank that has nothing to do.
                None if *op == (Op::Comp { micros: 0, ops: 0, bytes: 0 }) && nodes.len() == 1 => {}
                None => return Err(SimError::NoThreadBlock { rank, node: nodes.id(node) }),
            }
        }
        places.sort_unstable();
        let mut step_of_node = vec![NONE; nodes.len()];
        for of_step in places.chunk_by(|(a, _), (b, _)| a == b) {
            let at = of_step[0].0;
            let is_new = self.blocks.last().is_none_or(|it| (it.rank, it.number) != (rank, at.thread_block));
            if is_new {
                let first_step = self.steps.len() as u32;
                self.blocks.push(Block { rank, number: at.thread_block, first_step, end_step: first_step });
            }
            let block = self.blocks.len() as u32 - 1;
            if of_step[of_step.len() - 1].1 - of_step[0].1 != of_step.len() as u32 - 1 {
                return Err(bad(rank, at, "has nodes that are not neighbours".to_owned()));
            }
            let number = u32::try_from(self.steps.len()).ok().filter(|number| *number < NONE);
            let number = number.ok_or_else(|| bad(rank, at, "is one too many".to_owned()))?;
            let mut step = Step {
                block,
                number: at.step,
                receive: NONE,
                send: NONE,
                work: Work::Copy,
                bytes: 0,
                first_node: of_step[0].1,
                nodes: of_step.len() as u32,
                waits: (0, 0),
            };
            for (_, node) in of_step {
                step_of_node[*node as usize] = number;
                self.add_node(&mut step, rank, nodes, *node, numbers)?;
            }
            self.steps.push(step);
            self.blocks[block as usize].end_step = self.steps.len() as u32;
        }
        // What the order within a thread block does not say already.
        for of_step in places.chunk_by(|(a, _), (b, _)| a == b) {
            let number = step_of_node[of_step[0].1 as usize];
            let first = self.waits.len() as u32;
            for (at, node) in of_step {
                for dep in nodes.deps(*node) {
                    let other = step_of_node[*dep as usize];
                    if other == number || other == NONE {
                        continue;
                    }
                    if self.steps[other as usize].block != self.steps[number as usize].block {
                        self.waits.push(other);
                    } else if other > number {
                        let what = format!("waits for a later step, node {}", nodes.id(*dep));
                        return Err(bad(rank, *at, what));
                    }
                }
            }
            self.waits[first as usize..].sort_unstable();
            let end = self.waits.len() as u32;
            self.steps[number as usize].waits = (first, end);
        }
        Ok(())
    }

    fn add_node(
        &mut self,
        step: &mut Step,
        rank: u32,
        nodes: &RankGraph,
        node: u32,
        numbers: &mut Numbers<'_>,
    ) -> Result<(), SimError> {
        let ranks = self.ranks;
        let Some(at) = nodes.origin(node).step else { return Ok(()) };
        let twice = |what: &str| bad(rank, at, format!("{what} twice (node {})", nodes.id(node)));
        let peer_of = |peer: u32| {
            if peer == rank {
                return Err(SimError::SelfMessage { rank, node: nodes.id(node) });
            }
            (peer < ranks).then_some(()).ok_or(SimError::NoSuchPeer {
                rank,
                node: nodes.id(node),
                peer,
                ranks: ranks as usize,
            })
        };
        match nodes.op(node) {
            Op::Send { dst, tag, bytes } => {
                peer_of(dst)?;
                if step.send != NONE {
                    return Err(twice("sends"));
                }
                step.send = self.connection(rank, dst, tag, numbers);
                step.bytes = step.bytes.max(bytes);
                let connection = &mut self.connections[step.send as usize];
                match step.work {
                    Work::Reduce => connection.reduces = true,
                    _ => connection.copies = true,
                }
                set_end(&mut connection.sender, step.block)
                    .ok_or_else(|| shared(rank, at, "sends", "to", dst, tag))
            }
            Op::Recv { src, tag, bytes } => {
                peer_of(src)?;
                if step.receive != NONE {
                    return Err(twice("receives"));
                }
                step.receive = self.connection(src, rank, tag, numbers);
                step.bytes = step.bytes.max(bytes);
                let connection = &mut self.connections[step.receive as usize];
                set_end(&mut connection.receiver, step.block)
                    .ok_or_else(|| shared(rank, at, "receives", "from", src, tag))
            }
            Op::Comp { micros, ops, bytes } => {
                step.bytes = step.bytes.max(bytes);
                step.work = match (micros, ops) {
                    (0, 0) => Work::Copy,
                    (0, _) => Work::Reduce,
                    _ => {
                        let picos = micros.checked_mul(1_000_000).ok_or(crate::error::Overflow::TIME)?;
                        Work::Stated(Picos(picos))
                    }
                };
                Ok(())
            }
            other => {
                let what = format!("{other:?}");
                Err(SimError::Unsupported { rank, node: nodes.id(node), what })
            }
        }
    }

    fn connection(&mut self, src: u32, dst: u32, tag: u32, numbers: &mut Numbers<'_>) -> u32 {
        let (src, dst) = numbers.ends(src, dst);
        *numbers.of.entry((src, dst, tag)).or_insert_with(|| {
            let (sender, receiver, reduces, copies) = (NONE, NONE, false, false);
            self.connections.push(Connection { src, dst, tag, sender, receiver, reduces, copies });
            self.connections.len() as u32 - 1
        })
    }

    /// Each receive gets what the send of its turn sends, so both state one size.
    fn check_ends(&self, graph: &Graph) -> Result<(), SimError> {
        let mut sends: Vec<Vec<u32>> = vec![Vec::new(); self.connections.len()];
        for (number, step) in (0u32..).zip(&self.steps) {
            if step.send != NONE {
                sends[step.send as usize].push(number);
            }
        }
        let mut received = vec![0usize; self.connections.len()];
        for step in &self.steps {
            let Some(turn) = received.get_mut(step.receive as usize) else { continue };
            let Some(&send) = sends[step.receive as usize].get(*turn) else { continue };
            *turn += 1;
            let (own, of_sender) = (step.bytes, self.steps[send as usize].bytes);
            if own != of_sender {
                let connection = &self.connections[step.receive as usize];
                let id = graph.rank(connection.src as usize).id(self.steps[send as usize].first_node);
                let src = self.peer(graph, step);
                let what = format!("receives {own} bytes, but rank {src}, node {id} sends {of_sender}");
                return Err(self.bad_step(step, what));
            }
        }
        Ok(())
    }

    /// The rank that a step receives from, as its RECV says.
    pub(super) fn peer(&self, graph: &Graph, step: &Step) -> u32 {
        let nodes = graph.rank(self.blocks[step.block as usize].rank as usize);
        let mut of_step = step.first_node..step.first_node + step.nodes;
        let peer = of_step.find_map(|node| match nodes.op(node) {
            Op::Recv { src, .. } => Some(src),
            _ => None,
        });
        peer.unwrap_or(self.connections[step.receive as usize].src)
    }

    /// The place of a step in its schedule.
    pub(super) fn place(&self, step: &Step) -> (u32, StepRef) {
        let block = &self.blocks[step.block as usize];
        (block.rank, StepRef { thread_block: block.number, step: step.number })
    }

    fn bad_step(&self, step: &Step, what: String) -> SimError {
        let (rank, at) = self.place(step);
        bad(rank, at, what)
    }
}

/// Makes a block the end of a connection, which has one.
fn set_end(end: &mut u32, block: u32) -> Option<()> {
    let is_own = *end == NONE || *end == block;
    *end = block;
    is_own.then_some(())
}

fn bad(rank: u32, at: StepRef, what: String) -> SimError {
    SimError::BadStep { rank, thread_block: at.thread_block, step: at.step, what }
}

fn shared(rank: u32, at: StepRef, does: &str, to: &str, peer: u32, tag: u32) -> SimError {
    let what = format!("{does} {to} rank {peer} with tag {tag}, as another thread block of the rank does");
    bad(rank, at, what)
}
