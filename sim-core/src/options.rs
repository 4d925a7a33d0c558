//! What a run does beside moving messages by a model.

use std::fmt;

use crate::error::SimError;
use crate::model::Conventions;
use crate::progress::Observer;
use crate::straggler::Straggler;
use crate::units::{Bandwidth, Picos};
use crate::workload::Roofline;

/// The settings of a [`Simulation`](crate::Simulation) apart from topology, model and conventions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options<'a> {
    pub(crate) stragglers: &'a [Straggler],
    pub(crate) send_overhead: Picos,
    pub(crate) receive_overhead: Picos,
    pub(crate) reduce_bandwidth: Option<Bandwidth>,
    pub(crate) roofline: Option<Roofline>,
    pub(crate) message_times: bool,
    pub(crate) critical_path: bool,
    pub(crate) recording: bool,
    /// COMPs take no time, whatever they state.
    pub(crate) without_computing: bool,
    pub(crate) observer: Option<Watch<'a>>,
}

/// An observer, in a form that can be shown.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a>(pub(crate) &'a dyn Observer);

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an observer")
    }
}

impl Options<'_> {
    /// Whether ranks, messages and reports are as they are without any settings.
    pub(crate) fn is_plain(&self) -> bool {
        let Self { stragglers, send_overhead, receive_overhead, reduce_bandwidth, roofline, .. } = self;
        let no_overhead = (*send_overhead, *receive_overhead) == (Picos::ZERO, Picos::ZERO);
        stragglers.is_empty()
            && no_overhead
            && reduce_bandwidth.is_none()
            && roofline.is_none()
            && !self.without_computing
            && !self.is_recorded()
    }

    /// Whether each node's time has to be kept.
    pub(crate) fn is_recorded(&self) -> bool {
        self.message_times || self.critical_path || self.recording
    }

    /// What cannot be done: conditions that ASTRA-sim does not know, or for ranks that there are not.
    pub(crate) fn check(&self, conventions: Conventions, ranks: u32) -> Result<(), SimError> {
        let what = if !self.stragglers.is_empty() {
            "a straggler"
        } else if self.send_overhead > Picos::ZERO || self.receive_overhead > Picos::ZERO {
            "an overhead of messages"
        } else if self.reduce_bandwidth.is_some() {
            "a reduce bandwidth"
        } else if self.roofline.is_some() {
            "a roofline"
        } else {
            return Ok(());
        };
        if conventions != Conventions::Exact {
            return Err(SimError::ExactOption { what });
        }
        let mut named: Vec<u32> = self.stragglers.iter().map(|straggler| straggler.rank).collect();
        named.sort_unstable();
        if let Some(rank) = named.last().copied().filter(|rank| *rank >= ranks) {
            return Err(SimError::NoSuchStraggler { rank, ranks });
        }
        match named.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(SimError::StragglerTwice { rank: two[0] }),
            None => Ok(()),
        }
    }
}
