//! Which rank sits where.

use std::str::FromStr;

use thiserror::Error;

use super::routing::split_mix;

/// Where ranks sit in a topology: rank r at a position, which is a rank of the topology as it was declared.
///
/// There may be more positions than ranks; the rest stay free.
///
/// ```
/// use sim_core::topology::{Dimension, Placement, Topology};
///
/// let ring = Topology::new([Dimension::ring(8, "50 GB/s".parse()?, "500 ns".parse()?)])?;
/// let every_other = Placement::from_positions([0, 2, 4, 6])?;
/// let placed = ring.placed(&every_other)?;
/// assert_eq!(placed.rank_count(), 4);
/// let mut route = Vec::new();
/// placed.route(0, 1, &mut route);
/// assert_eq!(route.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    positions: Vec<u32>,
}

/// Positions that place no ranks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// No ranks.
    #[error("the placement is empty: expected one position for each rank")]
    Empty,
    /// A position that the topology does not have.
    #[error("rank {rank} is placed at position {position}: expected one below {positions}")]
    NoSuchPosition {
        /// The rank.
        rank: u32,
        /// The position as given.
        position: u32,
        /// Positions of the topology.
        positions: u32,
    },
    /// Two ranks at one position.
    #[error("ranks {first} and {second} are both placed at position {position}")]
    Taken {
        /// The lower rank.
        first: u32,
        /// The higher rank.
        second: u32,
        /// Where both are.
        position: u32,
    },
    /// More ranks than positions.
    #[error("{ranks} ranks are to be placed, but the topology has {positions} positions")]
    TooManyRanks {
        /// Ranks to be placed.
        ranks: u32,
        /// Positions of the topology.
        positions: u32,
    },
    /// The topology's ranks have been placed already.
    #[error("the ranks of the topology are placed already")]
    PlacedTwice,
    /// A line of a file that is no position.
    #[error("line {line}: {text:?} is no position: expected a whole number from 0 to 4294967295")]
    NoNumber {
        /// The line, counted from 1.
        line: usize,
        /// What it holds.
        text: String,
    },
}

impl Placement {
    /// Rank r at position r.
    #[must_use]
    pub fn identity(ranks: u32) -> Self {
        Self { positions: (0..ranks).collect() }
    }

    /// Ranks at different positions below `positions`, drawn at random, the same for the same seed.
    ///
    /// A Fisher–Yates shuffle from the front: rank r swaps position r with position r + x mod (positions − r), where x is the r-th
    /// output of SplitMix64 from the seed.
    ///
    /// # Errors
    /// [`PlacementError::TooManyRanks`]
    pub fn random(ranks: u32, positions: u32, seed: u64) -> Result<Self, PlacementError> {
        if ranks > positions {
            return Err(PlacementError::TooManyRanks { ranks, positions });
        }
        let mut all: Vec<u32> = (0..positions).collect();
        for rank in 0..ranks {
            let drawn = split_mix(seed, u64::from(rank)) % u64::from(positions - rank);
            all.swap(rank as usize, rank as usize + drawn as usize);
        }
        all.truncate(ranks as usize);
        Ok(Self { positions: all })
    }

    /// Rank r at the r-th of these positions.
    ///
    /// # Errors
    /// [`PlacementError`] if there are none, or two are equal.
    pub fn from_positions(positions: impl IntoIterator<Item = u32>) -> Result<Self, PlacementError> {
        let positions: Vec<u32> = positions.into_iter().collect();
        if positions.is_empty() {
            return Err(PlacementError::Empty);
        }
        let mut by_position: Vec<u32> = (0..positions.len() as u32).collect();
        by_position.sort_by_key(|rank| positions[*rank as usize]);
        let twice =
            by_position.windows(2).find(|two| positions[two[0] as usize] == positions[two[1] as usize]);
        match twice {
            Some(two) => Err(PlacementError::Taken {
                first: two[0],
                second: two[1],
                position: positions[two[0] as usize],
            }),
            None => Ok(Self { positions }),
        }
    }

    /// The positions, by rank.
    #[must_use]
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// Checks that a topology has the positions.
    pub(super) fn check(&self, positions: u32) -> Result<(), PlacementError> {
        if self.positions.len() > positions as usize {
            let ranks = u32::try_from(self.positions.len()).unwrap_or(u32::MAX);
            return Err(PlacementError::TooManyRanks { ranks, positions });
        }
        match (0..).zip(&self.positions).find(|(_, position)| **position >= positions) {
            Some((rank, position)) => {
                Err(PlacementError::NoSuchPosition { rank, position: *position, positions })
            }
            None => Ok(()),
        }
    }
}

/// A file: a position a line, rank 0 first; spaces, commas and brackets between numbers are left aside, and from `#` on a line is
/// a comment. So a list such as `[3, 1, 2, 0]` can be read too.
impl FromStr for Placement {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, PlacementError> {
        let mut positions = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            for word in line.split(|c: char| c.is_whitespace() || ",[]".contains(c)).filter(|w| !w.is_empty())
            {
                let number = word.parse();
                positions.push(
                    number.map_err(|_| PlacementError::NoNumber { line: at + 1, text: word.to_owned() })?,
                );
            }
        }
        Self::from_positions(positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_position_a_line_or_a_list() {
        let placed = |positions: [u32; 4]| Placement::from_positions(positions);
        assert_eq!("3\n1  # second\n\n2\n0\n".parse(), placed([3, 1, 2, 0]));
        assert_eq!("[3, 1,\n 2, 0]".parse(), placed([3, 1, 2, 0]));
        let error = |text: &str| text.parse::<Placement>().unwrap_err().to_string();
        assert_eq!(
            error("0\n1\n\nx2\n"),
            "line 4: \"x2\" is no position: expected a whole number from 0 to 4294967295"
        );
        assert!(error("0\n-1").starts_with("line 2: \"-1\""));
        assert_eq!(error("5 6 7 6"), "ranks 1 and 3 are both placed at position 6");
        assert_eq!(error("# nothing"), "the placement is empty: expected one position for each rank");
    }

    #[test]
    fn random_positions_differ_and_are_the_same_again() {
        let placement = Placement::random(50, 64, 7).unwrap();
        assert_eq!(Placement::from_positions(placement.positions().iter().copied()), Ok(placement.clone()));
        assert_eq!(placement.check(64), Ok(()));
        assert_eq!(Placement::random(50, 64, 7), Ok(placement.clone()));
        assert_ne!(Placement::random(50, 64, 8), Ok(placement));
        // SplitMix64 from 0 begins with 0xE220A8397B1DCDAF ≡ 7 mod 8, then 0x6E789E6AA1B965F4 ≡ 1 mod 7.
        assert_eq!(0x6E78_9E6A_A1B9_65F4u64 % 7, 1);
        assert_eq!(Placement::random(2, 8, 0).unwrap().positions(), [7, 2]);
        assert_eq!(Placement::random(9, 8, 0), Err(PlacementError::TooManyRanks { ranks: 9, positions: 8 }));
    }
}
