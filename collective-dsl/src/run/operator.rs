//! How contributions are combined.

use std::fmt;
use std::str::FromStr;

use crate::options::UnknownOption;

/// What "sum" stands for in a collective that reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Operator {
    /// The sum.
    #[default]
    Sum,
    /// The product.
    Prod,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum, divided once by the number of contributions when everything is done; of integers toward zero, as NCCL
    /// does.
    Avg,
}

impl Operator {
    /// All operators.
    pub const ALL: [Operator; 5] =
        [Operator::Sum, Operator::Prod, Operator::Min, Operator::Max, Operator::Avg];

    /// The name, such as `sum`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Operator::Sum => "sum",
            Operator::Prod => "prod",
            Operator::Min => "min",
            Operator::Max => "max",
            Operator::Avg => "avg",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Operator {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, UnknownOption> {
        let known = Self::ALL.into_iter().find(|operator| operator.name() == name);
        known.ok_or_else(|| UnknownOption::new("operator", name, "sum, prod, min, max or avg"))
    }
}
