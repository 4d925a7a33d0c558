//! Which nodes of several ranks are one collective.

use thiserror::Error;

use super::{CollectiveKind, Cyclic, Workload};
use crate::graph::Op;

/// The collectives of a workload, each joined from a node of every member of its group.
///
/// A group's collectives come one after the other on every rank, in one order: that in which its members launch
/// them ([`RankWorkload::order`](super::RankWorkload::order)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collectives {
    /// In the order of their groups, and within a group in the order in which they run.
    pub all: Vec<Collective>,
}

/// A collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The index of its group.
    pub group: u32,
    /// What it does.
    pub kind: CollectiveKind,
    /// Its `comm_size`.
    pub bytes: u64,
    /// The position of its root, 0 where it has none.
    pub root: u32,
    /// By position in the group, the number of the rank's node.
    pub nodes: Vec<u32>,
}

/// Why nodes cannot be joined to collectives.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JoinError {
    /// Nodes of a rank wait for one another.
    #[error("rank {rank}: {cyclic}")]
    Cyclic {
        /// The rank.
        rank: u32,
        /// The nodes.
        cyclic: Cyclic,
    },
    /// The members of a group do not issue the same collectives.
    #[error("{message}")]
    Disagree {
        /// Which, and who.
        message: String,
    },
}

impl Workload {
    /// Joins the collectives of the ranks: the k-th on a group of one rank with the k-th of each other member.
    ///
    /// # Errors
    ///
    /// Nodes of a rank wait for one another, or the members of a group disagree on what their k-th collective is.
    pub fn collectives(&self) -> Result<Collectives, JoinError> {
        // By group, and position in it, the nodes in their order.
        let mut issued: Vec<Vec<Vec<u32>>> =
            self.groups.iter().map(|group| vec![Vec::new(); group.members.len()]).collect();
        for (rank, nodes) in (0..).zip(&self.ranks) {
            let order = nodes.order().map_err(|cyclic| JoinError::Cyclic { rank, cyclic })?;
            for node in order {
                let Op::Coll { .. } = nodes.graph.op(node) else { continue };
                let group = nodes.traits(node).group as usize;
                if let Some(position) = self.groups[group].position(rank) {
                    issued[group][position].push(node);
                }
            }
        }
        let mut all = Vec::new();
        for (at, (group, issued)) in (0..).zip(self.groups.iter().zip(&issued)) {
            let count = issued.iter().map(Vec::len).max().unwrap_or(0);
            for k in 0..count {
                let mut joined: Option<Collective> = None;
                for (position, nodes) in issued.iter().enumerate() {
                    let rank = group.members[position];
                    let of_rank = &self.ranks[rank as usize];
                    let disagree = |what: &str| JoinError::Disagree {
                        message: format!("{}: collective {k} of rank {rank} {what}", group.label()),
                    };
                    let Some(&node) = nodes.get(k) else { return Err(disagree("is missing")) };
                    let Op::Coll { kind, bytes } = of_rank.graph.op(node) else { continue };
                    let kind =
                        CollectiveKind::from_wire(kind).ok_or_else(|| disagree("is of no known kind"))?;
                    let root = of_rank.traits(node).root;
                    match &mut joined {
                        None => joined = Some(Collective { group: at, kind, bytes, root, nodes: vec![node] }),
                        Some(first) if (first.kind, first.bytes, first.root) == (kind, bytes, root) => {
                            first.nodes.push(node);
                        }
                        Some(_) => return Err(disagree("is another than that of the first member")),
                    }
                }
                all.extend(joined);
            }
        }
        Ok(Collectives { all })
    }
}
