//! The arguments that make a workload of many ranks from one of few.

use std::collections::BTreeSet;
use std::path::PathBuf;

use chakra_et::workload::{CollectiveKind, Group, GroupRule, Replication, Workload, replicate};
use clap::Args;

use crate::failure::Failure;
use crate::output;

/// How often a workload is replicated, and what becomes of its groups.
#[derive(Args)]
pub(super) struct ReplicationArguments {
    /// Makes N replicas of the workload, rank by rank. Groups are copied, so that each replica has its own; collectives on
    /// all ranks are joined to one of all replicas.
    #[arg(long, value_name = "N")]
    replicate: Option<u32>,
    /// Groups whose members of all replicas are one group, and whose collectives keep their size (data parallelism); a list
    /// of names, ranges of numbers such as 101-108, and patterns such as 'dp*', in which `all` is the group of all ranks and
    /// `others` those not named.
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    join: Vec<String>,
    /// The same where parameters are in shards on all members: the input of a rank in an all-gather is divided
    /// by N (FSDP).
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    shard: Vec<String>,
    /// Groups that each replica has for itself (tensor parallelism, pipelines).
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    copy: Vec<String>,
    /// Writes the workload, as it is simulated, as traces PREFIX.0.et, PREFIX.1.et, …, and its groups as
    /// PREFIX.groups.json.
    #[arg(long, value_name = "PREFIX")]
    write_workload: Option<PathBuf>,
}

impl ReplicationArguments {
    /// The first argument that was given.
    pub(super) fn first(&self) -> Option<&'static str> {
        let given = [
            (self.replicate.is_some(), "--replicate"),
            (!self.join.is_empty(), "--join"),
            (!self.shard.is_empty(), "--shard"),
            (!self.copy.is_empty(), "--copy"),
            (self.write_workload.is_some(), "--write-workload"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    /// The workload that is simulated, and what to say of how it was made.
    pub(super) fn apply(&self, workload: Workload) -> Result<(Workload, Vec<String>), Failure> {
        let Some(rules) = self.rules(&workload)? else { return Ok((workload, Vec::new())) };
        let whole =
            replicate(&workload, &rules).map_err(|error| Failure::input(format!("--replicate: {error}")))?;
        let notes = self.notes(&rules, &workload, &whole);
        Ok((whole, notes))
    }

    /// What a reader of the report should know of replicas.
    fn notes(&self, rules: &Replication, one: &Workload, whole: &Workload) -> Vec<String> {
        let mut notes = Vec::new();
        let (copies, ranks) = (rules.copies, one.rank_count().max(1) as u32);
        if copies < 2 {
            return notes;
        }
        let spans = |members: &[u32]| members.iter().any(|rank| rank / ranks != members[0] / ranks);
        let carried: BTreeSet<u32> = whole
            .collectives()
            .map(|collectives| collectives.all.iter().map(|collective| collective.group).collect())
            .unwrap_or_default();
        let is_joined = carried.iter().any(|group| spans(&whole.groups()[*group as usize].members));
        let nothing_said = self.join.is_empty() && self.shard.is_empty() && self.copy.is_empty();
        let advice = "--join GROUPS sums up over the replicas (data parallelism), --shard GROUPS gathers parameters in shards (FSDP)";
        if nothing_said && !is_joined {
            notes.push(format!(
                "the {copies} replicas are independent, for no group joins them: {advice}; --copy all says that this is meant"
            ));
        } else if nothing_said && one.groups().iter().any(|group| !group.name.is_empty()) {
            notes.push(format!(
                "the {copies} replicas are joined by collectives on all ranks only, every other group is copied: {advice}"
            ));
        }
        let grows = |group: &Group| {
            let rule = match group.name.as_str() {
                "" => rules.all,
                name => {
                    let named = rules.groups.iter().find(|(known, _)| known == name);
                    named.map_or(rules.others, |(_, rule)| *rule)
                }
            };
            rule == GroupRule::Joined
        };
        let gathers = |number: usize| {
            one.collectives().is_ok_and(|collectives| {
                let mut of_group = collectives.all.iter().filter(|one| one.group as usize == number);
                of_group.any(|one| matches!(one.kind, CollectiveKind::AllGather | CollectiveKind::Gather))
            })
        };
        let grown: Vec<String> = (0..)
            .zip(one.groups())
            .filter(|(number, group)| grows(group) && gathers(*number))
            .map(|(_, group)| group.label())
            .collect();
        if let Some(first) = grown.first() {
            let more = match grown.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            notes.push(format!(
                "on {first}{more} what is gathered is {copies} times as large as in one replica: a rank's input keeps its size where \
                 groups are joined; --shard divides it, so that what is gathered keeps its size (FSDP)"
            ));
        }
        notes
    }

    /// Writes it, where that is asked for.
    pub(super) fn write(&self, workload: &Workload) -> Result<(), Failure> {
        let Some(prefix) = &self.write_workload else { return Ok(()) };
        let fault = |error: &dyn std::fmt::Display| {
            Failure::input(format!("--write-workload {}: {error}", prefix.display()))
        };
        let groups = workload.groups_json().map_err(|error| fault(&error))?;
        workload.write(prefix).map_err(|error| fault(&error))?;
        let mut file = prefix.clone().into_os_string();
        file.push(".groups.json");
        output::write_file(&PathBuf::from(file), &groups)
    }

    fn rules(&self, workload: &Workload) -> Result<Option<Replication>, Failure> {
        let lists = [
            ("--join", &self.join, GroupRule::Joined),
            ("--shard", &self.shard, GroupRule::Sharded),
            ("--copy", &self.copy, GroupRule::Copied),
        ];
        let Some(copies) = self.replicate else {
            return match lists.iter().find(|(_, names, _)| !names.is_empty()) {
                Some((argument, ..)) => Err(Failure::input(format!("{argument} goes with --replicate K"))),
                None => Ok(None),
            };
        };
        let mut rules = Replication::new(copies);
        // Each group by name, and which argument named it; what is named by itself goes before patterns and ranges.
        let mut seen: Vec<(String, &str)> = Vec::new();
        let known = |name: &str| workload.groups().iter().any(|group| group.name == name);
        for by_itself in [true, false] {
            for (argument, names, rule) in lists {
                for name in names {
                    let several = Several::of(name).filter(|_| !known(name));
                    if several.is_none() != by_itself {
                        continue;
                    }
                    let found: Vec<String> = match &several {
                        None => vec![name.clone()],
                        Some(several) => {
                            let names = workload.groups().iter().map(|group| &group.name);
                            names.filter(|name| several.has(name)).cloned().collect()
                        }
                    };
                    if found.is_empty() {
                        let shown: Vec<String> =
                            workload.groups().iter().map(|group| group.label()).take(8).collect();
                        return Err(Failure::input(format!(
                            "{argument} {name}: no group is named so; the workload has {}",
                            if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
                        )));
                    }
                    for found in found {
                        match seen.iter().find(|(known, _)| *known == found) {
                            Some((_, other)) if several.is_none() || argument != *other => {
                                // A name goes before a pattern that has it too.
                                if several.is_some()
                                    && lists.iter().any(|(_, names, _)| names.contains(&found))
                                {
                                    continue;
                                }
                                return Err(Failure::input(format!(
                                    "group {found:?} is named twice, by {other} and {argument}"
                                )));
                            }
                            Some(_) => continue,
                            None => {}
                        }
                        match found.as_str() {
                            "all" => rules.all = rule,
                            "others" => rules.others = rule,
                            _ => rules.groups.push((found.clone(), rule)),
                        }
                        seen.push((found, argument));
                    }
                }
            }
        }
        Ok(Some(rules))
    }
}

/// Several groups in one word.
enum Several {
    /// Numbers from one to another, both included.
    Range(u64, u64),
    /// `*` stands for any characters, `?` for one.
    Pattern(Vec<char>),
}

impl Several {
    fn of(text: &str) -> Option<Self> {
        if text.contains(['*', '?']) {
            return Some(Self::Pattern(text.chars().collect()));
        }
        let (from, to) = text.split_once('-')?;
        Some(Self::Range(from.parse().ok()?, to.parse().ok()?))
    }

    /// Whether a group is meant; that of all ranks, which has no name, never is.
    fn has(&self, name: &str) -> bool {
        match self {
            _ if name.is_empty() => false,
            Self::Range(from, to) => name.parse().is_ok_and(|number: u64| (*from..=*to).contains(&number)),
            Self::Pattern(pattern) => is_like(&name.chars().collect::<Vec<_>>(), pattern),
        }
    }
}

/// Whether a name is of a pattern.
fn is_like(name: &[char], pattern: &[char]) -> bool {
    // Which lengths of the name the pattern so far is of.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for letter in pattern {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match letter {
                '*' => reached[at] || (at > 0 && next[at - 1]),
                _ => at > 0 && reached[at - 1] && (*letter == '?' || *letter == name[at - 1]),
            };
        }
        reached = next;
    }
    reached[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_mean_several_groups() {
        let has = |word: &str, name: &str| Several::of(word).is_some_and(|several| several.has(name));
        assert!(
            has("1-8", "1") && has("1-8", "8") && !has("1-8", "9") && !has("1-8", "x") && !has("8-1", "4")
        );
        assert!(
            has("dp*", "dp")
                && has("dp*", "dp12")
                && !has("dp*", "tp")
                && has("*-?", "pp-3")
                && !has("*-?", "pp-34")
        );
        assert!(has("*", "x") && !has("*", "") && has("a*b*c", "a-b-b-c") && !has("a*b*c", "a-c"));
        for plain in ["1", "dp", "a-b", "1-", "-3"] {
            assert!(Several::of(plain).is_none(), "{plain}");
        }
    }
}
