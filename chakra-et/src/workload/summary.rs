//! What there is in a workload, for people.

use std::fmt;

use super::{CollectiveKind, Collectives, Workload};
use crate::graph::Op;

/// What there is in a workload. Displayed, it is a few lines and a table of the groups.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Number of ranks.
    pub ranks: usize,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of computations on the GPU and on the CPU.
    pub computations: [u64; 2],
    /// Number of messages sent, and their bytes.
    pub messages: (u64, u128),
    /// Number of loads and stores, and their bytes.
    pub memory: (u64, u128),
    /// The groups with collectives, in the order of the workload.
    pub groups: Vec<GroupSummary>,
}

/// What there is on a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupSummary {
    /// The index of the group.
    pub group: u32,
    /// How it is named.
    pub label: String,
    /// Its ranks.
    pub members: Vec<u32>,
    /// By kind, in the order of the format: how many collectives, and their `comm_size` together.
    pub kinds: Vec<(CollectiveKind, u64, u128)>,
}

impl Workload {
    /// Says what there is, with the collectives that [`Workload::collectives`] has joined.
    ///
    /// ```
    /// use chakra_et::workload::{CollectiveKind, WorkloadBuilder};
    ///
    /// let mut step = WorkloadBuilder::new(2);
    /// for rank in 0..2 {
    ///     step.collective(rank, "sum", CollectiveKind::AllReduce, 64, 0, &[])?;
    /// }
    /// let step = step.finish();
    /// let summary = step.summary(&step.collectives()?);
    /// assert_eq!(summary.groups[0].kinds, [(CollectiveKind::AllReduce, 1, 64)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn summary(&self, collectives: &Collectives) -> Summary {
        let mut summary = Summary {
            ranks: self.rank_count(),
            nodes: self.node_count() as u64,
            computations: [0; 2],
            messages: (0, 0),
            memory: (0, 0),
            groups: Vec::new(),
        };
        for rank in &self.ranks {
            for (op, traits) in rank.graph.ops().iter().zip(&rank.traits) {
                match op {
                    Op::Comp { .. } => summary.computations[usize::from(traits.on_cpu)] += 1,
                    Op::Send { bytes, .. } => {
                        summary.messages.0 += 1;
                        summary.messages.1 += u128::from(*bytes);
                    }
                    Op::Mem { bytes, .. } => {
                        summary.memory.0 += 1;
                        summary.memory.1 += u128::from(*bytes);
                    }
                    _ => {}
                }
            }
        }
        for of_group in collectives.all.chunk_by(|a, b| a.group == b.group) {
            let Some(group) = of_group.first().and_then(|first| self.groups.get(first.group as usize)) else {
                continue;
            };
            let kinds = CollectiveKind::ALL.into_iter().filter_map(|kind| {
                let of_kind = || of_group.iter().filter(|collective| collective.kind == kind);
                let count = of_kind().count() as u64;
                let bytes = of_kind().map(|collective| u128::from(collective.bytes)).sum();
                (count > 0).then_some((kind, count, bytes))
            });
            summary.groups.push(GroupSummary {
                group: of_group[0].group,
                label: group.label(),
                members: group.members.clone(),
                kinds: kinds.collect(),
            });
        }
        summary
    }
}

/// Most ranks of a group that the text shows.
const SHOWN: usize = 8;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} nodes of {} rank(s)", self.nodes, self.ranks)?;
        writeln!(f, "{} computations on the GPU, {} on the CPU", self.computations[0], self.computations[1])?;
        writeln!(f, "{} messages of {} bytes", self.messages.0, self.messages.1)?;
        if self.memory.0 > 0 {
            writeln!(f, "{} loads and stores of {} bytes", self.memory.0, self.memory.1)?;
        }
        for group in &self.groups {
            let shown = group.members.iter().take(SHOWN).map(u32::to_string).collect::<Vec<_>>().join(", ");
            let more = if group.members.len() > SHOWN { ", …" } else { "" };
            writeln!(f, "{} of {} rank(s) ({shown}{more})", group.label, group.members.len())?;
            for (kind, count, bytes) in &group.kinds {
                writeln!(f, "  {count:>8} {:<20} {bytes:>16} bytes", kind.name())?;
            }
        }
        Ok(())
    }
}
