//! Sums over all ranks.

use std::collections::{BTreeMap, BTreeSet};

use chakra_et::workload::CollectiveKind;

use super::plan::Plan;
use crate::error::Overflow;
use crate::units::{Bytes, Picos};
use crate::workload::report::{CollectiveTimes, MessageTotals};

/// What collectives and messages took so far.
pub(super) struct Totals {
    pub(super) delivered: u64,
    pub(super) bytes: u64,
    pub(super) messages: MessageTotals,
    /// By number of the collective, its row.
    rows_of: Vec<u32>,
    pub(super) rows: Vec<CollectiveTimes>,
}

impl Totals {
    pub(super) fn new(plan: &Plan<'_>) -> Self {
        let mut numbers: BTreeMap<(u32, CollectiveKind), Vec<usize>> = BTreeMap::new();
        for (number, collective) in plan.collectives.iter().enumerate() {
            numbers.entry((collective.group, collective.kind)).or_default().push(number);
        }
        let mut rows_of = vec![0; plan.collectives.len()];
        let mut rows = Vec::new();
        for ((group, kind), of_row) in numbers {
            let mut algorithms = BTreeSet::new();
            let mut bytes = 0_u64;
            for number in &of_row {
                rows_of[*number] = rows.len() as u32;
                algorithms.insert(plan.algorithms[plan.uses[*number].algorithm as usize].algorithm.name());
                bytes = bytes.saturating_add(plan.collectives[*number].bytes);
            }
            let group = &plan.workload.groups()[group as usize];
            rows.push(CollectiveTimes {
                group: group.name.clone(),
                ranks: group.members.len() as u32,
                kind,
                algorithms: algorithms.into_iter().map(str::to_owned).collect(),
                count: of_row.len() as u64,
                bytes: Bytes(bytes),
                time: Picos::ZERO,
                exposed: Picos::ZERO,
                waited: Picos::ZERO,
                span: Picos::ZERO,
            });
        }
        Self { delivered: 0, bytes: 0, messages: MessageTotals::default(), rows_of, rows }
    }

    fn row(&mut self, collective: u32) -> &mut CollectiveTimes {
        &mut self.rows[self.rows_of[collective as usize] as usize]
    }

    /// A rank's share in a collective is over.
    pub(super) fn share(&mut self, collective: u32, time: Picos, exposed: Picos) {
        let row = self.row(collective);
        // Sums over many ranks may be longer than any single time can be.
        row.time = Picos(row.time.0.saturating_add(time.0));
        row.exposed = Picos(row.exposed.0.saturating_add(exposed.0));
    }

    /// A rank has waited for others to come.
    pub(super) fn waited(&mut self, collective: u32, time: Picos) {
        let row = self.row(collective);
        row.waited = Picos(row.waited.0.saturating_add(time.0));
    }

    /// A collective is over on all ranks.
    pub(super) fn span(&mut self, collective: u32, time: Picos) {
        let row = self.row(collective);
        row.span = Picos(row.span.0.saturating_add(time.0));
    }

    /// A message outside collectives is sent.
    pub(super) fn message(&mut self, bytes: Bytes) -> Result<(), Overflow> {
        self.messages.count += 1;
        let sum = self.messages.bytes.0.checked_add(bytes.0);
        self.messages.bytes = Bytes(sum.ok_or(Overflow::BYTES)?);
        Ok(())
    }

    /// It is delivered after a time.
    pub(super) fn message_time(&mut self, time: Picos) {
        self.messages.time = Picos(self.messages.time.0.saturating_add(time.0));
    }

    /// Any message is delivered.
    #[inline]
    pub(super) fn delivered(&mut self, bytes: Bytes) -> Result<(), Overflow> {
        self.delivered += 1;
        self.bytes = self.bytes.checked_add(bytes.0).ok_or(Overflow::BYTES)?;
        Ok(())
    }
}
