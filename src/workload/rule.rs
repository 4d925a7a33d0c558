//! What a rule says: for which collectives it is, and which algorithm they get.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::path::PathBuf;

use chakra_et::workload::CollectiveKind;

use super::error::{RuleError, RulePlace};
use super::glob;
use super::shape::{self, Shape};
use crate::sim::topology::TextPlace;
use crate::sim::units::Bytes;
use crate::sim::workload::Use;

/// A rule: which collectives it is for, and which algorithm they get.
///
/// A new rule is for all collectives that its algorithm can do; each condition makes them fewer.
///
/// ```
/// use chakra_et::workload::CollectiveKind;
/// use collective::workload::{Overlap, Rule};
///
/// let rule = Rule::algorithm("allreduce_ring")
///     .set("channels", 2)
///     .at_least(1 << 20)
///     .ranks(2..=16)
///     .group("dp*")
///     .overlap(Overlap::Consumers);
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) when: When,
    pub(super) gives: Gives,
    pub(super) set: Vec<(String, usize)>,
    pub(super) overlap: Overlap,
    pub(super) place: RulePlace,
    /// Where in the file it says what it gives, what it sets and what it is for.
    pub(super) said_at: SaidAt,
}

/// Where a rule of a file says what.
#[derive(Clone, Debug, Default)]
pub(super) struct SaidAt {
    pub(super) gives: TextPlace,
    pub(super) set: TextPlace,
    pub(super) kinds: TextPlace,
}

/// What a rule gives, as it was stated.
#[derive(Clone, Debug)]
pub(super) enum Gives {
    /// What was registered under a name, or the library's algorithm of the name.
    Named(String),
    Xml(PathBuf),
    Et(PathBuf),
    Default,
}

/// Which computations begin or end chunk by chunk, instead of with the collective as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Overlap {
    /// None.
    #[default]
    None,
    /// Those that depend on the collective: as many parts as its output has chunks, each of which waits for one chunk.
    Consumers,
    /// Those on which only the collective depends: as many parts as its input has chunks, for each of which only the
    /// nodes wait that need the chunk.
    Producers,
    /// Both.
    Both,
}

impl Overlap {
    pub(super) const NAMES: [(&'static str, Self); 4] = [
        ("none", Self::None),
        ("consumers", Self::Consumers),
        ("producers", Self::Producers),
        ("both", Self::Both),
    ];

    /// Whether computations that depend on the collective are split.
    #[must_use]
    pub fn of_consumers(self) -> bool {
        matches!(self, Self::Consumers | Self::Both)
    }

    /// Whether computations on which only the collective depends are split.
    #[must_use]
    pub fn of_producers(self) -> bool {
        matches!(self, Self::Producers | Self::Both)
    }
}

impl fmt::Display for Overlap {
    /// `none`, `consumers`, `producers` or `both`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = Self::NAMES.into_iter().find(|(_, overlap)| overlap == self).unwrap_or_default();
        f.write_str(name)
    }
}

/// The conditions of a rule; all must hold.
#[derive(Clone, Debug, Default)]
pub(super) struct When {
    /// Empty for all that the algorithm can do.
    pub(super) kinds: Vec<CollectiveKind>,
    pub(super) min_size: Option<u64>,
    /// The first size that is too large.
    pub(super) max_size: Option<u64>,
    pub(super) min_ranks: Option<u32>,
    /// The last number that is not too large.
    pub(super) max_ranks: Option<u32>,
    /// Patterns, of which one must be the group's; empty for any group.
    pub(super) groups: Vec<String>,
    pub(super) nodes: Vec<String>,
    pub(super) contiguous: Option<bool>,
    pub(super) within: Option<u32>,
    pub(super) across: Option<u32>,
}

impl Rule {
    pub(super) fn new(gives: Gives) -> Self {
        let (when, overlap, place) = (When::default(), Overlap::None, RulePlace::default());
        Self { when, gives, set: Vec::new(), overlap, place, said_at: SaidAt::default() }
    }

    /// A rule that gives what was registered under a name ([`Rules::register`](super::Rules::register)), or the algorithm
    /// of the [library](crate::algorithms).
    #[must_use]
    pub fn algorithm(name: impl Into<String>) -> Self {
        Self::new(Gives::Named(name.into()))
    }

    /// A rule that gives the algorithm of an MSCCL XML file.
    #[must_use]
    pub fn xml(file: impl Into<PathBuf>) -> Self {
        Self::new(Gives::Xml(file.into()))
    }

    /// A rule that gives the algorithm of the Chakra traces `PREFIX.0.et`, `PREFIX.1.et`, ….
    #[must_use]
    pub fn et(prefix: impl Into<PathBuf>) -> Self {
        Self::new(Gives::Et(prefix.into()))
    }

    /// A rule that gives what collectives get for which there is no rule.
    #[must_use]
    pub fn default_algorithm() -> Self {
        Self::new(Gives::Default)
    }

    /// Sets a parameter of the algorithm. Those that are not set are the library's first choice for the number of ranks.
    #[must_use]
    pub fn set(mut self, parameter: impl Into<String>, value: usize) -> Self {
        self.set.push((parameter.into(), value));
        self
    }

    /// Only for collectives of these kinds; a reduce-scatter-block is a reduce-scatter too.
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = CollectiveKind>) -> Self {
        self.when.kinds.extend(kinds);
        self
    }

    /// Only for sizes from so many bytes on, by the [convention of nccl-tests](CollectiveKind::size).
    #[must_use]
    pub fn at_least(mut self, bytes: u64) -> Self {
        self.when.min_size = Some(bytes);
        self
    }

    /// Only for sizes smaller than so many bytes.
    #[must_use]
    pub fn below(mut self, bytes: u64) -> Self {
        self.when.max_size = Some(bytes);
        self
    }

    /// Only for groups of so many ranks, such as `2..=8` or `16..`.
    #[must_use]
    pub fn ranks(mut self, ranks: impl RangeBounds<u32>) -> Self {
        self.when.min_ranks = match ranks.start_bound() {
            Bound::Included(first) => Some(*first),
            Bound::Excluded(before) => Some(before.saturating_add(1)),
            Bound::Unbounded => None,
        };
        self.when.max_ranks = match ranks.end_bound() {
            Bound::Included(last) => Some(*last),
            Bound::Excluded(after) => Some(after.saturating_sub(1)),
            Bound::Unbounded => None,
        };
        self
    }

    /// Only for groups whose name a pattern is of, in which `*` stands for any characters and `?` for one. Of several patterns one
    /// must be. The name of the group of all ranks is empty.
    #[must_use]
    pub fn group(mut self, pattern: impl Into<String>) -> Self {
        self.when.groups.push(pattern.into());
        self
    }

    /// Only for nodes whose name a pattern is of, likewise; the node is that of the group's first member.
    #[must_use]
    pub fn node(mut self, pattern: impl Into<String>) -> Self {
        self.when.nodes.push(pattern.into());
        self
    }

    /// Only for groups whose members are consecutive ranks, in whatever order, or only for those whose are not.
    #[must_use]
    pub fn contiguous(mut self, contiguous: bool) -> Self {
        self.when.contiguous = Some(contiguous);
        self
    }

    /// Only for groups whose members all lie in one block of so many ranks, that is on one machine: ranks 0 to 7, 8 to 15, … for 8.
    #[must_use]
    pub fn within(mut self, ranks: u32) -> Self {
        self.when.within = Some(ranks);
        self
    }

    /// Only for groups whose members all lie in different blocks of so many ranks, that is on different machines.
    #[must_use]
    pub fn across(mut self, ranks: u32) -> Self {
        self.when.across = Some(ranks);
        self
    }

    /// Which computations begin or end chunk by chunk.
    #[must_use]
    pub fn overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = overlap;
        self
    }

    /// Its place, in the line where one of its keys is.
    pub(super) fn place_at(&self, key: &TextPlace) -> RulePlace {
        let mut place = self.place.clone();
        if let (Some((_, line)), Some(at)) = (&mut place.line, key.line) {
            *line = at;
            place.span.clone_from(&key.span);
        }
        place
    }

    /// Refuses conditions that no collective meets.
    pub(super) fn check(&self) -> Result<(), RuleError> {
        match self.contradiction() {
            Some((_, message)) => Err(RuleError::new(&self.place, message)),
            None => Ok(()),
        }
    }

    /// Why no collective meets the conditions, if none does, and the key that could be changed.
    pub(super) fn contradiction(&self) -> Option<(&'static str, String)> {
        let When { min_size, max_size, min_ranks, max_ranks, within, across, .. } = self.when;
        if let (Some(min), Some(max)) = (min_size, max_size)
            && min >= max
        {
            let message = format!(
                "no size is from {} on and below {}: min_size must be less than max_size",
                Bytes(min),
                Bytes(max)
            );
            return Some(("max_size", message));
        }
        if max_size == Some(0) {
            return Some(("max_size", "no size is below 0: max_size must be more".to_owned()));
        }
        if let (Some(min), Some(max)) = (min_ranks, max_ranks)
            && min > max
        {
            let message = format!(
                "no group has {min} ranks or more and {max} or fewer: min_ranks must not be more than max_ranks"
            );
            return Some(("max_ranks", message));
        }
        if max_ranks == Some(0) {
            return Some(("max_ranks", "no group has 0 ranks".to_owned()));
        }
        for (word, block) in [("within", within), ("across", across)] {
            if block == Some(0) {
                return Some((word, format!("{word} = 0: expected the ranks of a machine, 1 or more")));
            }
        }
        if let (Some(within), Some(across)) = (within, across)
            && across >= within
        {
            let message = format!(
                "the members of no group lie within one block of {within} ranks and across blocks of {across}"
            );
            return Some(("across", message));
        }
        if let (Some(within), Some(min)) = (within, min_ranks)
            && min > within
        {
            return Some(("within", format!("no group of {min} ranks or more lies within {within} ranks")));
        }
        None
    }
}

impl When {
    /// Whether a collective meets all conditions; `size` by the convention of nccl-tests.
    pub(super) fn holds(&self, collective: &Use<'_>, size: u64) -> bool {
        let ranks = collective.ranks();
        let members = &collective.group.members;
        let of_kind = |kind: &CollectiveKind| {
            *kind == collective.kind
                || (*kind, collective.kind)
                    == (CollectiveKind::ReduceScatter, CollectiveKind::ReduceScatterBlock)
        };
        let named = |patterns: &[String], name: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| glob::matches(pattern, name))
        };
        (self.kinds.is_empty() || self.kinds.iter().any(of_kind))
            && self.min_size.is_none_or(|min| size >= min)
            && self.max_size.is_none_or(|max| size < max)
            && self.min_ranks.is_none_or(|min| ranks >= min)
            && self.max_ranks.is_none_or(|max| ranks <= max)
            && named(&self.groups, &collective.group.name)
            && named(&self.nodes, collective.name)
            && self.contiguous.is_none_or(|wanted| shape::is_contiguous(members) == wanted)
            && self.within.is_none_or(|block| Shape::of(members, block).machines <= 1)
            && self.across.is_none_or(|block| Shape::of(members, block).machines as usize == members.len())
    }
}
