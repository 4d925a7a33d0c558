//! Rules about collectives: that the ranks of a group issue the same ones.
//!
//! Which collective of one rank is which of another is told by kind and size, by name where all members of the
//! group use the same names, and otherwise by the order in which each rank issues them (of those that could run,
//! by ascending id). Collectives that involve only some dimensions of the network are left out: which ranks they
//! join is not in the trace.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::proto::CollectiveCommType;

use super::finding::Finding;
use super::node::Act;
use super::rules;
use super::{Context, RankSurvey};

/// The collectives of a trace, each joined from nodes of several ranks.
#[derive(Debug, Default)]
pub(crate) struct Instances {
    /// For each rank its nodes that take part in a collective, in the order in which they run, with its number.
    pub(crate) of_rank: Vec<Vec<(u32, u32)>>,
    /// How messages name each collective.
    pub(crate) labels: Vec<String>,
}

/// A collective of one rank.
#[derive(Clone, Copy)]
struct Issue<'a> {
    node: u32,
    kind: u32,
    bytes: u64,
    name: &'a str,
}

impl Issue<'_> {
    fn what(&self) -> (u32, u64) {
        (self.kind, self.bytes)
    }

    fn label(&self) -> String {
        label(self.kind, self.bytes)
    }
}

fn label(kind: u32, bytes: u64) -> String {
    let known = i32::try_from(kind).ok().and_then(|kind| CollectiveCommType::try_from(kind).ok());
    match known {
        Some(known) => format!("{} of {bytes} bytes", known.as_str_name()),
        None => format!("collective {kind} of {bytes} bytes"),
    }
}

/// What each rank issues on a group, by rank.
type Members<'a> = BTreeMap<usize, Vec<Issue<'a>>>;

pub(crate) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) -> Instances {
    let ranks = &context.survey.ranks;
    let mut instances = Instances { of_rank: vec![Vec::new(); ranks.len()], labels: Vec::new() };
    if !context.whole || ranks.iter().any(|rank| !rank.order.is_complete()) {
        return instances;
    }
    let (groups, broken) = issues(ranks);
    for (group, mut members) in groups {
        if broken.contains(&group) {
            continue;
        }
        // Members that issue nothing.
        match group.map(|group| context.groups.members(group)) {
            None => (0..ranks.len()).for_each(|rank| {
                members.entry(rank).or_default();
            }),
            Some(Some(listed)) => {
                for rank in listed.iter().filter_map(|&rank| usize::try_from(rank).ok()) {
                    if rank < ranks.len() {
                        members.entry(rank).or_default();
                    }
                }
            }
            Some(None) => {}
        }
        mismatch(ranks, group, &members, findings);
        number(group, &members, &mut instances);
    }
    for (rank, list) in ranks.iter().zip(&mut instances.of_rank) {
        list.sort_by_key(|&(node, _)| rank.order.place[node as usize]);
    }
    instances
}

type Broken<'a> = BTreeSet<Option<&'a str>>;

/// What is issued on each group, and the groups with collectives that are broken.
fn issues(ranks: &[RankSurvey]) -> (BTreeMap<Option<&str>, Members<'_>>, Broken<'_>) {
    let mut groups: BTreeMap<Option<&str>, Members<'_>> = BTreeMap::new();
    let mut broken = BTreeSet::new();
    for (at, rank) in ranks.iter().enumerate() {
        for &node in &rank.order.nodes {
            let item = &rank.items[node as usize];
            if item.partial {
                continue;
            }
            match item.act {
                Act::Coll { kind, bytes } => {
                    let issue = Issue { node, kind, bytes, name: rank.name(node as usize) };
                    groups.entry(rank.group(node)).or_default().entry(at).or_default().push(issue);
                }
                Act::Broken => drop(broken.insert(rank.group(node))),
                _ => {}
            }
        }
    }
    (groups, broken)
}

fn group_label(group: Option<&str>) -> String {
    group.map_or("the group of all ranks".to_owned(), |group| format!("group {group:?}"))
}

/// Reports ranks whose collectives are not those of the first member.
fn mismatch(ranks: &[RankSurvey], group: Option<&str>, members: &Members<'_>, findings: &mut Vec<Finding>) {
    let sorted = |issues: &[Issue<'_>]| {
        let mut what: Vec<(u32, u64)> = issues.iter().map(Issue::what).collect();
        what.sort_unstable();
        what
    };
    // Compared with the first that issues something.
    let Some((&first, expected)) = members.iter().find(|(_, issues)| !issues.is_empty()) else { return };
    let expected_sorted = sorted(expected);
    for (&rank, issues) in members.iter().filter(|(_, issues)| sorted(issues) != expected_sorted) {
        let survey = &ranks[rank];
        let on = group_label(group);
        let position = issues.iter().zip(expected).position(|(own, other)| own.what() != other.what());
        let message = match position.map(|at| (at, issues.get(at), expected.get(at))) {
            Some((at, Some(own), Some(other))) => format!(
                "{} is {}, number {} of the rank on {on}, where rank {first} has {}, {}",
                survey.named(own.node),
                own.label(),
                at + 1,
                ranks[first].named(other.node),
                other.label()
            ),
            _ => format!(
                "it issues {} collective(s) on {on}, but rank {first} issues {}",
                issues.len(),
                expected.len()
            ),
        };
        let node = position.and_then(|at| issues.get(at));
        let related = position.and_then(|at| expected.get(at)).or(expected.first());
        let finding = match node {
            Some(own) => Finding::of_node(
                &rules::COLLECTIVE_MISMATCH,
                survey.node_ref(own.node),
                own.node as usize,
                message,
            ),
            None => Finding::of_rank(&rules::COLLECTIVE_MISMATCH, survey.rank, message),
        };
        let related = related.map(|other| ranks[first].node_ref(other.node)).into_iter().collect();
        findings.push(finding.with_related(related));
    }
}

/// Joins the collectives of the members.
fn number(group: Option<&str>, members: &Members<'_>, instances: &mut Instances) {
    let named = same_names(members);
    let mut numbers: FxHashMap<(u32, u64, &str, u32), u32> = FxHashMap::default();
    for (&rank, issues) in members {
        let mut counts: FxHashMap<(u32, u64, &str), u32> = FxHashMap::default();
        for issue in issues {
            let what = (issue.kind, issue.bytes, if named { issue.name } else { "" });
            let count = counts.entry(what).or_default();
            let labels = &mut instances.labels;
            let number = *numbers.entry((what.0, what.1, what.2, *count)).or_insert_with(|| {
                let name = if named && !what.2.is_empty() { format!(" {:?}", what.2) } else { String::new() };
                labels.push(format!("{}{name} on {}", label(what.0, what.1), group_label(group)));
                (labels.len() - 1) as u32
            });
            *count += 1;
            instances.of_rank[rank].push((issue.node, number));
        }
    }
}

/// Whether all members use the same names for the same collectives.
fn same_names(members: &Members<'_>) -> bool {
    let mut lists = members.values().map(|issues| {
        let mut list: Vec<_> = issues.iter().map(|issue| (issue.name, issue.what())).collect();
        list.sort_unstable();
        list
    });
    let Some(first) = lists.next() else { return false };
    lists.all(|list| list == first)
}
