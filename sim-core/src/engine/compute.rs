//! Durations of COMPs, and those that end together.

use rustc_hash::FxHashMap;

use super::Overflow;
use super::node::{NONE, RankState};
use crate::model::Conventions;
use crate::units::Picos;

const PICOS_PER_MICRO: u64 = 1_000_000;

/// How long a COMP of the stated duration takes.
///
/// Exact: that duration. ASTRA-sim: the same, but a duration of 0 takes 1 ns.
pub(super) fn duration(conventions: Conventions, micros: u64) -> Result<Picos, Overflow> {
    let duration = micros.checked_mul(PICOS_PER_MICRO).map(Picos).ok_or(Overflow::TIME)?;
    Ok(match conventions {
        Conventions::AstraSim if micros == 0 => Picos(1000),
        _ => duration,
    })
}

/// ASTRA-sim runs the COMPs of a rank that end at the same time as one event, at the place of the
/// first that was scheduled. They form a list through the nodes of their rank.
#[derive(Default)]
pub(super) struct Ends {
    /// By rank and end, the last of the list. Only looked up, never walked.
    tails: FxHashMap<(u32, Picos), u32>,
}

impl Ends {
    /// Notes the end of a COMP; true if it is the first at that time and needs an event.
    pub(super) fn add(&mut self, rank: u32, end: Picos, node: u32, state: &mut RankState) -> bool {
        match self.tails.insert((rank, end), node) {
            Some(tail) => {
                state.nodes[tail as usize].link = node;
                false
            }
            None => true,
        }
    }

    /// Forgets the list, which is about to run.
    pub(super) fn remove(&mut self, rank: u32, end: Picos) {
        self.tails.remove(&(rank, end));
    }

    /// The COMP that ends together with and after this one.
    pub(super) fn next(state: &RankState, node: u32) -> Option<u32> {
        Some(state.nodes[node as usize].link).filter(|next| *next != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_astra_sim_charges_for_a_comp_without_a_duration() {
        assert_eq!(duration(Conventions::Exact, 0), Ok(Picos(0)));
        assert_eq!(duration(Conventions::AstraSim, 0), Ok(Picos(1000)));
        for conventions in Conventions::ALL {
            assert_eq!(duration(conventions, 7).ok(), Picos::from_ns(7000));
            assert_eq!(duration(conventions, u64::MAX), Err(Overflow::TIME));
        }
    }
}
