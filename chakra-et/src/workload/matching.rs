//! Which collectives of the members of one group are the same.

use rustc_hash::FxHashMap;

use super::collectives::{Collective, Disagreement};
use super::rank_file::label;
use super::{CollectiveKind, Group, Workload};
use crate::graph::Op;

/// The collectives of a group, in the order in which its first member launches them.
pub(super) struct Matched {
    pub(super) collectives: Vec<Collective>,
    /// Whether all members launch them in this order.
    pub(super) in_order: bool,
}

/// Joins what the members of a group issue: by position, the nodes in the order of their launches.
pub(super) fn join(workload: &Workload, group: usize, issued: &[Vec<u32>]) -> Result<Matched, Disagreement> {
    let members = Members { workload, group: group as u32, of: &workload.groups[group], issued };
    let Some(first) = issued.first() else { return Ok(Matched { collectives: Vec::new(), in_order: true }) };
    if let Some(position) = (1..issued.len()).find(|&position| issued[position].len() != first.len()) {
        return Err(members.missing(position));
    }
    if members.agree(|a, b| a == b) {
        return Ok(members.in_order());
    }
    match members.by_names() {
        Some(places) => members.reordered(&places),
        None if members.agree(|a, b| a.what() == b.what()) => Ok(members.in_order()),
        None => Err(members.different()),
    }
}

struct Members<'a> {
    workload: &'a Workload,
    group: u32,
    of: &'a Group,
    issued: &'a [Vec<u32>],
}

/// A collective as one member has it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part<'a> {
    kind: u32,
    bytes: u64,
    root: u32,
    name: &'a str,
}

impl Part<'_> {
    fn what(&self) -> (u32, u64, u32) {
        (self.kind, self.bytes, self.root)
    }
}

impl<'a> Members<'a> {
    fn rank(&self, position: usize) -> u32 {
        self.of.members[position]
    }

    fn part(&self, position: usize, node: u32) -> Part<'a> {
        let rank = &self.workload.ranks[self.rank(position) as usize];
        let (kind, bytes) = match rank.graph.op(node) {
            Op::Coll { kind, bytes } => (kind, bytes),
            _ => (0, 0),
        };
        Part { kind, bytes, root: rank.traits[node as usize].root, name: rank.name(node) }
    }

    /// Whether all members have what the first has, one after the other.
    fn agree(&self, same: impl Fn(Part<'_>, Part<'_>) -> bool) -> bool {
        (1..self.issued.len()).all(|position| {
            let both = self.issued[0].iter().zip(&self.issued[position]);
            both.into_iter().all(|(&a, &b)| same(self.part(0, a), self.part(position, b)))
        })
    }

    fn collective(&self, nodes: Vec<u32>) -> Collective {
        let Part { kind, bytes, root, .. } = self.part(0, nodes[0]);
        let kind = CollectiveKind::from_wire(kind).unwrap_or(CollectiveKind::Barrier);
        Collective { group: self.group, kind, bytes, root, nodes }
    }

    fn in_order(&self) -> Matched {
        let nodes = |k: usize| self.issued.iter().map(|nodes| nodes[k]).collect();
        let collectives = (0..self.issued[0].len()).map(|k| self.collective(nodes(k))).collect();
        Matched { collectives, in_order: true }
    }

    /// By position, where each collective of the first member is in the list of this one, if all use the same names
    /// and each only once.
    fn by_names(&self) -> Option<Vec<Vec<u32>>> {
        let count = self.issued[0].len();
        let mut places: FxHashMap<&str, u32> = FxHashMap::default();
        for (k, &node) in (0..).zip(&self.issued[0]) {
            let name = self.part(0, node).name;
            if name.is_empty() || places.insert(name, k).is_some() {
                return None;
            }
        }
        let mut all = Vec::with_capacity(self.issued.len());
        for (position, nodes) in self.issued.iter().enumerate() {
            let mut of_member = vec![u32::MAX; count];
            for (k, &node) in (0..).zip(nodes) {
                let place = &mut of_member[*places.get(self.part(position, node).name)? as usize];
                if *place != u32::MAX {
                    return None;
                }
                *place = k;
            }
            all.push(of_member);
        }
        Some(all)
    }

    fn reordered(&self, places: &[Vec<u32>]) -> Result<Matched, Disagreement> {
        let collectives = (0..self.issued[0].len()).map(|k| {
            let lists = self.issued.iter().zip(places);
            let nodes: Vec<u32> = lists.map(|(nodes, places)| nodes[places[k] as usize]).collect();
            let first = self.part(0, nodes[0]);
            match (1..nodes.len()).find(|&at| self.part(at, nodes[at]).what() != first.what()) {
                None => Ok(self.collective(nodes)),
                Some(other) => Err(self.of_one_name(first.name, other, nodes[0], nodes[other])),
            }
        });
        let collectives = collectives.collect::<Result<_, _>>()?;
        Ok(Matched { collectives, in_order: places.iter().all(|places| places.is_sorted()) })
    }

    /// The first member and another have something else under one name.
    fn of_one_name(&self, name: &str, other: usize, ours: u32, theirs: u32) -> Disagreement {
        let message = format!(
            "{}: the collective {name:?} is {} on rank {} ({}) but {} on rank {} ({})",
            self.of.label(),
            self.describe(0, ours),
            self.rank(0),
            self.id(0, ours),
            self.describe(other, theirs),
            self.rank(other),
            self.id(other, theirs),
        );
        self.disagreement(other, message)
    }

    fn disagreement(&self, position: usize, message: String) -> Disagreement {
        Disagreement { group: self.group, ranks: [self.rank(0), self.rank(position)], message }
    }

    fn describe(&self, position: usize, node: u32) -> String {
        let Part { kind, bytes, root, .. } = self.part(position, node);
        let root = self.of.members.get(root as usize).copied().unwrap_or(root);
        describe(CollectiveKind::from_wire(kind), bytes, root)
    }

    fn node(&self, position: usize, node: u32) -> String {
        label(&self.workload.ranks[self.rank(position) as usize], node)
    }

    fn id(&self, position: usize, node: u32) -> String {
        format!("node {}", self.workload.ranks[self.rank(position) as usize].graph.id(node))
    }

    /// A member issues another number of collectives than the first.
    fn missing(&self, position: usize) -> Disagreement {
        let counts = [self.issued[0].len(), self.issued[position].len()];
        let (more, fewer) = if counts[0] > counts[1] { (0, position) } else { (position, 0) };
        let first = self.first_missing(more, fewer);
        let message = format!(
            "{}: rank {} issues {} collective(s) on it, rank {} only {}: the first that rank {} has not is {} ({})",
            self.of.label(),
            self.rank(more),
            self.issued[more].len(),
            self.rank(fewer),
            self.issued[fewer].len(),
            self.rank(fewer),
            self.describe(more, first),
            self.node(more, first),
        );
        self.disagreement(position, message)
    }

    /// The first node of a member with more collectives that another has not: by name where the names of both tell,
    /// else the first that is another.
    fn first_missing(&self, more: usize, fewer: usize) -> u32 {
        let names = |position: usize| {
            let nodes = self.issued[position].iter();
            nodes.map(|&node| self.part(position, node).name).collect::<rustc_hash::FxHashSet<_>>()
        };
        let (mine, others) = (names(more), names(fewer));
        let tell = mine.len() == self.issued[more].len() && others.iter().all(|name| mine.contains(name));
        let nodes = &self.issued[more];
        let at = if tell {
            nodes.iter().position(|&node| !others.contains(self.part(more, node).name))
        } else {
            let both = nodes.iter().zip(&self.issued[fewer]);
            both.into_iter().position(|(&a, &b)| self.part(more, a).what() != self.part(fewer, b).what())
        };
        nodes[at.unwrap_or(self.issued[fewer].len())]
    }

    /// The first place at which a member has something else than the first.
    fn different(&self) -> Disagreement {
        let differs = |position: usize, k: usize| {
            let (a, b) = (self.issued[0][k], self.issued[position][k]);
            self.part(0, a).what() != self.part(position, b).what()
        };
        let all =
            (0..self.issued[0].len()).flat_map(|k| (1..self.issued.len()).map(move |position| (position, k)));
        let (position, k) = all.into_iter().find(|&(position, k)| differs(position, k)).unwrap_or((0, 0));
        let (a, b) = (self.issued[0][k], self.issued[position][k]);
        let message = format!(
            "{}: rank {}'s {} collective is {} ({}) but rank {}'s is {} ({})",
            self.of.label(),
            self.rank(0),
            ordinal(k + 1),
            self.describe(0, a),
            self.node(0, a),
            self.rank(position),
            self.describe(position, b),
            self.node(position, b),
        );
        self.disagreement(position, message)
    }
}

/// Such as `an all_reduce of 1024 bytes`, `a broadcast of 8 bytes from rank 3`.
pub(super) fn describe(kind: Option<CollectiveKind>, bytes: u64, root: u32) -> String {
    let name = kind.map_or("collective of no known kind", CollectiveKind::name);
    let article = if name.starts_with('a') { "an" } else { "a" };
    let root = match kind {
        Some(CollectiveKind::Broadcast | CollectiveKind::Scatter) => format!(" from rank {root}"),
        Some(CollectiveKind::Reduce | CollectiveKind::Gather) => format!(" to rank {root}"),
        _ => String::new(),
    };
    format!("{article} {name} of {bytes} bytes{root}")
}

/// Such as `1st`, `12th`, `22nd`.
fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_as_people_do() {
        let said = [1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111].map(ordinal);
        assert_eq!(
            said,
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "101st", "111th"]
        );
    }
}
