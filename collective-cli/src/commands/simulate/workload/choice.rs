//! Who gives the collectives their algorithms.

use std::error::Error;

use collective::sim::workload::{Algorithms, Choice, Roofline, Use};
use collective::workload::{AstraSystem, Expander, Used};

/// Rules, or ASTRA-sim's system file.
pub(super) enum Chooser {
    Rules(Box<Expander>),
    System(Box<AstraSystem>),
}

impl Chooser {
    /// What was asked for so far.
    pub(super) fn used(&self) -> Vec<Used> {
        match self {
            Self::Rules(rules) => rules.used(),
            Self::System(system) => system.used(),
        }
    }

    /// What a report should say.
    pub(super) fn notes(&self) -> Vec<String> {
        match self {
            Self::Rules(rules) => rules.notes(),
            Self::System(system) => system.notes(),
        }
    }

    /// The speed of a rank, where a file says it.
    pub(super) fn roofline(&self) -> Option<Roofline> {
        match self {
            Self::Rules(_) => None,
            Self::System(system) => system.roofline(),
        }
    }
}

impl Algorithms for Chooser {
    fn algorithm(&self, collective: &Use<'_>) -> Result<Choice, Box<dyn Error + Send + Sync>> {
        match self {
            Self::Rules(rules) => rules.algorithm(collective),
            Self::System(system) => system.algorithm(collective),
        }
    }
}
