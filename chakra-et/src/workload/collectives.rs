//! Which nodes of several ranks are one collective, and in which order the collectives of a group run.
//!
//! Members may number their nodes differently, and a generator's order of ids means little. So what belongs together is
//! told by names where all members use the same ones, each once; else the k-th collective of one member is the k-th of
//! the others, which must then agree in kind, size and root.
//!
//! The order of a group is that in which its members launch their nodes, if they agree on it and it makes nobody wait for
//! ever. Otherwise it is one that the dependences of all ranks allow: the order in which the collectives of all groups can
//! run, each as early as possible.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::joined::{Circle, Joined};
use super::matching::{self, Matched};
use super::messages::Messages;
use super::{CollectiveKind, Cyclic, Workload};
use crate::graph::Op;

/// The collectives of a workload, each joined from a node of every member of its group.
///
/// A group's collectives come one after the other on every rank, in one order, which all dependences of the workload
/// allow for all groups at once (unless ranks wait for one another in a circle: [`super::check`] finds those).
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
        /// Which, and who, of the first group; and how many more there are.
        message: String,
        /// What is wrong with each group, in their order.
        groups: Vec<Disagreement>,
    },
    /// The members of a group must run its collectives in different orders.
    #[error("{message}")]
    Deadlock {
        /// Who waits for what.
        message: String,
    },
}

/// What the members of a group disagree about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// The index of the group.
    pub group: u32,
    /// Two ranks that disagree.
    pub ranks: [u32; 2],
    /// About what.
    pub message: String,
}

impl Workload {
    /// Joins the collectives of the ranks.
    ///
    /// ```
    /// use chakra_et::workload::{CollectiveKind, WorkloadBuilder};
    ///
    /// // Two gradients of one size, which rank 1 numbers the other way round.
    /// let mut step = WorkloadBuilder::new(2);
    /// for (rank, names) in [(0, ["first", "second"]), (1, ["second", "first"])] {
    ///     for name in names {
    ///         step.collective(rank, name, CollectiveKind::AllReduce, 64, 0, &[])?;
    ///     }
    /// }
    /// let all = step.finish().collectives()?.all;
    /// assert_eq!([&all[0].nodes, &all[1].nodes], [&[0, 1], &[1, 0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Nodes of a rank wait for one another; the members of a group do not issue the same collectives; or their
    /// dependences force them to run those in different orders. Ranks that wait for one another through several
    /// groups or through messages are no error here: see [`super::check`].
    pub fn collectives(&self) -> Result<Collectives, JoinError> {
        let launches = launches(self)?;
        let messages = Messages::of(self, &launches);
        join(self, &launches, &messages).map(|join| join.collectives)
    }
}

/// The collectives with what else was found out.
pub(super) struct Join {
    pub(super) collectives: Collectives,
    /// Where ranks wait for one another, through several groups or messages.
    pub(super) circles: Vec<Circle>,
}

/// The nodes of each rank in the order in which it launches them.
pub(super) fn launches(workload: &Workload) -> Result<Vec<Vec<u32>>, JoinError> {
    let orders: Vec<_> = workload.ranks.par_iter().map(super::RankWorkload::order).collect();
    let checked =
        (0..).zip(orders).map(|(rank, order)| order.map_err(|cyclic| JoinError::Cyclic { rank, cyclic }));
    checked.collect()
}

pub(super) fn join(
    workload: &Workload,
    launches: &[Vec<u32>],
    messages: &Messages,
) -> Result<Join, JoinError> {
    let issued = issued(workload, launches);
    let matched: Vec<Result<Matched, Disagreement>> = issued
        .par_iter()
        .enumerate()
        .map(|(group, issued)| matching::join(workload, group, issued))
        .collect();
    let mut groups = Vec::new();
    let mut disagree = Vec::new();
    for matched in matched {
        match matched {
            Ok(matched) => groups.push(matched),
            Err(disagreement) => disagree.push(disagreement),
        }
    }
    if let Some(first) = disagree.first() {
        let more = match disagree.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more group(s) whose members disagree)"),
        };
        return Err(JoinError::Disagree { message: format!("{}{more}", first.message), groups: disagree });
    }
    order(workload, groups, messages)
}

/// By group and position in it, the nodes that take part, in the order in which the rank launches them.
fn issued(workload: &Workload, launches: &[Vec<u32>]) -> Vec<Vec<Vec<u32>>> {
    let mut issued: Vec<Vec<Vec<u32>>> =
        workload.groups.iter().map(|group| vec![Vec::new(); group.members.len()]).collect();
    for ((rank, launches), positions) in workload.ranks.iter().zip(launches).zip(positions(workload)) {
        for &node in launches {
            let Op::Coll { .. } = rank.graph.op(node) else { continue };
            let group = rank.traits[node as usize].group;
            if let Some(&position) = positions.get(&group) {
                issued[group as usize][position as usize].push(node);
            }
        }
    }
    issued
}

/// By rank, its position in each group that it is in.
fn positions(workload: &Workload) -> Vec<FxHashMap<u32, u32>> {
    let mut of_rank = vec![FxHashMap::default(); workload.ranks.len()];
    for (at, group) in (0..).zip(&workload.groups) {
        for (position, &rank) in (0..).zip(&group.members) {
            of_rank[rank as usize].insert(at, position);
        }
    }
    of_rank
}

/// Brings the collectives of each group into an order in which they can run.
fn order(workload: &Workload, groups: Vec<Matched>, messages: &Messages) -> Result<Join, JoinError> {
    let mut chains = Vec::new();
    let mut all = Vec::new();
    for matched in groups {
        let begin = all.len();
        all.extend(matched.collectives);
        if matched.in_order {
            chains.push(begin..all.len());
        }
    }
    if u32::try_from(workload.node_count() + all.len()).is_err() {
        // No memory holds so many; the order of launches is as good as any.
        return Ok(Join { collectives: Collectives { all }, circles: Vec::new() });
    }
    let joined = Joined::of(workload, &all, messages, &chains);
    let mut places = joined.places();
    let mut circles = Vec::new();
    if places.is_none() {
        // The order of launches alone may be what makes a circle.
        let joined = Joined::of(workload, &all, messages, &[]);
        places = joined.places();
        if places.is_none() {
            circles = joined.circles();
            if let Some(circle) = circles.iter().find(|circle| circle.within_group.is_some()) {
                let group = circle.within_group.map_or(0, |group| group as usize);
                let message = format!(
                    "the members of {} wait for one another: {}",
                    workload.groups[group].label(),
                    circle.message
                );
                return Err(JoinError::Deadlock { message });
            }
        }
    }
    if let Some(places) = places {
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        order.sort_by_key(|&at| (all[at as usize].group, places[at as usize]));
        let mut all_or_none: Vec<Option<Collective>> = all.into_iter().map(Some).collect();
        all = order.into_iter().filter_map(|at| all_or_none[at as usize].take()).collect();
    }
    Ok(Join { collectives: Collectives { all }, circles })
}
