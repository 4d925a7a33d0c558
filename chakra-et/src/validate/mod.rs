//! Says what is wrong with a trace: its graph, its attributes, its messages and its collectives.
//!
//! [`Survey`] reads a trace, [`validate()`] applies the [`RULES`] and gives the [`Finding`]s, always in the same
//! order: by rule as in the table below, rank and position in the file. A file that cannot be decoded is no
//! finding but an error of reading. Time grows with nodes and dependences (with a logarithm for sorting); where
//! an exact answer would take longer, the search is bounded and says so.
//!
//! A rule is an *error* where a simulator would refuse the trace, stop or never end, a *warning* where some
//! readers stumble or something else was probably meant, and a *note* otherwise.
//!
#![doc = include_str!("rules.md")]

mod collectives;
pub(crate) mod csr;
pub(crate) mod cycles;
mod deadlock;
mod deps;
mod finding;
mod group_rules;
mod messages;
mod node;
mod order;
mod rules;
mod survey;
mod unordered;

use rustc_hash::FxHashMap;

use crate::groups::Groups;
use crate::proto::NodeType;

pub use finding::{Finding, NodeRef};
pub use rules::{Level, RULES, Rule};
pub use survey::{RankSurvey, Survey};

pub(crate) use node::Act;

/// How `comm_src` and `comm_dst` count ranks in a node that names a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Peers {
    /// As ranks of the whole trace, as ASTRA-sim has it.
    #[default]
    Global,
    /// As positions in the list of the group's members.
    InGroup,
}

/// What a trace is judged by.
///
/// ```
/// use chakra_et::validate::{Options, Peers};
///
/// let mut options = Options::default();
/// options.peers = Peers::InGroup;
/// assert!(options.groups.is_none());
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The communicator groups, from a group file. Without, those that the trace itself describes count
    /// ([`Survey::process_groups`]).
    pub groups: Option<Groups>,
    /// What the numbers of peers mean.
    pub peers: Peers,
}

/// Applies all rules to a trace.
///
/// ```
/// use chakra_et::graph::{Op, Origin};
/// use chakra_et::validate::{Options, Survey, validate};
/// use chakra_et::{RankWriter, metadata, view};
///
/// // Two nodes that wait for one another.
/// let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
/// for (id, dep) in [(1, 2), (2, 1)] {
///     let op = Op::Comp { micros: 1, ops: 0, bytes: 0 };
///     writer.node(&view::node(id, format!("c{id}"), op, vec![dep], Origin::default())?)?;
/// }
/// let findings = validate(&Survey::from_bytes(&[writer.finish()])?, &Options::default());
/// assert_eq!(findings[0].rule.id, "cyclic-dependence");
/// assert!(findings[0].message.ends_with("node 1 \"c1\" needs node 2 \"c2\" needs node 1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn validate(survey: &Survey, options: &Options) -> Vec<Finding> {
    let own = survey.process_groups();
    let context = Context {
        survey,
        groups: options.groups.as_ref().unwrap_or(&own),
        peers: options.peers,
        whole: survey.whole && !messages::is_one_of_several(survey),
    };
    let mut findings = survey.findings.clone();
    for rank in &survey.ranks {
        findings.extend_from_slice(&rank.findings);
        deps::check(rank, &mut findings);
    }
    node_types(survey, &mut findings);
    if survey.whole && !context.whole {
        let message =
            "it sends to or receives from other ranks, which have no files; messages are not matched";
        findings.extend(
            survey.ranks.first().map(|rank| Finding::of_rank(&rules::PARTIAL, rank.rank, message.to_owned())),
        );
    }
    group_rules::check(&context, options.groups.is_some(), &mut findings);
    let pairs = messages::check(&context, &mut findings);
    unordered::check(&context, &pairs, &mut findings);
    let instances = collectives::check(&context, &mut findings);
    deadlock::check(survey, &pairs, &instances, &mut findings);
    sort(&mut findings);
    findings
}

fn sort(findings: &mut [Finding]) {
    let places: FxHashMap<&str, usize> = RULES.iter().enumerate().map(|(at, rule)| (rule.id, at)).collect();
    // Stable, so what is equal stays in the order in which it was found.
    findings.sort_by_key(|finding| (places.get(finding.rule.id).copied(), finding.rank, finding.position));
}

/// A trace with what it is judged by.
pub(crate) struct Context<'a> {
    pub(crate) survey: &'a Survey,
    pub(crate) groups: &'a Groups,
    pub(crate) peers: Peers,
    /// Whether all ranks are there that the nodes may name.
    pub(crate) whole: bool,
}

/// In an algorithm, only sends, receives and computations may occur.
fn node_types(survey: &Survey, findings: &mut Vec<Finding>) {
    if !survey.is_algorithm() {
        return;
    }
    for rank in &survey.ranks {
        for (position, item) in rank.items.iter().enumerate() {
            let Ok(node_type) = NodeType::try_from(item.node_type) else { continue };
            if !matches!(
                node_type,
                NodeType::InvalidNode
                    | NodeType::MetadataNode
                    | NodeType::MemLoadNode
                    | NodeType::MemStoreNode
            ) {
                continue;
            }
            let message = format!(
                "{}: the trace is an algorithm, of which ASTRA-sim never finishes a {}",
                named(item.id, rank.name(position)),
                node_type.as_str_name()
            );
            let at = NodeRef { rank: rank.rank, node: item.id };
            findings.push(Finding::of_node(&rules::ALGORITHM_NODE_TYPE, at, position, message));
        }
    }
}

/// Most characters of a name that a message shows.
const NAME_SHOWN: usize = 60;

/// A node as messages name it.
pub(crate) fn named(id: u64, name: &str) -> String {
    match name.char_indices().nth(NAME_SHOWN) {
        _ if name.is_empty() => format!("node {id}"),
        None => format!("node {id} {name:?}"),
        Some((end, _)) => format!("node {id} {:?}", format!("{}…", &name[..end])),
    }
}

#[cfg(test)]
mod tests;
