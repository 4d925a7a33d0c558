//! Finds out who waits for whom in a run that cannot go on.

use std::collections::BTreeMap;

use chakra_et::graph::{Op, RankGraph};

use super::block::Block;
use super::connection::Key;
use super::deadlock;
use super::node::{Phase, RankState};
use crate::model::Conventions;
use crate::model::network::Network;
use crate::stuck::{DependenceCycle, StuckReport, WaitReason, WaitingReceive};
use crate::units::Bytes;

impl<N: Network> Block<'_, N> {
    /// For a block of all ranks.
    pub(super) fn diagnose(&self) -> StuckReport {
        let ranks = || (0u32..).zip(self.graph.ranks().iter().zip(self.ranks.states()));
        let mut waiting = Vec::new();
        for (rank, (graph, state)) in ranks() {
            for (node, op) in nodes_in(graph, state, Phase::ISSUED) {
                if let Op::Recv { src, tag, bytes } = op {
                    waiting.push((rank, node, src, tag, bytes));
                }
            }
        }
        let mut sends =
            LeftSends::new(self.conventions, waiting.iter().map(|(rank, _, src, ..)| (*src, *rank)));
        for (rank, (graph, state)) in ranks() {
            sends.collect(rank, graph, state);
        }
        // What each waiting RECV waits for, where that is a SEND that waits itself.
        let unsent = waiting.iter().filter_map(|&(rank, node, src, tag, bytes)| {
            Some(((rank, node), sends.unsent(src, rank, tag, bytes)?))
        });
        let deadlock = deadlock::find(self.graph, self.ranks.states(), &unsent.collect());
        let receives = waiting.into_iter().map(|(rank, node, peer, tag, bytes)| {
            let graph = self.graph.rank(rank as usize);
            let source = self.graph.source(rank as usize, node);
            WaitingReceive {
                rank,
                node: graph.id(node),
                peer,
                tag,
                bytes: Bytes(bytes),
                step: graph.origin(node).step,
                source: source.map(|(file, line)| (file.to_owned(), line)),
                reason: sends.reason(peer, rank, tag, bytes),
            }
        });
        let cycles = ranks().filter_map(|(rank, (graph, state))| {
            let nodes = cycle(graph, state)?.into_iter().map(|node| graph.id(node)).collect();
            Some(DependenceCycle { rank, nodes })
        });
        StuckReport {
            time: self.queue.now(),
            unfinished: self.unfinished,
            nodes: self.graph.node_count(),
            deadlock,
            cycles: cycles.collect(),
            receives: receives.collect(),
        }
    }
}

fn nodes_in<'a>(
    graph: &'a RankGraph,
    state: &'a RankState,
    phase: Phase,
) -> impl Iterator<Item = (u32, Op)> + 'a {
    let nodes = (0u32..).zip(graph.ops().iter().zip(&state.nodes));
    nodes.filter(move |(_, (_, node))| node.phase == phase).map(|(node, (op, _))| (node, *op))
}

/// The SENDs that no RECV has got, as far as somebody waits for that sender.
struct LeftSends {
    conventions: Conventions,
    /// By source and destination, the first of any tag.
    by_pair: BTreeMap<(u32, u32), Option<Left>>,
    by_tag: BTreeMap<(u32, u32, u32), Left>,
    /// Those that were not issued.
    by_key: BTreeMap<(u32, Key), Left>,
}

#[derive(Clone, Copy)]
struct Left {
    number: u32,
    node: u64,
    tag: u32,
    bytes: Bytes,
}

impl LeftSends {
    fn new(conventions: Conventions, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let by_pair = pairs.map(|pair| (pair, None)).collect();
        Self { conventions, by_pair, by_tag: BTreeMap::new(), by_key: BTreeMap::new() }
    }

    /// Those that were delivered in vain first: they are the better hint.
    fn collect(&mut self, src: u32, graph: &RankGraph, state: &RankState) {
        let blocked = (0u32..).zip(graph.ops().iter().zip(&state.nodes));
        let blocked = blocked.filter(|(_, (_, node))| node.phase.is_blocked());
        let blocked = blocked.map(|(node, (op, _))| (node, *op, true));
        let early = nodes_in(graph, state, Phase::EARLY).map(|(node, op)| (node, op, false));
        for (node, op, blocked) in early.chain(blocked) {
            let Op::Send { dst, tag, bytes } = op else { continue };
            let Some(of_pair) = self.by_pair.get_mut(&(src, dst)) else { continue };
            let left = Left { number: node, node: graph.id(node), tag, bytes: Bytes(bytes) };
            of_pair.get_or_insert(left);
            self.by_tag.entry((src, dst, tag)).or_insert(left);
            if blocked {
                self.by_key.entry((src, Key::new(self.conventions, dst, tag, bytes))).or_insert(left);
            }
        }
    }

    /// The SEND that fits and was not issued, by its number.
    fn unsent(&self, src: u32, dst: u32, tag: u32, bytes: u64) -> Option<u32> {
        let key = Key::new(self.conventions, dst, tag, bytes);
        self.by_key.get(&(src, key)).map(|left| left.number)
    }

    fn reason(&self, src: u32, dst: u32, tag: u32, bytes: u64) -> WaitReason {
        let key = Key::new(self.conventions, dst, tag, bytes);
        if let Some(left) = self.by_key.get(&(src, key)) {
            return WaitReason::SendNotIssued { node: left.node };
        }
        if let Some(Left { node, bytes, .. }) = self.by_tag.get(&(src, dst, tag)) {
            return WaitReason::OtherSize { node: *node, bytes: *bytes };
        }
        match self.by_pair.get(&(src, dst)) {
            Some(Some(Left { node, tag, .. })) => WaitReason::OtherTag { node: *node, tag: *tag },
            _ => WaitReason::NoSend,
        }
    }
}

/// The first cycle among the unfinished nodes of a rank: each depends on the next, the last on the first.
fn cycle(graph: &RankGraph, state: &RankState) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        OnPath,
        Done,
    }
    let blocked = |node: u32| state.nodes[node as usize].phase.is_blocked();
    let mut seen = vec![Seen::No; graph.len()];
    // The path of a depth-first search, each node with the number of dependences already followed.
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in (0..graph.len() as u32).filter(|node| blocked(*node)) {
        if seen[root as usize] == Seen::No {
            seen[root as usize] = Seen::OnPath;
            path.push((root, 0));
        }
        while let Some((node, followed)) = path.last_mut() {
            let Some(&dep) = graph.deps(*node).get(*followed) else {
                seen[*node as usize] = Seen::Done;
                path.pop();
                continue;
            };
            *followed += 1;
            match seen[dep as usize] {
                Seen::No if blocked(dep) => {
                    seen[dep as usize] = Seen::OnPath;
                    path.push((dep, 0));
                }
                Seen::OnPath => {
                    let on_cycle = path.iter().map(|(node, _)| *node).skip_while(|node| *node != dep);
                    return Some(on_cycle.collect());
                }
                Seen::No | Seen::Done => {}
            }
        }
    }
    None
}
