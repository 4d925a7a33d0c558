//! Makes a workload of many ranks from one of few, by rules.

use std::collections::BTreeSet;

use rayon::prelude::*;
use thiserror::Error;

use super::rank_file::label;
use super::{CollectiveKind, Group, RankWorkload, Workload};
use crate::graph::Op;

/// What becomes of a group when a workload is replicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GroupRule {
    /// Each replica has a group of its own: tensor parallelism, pipelines.
    Copied,
    /// The members of all replicas are one group, and each collective has the size that it had: data parallelism.
    Joined,
    /// As joined, with the input of each rank in an all-gather divided by the number of replicas, rounded up: parameters
    /// are in shards on all ranks (FSDP), so that what is gathered has the size that it had. Other collectives keep
    /// their size: of a reduce-scatter it is that of the whole gradient.
    Sharded,
}

/// How a workload is replicated.
///
/// ```
/// use chakra_et::workload::{GroupRule, Replication};
///
/// // Four replicas that exchange gradients on the group "1"; all other groups are in each by itself.
/// let mut rules = Replication::new(4);
/// rules.groups.push(("1".to_owned(), GroupRule::Joined));
/// assert_eq!((rules.all, rules.others), (GroupRule::Joined, GroupRule::Copied));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replication {
    /// How many replicas there are to be.
    pub copies: u32,
    /// The rule for the group of all ranks: at first [`GroupRule::Joined`].
    pub all: GroupRule,
    /// Rules for groups by their names. Of several for one name the first counts.
    pub groups: Vec<(String, GroupRule)>,
    /// The rule for all others: at first [`GroupRule::Copied`].
    pub others: GroupRule,
}

impl Replication {
    /// So many replicas; collectives on all ranks are joined, groups are copied.
    #[must_use]
    pub fn new(copies: u32) -> Self {
        Self { copies, all: GroupRule::Joined, groups: Vec::new(), others: GroupRule::Copied }
    }

    fn rule(&self, group: &Group) -> GroupRule {
        if group.name.is_empty() {
            return self.all;
        }
        self.groups.iter().find(|(name, _)| *name == group.name).map_or(self.others, |(_, rule)| *rule)
    }
}

/// A workload cannot be replicated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplicateError {
    /// No replicas.
    #[error("0 copies of a workload are none: give 1 or more")]
    NoCopies,
    /// More ranks than there can be.
    #[error("{copies} copies of {ranks} ranks are more than {} ranks", u32::MAX)]
    TooManyRanks {
        /// The copies.
        copies: u32,
        /// The ranks of one.
        ranks: usize,
    },
    /// More nodes than collectives can be joined from.
    #[error("{copies} copies of {nodes} nodes are more than {} nodes", u32::MAX)]
    TooManyNodes {
        /// The copies.
        copies: u32,
        /// The nodes of one.
        nodes: usize,
    },
    /// A rule names a group that there is not.
    #[error("there is a rule for group {name:?}, but the workload has {known}")]
    NoSuchGroup {
        /// The name.
        name: String,
        /// Which groups there are.
        known: String,
    },
    /// The number that a copied group would be named by is too large.
    #[error(
        "the copy of {group} in replica {replica} cannot be named: numbers of groups end at {}",
        i32::MAX
    )]
    NoName {
        /// The group.
        group: String,
        /// The replica.
        replica: u32,
    },
    /// The name that a copied group would have is that of another.
    #[error("the copy of {group} in replica {replica} would be named {name:?}, as another group is")]
    NameTaken {
        /// The group.
        group: String,
        /// The replica.
        replica: u32,
        /// The name.
        name: String,
    },
    /// A node exchanges a message with a rank that there is not.
    #[error("rank {rank}, {node}: its peer {peer} is no rank of the workload, which has {ranks}")]
    Peer {
        /// The rank.
        rank: usize,
        /// The node: its id and name.
        node: String,
        /// The peer.
        peer: u32,
        /// How many ranks there are.
        ranks: usize,
    },
}

/// Makes a workload of several replicas of one: of n ranks, replica j has the ranks j·n to (j + 1)·n − 1.
///
/// * Each rank of a replica has the nodes, ids, names and dependences of the rank that it replicates. Messages stay within
///   the replica.
/// * A group is copied, joined or sharded as its [`GroupRule`] says. A joined group keeps its name, and has the members of
///   replica 0 first, then those of replica 1, and so on; a root stays in replica 0.
/// * A copied group keeps its name in replica 0. In replica j, if it is a number, j times a power of ten is added, the
///   smallest above all such numbers plus one: of groups up to "12", the copy of "5" in replica 3 is "305". Other names get
///   a dot and j.
/// * If the group of all ranks is copied, the collectives on it are on new groups. That of replica 0 is named by the largest
///   number of a group plus one, those of others as copies of that.
/// * One replica is the workload itself.
///
/// ```
/// use chakra_et::workload::{CollectiveKind, GroupRule, Replication, WorkloadBuilder, replicate};
///
/// // Two ranks share each product; their gradients are added up with those of their like in other replicas.
/// let mut step = WorkloadBuilder::new(2);
/// let tensor = step.group("1", [0, 1])?;
/// let data = [step.group("2", [0])?, step.group("3", [1])?];
/// for rank in 0..2 {
///     let product = step.collective(rank, "product", CollectiveKind::AllReduce, 64, tensor, &[])?;
///     step.collective(rank, "gradients", CollectiveKind::AllReduce, 640, data[rank as usize], &[product])?;
/// }
/// let mut rules = Replication::new(3);
/// rules.groups = ["2", "3"].map(|name| (name.to_owned(), GroupRule::Joined)).to_vec();
/// let large = replicate(&step.finish(), &rules)?;
/// let groups: Vec<_> = large.groups()[1..].iter().map(|group| (&group.name[..], &group.members[..])).collect();
/// assert_eq!(
///     groups,
///     [("1", &[0, 1][..]), ("2", &[0, 2, 4]), ("3", &[1, 3, 5]), ("11", &[2, 3]), ("21", &[4, 5])]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// There are no replicas, or too many ranks or nodes, a rule names no group, a peer is no rank, or names run out.
pub fn replicate(workload: &Workload, rules: &Replication) -> Result<Workload, ReplicateError> {
    let (copies, ranks) = (rules.copies, workload.rank_count());
    let small = u32::try_from(ranks).ok().and_then(|ranks| Some((ranks, ranks.checked_mul(copies)?)));
    let (own, total) = small.ok_or(ReplicateError::TooManyRanks { copies, ranks })?;
    if copies == 0 {
        return Err(ReplicateError::NoCopies);
    }
    let nodes = u32::try_from(workload.node_count()).ok();
    if nodes.and_then(|nodes| nodes.checked_mul(copies)).is_none() {
        return Err(ReplicateError::TooManyNodes { copies, nodes: workload.node_count() });
    }
    check(workload, rules)?;
    if copies == 1 {
        return Ok(workload.clone());
    }
    let groups = Groups::of(workload, rules, own, total)?;
    let ranks = (0..total).into_par_iter().map(|rank| {
        let (replica, original) = (rank / own, &workload.ranks[(rank % own) as usize]);
        groups.rank(original, replica, replica * own, copies)
    });
    Ok(Workload { ranks: ranks.collect(), groups: groups.all })
}

fn check(workload: &Workload, rules: &Replication) -> Result<(), ReplicateError> {
    let named = || workload.groups.iter().skip(1);
    for (name, _) in &rules.groups {
        if !named().any(|group| group.name == *name) {
            let known: Vec<String> = named().take(12).map(|group| format!("{:?}", group.name)).collect();
            let known = match workload.groups.len() - 1 {
                0 => "no groups but that of all ranks".to_owned(),
                count if count > known.len() => {
                    format!("{} and {} more", known.join(", "), count - known.len())
                }
                _ => known.join(", "),
            };
            return Err(ReplicateError::NoSuchGroup { name: name.clone(), known });
        }
    }
    let ranks = workload.rank_count();
    for (rank, of_rank) in workload.ranks.iter().enumerate() {
        let mut peers = (0..).zip(of_rank.graph.ops()).filter_map(|(node, op)| match *op {
            Op::Send { dst: peer, .. } | Op::Recv { src: peer, .. } => Some((node, peer)),
            _ => None,
        });
        if let Some((node, peer)) = peers.find(|(_, peer)| *peer as usize >= ranks) {
            return Err(ReplicateError::Peer { rank, node: label(of_rank, node), peer, ranks });
        }
    }
    Ok(())
}

/// The groups of all replicas.
struct Groups {
    all: Vec<Group>,
    rules: Vec<GroupRule>,
    /// By replica, and the index of the group in the workload, its index in `all`.
    of_replica: Vec<Vec<u32>>,
}

impl Groups {
    fn of(workload: &Workload, rules: &Replication, own: u32, total: u32) -> Result<Self, ReplicateError> {
        let before = &workload.groups;
        let numbers = || before.iter().filter_map(|group| number(&group.name));
        let first_free = numbers().max().unwrap_or(0) + 1;
        let stride = std::iter::successors(Some(10_u64), |power| Some(power * 10))
            .find(|power| *power > first_free)
            .unwrap_or(u64::MAX);
        let mut groups = Self {
            all: vec![Group { name: String::new(), members: (0..total).collect() }],
            rules: before.iter().map(|group| rules.rule(group)).collect(),
            of_replica: vec![vec![0; before.len()]; rules.copies as usize],
        };
        let mut taken: BTreeSet<String> = before.iter().map(|group| group.name.clone()).collect();
        let shifted = |group: &Group, replica: u32| {
            group.members.iter().map(move |rank| rank + replica * own).collect::<Vec<u32>>()
        };
        for replica in 0..rules.copies {
            // That of all ranks comes last: in replica 0 it has the largest number.
            for at in (1..before.len()).chain([0]) {
                let group = &before[at];
                let copied = groups.rules[at] == GroupRule::Copied;
                let members = match (copied, replica) {
                    (true, _) => shifted(group, replica),
                    (false, 0) if at > 0 => {
                        (0..rules.copies).flat_map(|replica| shifted(group, replica)).collect()
                    }
                    (false, _) => {
                        groups.of_replica[replica as usize][at] = groups.of_replica[0][at];
                        continue;
                    }
                };
                let name = if copied && (at == 0 || replica > 0) {
                    let name = copied_name(group, first_free, stride, replica)?;
                    if !taken.insert(name.clone()) {
                        let group = group.label();
                        return Err(ReplicateError::NameTaken { group, replica, name });
                    }
                    name
                } else {
                    group.name.clone()
                };
                groups.of_replica[replica as usize][at] = groups.all.len() as u32;
                groups.all.push(Group { name, members });
            }
        }
        Ok(groups)
    }

    /// A rank of a replica, from the rank that it replicates.
    fn rank(&self, original: &RankWorkload, replica: u32, shift: u32, copies: u32) -> RankWorkload {
        let mut rank = original.clone();
        let sharded = |node: usize| self.rules[original.traits[node].group as usize] == GroupRule::Sharded;
        let gather = CollectiveKind::AllGather.wire();
        rank.graph.map_ops(|node, op| match op {
            Op::Send { dst, tag, bytes } => Op::Send { dst: dst + shift, tag, bytes },
            Op::Recv { src, tag, bytes } => Op::Recv { src: src + shift, tag, bytes },
            Op::Coll { kind, bytes } if kind == gather && sharded(node) => {
                Op::Coll { kind, bytes: bytes.div_ceil(copies.into()) }
            }
            other => other,
        });
        for (op, traits) in original.graph.ops().iter().zip(&mut rank.traits) {
            if let Op::Coll { .. } = op {
                traits.group = self.of_replica[replica as usize][traits.group as usize];
            }
        }
        rank
    }
}

/// The number that names a group as ASTRA-sim has it.
fn number(name: &str) -> Option<u64> {
    name.parse::<u32>().ok().map(u64::from).filter(|number| number.to_string() == name)
}

fn copied_name(group: &Group, first_free: u64, stride: u64, replica: u32) -> Result<String, ReplicateError> {
    let base = if group.name.is_empty() { Some(first_free) } else { number(&group.name) };
    let Some(base) = base else { return Ok(format!("{}.{replica}", group.name)) };
    let name = stride.checked_mul(replica.into()).and_then(|above| above.checked_add(base));
    let name = name.and_then(|name| i32::try_from(name).ok());
    let name = name.ok_or_else(|| ReplicateError::NoName { group: group.label(), replica })?;
    Ok(name.to_string())
}
