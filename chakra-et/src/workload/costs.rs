//! Nodes that take no time, or only with figures that the trace does not have.

use super::check::Finding;
use super::rank_file::label;
use super::{RankWorkload, Workload};
use crate::graph::Op;
use crate::validate::{Level, NodeRef};

/// Ranks and nodes that a message shows.
const RANKS: usize = 4;
const EXAMPLES: usize = 3;

/// One finding for each kind of such nodes.
pub(super) fn check(workload: &Workload, findings: &mut Vec<Finding>) {
    let is_comp = |op: Op| matches!(op, Op::Comp { .. });
    let no_cost = |op: Op| matches!(op, Op::Comp { micros: 0, ops: 0, bytes: 0 });
    let needs_roofline = |op: Op| is_comp(op) && !no_cost(op) && matches!(op, Op::Comp { micros: 0, .. });
    let is_memory = |op: Op| matches!(op, Op::Mem { .. });
    let mut add = |id, found: Option<Found>, what: &str, why: &str| {
        if let Some(found) = found {
            let message =
                format!("{} of {} {what}: {}", found.count, found.total, why) + &found.whereabouts();
            findings.push(Finding { related: found.examples, ..Finding::new(Level::Warning, id, message) });
        }
    };
    add(
        "computation-without-cost",
        Found::of(workload, is_comp, no_cost),
        "computations state no cost",
        "without a duration, num_ops and tensor_size they take no time, the commonest reason for a result of 0",
    );
    add(
        "computation-needs-roofline",
        Found::of(workload, is_comp, needs_roofline),
        "computations state operations or bytes but no duration",
        "they take time only where the speed of the processor and of its memory is given (a roofline)",
    );
    add(
        "memory-needs-bandwidth",
        Found::of(workload, is_memory, is_memory),
        "loads and stores state bytes",
        "they take time only where the bandwidth or latency of the memory is given",
    );
}

/// Nodes that were looked for.
struct Found {
    count: usize,
    /// Of how many.
    total: usize,
    /// Ranks with such nodes: how many, and of how many.
    ranks: Vec<(usize, usize, usize)>,
    examples: Vec<NodeRef>,
    labels: Vec<String>,
}

impl Found {
    fn of(workload: &Workload, among: impl Fn(Op) -> bool, wanted: impl Fn(Op) -> bool) -> Option<Self> {
        let mut found = Self { count: 0, total: 0, ranks: vec![], examples: vec![], labels: vec![] };
        for (number, rank) in workload.ranks.iter().enumerate() {
            let count = |is: &dyn Fn(Op) -> bool| rank.graph.ops().iter().filter(|&&op| is(op)).count();
            let (of_rank, total) = (count(&wanted), count(&among));
            found.total += total;
            if of_rank == 0 {
                continue;
            }
            found.count += of_rank;
            found.ranks.push((number, of_rank, total));
            if found.examples.len() < EXAMPLES {
                found.example(number, rank, &wanted);
            }
        }
        (found.count > 0).then_some(found)
    }

    /// Adds the first such node of a rank.
    fn example(&mut self, number: usize, rank: &RankWorkload, wanted: &impl Fn(Op) -> bool) {
        let Some(at) = rank.graph.ops().iter().position(|&op| wanted(op)) else { return };
        self.examples.push(NodeRef { rank: number, node: rank.graph.id(at as u32) });
        self.labels.push(format!("{} of rank {number}", label(rank, at as u32)));
    }

    fn whereabouts(&self) -> String {
        let ranks: Vec<String> = self
            .ranks
            .iter()
            .take(RANKS)
            .map(|(rank, count, total)| format!("{count} of {total} on rank {rank}"))
            .collect();
        let more = match self.ranks.len().saturating_sub(RANKS) {
            0 => String::new(),
            more => format!(" and on {more} more rank(s)"),
        };
        format!(" ({}{more}; such as {})", ranks.join(", "), self.labels.join(", "))
    }
}
