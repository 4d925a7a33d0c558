//! A list of rules, and the algorithms that they may name beside the library's.

use crate::{AlgorithmDef, Schedule};

use super::rule::Rule;

/// How many ranks a machine has where nothing says so: that of the machines that NCCL's defaults are made for.
pub(super) const MACHINE: u32 = 8;

/// Which algorithm which collective of a workload gets: the first rule that is for it says so. For a collective without
/// a rule, see [`default_choice`](super::default_choice).
///
/// ```
/// use chakra_et::workload::{CollectiveKind, Group};
/// use collective::prelude::*;
/// use collective::sim::workload::{Algorithms, Use};
/// use collective::workload::{Expander, Rule, Rules};
///
/// /// Everybody sends everything to everybody.
/// #[collective(all_gather)]
/// fn all_at_once(p: &Program, ranks: usize) {
///     for from in 0..ranks {
///         for to in 0..ranks {
///             p.chunk(from, Input, 0).copy_to(to, Output, from);
///         }
///     }
/// }
///
/// let rules = Rules::new()
///     .register(all_at_once::DEF)
///     .rule(Rule::algorithm("all_at_once").below(1 << 20))
///     .rule(Rule::algorithm("allreduce_ring").set("channels", 2).group("dp*"));
/// let expander = Expander::new(rules)?;
///
/// let group = Group { name: "tp0".to_owned(), members: vec![0, 1, 2] };
/// let gathered = expander.algorithm(&Use::new(CollectiveKind::AllGather, 1000, 0, &group))?;
/// assert_eq!(gathered.algorithm.name(), "all_at_once");
/// let summed = expander.algorithm(&Use::new(CollectiveKind::AllReduce, 1000, 0, &group))?;
/// assert_eq!(summed.algorithm.name(), "allreduce_ring(channels=1)"); // no rule, so the default
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    pub(super) rules: Vec<Rule>,
    /// None where nobody said it.
    pub(super) machine: Option<u32>,
    pub(super) functions: Vec<AlgorithmDef>,
    pub(super) schedules: Vec<(String, Schedule)>,
}

impl Default for Rules {
    fn default() -> Self {
        Self::new()
    }
}

impl Rules {
    /// No rules: all collectives get their default. Machines have 8 ranks, unless a topology says something else
    /// ([`Expander::on`](super::Expander::on)).
    #[must_use]
    pub fn new() -> Self {
        Self { rules: Vec::new(), machine: None, functions: Vec::new(), schedules: Vec::new() }
    }

    /// Adds a rule after those that are there.
    #[must_use]
    pub fn rule(mut self, mut rule: Rule) -> Self {
        rule.place.number = Some(self.rules.len() + 1);
        self.rules.push(rule);
        self
    }

    /// The number of consecutive ranks that a machine has: ranks 0 to 7, 8 to 15, … for 8. Defaults depend on it, and the parameter `gpus` of
    /// hierarchical algorithms, where a rule does not set it. 0 counts as 1. It goes before what a topology says.
    #[must_use]
    pub fn machine(mut self, ranks: u32) -> Self {
        self.machine = Some(ranks.max(1));
        self
    }

    /// Adds an algorithm that rules may name: the `DEF` of a `#[collective]` function. It goes before one of the library of the
    /// same name.
    #[must_use]
    pub fn register(mut self, function: AlgorithmDef) -> Self {
        self.functions.push(function);
        self
    }

    /// Adds a schedule that rules may name, such as that of a `#[collective]` constant
    /// ([`Embedded::schedule`](crate::Embedded::schedule)). Several of one name are for different numbers of ranks.
    #[must_use]
    pub fn register_schedule(mut self, name: impl Into<String>, schedule: Schedule) -> Self {
        self.schedules.push((name.into(), schedule));
        self
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}
