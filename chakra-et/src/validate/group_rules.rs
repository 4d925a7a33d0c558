//! Rules about the groups themselves, and who may use them.

use super::finding::Finding;
use super::rules;
use super::{Context, RankSurvey};

/// `given` says whether the groups come from a file.
pub(crate) fn check(context: &Context<'_>, given: bool, findings: &mut Vec<Finding>) {
    if given {
        for (name, members) in context.groups.iter() {
            group(context, name, members, findings);
        }
    }
    for rank in &context.survey.ranks {
        for group in rank.groups() {
            use_of(context, rank, group, given, findings);
        }
    }
}

fn group(context: &Context<'_>, name: &str, members: &[u64], findings: &mut Vec<Finding>) {
    let mut add = |rule, message: String| {
        findings.push(Finding::of_trace(rule, format!("group {name:?}: {message}")));
    };
    if !is_number(name) {
        add(&rules::GROUP_KEY, "the key is no positive decimal number".to_owned());
    } else if name.bytes().all(|digit| digit == b'0') {
        add(&rules::GROUP_KEY, "the key 0 stands for all ranks; keys begin at 1".to_owned());
    }
    if members.is_empty() {
        add(&rules::GROUP_EMPTY, "it has no members".to_owned());
    }
    let ranks = context.survey.ranks.len() as u64;
    for &member in members.iter().filter(|&&member| context.whole && member >= ranks) {
        add(&rules::GROUP_RANGE, format!("rank {member} is a member, but the trace has {ranks} ranks"));
    }
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    for pair in sorted.windows(2).filter(|pair| pair[0] == pair[1]) {
        add(&rules::GROUP_TWICE, format!("rank {} is a member twice", pair[0]));
    }
    if sorted != members {
        let message = format!("its members {members:?} do not ascend; ASTRA-sim then confuses them");
        add(&rules::GROUP_UNSORTED, message);
    }
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a rank does on a group, of which the first node and the number of nodes are given.
fn use_of(
    context: &Context<'_>,
    rank: &RankSurvey,
    (group, first, count): (&str, u32, u64),
    given: bool,
    findings: &mut Vec<Finding>,
) {
    let mut add = |rule, message: String| {
        let message = format!("{}: {message}", rank.named(first));
        findings.push(Finding::of_node(rule, rank.node_ref(first), first as usize, message));
    };
    if !is_number(group) {
        add(&rules::GROUP_NAME, format!("its group {group:?} is no decimal number, which ASTRA-sim needs"));
    }
    let more = if count > 1 { format!(" (the first of {count} nodes)") } else { String::new() };
    match context.groups.members(group) {
        None if given => {
            add(&rules::GROUP_UNKNOWN, format!("its group {group:?} is not in the group file{more}"));
        }
        None => {
            let message = format!("who is in its group {group:?} is not known{more}");
            add(&rules::GROUPS_UNCHECKED, message);
        }
        Some(members) if !members.contains(&(rank.rank as u64)) => {
            let message =
                format!("rank {} is no member of group {group:?}, which is {members:?}{more}", rank.rank);
            add(&rules::NOT_A_MEMBER, message);
        }
        Some(_) => {}
    }
}
