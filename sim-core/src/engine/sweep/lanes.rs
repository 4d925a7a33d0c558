//! Divides the nodes of a rank into lanes, each run in order.
//!
//! In a lane every node depends on the one before, or is the next on the same side of the same
//! connection and waits for all that the one before waits for. Either way a node is issued no earlier than
//! the one before it, so running a lane in order never waits for something that the rank would not wait for.
//!
//! The SENDs and COMPs that wait for nothing are a lane of their own, the first: it runs to its end at once. They are
//! issued at the very start, so before any other node. So are the RECVs that wait for nothing, which are in no lane: they
//! finish when their message comes.

use chakra_et::graph::{Op, RankGraph};

/// No node, and no lane.
pub(super) const END: u32 = u32::MAX;

/// The lanes of a rank.
pub(super) struct Lanes {
    /// The first node of each lane.
    pub(super) heads: Vec<u32>,
    /// By node, the next one of its lane.
    pub(super) next: Vec<u32>,
    /// The RECVs in no lane, ascending.
    pub(super) loose: Vec<u32>,
}

/// Whether each node depends on the one before it and on none after.
pub(super) fn is_chain(graph: &RankGraph) -> bool {
    (0..graph.len() as u32).all(|node| match graph.deps(node) {
        [] => node == 0,
        [only] => node.checked_sub(1) == Some(*only),
        deps => node > 0 && deps.contains(&(node - 1)) && deps.iter().all(|dep| *dep < node),
    })
}

/// The lanes of a rank; None if the order of the nodes on some connection is not fixed by dependences
/// (or that was too hard to see), or if a dependence does not exist.
///
/// `before` gives for each node the one before it on its side of its connection, or `END`.
pub(super) fn lanes(graph: &RankGraph, before: &[u32]) -> Option<Lanes> {
    let count = graph.len();
    let mut building = Building {
        graph,
        lane: vec![END; count],
        tails: Vec::new(),
        heads: Vec::new(),
        next: vec![END; count],
        // Enough for graphs with some connections that cross thread blocks, and still linear.
        steps_left: 32 * count + 1024,
        has_starts: false,
    };
    let mut loose = Vec::new();
    if (0..).zip(graph.ops()).any(|(node, op)| is_start(graph, node, op)) {
        building.has_starts = true;
        building.tails.push(END);
        building.heads.push(END);
    }
    for ((node, op), before) in (0..count as u32).zip(graph.ops()).zip(before) {
        let deps = graph.deps(node);
        if deps.iter().any(|dep| *dep as usize >= count) {
            return None;
        }
        let before = Some(*before).filter(|before| *before != END);
        if is_start(graph, node, op) {
            // On its connection only others of the same lane may come before.
            if before.is_some_and(|before| building.lane[before as usize] != STARTS) {
                return None;
            }
            building.append(node, STARTS);
        } else if deps.is_empty() && before.is_none_or(|before| building.lane[before as usize] == LOOSE) {
            building.lane[node as usize] = LOOSE;
            loose.push(node);
        } else {
            building.place(node, before)?;
        }
    }
    Some(Lanes { heads: building.heads, next: building.next, loose })
}

/// The lane of the nodes that start at once, if there are such nodes.
const STARTS: u32 = 0;

/// The mark of the nodes in no lane.
const LOOSE: u32 = END - 1;

/// Whether a node waits for nothing.
fn is_start(graph: &RankGraph, node: u32, op: &Op) -> bool {
    !matches!(op, Op::Recv { .. }) && graph.deps(node).is_empty()
}

struct Building<'a> {
    graph: &'a RankGraph,
    /// By node.
    lane: Vec<u32>,
    /// By lane, the last node so far.
    tails: Vec<u32>,
    heads: Vec<u32>,
    next: Vec<u32>,
    steps_left: usize,
    has_starts: bool,
}

impl Building<'_> {
    /// Puts a node at the end of a lane, after `before` on its connection; None if that order is not sure.
    fn place(&mut self, node: u32, before: Option<u32>) -> Option<()> {
        let sure = match before {
            None => true,
            Some(before) if self.waits_for_all_of(node, before) => {
                if self.is_tail(before) {
                    self.append(node, self.lane[before as usize]);
                    return Some(());
                }
                true
            }
            Some(before) => self.descends(node, before),
        };
        let tail = self.best_tail(node);
        let lane = tail.map_or(END, |tail| self.lane[tail as usize]);
        self.append(node, lane);
        (sure || before.is_some_and(|before| self.lane[before as usize] == self.lane[node as usize]))
            .then_some(())
    }

    /// The dependence behind which a node goes: the step before in its thread block, if it can be told.
    fn best_tail(&self, node: u32) -> Option<u32> {
        let block = |node| self.graph.origin(node).step.map(|step| step.thread_block);
        let of_node = block(node);
        let tails = || {
            let deps = self.graph.deps(node).iter().copied();
            deps.filter(|dep| *dep < node && self.is_tail(*dep))
        };
        if of_node.is_some() {
            return tails().find(|dep| block(*dep) == of_node);
        }
        tails().find(|dep| dep + 1 == node).or_else(|| tails().next())
    }

    /// Whether another node may go behind this one.
    fn is_tail(&self, node: u32) -> bool {
        !self.is_in_starts(node) && self.tails.get(self.lane[node as usize] as usize) == Some(&node)
    }

    /// Whether the node depends on all that `before` depends on, or on itself: then it is not issued earlier.
    fn waits_for_all_of(&self, node: u32, before: u32) -> bool {
        let deps = self.graph.deps(node);
        deps.contains(&before) || self.graph.deps(before).iter().all(|dep| deps.contains(dep))
    }

    fn is_in_starts(&self, node: u32) -> bool {
        self.has_starts && self.lane[node as usize] == STARTS
    }

    fn append(&mut self, node: u32, lane: u32) {
        if lane == END {
            self.lane[node as usize] = self.tails.len() as u32;
            self.tails.push(node);
            self.heads.push(node);
            return;
        }
        self.lane[node as usize] = lane;
        match std::mem::replace(&mut self.tails[lane as usize], node) {
            END => self.heads[lane as usize] = node,
            tail => self.next[tail as usize] = node,
        }
    }

    /// Whether the node depends on an earlier one, directly or through others, as far as a short search finds.
    fn descends(&mut self, node: u32, ancestor: u32) -> bool {
        const MOST_STEPS: usize = 256;
        let lane = self.lane[ancestor as usize];
        let mut open = vec![node];
        for _ in 0..MOST_STEPS.min(self.steps_left) {
            let Some(at) = open.pop() else { return false };
            for &dep in self.graph.deps(at) {
                self.steps_left = self.steps_left.saturating_sub(1);
                // Later in the same lane is as good: lanes are filled in ascending order.
                if dep == ancestor || dep > ancestor && dep < node && self.lane[dep as usize] == lane {
                    return true;
                }
                if dep > ancestor && dep < node {
                    open.push(dep);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use chakra_et::graph::{Origin, StepRef};

    use super::*;
    use crate::engine::sweep::matching::Sides;
    use crate::model::Conventions;

    fn lanes(graph: &RankGraph) -> Option<Lanes> {
        super::lanes(graph, &Sides::of(graph, Conventions::Exact).before(graph))
    }

    fn rank(nodes: &[(Op, &[u32])]) -> RankGraph {
        let mut rank = RankGraph::builder();
        for (op, deps) in nodes {
            rank.push(*op, deps.iter().copied(), Origin::default()).unwrap();
        }
        rank.finish()
    }

    fn send(tag: u32) -> Op {
        Op::Send { dst: 1, tag, bytes: 8 }
    }

    const COMP: Op = Op::Comp { micros: 0, ops: 0, bytes: 0 };

    /// The lanes, node by node; None if the order is not sure.
    fn lanes_of(nodes: &[(Op, &[u32])]) -> Option<Vec<Vec<u32>>> {
        let lanes = lanes(&rank(nodes))?;
        let walk = |head: &u32| {
            let next = |node: &u32| Some(lanes.next[*node as usize]).filter(|next| *next != END);
            std::iter::successors(Some(*head), next).collect()
        };
        Some(lanes.heads.iter().map(walk).collect())
    }

    #[test]
    fn a_chain_may_have_further_dependences_on_what_came_before() {
        assert!(is_chain(&rank(&[(COMP, &[]), (COMP, &[0]), (COMP, &[0, 1]), (COMP, &[2, 2])])));
        assert!(is_chain(&rank(&[])));
        for deps in [&[][..], &[0], &[1, 3], &[2]] {
            assert!(!is_chain(&rank(&[(COMP, &[]), (COMP, &[0]), (COMP, deps)])), "{deps:?}");
        }
        assert!(!is_chain(&rank(&[(COMP, &[0])])));
        assert!(!is_chain(&rank(&[(COMP, &[u32::MAX])])));
    }

    #[test]
    fn two_thread_blocks_are_two_lanes() {
        let mut rank = RankGraph::builder();
        for (block, op, deps) in [
            (0, send(0), &[][..]),
            (1, send(1), &[]),
            (0, COMP, &[0]),
            (1, COMP, &[1, 2]),
            (0, send(0), &[2]),
            (1, send(1), &[3]),
        ] {
            let step = Some(StepRef { thread_block: block, step: 0 });
            rank.push(op, deps.iter().copied(), Origin { step, source: None }).unwrap();
        }
        let lanes = lanes(&rank.finish()).unwrap();
        assert_eq!(lanes.heads, [0, 2, 3]);
        assert_eq!(lanes.next, [1, END, 4, 5, END, END]);
    }

    #[test]
    fn nodes_of_one_connection_follow_each_other_if_the_later_waits_for_no_less() {
        assert_eq!(lanes_of(&[(send(0), &[]), (send(0), &[])]), Some(vec![vec![0, 1]]));
        assert_eq!(
            lanes_of(&[(COMP, &[]), (send(0), &[0]), (COMP, &[]), (send(0), &[2, 0])]),
            Some(vec![vec![0, 2], vec![1, 3]])
        );
        // The second waits for other things, or for less.
        assert_eq!(lanes_of(&[(COMP, &[]), (send(0), &[0]), (COMP, &[]), (send(0), &[2])]), None);
        assert_eq!(lanes_of(&[(COMP, &[]), (send(0), &[0]), (send(0), &[])]), None);
        // The lane of the first has gone on with another node.
        let recv = Op::Recv { src: 1, tag: 0, bytes: 8 };
        let nodes: &[(Op, &[u32])] = &[(COMP, &[]), (recv, &[0]), (COMP, &[1]), (recv, &[0])];
        assert_eq!(lanes_of(nodes), Some(vec![vec![0], vec![1, 2], vec![3]]));
        // Another connection.
        assert!(lanes_of(&[(COMP, &[]), (send(0), &[0]), (send(1), &[])]).is_some());
        // What starts at once is first, whatever else is awaited by the other.
        assert!(lanes_of(&[(send(0), &[]), (COMP, &[]), (send(0), &[1])]).is_some());
    }

    #[test]
    fn receives_that_wait_for_nothing_need_no_lane() {
        let recv = |src| Op::Recv { src, tag: 0, bytes: 8 };
        let nodes: &[(Op, &[u32])] =
            &[(recv(1), &[]), (recv(2), &[]), (recv(1), &[]), (COMP, &[0]), (recv(2), &[3])];
        let lanes = lanes(&rank(nodes)).unwrap();
        assert_eq!((lanes.heads, lanes.loose), (vec![3], vec![0, 1, 2]));
        // Behind one that waits, one that does not is issued first: the order of messages is another.
        assert_eq!(lanes_of(&[(COMP, &[]), (recv(1), &[0]), (recv(1), &[])]), None);
    }

    #[test]
    fn an_order_through_other_lanes_is_found() {
        // The second SEND depends on the first through COMPs of another lane.
        let nodes: &[(Op, &[u32])] =
            &[(send(0), &[]), (COMP, &[]), (COMP, &[0]), (COMP, &[1, 2]), (COMP, &[3]), (send(0), &[4])];
        assert!(lanes_of(nodes).is_some());
    }

    #[test]
    fn dependences_on_later_nodes_do_no_harm_and_missing_ones_are_seen() {
        assert_eq!(lanes_of(&[(COMP, &[1]), (COMP, &[])]), Some(vec![vec![1], vec![0]]));
        assert_eq!(lanes_of(&[(COMP, &[5])]), None);
    }
}
