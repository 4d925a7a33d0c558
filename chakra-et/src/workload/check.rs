//! What is wrong with a workload, found before it runs.

use std::fmt;

use super::collectives::{self, JoinError};
use super::joined::Circle;
use super::messages::{End, Messages};
use super::rank_file::label;
use super::{Workload, costs};
use crate::graph::Op;
use crate::validate::{Level, NodeRef};

/// Something that [`check`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// An error keeps the workload from running to its end; a warning may be what is meant, but often is not.
    pub level: Level,
    /// A short name that stays the same, to search for and to suppress by.
    pub id: &'static str,
    /// The rank, unless it is about several.
    pub rank: Option<u32>,
    /// The id of the node, if it is about one.
    pub node: Option<u64>,
    /// What is wrong, and what was expected.
    pub message: String,
    /// Other nodes that have to do with it.
    pub related: Vec<NodeRef>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rank) = self.rank {
            write!(f, "rank {rank}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Finding {
    pub(super) fn new(level: Level, id: &'static str, message: String) -> Self {
        Self { level, id, rank: None, node: None, message, related: Vec::new() }
    }
}

/// Says what would keep a workload from running to its end, and what may not be meant: errors first.
///
/// * `collectives-differ`, `group-deadlock`, `cyclic-dependence`: the nodes of the ranks cannot be joined to
///   collectives ([`JoinError`]).
/// * `deadlock`: ranks wait for one another through the collectives of several groups or through messages. A collective
///   runs when all members of its group have come to it, a RECV waits for its SEND: of each source, destination and
///   tag the k-th for the k-th. Every step of the circle is said.
/// * `unmatched-recv`, `size-mismatch`, `peer-range`, `self-message` (errors), `unmatched-send` (a warning): messages
///   whose ends do not meet.
/// * `computation-without-cost`, `computation-needs-roofline`, `memory-needs-bandwidth` (warnings): nodes that take no
///   time, or none without figures of the processor and its memory.
/// * `one-rank` (a warning): the trace has collectives but one rank. `no-communication` (a note).
///
/// Time grows with nodes and dependences.
///
/// ```
/// use chakra_et::workload::{CollectiveKind, WorkloadBuilder, check};
///
/// // Two ranks run one collective of each of two groups, in opposite order.
/// let mut step = WorkloadBuilder::new(2);
/// let groups = [step.group("1", [0, 1])?, step.group("2", [0, 1])?];
/// for (rank, order) in [(0, [0, 1]), (1, [1, 0])] {
///     let first = step.collective(rank, "x", CollectiveKind::AllReduce, 64, groups[order[0]], &[])?;
///     step.collective(rank, "y", CollectiveKind::AllReduce, 64, groups[order[1]], &[first])?;
/// }
/// let findings = check(&step.finish());
/// assert_eq!(findings[0].id, "deadlock");
/// # Ok::<(), chakra_et::workload::BuildError>(())
/// ```
#[must_use]
pub fn check(workload: &Workload) -> Vec<Finding> {
    let mut findings = Vec::new();
    match collectives::launches(workload) {
        Err(error) => findings.extend(of_join(workload, error)),
        Ok(launches) => {
            let messages = Messages::of(workload, &launches);
            match collectives::join(workload, &launches, &messages) {
                Err(error) => findings.extend(of_join(workload, error)),
                Ok(join) => of_circles(join.circles, &mut findings),
            }
            of_messages(workload, &messages, &mut findings);
        }
    }
    costs::check(workload, &mut findings);
    communication(workload, &mut findings);
    // Stable, so what is equally bad stays in the order above.
    findings.sort_by_key(|finding| finding.level);
    findings
}

fn of_join(workload: &Workload, error: JoinError) -> Vec<Finding> {
    match error {
        JoinError::Disagree { groups, .. } => {
            let finding = |group: collectives::Disagreement| {
                Finding::new(Level::Error, "collectives-differ", group.message)
            };
            groups.into_iter().map(finding).collect()
        }
        JoinError::Deadlock { message } => vec![Finding::new(Level::Error, "group-deadlock", message)],
        JoinError::Cyclic { rank, cyclic } => {
            let of = &workload.ranks[rank as usize];
            let mut named: Vec<String> = cyclic
                .nodes
                .iter()
                .take(SHOWN_OF_CIRCLE)
                .map(|&id| of.graph.find(id).map_or_else(|| format!("node {id}"), |node| label(of, node)))
                .collect();
            match cyclic.nodes.len() {
                count if count > SHOWN_OF_CIRCLE => named.push(format!("… ({count} nodes)")),
                _ => named.extend(cyclic.nodes.first().map(|id| format!("node {id}"))),
            }
            let message = format!("nodes wait for one another: {}", named.join(" needs "));
            let related = cyclic.nodes.iter().map(|&node| NodeRef { rank: rank as usize, node });
            vec![Finding {
                rank: Some(rank),
                node: cyclic.nodes.first().copied(),
                related: related.collect(),
                ..Finding::new(Level::Error, "cyclic-dependence", message)
            }]
        }
    }
}

/// Most nodes of a circle within a rank that a message names.
const SHOWN_OF_CIRCLE: usize = 8;

/// Most circles that are shown; a last finding says how many more there are.
const CIRCLES: usize = 10;

fn of_circles(circles: Vec<Circle>, findings: &mut Vec<Finding>) {
    let count = circles.len();
    findings.extend(circles.into_iter().take(CIRCLES).map(|circle| {
        let message = format!("ranks wait for one another: {}", circle.message);
        Finding { related: circle.nodes, ..Finding::new(Level::Error, "deadlock", message) }
    }));
    if count > CIRCLES {
        let message = format!("and {} more circles in which ranks wait for one another", count - CIRCLES);
        findings.push(Finding::new(Level::Error, "deadlock", message));
    }
}

/// Most findings of one kind about messages; a last one says how many more there are.
const SHOWN: usize = 50;

fn of_messages(workload: &Workload, messages: &Messages, findings: &mut Vec<Finding>) {
    let ranks = workload.ranks.len();
    let mut list = Capped { workload, findings, counts: Vec::new() };
    for (send, recv) in &messages.met {
        if send.bytes != recv.bytes {
            let message = format!(
                "{} expects {} bytes from rank {} with tag {}, but {} there sends {}",
                list.label(recv),
                recv.bytes,
                recv.src,
                recv.tag,
                list.label(send),
                send.bytes
            );
            list.add(Level::Error, "size-mismatch", recv, message);
        }
        if send.src == send.dst {
            let message = format!("{} sends to its own rank", list.label(send));
            list.add(Level::Error, "self-message", send, message);
        }
    }
    for end in &messages.alone {
        let (peer, named) = (end.peer(), list.label(end));
        let verb = if end.receives { "receives from" } else { "sends to" };
        if peer as usize >= ranks {
            let message = format!("{named} {verb} rank {peer}, but the workload has {ranks} rank(s)");
            list.add(Level::Error, "peer-range", end, message);
        } else if end.receives {
            let message = format!(
                "{named} waits for {} bytes from rank {peer} with tag {}, which never sends them",
                end.bytes, end.tag
            );
            list.add(Level::Error, "unmatched-recv", end, message);
        } else {
            let message = format!(
                "{named} sends {} bytes to rank {peer} with tag {}, which never receives them",
                end.bytes, end.tag
            );
            list.add(Level::Warning, "unmatched-send", end, message);
        }
    }
    list.finish();
}

struct Capped<'a> {
    workload: &'a Workload,
    findings: &'a mut Vec<Finding>,
    counts: Vec<(Level, &'static str, usize)>,
}

impl Capped<'_> {
    fn label(&self, end: &End) -> String {
        label(&self.workload.ranks[end.rank() as usize], end.node)
    }

    fn add(&mut self, level: Level, id: &'static str, end: &End, message: String) {
        let at = match self.counts.iter().position(|count| count.1 == id) {
            Some(at) => at,
            None => {
                self.counts.push((level, id, 0));
                self.counts.len() - 1
            }
        };
        self.counts[at].2 += 1;
        if self.counts[at].2 <= SHOWN {
            let (rank, node) = (end.rank(), end.node);
            let node = self.workload.ranks[rank as usize].graph.id(node);
            let finding = Finding::new(level, id, message);
            self.findings.push(Finding { rank: Some(rank), node: Some(node), ..finding });
        }
    }

    fn finish(self) {
        for (level, id, count) in self.counts {
            if count > SHOWN {
                let message = format!("and {} more of this kind ({id})", count - SHOWN);
                self.findings.push(Finding::new(level, id, message));
            }
        }
    }
}

/// Whether there is anything to simulate on a network.
fn communication(workload: &Workload, findings: &mut Vec<Finding>) {
    let ops = || workload.ranks.iter().flat_map(|rank| rank.graph.ops());
    let collectives = ops().filter(|op| matches!(op, Op::Coll { .. })).count();
    if workload.ranks.len() == 1 && collectives > 0 {
        let message = format!(
            "the trace has one rank, so its {collectives} collective(s) have nobody to communicate with: is it one rank of \
             a larger job?"
        );
        findings.push(Finding::new(Level::Warning, "one-rank", message));
    } else if collectives == 0 && !ops().any(|op| matches!(op, Op::Send { .. } | Op::Recv { .. })) {
        let message = "no node communicates: the network does not matter".to_owned();
        findings.push(Finding::new(Level::Note, "no-communication", message));
    }
}
