//! Rules about ids and dependences within a rank.

use rustc_hash::FxHashMap;

use crate::error::DepKind;
use crate::proto::Node;

use super::csr::Csr;
use super::cycles::cycles;
use super::finding::{Finding, NodeRef};
use super::node::Item;
use super::rules;
use super::survey::RankSurvey;

/// Dependences by id, as the nodes have them.
#[derive(Default)]
pub(crate) struct Raw {
    ids: Vec<u64>,
    /// For each node the end of its data dependences in `ids`, and of the others after them.
    ends: Vec<(usize, usize)>,
}

impl Raw {
    pub(crate) fn add(&mut self, node: &Node) {
        self.ids.extend_from_slice(&node.data_deps);
        let data_end = self.ids.len();
        self.ids.extend_from_slice(&node.ctrl_deps);
        self.ends.push((data_end, self.ids.len()));
    }

    /// Dependences by position. What cannot be resolved is reported and left out.
    pub(crate) fn resolve<'a>(
        self,
        items: &[Item],
        rank: usize,
        findings: &mut Vec<Finding>,
        name: impl Fn(usize) -> &'a str,
    ) -> Csr {
        let mut positions: FxHashMap<u64, u32> = FxHashMap::default();
        positions.reserve(items.len());
        let at = |position: usize| NodeRef { rank, node: items[position].id };
        for (position, item) in items.iter().enumerate() {
            let first = *positions.entry(item.id).or_insert(position as u32);
            if first as usize != position {
                let message = format!(
                    "{}: the id is also that of {}, which is node {first} of the file; ids must be unique within \
                     a rank",
                    super::named(item.id, name(position)),
                    super::named(item.id, name(first as usize)),
                );
                findings.push(Finding::of_node(&rules::DUPLICATE_ID, at(position), position, message));
            }
        }
        let mut deps = Csr::default();
        let mut list: Vec<u32> = Vec::new();
        let mut begin = 0;
        let mut control = 0;
        for (position, (item, &(data_end, end))) in items.iter().zip(&self.ends).enumerate() {
            list.clear();
            let mut twice: Option<u64> = None;
            let mut bad: Option<u64> = None;
            for (index, &dep) in self.ids[begin..end].iter().enumerate() {
                let kind = if begin + index < data_end { DepKind::Data } else { DepKind::Control };
                let (rule, message) = match positions.get(&dep) {
                    _ if dep == item.id => {
                        (&rules::SELF_DEP, format!("it has itself as a {kind} dependence"))
                    }
                    Some(&target) => {
                        list.push(target);
                        continue;
                    }
                    None => {
                        let message =
                            format!("it has a {kind} dependence on id {dep}, which no node of the rank has");
                        (&rules::DANGLING, message)
                    }
                };
                // The same fault twice in a row is one.
                if bad.replace(dep) != Some(dep) {
                    let message = format!("{}: {message}", super::named(item.id, name(position)));
                    findings.push(Finding::of_node(rule, at(position), position, message));
                }
            }
            control += end - data_end;
            begin = end;
            list.sort_unstable();
            for pair in list.windows(2) {
                if pair[0] == pair[1] && twice.is_none() {
                    twice = Some(items[pair[0] as usize].id);
                }
            }
            list.dedup();
            if let Some(dep) = twice {
                let message = format!(
                    "{}: it depends on id {dep} more than once, and the older feeder then never starts it",
                    super::named(item.id, name(position))
                );
                findings.push(Finding::of_node(&rules::DUPLICATE_DEP, at(position), position, message));
            }
            list.iter().for_each(|&dep| deps.push(dep));
            deps.end_list();
        }
        if control > 0 {
            let message = format!(
                "{control} dependence(s) are control dependences, which the older feeder ignores; write data \
                 dependences for it"
            );
            findings.push(Finding::of_rank(&rules::CONTROL_DEPS, rank, message));
        }
        deps
    }
}

/// Circles of dependences within a rank, and ranks that cannot begin.
pub(crate) fn check(rank: &RankSurvey, findings: &mut Vec<Finding>) {
    if rank.order.is_complete() {
        return;
    }
    for cycle in cycles(&rank.deps, |node| rank.order.runs(node)) {
        let Some(&first) = cycle.first() else { continue };
        let message = format!("{} nodes wait for one another: {}", cycle.len(), circle(rank, &cycle));
        let related = cycle.iter().map(|&node| rank.node_ref(node)).collect();
        let at = rank.node_ref(first);
        findings.push(Finding::of_node(&rules::CYCLIC, at, first as usize, message).with_related(related));
    }
    if rank.order.nodes.is_empty() {
        let message = "each node depends on another, so none can start".to_owned();
        findings.push(Finding::of_rank(&rules::NO_ROOT, rank.rank, message));
    }
}

/// Most nodes of a circle that a message names.
const SHOWN: usize = 12;

fn circle(rank: &RankSurvey, cycle: &[u32]) -> String {
    let mut names: Vec<String> = cycle.iter().take(SHOWN).map(|&node| rank.named(node)).collect();
    if cycle.len() > SHOWN {
        names.push(format!("{} more", cycle.len() - SHOWN));
    }
    if let Some(&first) = cycle.first() {
        names.push(format!("node {}", rank.items[first as usize].id));
    }
    names.join(" needs ")
}
