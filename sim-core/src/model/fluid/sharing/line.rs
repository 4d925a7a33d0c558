//! A link as the flows across it see it.

use super::Crossing;
use crate::units::Picos;

/// The level of a link that is nobody's bottleneck.
pub(super) const UNLIMITED: u128 = u128::MAX;

/// What the rates depend on at a directed link: a cache line and a half.
pub(super) struct Load {
    /// Σ rate · flows over the classes that are at home elsewhere.
    pub(super) others: u128,
    /// No class that is at home elsewhere has a higher rate; there may be none as high.
    pub(super) top: u128,
    /// The rate of the flows at home here.
    pub(super) level: u128,
    pub(super) capacity: u128,
    /// Flows across the link, and of those the ones at home here.
    pub(super) flows: u64,
    pub(super) home_flows: u64,
    /// It waits to be looked at.
    pub(super) queued: bool,
    /// A class at home here has no rate yet.
    pub(super) fresh: bool,
}

/// The classes across a link, and the clock of those at home there.
#[derive(Default)]
pub(super) struct Line {
    /// First those at home here.
    pub(super) crossings: Vec<Crossing>,
    pub(super) homes: u32,
    /// Its level or its classes at home have changed since somebody asked.
    pub(super) touched: bool,
    /// ∫ level dt while it was a bottleneck, up to `since`.
    served: u128,
    since: Picos,
}

impl Load {
    pub(super) fn new(capacity: u128) -> Self {
        let (queued, fresh) = (false, false);
        Self { others: 0, top: 0, level: UNLIMITED, capacity, flows: 0, home_flows: 0, queued, fresh }
    }

    /// Whether it cannot be told without a closer look that everybody gets what other links leave them.
    ///
    /// If a share at which the link fills up were among the rates, less than one unit a flow would be left.
    pub(super) fn may_be_full(&self) -> bool {
        self.level != UNLIMITED || self.others + u128::from(self.flows) > self.capacity
    }

    /// What each flow at home here gets if the others keep their rates.
    pub(super) fn share(&self) -> u128 {
        share(self.capacity.saturating_sub(self.others), self.home_flows)
    }

    /// The level, or what it would be if nobody had another bottleneck.
    pub(super) fn tightness(&self) -> u128 {
        if self.level == UNLIMITED { share(self.capacity, self.flows.max(1)) } else { self.level }
    }
}

impl Line {
    /// Brings the clock up to the current time; `level` has held since it was last.
    ///
    /// It stays below 2^128: while it runs there is a flow that gets as much, so it is at most the work of all flows,
    /// whose bytes are below 2^64 together, and half a picosecond of work.
    pub(super) fn advance(&mut self, now: Picos, level: u128) -> u128 {
        if level != UNLIMITED {
            self.served += level * u128::from(now.0 - self.since.0);
        }
        self.since = now;
        self.served
    }
}

/// ⌊left / flows⌋, but a flow that nothing is left for would never end.
pub(super) fn share(left: u128, flows: u64) -> u128 {
    // The division of 128 bits takes several times as long.
    let share = match u64::try_from(left) {
        Ok(left) => u128::from(left / flows),
        Err(_) => left / u128::from(flows),
    };
    share.max(1)
}
