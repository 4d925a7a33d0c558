//! Figures about a trace: what kinds of nodes it has, what it moves, how deep and wide its graph is.

use std::collections::BTreeMap;

use crate::proto::{CollectiveCommType, NodeType};
use crate::validate::{Act, RankSurvey, Survey};

/// The figures of a rank, or of all together.
///
/// ```
/// use chakra_et::graph::{Op, Origin};
/// use chakra_et::summary::Summary;
/// use chakra_et::validate::Survey;
/// use chakra_et::{RankWriter, metadata, view};
///
/// let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
/// for (id, deps) in [(0, vec![]), (1, vec![0]), (2, vec![0])] {
///     let op = Op::Send { dst: 1, tag: id as u32, bytes: 100 };
///     writer.node(&view::node(id, "COMM_SEND_NODE", op, deps, Origin::default())?)?;
/// }
/// let survey = Survey::from_bytes(&[writer.finish()])?;
/// let summary = Summary::of_rank(&survey.ranks()[0]);
/// assert_eq!((summary.sends, summary.sent_bytes), (3, 300));
/// assert_eq!((summary.depth, summary.width), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of dependences, without duplicates.
    pub deps: u64,
    /// Nodes of each type, by its name; types that the format does not define by their number.
    pub types: BTreeMap<String, u64>,
    /// Collectives of each kind, by its name: how many, and their bytes.
    pub collectives: BTreeMap<String, Count>,
    /// Number of sends.
    pub sends: u64,
    /// Bytes sent, where known.
    pub sent_bytes: u128,
    /// Number of receives.
    pub receives: u64,
    /// Bytes received, where known.
    pub received_bytes: u128,
    /// Nodes on the longest chain of dependences.
    pub depth: u64,
    /// The most nodes with chains of one length before them: about as many as can run at once.
    pub width: u64,
}

/// How many, and of how many bytes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u128,
}

impl Summary {
    /// The figures of one rank.
    #[must_use]
    pub fn of_rank(rank: &RankSurvey) -> Self {
        let mut summary = Self { nodes: rank.len() as u64, ..Self::default() };
        summary.deps = rank.deps.item_count() as u64;
        let mut types: BTreeMap<i32, u64> = BTreeMap::new();
        for item in &rank.items {
            *types.entry(item.node_type).or_default() += 1;
            match item.act {
                Act::Send(message) => {
                    summary.sends += 1;
                    summary.sent_bytes += u128::from(message.bytes.unwrap_or(0));
                }
                Act::Recv(message) => {
                    summary.receives += 1;
                    summary.received_bytes += u128::from(message.bytes.unwrap_or(0));
                }
                Act::Coll { kind, bytes } => {
                    let count = summary.collectives.entry(collective_name(kind)).or_default();
                    count.count += 1;
                    count.bytes += u128::from(bytes);
                }
                _ => {}
            }
        }
        summary.types = types.into_iter().map(|(value, count)| (type_name(value), count)).collect();
        let depth = rank.order.depth.iter().copied().max().unwrap_or(0);
        let mut levels = vec![0_u64; depth as usize + 1];
        rank.order.depth.iter().for_each(|&level| levels[level as usize] += 1);
        summary.depth = depth.into();
        // Level 0 are nodes that never run.
        summary.width = levels.iter().skip(1).copied().max().unwrap_or(0);
        summary
    }

    /// The figures of all ranks together: depth is that of the deepest rank, width the sum.
    #[must_use]
    pub fn of(survey: &Survey) -> Self {
        let mut all = Self::default();
        for rank in survey.ranks() {
            all.add(&Self::of_rank(rank));
        }
        all
    }

    fn add(&mut self, rank: &Self) {
        self.nodes += rank.nodes;
        self.deps += rank.deps;
        for (name, count) in &rank.types {
            *self.types.entry(name.clone()).or_default() += count;
        }
        for (name, count) in &rank.collectives {
            let sum = self.collectives.entry(name.clone()).or_default();
            sum.count += count.count;
            sum.bytes += count.bytes;
        }
        self.sends += rank.sends;
        self.sent_bytes += rank.sent_bytes;
        self.receives += rank.receives;
        self.received_bytes += rank.received_bytes;
        self.depth = self.depth.max(rank.depth);
        self.width += rank.width;
    }
}

/// The name of a node type as the format has it, or its number.
#[must_use]
pub fn type_name(value: i32) -> String {
    NodeType::try_from(value).map_or_else(|_| format!("type {value}"), |known| known.as_str_name().to_owned())
}

fn collective_name(kind: u32) -> String {
    let known = i32::try_from(kind).ok().and_then(|kind| CollectiveCommType::try_from(kind).ok());
    known.map_or_else(|| format!("collective {kind}"), |known| known.as_str_name().to_owned())
}
