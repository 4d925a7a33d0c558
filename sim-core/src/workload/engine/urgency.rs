//! How much of an algorithm comes after each of its nodes.

use std::collections::VecDeque;

use chakra_et::graph::{Graph, Op, RankGraph};
use rustc_hash::FxHashMap;

/// By rank and node, the most messages that follow one another from it on, over all ranks: what is behind the longest chain is the
/// most urgent. The k-th SEND of a source, destination and tag comes before the k-th RECV. Nodes in a circle, and those before
/// one, have what comes after the circle.
pub(super) fn of(graph: &Graph) -> Vec<Vec<u32>> {
    let ranks = graph.ranks();
    let zeros = |rank: &RankGraph| vec![0_u32; rank.len()];
    let mut sends: FxHashMap<(u32, u32, u32), VecDeque<u32>> = FxHashMap::default();
    // By rank and node, how many wait for it.
    let mut waiting: Vec<Vec<u32>> = ranks.iter().map(zeros).collect();
    for (rank, nodes) in (0..).zip(ranks) {
        for node in 0..nodes.len() as u32 {
            nodes.deps(node).iter().for_each(|dep| waiting[rank as usize][*dep as usize] += 1);
            if let Op::Send { dst, tag, .. } = nodes.op(node) {
                sends.entry((rank, dst, tag)).or_default().push_back(node);
            }
        }
    }
    // By rank and RECV, the SEND of its message.
    let mut sent: FxHashMap<(u32, u32), (u32, u32)> = FxHashMap::default();
    for (rank, nodes) in (0..).zip(ranks) {
        for node in 0..nodes.len() as u32 {
            if let Op::Recv { src, tag, .. } = nodes.op(node)
                && let Some(send) = sends.get_mut(&(src, rank, tag)).and_then(VecDeque::pop_front)
            {
                sent.insert((rank, node), (src, send));
                waiting[src as usize][send as usize] += 1;
            }
        }
    }
    let mut messages: Vec<Vec<u32>> = ranks.iter().map(zeros).collect();
    let mut ready: Vec<(u32, u32)> = Vec::new();
    for (rank, waiting) in (0..).zip(&waiting) {
        ready.extend((0..).zip(waiting).filter(|(_, waiting)| **waiting == 0).map(|(node, _)| (rank, node)));
    }
    while let Some((rank, node)) = ready.pop() {
        let nodes = &ranks[rank as usize];
        let own = &mut messages[rank as usize][node as usize];
        *own += u32::from(nodes.op(node).is_send());
        let own = *own;
        let deps = nodes.deps(node).iter().map(|dep| (rank, *dep));
        for (rank, node) in deps.chain(sent.get(&(rank, node)).copied()) {
            let messages = &mut messages[rank as usize][node as usize];
            *messages = own.max(*messages);
            let waiting = &mut waiting[rank as usize][node as usize];
            *waiting -= 1;
            if *waiting == 0 {
                ready.push((rank, node));
            }
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use chakra_et::graph::Origin;

    use super::*;

    #[test]
    fn messages_are_counted_to_the_end_over_all_ranks() {
        // Rank 0 sends twice; rank 1 passes on the second, after a reduction, to rank 2.
        let mut ranks = [RankGraph::builder(), RankGraph::builder(), RankGraph::builder()];
        let mut push = |rank: usize, op, deps: &[u32]| {
            ranks[rank].push(op, deps.iter().copied(), Origin::default()).unwrap()
        };
        let send = |dst| Op::Send { dst, tag: 0, bytes: 8 };
        let recv = |src| Op::Recv { src, tag: 0, bytes: 8 };
        let first = push(0, send(1), &[]);
        push(0, send(1), &[first]);
        push(1, recv(0), &[]);
        let came = push(1, recv(0), &[]);
        let sum = push(1, Op::Comp { micros: 0, ops: 1, bytes: 8 }, &[came]);
        push(1, send(2), &[sum]);
        push(2, recv(1), &[]);
        let graph = Graph::new(ranks.map(|rank| rank.finish()).into());
        assert_eq!(of(&graph), [vec![3, 2], vec![0, 1, 1, 1], vec![0]]);
    }

    #[test]
    fn circles_and_lost_messages_do_no_harm() {
        let mut rank = RankGraph::builder();
        rank.push(Op::Recv { src: 1, tag: 0, bytes: 8 }, [1], Origin::default()).unwrap();
        rank.push(Op::Send { dst: 1, tag: 0, bytes: 8 }, [0], Origin::default()).unwrap();
        let graph = Graph::new(vec![rank.finish(), RankGraph::builder().finish()]);
        assert_eq!(of(&graph), [vec![0, 0], vec![]]);
    }
}
