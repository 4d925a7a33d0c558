//! The critical path of a workload: which nodes, on which ranks, determine the makespan.

use chakra_et::workload::CollectiveKind;

use crate::units::Picos;

/// What determines the makespan: a chain of nodes without a gap, from the start to the end.
///
/// A node is on the path because the next one could not start before it ended: it depends on it, it waited for the same stream,
/// or it is a collective or message that the node's rank, or another, came to last.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WorkloadPath {
    /// The steps in order of time.
    pub steps: Vec<PathNode>,
}

/// A step of a [`WorkloadPath`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathNode {
    /// What it is.
    pub kind: PathKind,
    /// The rank on which the step begins, and the id and name of its node there. Of a collective the rank that
    /// held up the others.
    pub rank: u32,
    /// The node's id.
    pub node: u64,
    /// The node's name.
    pub name: String,
    /// The rank on which the step ends.
    pub to: u32,
    /// When the step begins on `rank`.
    pub start: Picos,
    /// When it ends on `to`.
    pub finish: Picos,
}

/// What a step of a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathKind {
    /// A rank that starts late.
    LateStart,
    /// A computation.
    Compute,
    /// A load or store.
    Memory,
    /// A collective.
    Collective {
        /// What it does.
        kind: CollectiveKind,
        /// On which group; empty for that of all ranks.
        group: String,
    },
    /// A message outside collectives.
    Message,
    /// A node that takes no time of its own.
    Other,
}

impl WorkloadPath {
    /// The time on the path that is computing, loading and storing, collectives, messages, and anything else.
    #[must_use]
    pub fn shares(&self) -> [Picos; 5] {
        let mut shares = [Picos::ZERO; 5];
        for step in &self.steps {
            let at = match step.kind {
                PathKind::Compute => 0,
                PathKind::Memory => 1,
                PathKind::Collective { .. } => 2,
                PathKind::Message => 3,
                PathKind::LateStart | PathKind::Other => 4,
            };
            shares[at].0 += step.finish.0 - step.start.0;
        }
        shares
    }
}
