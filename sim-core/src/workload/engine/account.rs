//! What a rank spends its time on.

use crate::units::Picos;

/// The time of a rank by whether it computes and communicates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    since: Picos,
    computing: u32,
    communicating: u32,
    /// By whether it computes (1) and communicates (2).
    spent: [u64; 4],
    on_cpu: u32,
    cpu_since: Picos,
    pub(super) cpu: u64,
    /// Waiting in collectives for ranks that have not come yet.
    pub(super) waited: u64,
}

impl Account {
    fn advance(&mut self, now: Picos) {
        let kind = usize::from(self.computing > 0) + 2 * usize::from(self.communicating > 0);
        self.spent[kind] += now.0 - self.since.0;
        self.since = now;
    }

    /// A computation on the GPU starts or ends.
    pub(super) fn compute(&mut self, now: Picos, starts: bool) {
        self.advance(now);
        self.computing = if starts { self.computing + 1 } else { self.computing - 1 };
    }

    /// A computation on the CPU starts or ends.
    pub(super) fn compute_on_cpu(&mut self, now: Picos, starts: bool) {
        if self.on_cpu > 0 {
            self.cpu += now.0 - self.cpu_since.0;
        }
        self.cpu_since = now;
        self.on_cpu = if starts { self.on_cpu + 1 } else { self.on_cpu - 1 };
    }

    /// A collective or a message starts or ends.
    pub(super) fn communicate(&mut self, now: Picos, starts: bool) {
        self.advance(now);
        self.communicating = if starts { self.communicating + 1 } else { self.communicating - 1 };
    }

    /// How long it has computed up to a time.
    pub(super) fn computed(&mut self, now: Picos) -> u64 {
        self.advance(now);
        self.spent[1] + self.spent[3]
    }

    /// Time of computing only, of both, and of communicating only, up to a time.
    pub(super) fn times(&mut self, now: Picos) -> [Picos; 3] {
        self.advance(now);
        [self.spent[1], self.spent[3], self.spent[2]].map(Picos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_computing_communicating_both_or_neither() {
        let mut account = Account::default();
        account.compute(Picos(10), true);
        account.communicate(Picos(15), true);
        account.compute(Picos(18), true);
        account.compute(Picos(20), false);
        account.compute(Picos(22), false);
        account.communicate(Picos(30), false);
        assert_eq!(account.times(Picos(40)), [Picos(5), Picos(7), Picos(8)]);
        assert_eq!(account.computed(Picos(50)), 12);
    }
}
