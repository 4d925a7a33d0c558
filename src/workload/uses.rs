//! Which rule gave which algorithm for what.

use std::collections::BTreeMap;
use std::fmt;

use chakra_et::workload::CollectiveKind;

use super::error::RulePlace;
use crate::sim::units::Bytes;

/// Which algorithm collectives got that are alike but for their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Used {
    /// The rule; none for the default, and for collectives that move nothing.
    pub rule: Option<RulePlace>,
    /// What they do.
    pub kind: CollectiveKind,
    /// Ranks of their groups.
    pub ranks: u32,
    /// The algorithm with its parameters.
    pub algorithm: String,
    /// How many collectives.
    pub count: u64,
    /// The smallest size, by the convention of nccl-tests.
    pub min_size: u64,
    /// The largest size.
    pub max_size: u64,
}

impl fmt::Display for Used {
    /// `12 × all_reduce of 8 ranks, 1 MiB to 4 MiB: allreduce_ring(channels=2) (rules.toml:3: rule 1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {} of {} ranks, {}", self.count, self.kind, self.ranks, Bytes(self.min_size))?;
        if self.max_size > self.min_size {
            write!(f, " to {}", Bytes(self.max_size))?;
        }
        write!(f, ": {}", self.algorithm)?;
        match &self.rule {
            Some(rule) => write!(f, " ({rule})"),
            None => write!(f, " (default)"),
        }
    }
}

/// The index of a rule, the kind, the ranks, and the name of the algorithm. The default comes after all rules.
type Key = (usize, CollectiveKind, u32, String);

/// Counts what was asked for.
#[derive(Debug, Default)]
pub(super) struct Uses(BTreeMap<Key, (u64, u64, u64)>);

impl Uses {
    pub(super) fn add(
        &mut self,
        rule: Option<usize>,
        kind: CollectiveKind,
        ranks: u32,
        name: &str,
        size: u64,
    ) {
        let key = (rule.unwrap_or(usize::MAX), kind, ranks, name.to_owned());
        let (count, min, max) = self.0.entry(key).or_insert((0, size, size));
        *count += 1;
        *min = size.min(*min);
        *max = size.max(*max);
    }

    pub(super) fn list(&self, place: impl Fn(usize) -> Option<RulePlace>) -> Vec<Used> {
        let used = self.0.iter().map(|((rule, kind, ranks, algorithm), (count, min, max))| Used {
            rule: place(*rule),
            kind: *kind,
            ranks: *ranks,
            algorithm: algorithm.clone(),
            count: *count,
            min_size: *min,
            max_size: *max,
        });
        used.collect()
    }
}
