//! The order in which the nodes of a rank could run one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use thiserror::Error;

use super::RankWorkload;

/// Nodes of a rank that wait for one another in a circle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("node {} waits for itself: {}", nodes[0], circle(nodes))]
#[non_exhaustive]
pub struct Cyclic {
    /// The ids of the nodes; each depends on the next, and the last on the first.
    pub nodes: Vec<u64>,
}

fn circle(nodes: &[u64]) -> String {
    const SHOWN: usize = 8;
    let shown = nodes.iter().chain(nodes.first()).take(SHOWN + 1).map(u64::to_string).collect::<Vec<_>>();
    let more = if nodes.len() > SHOWN { format!(" … ({} nodes)", nodes.len()) } else { String::new() };
    format!("{}{more}", shown.join(" needs "))
}

impl RankWorkload {
    /// All nodes in an order in which each comes after those that it depends on: of those that could run, always
    /// the one with the lowest id. This is the order in which one thread would launch them.
    ///
    /// # Errors
    ///
    /// There is no such order, because nodes wait for one another.
    pub fn order(&self) -> Result<Vec<u32>, Cyclic> {
        let graph = &self.graph;
        let nodes = graph.len();
        let mut missing: Vec<u32> = (0..nodes as u32).map(|node| graph.deps(node).len() as u32).collect();
        let mut ends = vec![0_u32; nodes + 1];
        for node in 0..nodes as u32 {
            graph.deps(node).iter().for_each(|dep| ends[*dep as usize + 1] += 1);
        }
        for node in 0..nodes {
            ends[node + 1] += ends[node];
        }
        let mut successors = vec![0_u32; ends[nodes] as usize];
        let mut next = ends.clone();
        for node in 0..nodes as u32 {
            for dep in graph.deps(node) {
                let at = &mut next[*dep as usize];
                successors[*at as usize] = node;
                *at += 1;
            }
        }
        let mut ready: BinaryHeap<Reverse<u32>> =
            (0..nodes as u32).filter(|node| missing[*node as usize] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(nodes);
        while let Some(Reverse(node)) = ready.pop() {
            order.push(node);
            for successor in &successors[ends[node as usize] as usize..ends[node as usize + 1] as usize] {
                let missing = &mut missing[*successor as usize];
                *missing -= 1;
                if *missing == 0 {
                    ready.push(Reverse(*successor));
                }
            }
        }
        match graph.cycle() {
            Some(nodes) if order.len() < graph.len() => {
                Err(Cyclic { nodes: nodes.into_iter().map(|node| graph.id(node)).collect() })
            }
            _ => Ok(order),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cost, WorkloadBuilder};

    #[test]
    fn of_those_that_could_run_the_lowest_comes_first() {
        let mut builder = WorkloadBuilder::new(1);
        for deps in [&[][..], &[], &[1], &[0], &[2]] {
            builder.compute(0, "", Cost::default(), deps).unwrap();
        }
        assert_eq!(builder.finish().rank(0).order(), Ok(vec![0, 1, 2, 3, 4]));
    }
}
