//! Finds sends, or receives, of one key that no dependence orders: which of them meets which message is chance.
//!
//! The ends of a key are compared in the order in which they run, each with the next: if each depends on the
//! one before, all are ordered. Whether one node depends on another is found by going back from it, but not
//! past the depth of the other. Nodes are first strung into chains (each node continues the chain of its first
//! dependence that nobody else continues); reaching the other's chain behind it settles the matter at once,
//! which is so for nearly all traces. The search is bounded, for each pair and in all, so that time stays
//! proportional to the size of the trace; what it leaves open is a note.

use super::Context;
use super::RankSurvey;
use super::finding::Finding;
use super::messages::{End, Pairs};
use super::rules;

/// Nodes that the search visits at most for one pair.
const PAIR_BUDGET: usize = 4096;

pub(crate) fn check(context: &Context<'_>, pairs: &Pairs, findings: &mut Vec<Finding>) {
    // Of a single file, the number of the rank is no index.
    if !context.whole {
        return;
    }
    let mut ends: Vec<&End> = pairs.ends.iter().collect();
    // By rank, and within it as before: by key and place.
    ends.sort_by_key(|end| end.rank());
    for of_rank in ends.chunk_by(|a, b| a.rank() == b.rank()) {
        let Some(rank) = of_rank.first().and_then(|end| context.survey.ranks.get(end.rank())) else {
            continue;
        };
        let mut reach = Reach::default();
        let mut open = 0_u64;
        let key = |end: &End| (end.src, end.dst, end.tag, end.receives);
        for pair in of_rank.windows(2).filter(|pair| key(pair[0]) == key(pair[1])) {
            let (first, second) = (pair[0], pair[1]);
            if !rank.order.runs(first.node) || !rank.order.runs(second.node) {
                continue;
            }
            match reach.depends(rank, second.node, first.node) {
                Some(true) => {}
                None => open += 1,
                Some(false) => {
                    let (verb, preposition, other) = if first.receives {
                        ("receive", "from", first.src)
                    } else {
                        ("send", "to", first.dst)
                    };
                    let message = format!(
                        "{} and {} both {verb} with tag {} {preposition} rank {other}, and no dependence orders \
                         them",
                        rank.named(first.node),
                        rank.named(second.node),
                        first.tag,
                    );
                    let at = rank.node_ref(first.node);
                    let finding = Finding::of_node(&rules::UNORDERED, at, first.node as usize, message);
                    findings.push(finding.with_related(vec![rank.node_ref(second.node)]));
                }
            }
        }
        if open > 0 {
            let message = format!("whether dependences order {open} pair(s) of messages was not found out");
            findings.push(Finding::of_rank(&rules::UNORDERED_UNCHECKED, rank.rank, message));
        }
    }
}

/// Answers whether one node depends on another.
#[derive(Default)]
pub(crate) struct Reach {
    /// For each node its chain and its place on it.
    chains: Vec<(u32, u32)>,
    /// In which search each node was seen last.
    seen: Vec<u32>,
    search: u32,
    visited: usize,
}

impl Reach {
    /// Whether `later` depends on `earlier`, directly or not; `None` if the search was given up.
    pub(crate) fn depends(&mut self, rank: &RankSurvey, later: u32, earlier: u32) -> Option<bool> {
        if self.chains.is_empty() {
            self.chains = chains(rank);
            self.seen = vec![0; rank.len()];
        }
        let budget = 8 * (rank.len() + rank.deps.item_count()) + (1 << 16);
        let (chain, place) = self.chains[earlier as usize];
        let depth = rank.order.depth[earlier as usize];
        self.search += 1;
        let mut open = vec![later];
        let mut visited = 0;
        while let Some(node) = open.pop() {
            let at = self.chains[node as usize];
            if node == earlier || (at.0 == chain && at.1 >= place) {
                return Some(true);
            }
            visited += 1;
            self.visited += 1;
            if visited > PAIR_BUDGET || self.visited > budget {
                return None;
            }
            for &dep in rank.deps.list(node) {
                let dep_at = dep as usize;
                if rank.order.depth[dep_at] >= depth && self.seen[dep_at] != self.search {
                    self.seen[dep_at] = self.search;
                    open.push(dep);
                }
            }
        }
        Some(false)
    }
}

/// Strings the nodes into chains.
fn chains(rank: &RankSurvey) -> Vec<(u32, u32)> {
    let mut chains = vec![(u32::MAX, 0); rank.len()];
    let mut continued = vec![false; rank.len()];
    let mut next = 0;
    for &node in &rank.order.nodes {
        let before = rank.deps.list(node).iter().find(|&&dep| !continued[dep as usize]);
        chains[node as usize] = match before {
            Some(&before) => {
                continued[before as usize] = true;
                let (chain, place) = chains[before as usize];
                (chain, place + 1)
            }
            None => {
                next += 1;
                (next - 1, 0)
            }
        };
    }
    chains
}
