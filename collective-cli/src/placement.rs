//! The argument that says where ranks sit.

use std::fmt;
use std::fs;
use std::str::FromStr;

use collective::sim::topology::{Placement, Topology};

use crate::failure::Failure;

/// Where ranks sit, as said on the command line.
#[derive(Clone, Debug)]
pub(crate) enum PlacementArgument {
    Identity,
    Random { seed: u64 },
    File { path: String, placement: Placement },
}

impl FromStr for PlacementArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "identity" {
            return Ok(Self::Identity);
        }
        if let Some(seed) = text.strip_prefix("random:") {
            let seed = seed.parse().map_err(|_| format!("{seed:?} is no seed: expected a whole number"))?;
            return Ok(Self::Random { seed });
        }
        let known = "expected a file, identity or random:SEED";
        let content = fs::read_to_string(text).map_err(|error| format!("{text}: {error}: {known}"))?;
        let placement = content.parse().map_err(|error| format!("{text}: {error}"))?;
        Ok(Self::File { path: text.to_owned(), placement })
    }
}

impl fmt::Display for PlacementArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("identity"),
            Self::Random { seed } => write!(f, "random:{seed}"),
            Self::File { path, .. } => f.write_str(path),
        }
    }
}

impl PlacementArgument {
    /// How many ranks are placed, where the argument says so.
    pub(crate) fn ranks(&self) -> Option<u32> {
        match self {
            Self::Identity | Self::Random { .. } => None,
            // A placement has as many positions as differ in 32 bits, at most.
            Self::File { placement, .. } => Some(placement.positions().len() as u32),
        }
    }

    /// The topology with so many ranks placed.
    pub(crate) fn place(&self, topology: &Topology, ranks: usize) -> Result<Topology, Failure> {
        let count = u32::try_from(ranks).unwrap_or(u32::MAX);
        let positions = topology.position_count();
        let fault = |error: &dyn fmt::Display| Failure::input(format!("placement {self}: {error}"));
        let placement = match self {
            _ if count > positions => {
                return Err(fault(&format!("{ranks} ranks are to be placed at {positions} positions")));
            }
            Self::Identity => Placement::identity(count),
            Self::Random { seed } => {
                Placement::random(count, positions, *seed).map_err(|error| fault(&error))?
            }
            Self::File { placement, .. } if placement.positions().len() != ranks => {
                let placed = placement.positions().len();
                return Err(fault(&format!("it places {placed} ranks, but there are {ranks}")));
            }
            Self::File { placement, .. } => placement.clone(),
        };
        topology.placed(&placement).map_err(|error| fault(&error))
    }
}
