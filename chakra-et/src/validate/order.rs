//! An order in which the nodes of a rank can run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::csr::Csr;

/// Nodes in the order in which they run if of all that can start the one with the lowest id does, as in
/// ASTRA-sim; and how deep each is.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Nodes that can run, in order.
    pub(crate) nodes: Vec<u32>,
    /// Place of each node in `nodes`, or [`Order::NEVER`].
    pub(crate) place: Vec<u32>,
    /// Nodes on the longest chain that ends in each node; 0 for nodes that never run.
    pub(crate) depth: Vec<u32>,
}

impl Order {
    pub(crate) const NEVER: u32 = u32::MAX;

    pub(crate) fn of(deps: &Csr, id: impl Fn(u32) -> u64) -> Self {
        let count = deps.len();
        let waiters = deps.reversed();
        let mut missing: Vec<usize> = (0..count as u32).map(|node| deps.list(node).len()).collect();
        let mut ready: BinaryHeap<Reverse<(u64, u32)>> = (0..count as u32)
            .filter(|&node| missing[node as usize] == 0)
            .map(|node| Reverse((id(node), node)))
            .collect();
        let mut order =
            Self { nodes: Vec::with_capacity(count), place: vec![Self::NEVER; count], depth: vec![0; count] };
        while let Some(Reverse((_, node))) = ready.pop() {
            let at = node as usize;
            order.place[at] = order.nodes.len() as u32;
            order.nodes.push(node);
            order.depth[at] += 1;
            let depth = order.depth[at];
            for &waiter in waiters.list(node) {
                let waiter_at = waiter as usize;
                order.depth[waiter_at] = order.depth[waiter_at].max(depth);
                missing[waiter_at] -= 1;
                if missing[waiter_at] == 0 {
                    ready.push(Reverse((id(waiter), waiter)));
                }
            }
        }
        for (depth, &place) in order.depth.iter_mut().zip(&order.place) {
            if place == Self::NEVER {
                *depth = 0;
            }
        }
        order
    }

    /// Whether every node can run.
    pub(crate) fn is_complete(&self) -> bool {
        self.nodes.len() == self.place.len()
    }

    pub(crate) fn runs(&self, node: u32) -> bool {
        self.place.get(node as usize).is_some_and(|&place| place != Self::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(lists: &[&[u32]]) -> Csr {
        let mut csr = Csr::default();
        for list in lists {
            list.iter().for_each(|&item| csr.push(item));
            csr.end_list();
        }
        csr
    }

    #[test]
    fn of_the_nodes_that_can_start_the_lowest_id_does() {
        // 0 -> 2, 1 -> 3; ids 9, 5, 1, 7.
        let order = Order::of(&lists(&[&[], &[], &[0], &[1]]), |node| [9, 5, 1, 7][node as usize]);
        assert_eq!(order.nodes, [1, 3, 0, 2]);
        assert_eq!((order.depth, order.place), (vec![1, 1, 2, 2], vec![2, 0, 3, 1]));
    }

    #[test]
    fn nodes_in_and_behind_a_circle_never_run() {
        let order = Order::of(&lists(&[&[1], &[0], &[1], &[]]), u64::from);
        assert!(!order.is_complete());
        assert_eq!([0, 1, 2, 3].map(|node| order.runs(node)), [false, false, false, true]);
        assert_eq!(order.depth, [0, 0, 0, 1]);
    }
}
