//! Circles of dependences: one, as short as can be found, for each knot of nodes that wait for one another.

use std::collections::VecDeque;

use super::csr::Csr;

/// Edges that the search for shorter circles may follow beyond the first circle of each knot.
const BUDGET: usize = 1 << 22;

/// A circle for each strongly connected part of more than one node: each node depends on the next, the last
/// on the first, and it begins with its smallest number. `skip` are nodes that cannot be on one.
///
/// The circles are the shortest of their parts unless finding out would take more than a fixed number of
/// steps (4 million); then the shortest that was found.
pub(crate) fn cycles(deps: &Csr, skip: impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
    let parts = parts(deps, skip);
    let mut part_of = vec![u32::MAX; deps.len()];
    for (number, part) in parts.iter().enumerate() {
        for &node in part {
            part_of[node as usize] = number as u32;
        }
    }
    let mut search = Search { deps, part_of: &part_of, reached_from: vec![NONE; deps.len()], followed: 0 };
    let mut found: Vec<Vec<u32>> = parts.iter().filter_map(|part| search.shortest(part)).collect();
    found.sort();
    found
}

const NONE: u32 = u32::MAX;

struct Search<'a> {
    deps: &'a Csr,
    part_of: &'a [u32],
    reached_from: Vec<u32>,
    followed: usize,
}

impl Search<'_> {
    fn shortest(&mut self, part: &[u32]) -> Option<Vec<u32>> {
        let mut best: Option<Vec<u32>> = None;
        for &first in part {
            let limit = best.as_ref().map_or(usize::MAX, Vec::len);
            // No circle is shorter than two.
            if limit == 2 || (best.is_some() && self.followed > BUDGET) {
                break;
            }
            if let Some(cycle) = self.through(first, limit) {
                best = Some(cycle);
            }
        }
        let mut cycle = best?;
        let smallest = cycle.iter().enumerate().min_by_key(|&(_, node)| node).map_or(0, |(at, _)| at);
        cycle.rotate_left(smallest);
        Some(cycle)
    }

    /// A shortest circle through a node, if it has fewer nodes than `limit`.
    fn through(&mut self, first: u32, limit: usize) -> Option<Vec<u32>> {
        let part = self.part_of[first as usize];
        let mut seen = vec![first];
        let mut queue = VecDeque::from([(first, 1_usize)]);
        let mut last = None;
        'search: while let Some((node, length)) = queue.pop_front() {
            if length >= limit {
                break;
            }
            for &dep in self.deps.list(node) {
                self.followed += 1;
                if dep == first {
                    last = Some(node);
                    break 'search;
                }
                let at = dep as usize;
                if self.part_of[at] == part && self.reached_from[at] == NONE {
                    self.reached_from[at] = node;
                    seen.push(dep);
                    queue.push_back((dep, length + 1));
                }
            }
        }
        let cycle = last.map(|last| {
            let mut cycle = vec![last];
            let mut at = last;
            while at != first {
                at = self.reached_from[at as usize];
                cycle.push(at);
            }
            cycle.reverse();
            cycle
        });
        for node in seen {
            self.reached_from[node as usize] = NONE;
        }
        cycle
    }
}

/// The strongly connected parts of more than one node, each ascending (Tarjan's algorithm, without recursion).
fn parts(deps: &Csr, skip: impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
    let count = deps.len();
    let mut index = vec![NONE; count];
    let mut low = vec![0_u32; count];
    let mut on_stack = vec![false; count];
    let mut stack = Vec::new();
    let mut next = 0;
    let mut parts = Vec::new();
    // A node with the number of dependences that were followed.
    let mut calls: Vec<(u32, usize)> = Vec::new();
    for root in 0..count as u32 {
        if index[root as usize] != NONE || skip(root) {
            continue;
        }
        calls.push((root, 0));
        while let Some(&mut (node, ref mut followed)) = calls.last_mut() {
            let at = node as usize;
            if *followed == 0 {
                index[at] = next;
                low[at] = next;
                next += 1;
                stack.push(node);
                on_stack[at] = true;
            }
            let dep = deps.list(node).get(*followed).copied();
            *followed += 1;
            if let Some(dep) = dep {
                let dep_at = dep as usize;
                if index[dep_at] == NONE && !skip(dep) {
                    calls.push((dep, 0));
                } else if on_stack[dep_at] {
                    low[at] = low[at].min(index[dep_at]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(parent, _)) = calls.last() {
                low[parent as usize] = low[parent as usize].min(low[at]);
            }
            if low[at] == index[at] {
                let mut part = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member as usize] = false;
                    part.push(member);
                    if member == node {
                        break;
                    }
                }
                if part.len() > 1 {
                    part.sort_unstable();
                    parts.push(part);
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lists: &[&[u32]]) -> Vec<Vec<u32>> {
        let mut csr = Csr::default();
        for list in lists {
            list.iter().for_each(|&item| csr.push(item));
            csr.end_list();
        }
        cycles(&csr, |_| false)
    }

    #[test]
    fn each_knot_gives_its_shortest_circle() {
        assert_eq!(found(&[&[1, 2], &[2], &[]]), [[0_u32; 0]; 0]);
        // 0 -> 1 -> 2 -> 0 with the shortcut 1 -> 0; 3 <-> 4; 5 waits for both.
        let lists: &[&[u32]] = &[&[1], &[2, 0], &[0], &[4], &[3], &[0, 3]];
        assert_eq!(found(lists), [[0, 1], [3, 4]]);
    }

    #[test]
    fn a_shortest_circle_need_not_go_through_the_smallest_node() {
        // 0 -> 1 -> 2 -> 3 -> 0, and 2 <-> 3.
        assert_eq!(found(&[&[1], &[2], &[3], &[0, 2]]), [[2, 3]]);
    }

    #[test]
    fn a_circle_of_a_million_nodes_is_no_difficulty() {
        let mut csr = Csr::default();
        let count = 1_000_000;
        for node in 0..count {
            csr.push((node + 1) % count);
            csr.end_list();
        }
        let cycles = cycles(&csr, |_| false);
        assert_eq!(cycles.iter().map(Vec::len).collect::<Vec<_>>(), [count as usize]);
    }
}
