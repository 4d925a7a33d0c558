//! The groups of a workload: who is in them, and whether the nodes on them may be.

use std::collections::BTreeMap;

use super::rank_file::{RankFile, label};
use super::read::{GroupProblem, LoadError};
use super::{CollectiveKind, Group};
use crate::error::Input;
use crate::graph::Op;
use crate::groups::Groups;
use crate::warning::{Warning, WarningKind};

/// Most groups that a message names.
const SHOWN: usize = 12;

/// Makes the list of groups, and the nodes of the files refer to it.
pub(super) fn resolve(
    files: &mut [RankFile],
    given: Option<&Groups>,
    input: &impl Fn(usize) -> Input,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Group>, LoadError> {
    let described = match given {
        Some(_) => None,
        None => Some(files.iter().fold(Groups::default(), |mut all, file| {
            all.add_missing(&file.process_groups);
            all
        })),
    };
    let known = Known { groups: given.or(described.as_ref()), given: given.is_some(), ranks: files.len() };
    let members = (0..files.len() as u32).collect();
    let mut groups = vec![Group { name: String::new(), members }];
    // Of a group that cannot be used the reason, by its name.
    let mut unusable: BTreeMap<String, String> = BTreeMap::new();
    for (name, members) in known.sorted() {
        match known.members(name, members) {
            Ok(Some(members)) => groups.push(Group { name: name.to_owned(), members }),
            Ok(None) => {}
            Err(why) => drop(unusable.insert(name.to_owned(), why)),
        }
    }
    let numbers: BTreeMap<&str, u32> =
        groups.iter().zip(0..).map(|(group, at)| (group.name.as_str(), at)).collect();
    let positions = positions(&groups, files.len());
    let mut used = Vec::new();
    for (rank, file) in files.iter_mut().enumerate() {
        let fail = |file: &RankFile, node: u32, problem: GroupProblem| {
            let node = label(&file.rank, node);
            Err(LoadError::Group { input: input(rank), rank, node, problem })
        };
        let mut of_file = vec![0_u32];
        for (local, name) in (1_u32..).zip(&file.groups) {
            let first =
                || file.rank.traits.iter().position(|traits| traits.group == local).unwrap_or(0) as u32;
            let problem = match numbers.get(name.as_str()) {
                Some(&number) if positions[rank].contains(&number) => {
                    of_file.push(number);
                    continue;
                }
                Some(&number) => GroupProblem::NotAMember {
                    name: name.clone(),
                    members: groups[number as usize].members.clone(),
                },
                None => match unusable.get(name) {
                    Some(why) => GroupProblem::Unusable { name: name.clone(), why: why.clone() },
                    None => GroupProblem::Unknown { name: name.clone(), known: known.list() },
                },
            };
            return fail(file, first(), problem);
        }
        if let Some(why) = unusable.get("0").or_else(|| unusable.get(""))
            && let Some(node) = (0..file.rank.len() as u32).find(|&node| {
                matches!(file.rank.graph.op(node), Op::Coll { .. }) && file.rank.traits(node).group == 0
            })
        {
            return fail(file, node, GroupProblem::Unusable { name: "0".to_owned(), why: why.clone() });
        }
        for node in 0..file.rank.len() {
            let Op::Coll { kind, .. } = file.rank.graph.op(node as u32) else { continue };
            let traits = &mut file.rank.traits[node];
            traits.group = of_file[traits.group as usize];
            let members = groups[traits.group as usize].members.len();
            let root = traits.root;
            if root as usize >= members
                && CollectiveKind::from_wire(kind).is_some_and(CollectiveKind::has_root)
            {
                let group = groups[traits.group as usize].label();
                return fail(file, node as u32, GroupProblem::Root { root, group, members });
            }
        }
        used.extend(of_file);
    }
    for (name, reason) in unusable {
        let kind = WarningKind::GroupLeftOut { name, reason };
        warnings.push(Warning { input: None, place: None, count: 1, kind });
    }
    Ok(groups)
}

/// The groups that are known, and from where.
struct Known<'a> {
    groups: Option<&'a Groups>,
    given: bool,
    ranks: usize,
}

impl<'a> Known<'a> {
    /// By name, numbers by their value.
    fn sorted(&self) -> Vec<(&'a str, &'a [u64])> {
        let mut all: Vec<_> = self.groups.into_iter().flat_map(Groups::iter).collect();
        all.sort_by_key(|&(name, _)| super::name_order(name));
        all
    }

    /// The members of a group; none if it is that of all ranks, which needs no name. Else why it cannot be.
    fn members(&self, name: &str, listed: &[u64]) -> Result<Option<Vec<u32>>, String> {
        let ranks = self.ranks;
        let mut sorted = listed.to_vec();
        sorted.sort_unstable();
        if name.is_empty() || name == "0" {
            let all = sorted.iter().copied().eq(0..ranks as u64);
            return if all {
                Ok(None)
            } else {
                Err(format!(
                    "it stands for all ranks of the trace, which are {ranks}, but has {} members in {}",
                    listed.len(),
                    self.source()
                ))
            };
        }
        if let Some(rank) = sorted.last().filter(|&&rank| rank >= ranks as u64) {
            return Err(format!("its member {rank} is no rank of the trace, which has {ranks}"));
        }
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("it has rank {} twice", twice[0]));
        }
        if listed.is_empty() {
            return Err("it has no members".to_owned());
        }
        Ok(Some(listed.iter().map(|&rank| rank as u32).collect()))
    }

    fn source(&self) -> &'static str {
        if self.given { "the group file" } else { "the process groups of the trace" }
    }

    /// What there is, for people.
    fn list(&self) -> String {
        let all = self.sorted();
        if all.is_empty() {
            return match self.given {
                true => "the group file has none".to_owned(),
                false => "no group file was given, and the trace describes no process groups".to_owned(),
            };
        }
        let names: Vec<String> = all.iter().take(SHOWN).map(|(name, _)| format!("{name:?}")).collect();
        let more = if all.len() > SHOWN { format!(" and {} more", all.len() - SHOWN) } else { String::new() };
        format!("{} has {}{more}", self.source(), names.join(", "))
    }
}

/// The groups of each rank, by their index.
fn positions(groups: &[Group], ranks: usize) -> Vec<rustc_hash::FxHashSet<u32>> {
    let mut of_rank = vec![rustc_hash::FxHashSet::default(); ranks];
    for (at, group) in (0..).zip(groups) {
        for &rank in &group.members {
            of_rank[rank as usize].insert(at);
        }
    }
    of_rank
}
