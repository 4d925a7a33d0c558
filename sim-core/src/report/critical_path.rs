//! What the last rank to finish has waited for, back to the start.

use std::ops::AddAssign;

use crate::units::Picos;

/// The chain of nodes and messages that determines the time of a run.
///
/// Each step starts when the one before it ends: with the last of its dependences that finished, or, for a RECV
/// whose message came after it was issued, with that message. So the shares add up to the makespan
/// exactly. Where several nodes end the run together or release a node together, the path goes through
/// one of them, and removing it need not make the run shorter.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CriticalPath {
    /// What the time went into.
    pub shares: Shares,
    /// The same by source line, the largest first; what carries no source line is missing.
    pub lines: Vec<LineShare>,
    /// The steps, from the start to the end.
    pub steps: Vec<PathStep>,
}

/// Time by what it went into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Shares {
    /// Σ latency of the hops of messages.
    pub latency: Picos,
    /// Serialisation: what the bytes of a message take on links that it has for itself.
    pub bandwidth: Picos,
    /// What messages lost to others on shared links.
    pub queueing: Picos,
    /// Delayed starts, overheads of messages, and resources other than links.
    pub waiting: Picos,
    /// Computing.
    pub computing: Picos,
}

impl Shares {
    /// The sum. Shares of one path fit, as they add up to its time.
    #[must_use]
    pub fn total(&self) -> Picos {
        let Self { latency, bandwidth, queueing, waiting, computing } = self;
        let parts = [latency, bandwidth, queueing, waiting, computing];
        parts.into_iter().fold(Picos::ZERO, |sum, part| Picos(sum.0.saturating_add(part.0)))
    }
}

impl AddAssign for Shares {
    fn add_assign(&mut self, other: Self) {
        for (sum, part) in [
            (&mut self.latency, other.latency),
            (&mut self.bandwidth, other.bandwidth),
            (&mut self.queueing, other.queueing),
            (&mut self.waiting, other.waiting),
            (&mut self.computing, other.computing),
        ] {
            sum.0 = sum.0.saturating_add(part.0);
        }
    }
}

/// The part of the path that one source line is the cause of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineShare {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// What its time went into.
    pub shares: Shares,
}

/// A node of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStep {
    /// The rank.
    pub rank: u32,
    /// The node, by its id in the trace.
    pub node: u64,
    /// What it is.
    pub kind: StepKind,
    /// When the step before it ended.
    pub start: Picos,
    /// When it ended.
    pub end: Picos,
    /// What the time between went into.
    pub shares: Shares,
}

/// What a step of a [`CriticalPath`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepKind {
    /// A SEND: its message, up to the delivery.
    Send {
        /// The receiving rank.
        dst: u32,
    },
    /// A RECV, from the delivery of its message or from its issue, whichever was later.
    Receive {
        /// The sending rank.
        src: u32,
    },
    /// A COMP.
    Compute,
}
