//! The groups of a workload and their collectives, alike ones together.

use std::collections::BTreeMap;

use chakra_et::workload::{Collective, CollectiveKind, Collectives, Workload};
use collective::sim::units::Bytes;

use super::collectives::{SIZES, is_gathered};
use super::figures::shortened;
use crate::output::table;
use crate::units_shown;

/// Most ranks that are shown of a group.
const RANKS: usize = 8;

/// The collectives of a kind on a group; sizes by the convention of nccl-tests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OfKind {
    kind: CollectiveKind,
    count: usize,
    least: u64,
    most: u64,
}

/// The groups with as many ranks and such collectives.
struct Alike<'a> {
    /// The first.
    members: &'a [u32],
    label: String,
    /// Of each kind the name of a node.
    examples: Vec<&'a str>,
    count: usize,
}

fn of_kinds(collectives: &[&Collective], ranks: u32) -> Vec<OfKind> {
    let mut kinds: BTreeMap<CollectiveKind, OfKind> = BTreeMap::new();
    for Collective { kind, bytes, .. } in collectives {
        let size = kind.size(*bytes, ranks.into()).unwrap_or(u64::MAX);
        let new = OfKind { kind: *kind, count: 0, least: size, most: size };
        let known = kinds.entry(*kind).or_insert(new);
        known.count += 1;
        (known.least, known.most) = (known.least.min(size), known.most.max(size));
    }
    kinds.into_values().collect()
}

/// The groups, alike ones as one unless `per_group`, with the collectives of each and a node's name of each kind, so that one can tell what they are
/// for. Nothing if there are no collectives.
pub(super) fn to_text(workload: &Workload, collectives: &Collectives, per_group: bool) -> String {
    let mut of_group: BTreeMap<u32, Vec<&Collective>> = BTreeMap::new();
    for collective in &collectives.all {
        of_group.entry(collective.group).or_default().push(collective);
    }
    // In the order of the first of each.
    let mut all: Vec<((usize, Vec<OfKind>), Alike<'_>)> = Vec::new();
    for (number, collectives) in &of_group {
        let Some(group) = workload.groups().get(*number as usize) else { continue };
        let key = (group.members.len(), of_kinds(collectives, group.members.len() as u32));
        if let Some((_, known)) = all.iter_mut().find(|(known, _)| !per_group && *known == key) {
            known.count += 1;
            continue;
        }
        let name = |kind: CollectiveKind| {
            let first = collectives.iter().find(|collective| collective.kind == kind)?;
            let rank = workload.rank(*group.members.first()? as usize);
            Some(rank.name(*first.nodes.first()?))
        };
        let examples = key.1.iter().map(|of_kind| name(of_kind.kind).unwrap_or_default()).collect();
        all.push((key, Alike { members: &group.members, label: group.label(), examples, count: 1 }));
    }
    if all.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n");
    let header = ["  collectives", "count", "size", "such as"].map(str::to_owned).to_vec();
    let mut cells = vec![header];
    for ((_, kinds), alike) in &all {
        for (of_kind, example) in kinds.iter().zip(&alike.examples) {
            let mut size = units_shown::size(Bytes(of_kind.least));
            if of_kind.most > of_kind.least {
                size.push_str(&format!(" to {}", units_shown::size(Bytes(of_kind.most))));
            }
            let count = format!(
                "{}{}",
                if alike.count > 1 { format!("{} × ", alike.count) } else { String::new() },
                of_kind.count
            );
            let example =
                if example.is_empty() { String::new() } else { format!("{:?}", shortened(example, 32)) };
            cells.push(vec![format!("  {}", of_kind.kind), count, size, example]);
        }
    }
    let table = table(&cells);
    let mut lines = table.lines();
    let header = lines.next().unwrap_or_default();
    text.push_str(&format!("{header}\n"));
    for ((ranks, kinds), alike) in &all {
        text.push_str(&format!("{}\n", heading(alike, *ranks)));
        lines.by_ref().take(kinds.len()).for_each(|line| text.push_str(&format!("{line}\n")));
    }
    if all.iter().any(|((_, kinds), _)| kinds.iter().any(|of_kind| is_gathered(of_kind.kind))) {
        text.push_str(SIZES);
    }
    text
}

/// `4 groups of 8 ranks like group "5" (0, 2, 4, 6, 8, 10, 12, 14)`.
fn heading(alike: &Alike<'_>, ranks: usize) -> String {
    let shown: Vec<String> = alike.members.iter().take(RANKS).map(u32::to_string).collect();
    let more = if ranks > RANKS { ", …" } else { "" };
    let plural = if ranks == 1 { "" } else { "s" };
    let label = &alike.label;
    let what = match alike.count {
        1 => format!("{label} of {ranks} rank{plural}"),
        count => format!("{count} groups of {ranks} rank{plural} like {label}"),
    };
    format!("{what} ({}{more})", shown.join(", "))
}
