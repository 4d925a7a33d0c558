//! Rules of other simulators for the order in which a rank issues its nodes.

use std::fmt;
use std::str::FromStr;

use crate::model::{UnknownName, by_name};

/// As which simulator a graph is executed.
///
/// Without one, a node is issued as soon as its dependences have finished, any number at once: this is
/// also how ASTRA-sim runs the graph of a custom collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compat {
    /// Named `astra-sim`: as ASTRA-sim runs a graph that is given as the workload itself.
    ///
    /// A rank has one SEND in flight at a time, until it is delivered, and one COMP; RECVs are
    /// unlimited. After every completion on the rank the nodes that are ready are tried in ascending order. In a
    /// [workload](crate::workload) a collective counts as a SEND does, whatever its group.
    AstraSim,
}

impl Compat {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::AstraSim];

    /// The name, as on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AstraSim => "astra-sim",
        }
    }
}

impl fmt::Display for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Compat {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        by_name("simulator to be compatible with", name, Self::ALL, Self::name)
    }
}
