//! Finds nodes that wait for one another.

use std::collections::VecDeque;

use super::RankGraph;

impl RankGraph {
    /// Nodes that wait for one another in a circle, so that none of them can ever start: each depends on the
    /// next, and the last on the first. `None` if there is no such circle.
    ///
    /// The circle is a shortest one through its first node. Time is linear in nodes and dependences, and the
    /// depth of the graph does not matter.
    ///
    /// ```
    /// use chakra_et::graph::{Op, Origin, RankGraph};
    ///
    /// let mut builder = RankGraph::builder();
    /// for deps in [vec![], vec![2], vec![0, 1]] {
    ///     builder.push(Op::Other { node_type: 1 }, deps, Origin::default())?;
    /// }
    /// assert_eq!(builder.finish().cycle(), Some(vec![1, 2]));
    /// # Ok::<(), chakra_et::graph::TooLarge>(())
    /// ```
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<u32>> {
        let stuck = self.stuck()?;
        self.shortest_through(self.on_a_cycle(&stuck)?, &stuck)
    }

    /// Which nodes can never start; `None` if all can.
    fn stuck(&self) -> Option<Vec<bool>> {
        let nodes = self.len();
        // Who waits for each node, as one array with the end of each part: the reverse of `deps`.
        let mut ends = vec![0_u32; nodes + 1];
        for &dep in &self.deps {
            ends[dep as usize + 1] += 1;
        }
        for node in 0..nodes {
            ends[node + 1] += ends[node];
        }
        let mut waiters = vec![0_u32; self.deps.len()];
        let mut missing = vec![0_u32; nodes];
        for node in 0..nodes as u32 {
            for &dep in self.deps(node) {
                let at = &mut ends[dep as usize];
                waiters[*at as usize] = node;
                *at += 1;
                missing[node as usize] += 1;
            }
        }
        // Filling has moved each begin to where the part ends, so part i is now ends[i - 1]..ends[i].
        let mut ready: Vec<u32> = (0..nodes as u32).filter(|&node| missing[node as usize] == 0).collect();
        let mut started = 0;
        while let Some(node) = ready.pop() {
            started += 1;
            let node = node as usize;
            let begin = if node == 0 { 0 } else { ends[node - 1] };
            for &waiter in &waiters[begin as usize..ends[node] as usize] {
                missing[waiter as usize] -= 1;
                if missing[waiter as usize] == 0 {
                    ready.push(waiter);
                }
            }
        }
        (started < nodes).then(|| missing.iter().map(|&missing| missing > 0).collect())
    }

    /// A node on a circle: a stuck node waits for another stuck one, so following them must come back.
    fn on_a_cycle(&self, stuck: &[bool]) -> Option<u32> {
        let mut visited = vec![false; self.len()];
        let mut node = stuck.iter().position(|&stuck| stuck)? as u32;
        while !visited[node as usize] {
            visited[node as usize] = true;
            node = *self.deps(node).iter().find(|&&dep| stuck[dep as usize])?;
        }
        Some(node)
    }

    /// A shortest circle through a node that is on one.
    fn shortest_through(&self, first: u32, stuck: &[bool]) -> Option<Vec<u32>> {
        let mut reached_from: Vec<Option<u32>> = vec![None; self.len()];
        let mut queue = VecDeque::from([first]);
        while let Some(node) = queue.pop_front() {
            for &dep in self.deps(node) {
                if dep == first {
                    let mut cycle = vec![node];
                    let mut at = node;
                    while let Some(before) = reached_from[at as usize] {
                        cycle.push(before);
                        at = before;
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if stuck[dep as usize] && reached_from[dep as usize].is_none() {
                    reached_from[dep as usize] = Some(node);
                    queue.push_back(dep);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{Op, Origin, RankGraph};

    fn rank(deps: &[&[u32]]) -> RankGraph {
        let mut builder = RankGraph::builder();
        for deps in deps {
            builder.push(Op::Other { node_type: 4 }, deps.iter().copied(), Origin::default()).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn a_graph_whose_nodes_can_all_start_has_none() {
        assert_eq!(rank(&[]).cycle(), None);
        assert_eq!(rank(&[&[1, 2], &[2], &[]]).cycle(), None);
    }

    #[test]
    fn a_node_behind_or_before_the_circle_is_not_blamed() {
        // 0 waits for the circle 1 -> 3 -> 2 -> 1; all wait for 4, too.
        assert_eq!(rank(&[&[1, 4], &[3, 4], &[1], &[2], &[]]).cycle(), Some(vec![1, 3, 2]));
    }

    #[test]
    fn a_node_that_waits_for_itself_is_a_circle() {
        assert_eq!(rank(&[&[], &[1]]).cycle(), Some(vec![1]));
    }

    #[test]
    fn of_several_circles_through_a_node_a_shortest_is_given() {
        assert_eq!(rank(&[&[1, 3], &[2], &[0], &[0]]).cycle(), Some(vec![0, 3]));
    }

    #[test]
    fn a_very_deep_graph_is_no_difficulty() {
        let nodes = 1_000_000_u32;
        let mut builder = RankGraph::builder();
        for node in 0..nodes {
            let dep = if node == 0 { nodes - 1 } else { node - 1 };
            builder.push(Op::Other { node_type: 4 }, [dep], Origin::default()).unwrap();
        }
        assert_eq!(builder.finish().cycle().map(|cycle| cycle.len()), Some(nodes as usize));
    }
}
