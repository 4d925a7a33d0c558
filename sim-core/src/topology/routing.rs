//! Which of several shortest ways a message takes.

use std::fmt;

/// How one of several equally short ways is chosen, for each ordered pair of members once and for all.
///
/// With w ways, numbered from 0, the way from member s to member d is
///
/// * `Ecmp { seed }`: z mod w, where z is the 64-bit SplitMix64 finaliser of x = 2^32 · s + d + (seed + 1) · φ, with
///   φ = 0x9E3779B97F4A7C15, all modulo 2^64:
///   z = (x ⊕ x≫30) · 0xBF58476D1CE4E5B9, z = (z ⊕ z≫27) · 0x94D049BB133111EB, z = z ⊕ z≫31;
/// * `Destination`: d mod w, as the static tables of InfiniBand's fat-tree routing (D-mod-k).
///
/// ECMP spreads pairs at random, so that some links get more of them than others, as hashing switches do. By destination, all
/// messages for one member come down one way, and shifts of a full tree never meet.
///
/// ```
/// use sim_core::topology::Routing;
///
/// // The first output of SplitMix64 from the seed 0 is 0xE220A8397B1DCDAF.
/// assert_eq!(Routing::Ecmp { seed: 0 }.way(0, 0, 1000), 0xE220_A839_7B1D_CDAF % 1000);
/// assert_eq!(Routing::Destination.way(3, 13, 8), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Routing {
    /// Named `ecmp`: by a hash of source, destination and a seed.
    Ecmp {
        /// Another seed, another spread.
        seed: u64,
    },
    /// Named `destination`: by the destination's number.
    Destination,
}

impl Default for Routing {
    fn default() -> Self {
        Self::Ecmp { seed: 0 }
    }
}

impl Routing {
    /// The way from member `src` to member `dst`, of `ways`; 0 if there is no choice.
    #[must_use]
    pub fn way(self, src: u32, dst: u32, ways: u64) -> u64 {
        let number = match self {
            _ if ways <= 1 => return 0,
            Self::Ecmp { seed } => split_mix(u64::from(src) << 32 | u64::from(dst), seed),
            Self::Destination => u64::from(dst),
        };
        number % ways
    }
}

impl fmt::Display for Routing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ecmp { seed } => write!(f, "ECMP, seed {seed}"),
            Self::Destination => f.write_str("by destination"),
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the output after the state `value + seed · φ`.
pub(super) fn split_mix(value: u64, seed: u64) -> u64 {
    let state = value.wrapping_add(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let z = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_split_mix() {
        // The published outputs of SplitMix64 from the seed 0; a seed of ours is a further step of its state.
        for (seed, output) in
            [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F].iter().enumerate()
        {
            assert_eq!(split_mix(0, seed as u64), *output);
        }
    }

    #[test]
    fn ways_are_taken_evenly() {
        // 65,280 pairs on 16 ways: 4,080 each, with a standard deviation of √(65,280 · 1/16 · 15/16) ≈ 62.
        for seed in [0, 1, u64::MAX] {
            let mut taken = [0u32; 16];
            for (src, dst) in
                (0..256).flat_map(|src| (0..256).map(move |dst| (src, dst))).filter(|(s, d)| s != d)
            {
                taken[Routing::Ecmp { seed }.way(src, dst, 16) as usize] += 1;
            }
            assert!(taken.iter().all(|count| count.abs_diff(4080) < 5 * 62), "{taken:?}");
        }
        assert_eq!(Routing::default().way(1, 2, 1), 0);
    }
}
