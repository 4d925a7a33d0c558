//! What is fastest where.

use super::plan::{Sweep, Unit};
use crate::sim::units::Picos;
use crate::{CollectiveKind, Size};

/// The fastest algorithm at a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Winner {
    /// The size.
    pub size: Size,
    /// The index of its [`Unit`].
    pub unit: usize,
    /// Its time.
    pub time: Picos,
}

/// From which size to which one algorithm is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stretch {
    /// The index of its [`Unit`].
    pub unit: usize,
    /// The smallest size of the sweep at which it wins.
    pub from: Size,
    /// The largest.
    pub until: Size,
}

/// What is fastest for a collective among so many ranks on a network.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The collective.
    pub collective: CollectiveKind,
    /// The number of ranks.
    pub ranks: usize,
    /// The index of the [`Network`](super::Network).
    pub network: usize,
    /// The fastest at each size that has a time, from the smallest size on; of equally fast ones the one that comes first in
    /// the sweep.
    pub winners: Vec<Winner>,
}

impl Field {
    /// The winners without repetition: from which size of the sweep to which.
    #[must_use]
    pub fn stretches(&self) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for Winner { size, unit, .. } in &self.winners {
            match stretches.last_mut() {
                Some(last) if last.unit == *unit => last.until = *size,
                _ => stretches.push(Stretch { unit: *unit, from: *size, until: *size }),
            }
        }
        stretches
    }
}

/// What is fastest for each collective, number of ranks and network, in the order in which they first come in the sweep, of the
/// units that are `wanted`. `times` has the time of each point by its number, where there is one; what is missing has none.
///
/// Fields without any time are left out.
#[must_use]
pub fn fields(sweep: &Sweep, times: &[Option<Picos>], wanted: impl Fn(&Unit) -> bool) -> Vec<Field> {
    let networks = sweep.networks().len();
    let mut fields: Vec<Field> = Vec::new();
    // Smallest first, and of equal ones the first.
    let mut sizes: Vec<usize> = (0..sweep.sizes().len()).collect();
    sizes.sort_by_key(|size| sweep.sizes()[*size].in_bytes());
    let mut kinds: Vec<(CollectiveKind, usize)> = Vec::new();
    for unit in sweep.units() {
        let kind = (sweep.subject(unit).collective(), unit.ranks);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    for (collective, ranks) in kinds {
        let units: Vec<usize> = (0..sweep.units().len())
            .filter(|index| {
                let unit = &sweep.units()[*index];
                unit.ranks == ranks && sweep.subject(unit).collective() == collective && wanted(unit)
            })
            .collect();
        for network in 0..networks {
            let winner = |size: &usize| {
                let time = |unit: usize| {
                    times.get((unit * sweep.sizes().len() + size) * networks + network).copied().flatten()
                };
                let timed = units.iter().filter_map(|unit| Some((time(*unit)?, *unit)));
                let (time, unit) = timed.min()?;
                Some(Winner { size: sweep.sizes()[*size], unit, time })
            };
            let winners: Vec<Winner> = sizes.iter().filter_map(winner).collect();
            if !winners.is_empty() {
                fields.push(Field { collective, ranks, network, winners });
            }
        }
    }
    fields
}
