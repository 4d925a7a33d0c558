//! Finds ranks that wait for each other in a circle.

use std::collections::BTreeMap;

use chakra_et::graph::{Graph, Op};

use super::node::RankState;
use crate::stuck::{WaitCycle, WaitKind, WaitStep};

/// A node, by rank and number.
type At = (u32, u32);

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    No,
    OnPath,
    Done,
}

/// A node on the path of the search, with the number of its edges already followed.
struct Visit {
    at: At,
    followed: usize,
}

/// The first circle of waiting that runs through messages, if there is one.
///
/// A blocked node waits for its unfinished dependences, and a waiting RECV for the SEND that `sends` gives for it. A
/// circle within one rank, which is a mistake of another kind, is passed over.
pub(super) fn find(graph: &Graph, ranks: &[RankState], sends: &BTreeMap<At, u32>) -> Option<WaitCycle> {
    let mut seen: Vec<Vec<Seen>> = ranks.iter().map(|rank| vec![Seen::No; rank.nodes.len()]).collect();
    let mut path: Vec<Visit> = Vec::new();
    for root in sends.keys() {
        visit(*root, &mut seen, &mut path);
        while let Some(Visit { at, followed }) = path.last_mut() {
            let (rank, node) = *at;
            let Some(next) = edge(graph, sends, *at, *followed) else {
                seen[rank as usize][node as usize] = Seen::Done;
                path.pop();
                continue;
            };
            *followed += 1;
            let is_blocked = ranks[next.0 as usize].nodes[next.1 as usize].phase.is_blocked();
            match seen[next.0 as usize][next.1 as usize] {
                Seen::No if is_blocked || sends.contains_key(&next) => visit(next, &mut seen, &mut path),
                Seen::OnPath => {
                    let circle = path.iter().map(|visit| visit.at).skip_while(|at| *at != next);
                    let circle: Vec<At> = circle.collect();
                    if circle.iter().any(|at| at.0 != next.0) {
                        return Some(named(graph, &circle));
                    }
                }
                _ => {}
            }
        }
    }
    None
}

fn visit(at: At, seen: &mut [Vec<Seen>], path: &mut Vec<Visit>) {
    let state = &mut seen[at.0 as usize][at.1 as usize];
    if *state == Seen::No {
        *state = Seen::OnPath;
        path.push(Visit { at, followed: 0 });
    }
}

/// The `number`-th node that a node waits for.
fn edge(graph: &Graph, sends: &BTreeMap<At, u32>, at: At, number: usize) -> Option<At> {
    let nodes = graph.rank(at.0 as usize);
    match (sends.get(&at), nodes.op(at.1)) {
        // Its dependences have finished.
        (Some(send), Op::Recv { src, .. }) => (number == 0).then_some((src, *send)),
        _ => nodes.deps(at.1).get(number).map(|dep| (at.0, *dep)),
    }
}

fn named(graph: &Graph, circle: &[At]) -> WaitCycle {
    let steps = circle.iter().map(|&(rank, node)| {
        let nodes = graph.rank(rank as usize);
        let kind = match nodes.op(node) {
            Op::Send { dst, .. } => WaitKind::Send { dst },
            Op::Recv { src, .. } => WaitKind::Receive { src },
            _ => WaitKind::Other,
        };
        WaitStep { rank, node: nodes.id(node), kind }
    });
    WaitCycle { steps: steps.collect() }
}
