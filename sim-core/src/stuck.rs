//! Who waits for whom when a simulation cannot go on.

use std::fmt;

use chakra_et::graph::StepRef;

use crate::units::{Bytes, Picos};

/// A run that cannot go on: what is left and why. Nodes are named by their ids in the trace.
///
/// Every rank with unfinished nodes has an entry among the receives or the cycles. The text shows the
/// first few lines and counts the others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StuckReport {
    /// When the last node finished, or the last message moved.
    pub time: Picos,
    /// Number of unfinished nodes.
    pub unfinished: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Dependence cycles, one for each rank that has any.
    pub cycles: Vec<DependenceCycle>,
    /// RECVs that were issued and never served, by rank and node.
    pub receives: Vec<WaitingReceive>,
}

/// Nodes of one rank that depend on each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DependenceCycle {
    /// The rank.
    pub rank: u32,
    /// The nodes; each depends on the next and the last on the first.
    pub nodes: Vec<u64>,
}

/// A RECV that was issued and never served.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingReceive {
    /// The receiving rank.
    pub rank: u32,
    /// The RECV.
    pub node: u64,
    /// The sending rank.
    pub peer: u32,
    /// The tag.
    pub tag: u32,
    /// The size.
    pub bytes: Bytes,
    /// The RECV's step, where the trace says so.
    pub step: Option<StepRef>,
    /// The RECV's source file and line, where the trace says so.
    pub source: Option<(String, u32)>,
    /// What there is on the side of the sender.
    pub reason: WaitReason,
}

/// What the sender has for a waiting receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitReason {
    /// The fitting SEND waits itself.
    SendNotIssued {
        /// The SEND.
        node: u64,
    },
    /// The tag fits, the size does not.
    OtherSize {
        /// The SEND.
        node: u64,
        /// Its size.
        bytes: Bytes,
    },
    /// Only a SEND with another tag is left.
    OtherTag {
        /// The SEND.
        node: u64,
        /// Its tag.
        tag: u32,
    },
    /// The peer has no further SEND to this rank.
    NoSend,
}

/// Lines shown below the first one.
const SHOWN: usize = 8;

impl fmt::Display for StuckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, unfinished, nodes, .. } = self;
        write!(f, "the simulation is stuck at {time} with {unfinished} of {nodes} nodes unfinished")?;
        let cycles = self.cycles.iter().map(|cycle| cycle as &dyn fmt::Display);
        let lines = cycles.chain(self.receives.iter().map(|receive| receive as &dyn fmt::Display));
        lines.take(SHOWN).try_for_each(|line| write!(f, "\n  {line}"))?;
        match (self.cycles.len() + self.receives.len()).saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

impl fmt::Display for DependenceCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}: nodes depend on each other: ", self.rank)?;
        self.nodes.iter().take(SHOWN).try_for_each(|node| write!(f, "{node} -> "))?;
        match (self.nodes.len().saturating_sub(SHOWN), self.nodes.first()) {
            (0, Some(first)) => write!(f, "{first}"),
            (more, _) => write!(f, "and {more} more"),
        }
    }
}

impl fmt::Display for WaitingReceive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}, node {}", self.rank, self.node)?;
        if let Some(StepRef { thread_block, step }) = self.step {
            write!(f, ", step {step} of thread block {thread_block}")?;
        }
        if let Some((file, line)) = &self.source {
            write!(f, ", {file}:{line}")?;
        }
        let Self { rank, peer, tag, bytes, .. } = self;
        write!(f, ": waits for {} bytes from rank {peer}, tag {tag}; ", bytes.0)?;
        match self.reason {
            WaitReason::SendNotIssued { node } => {
                write!(f, "rank {peer} has not come to its send, node {node}")
            }
            WaitReason::OtherSize { node, bytes } => {
                write!(f, "the size differs from rank {peer}, node {node}, which sends {} bytes", bytes.0)
            }
            WaitReason::OtherTag { node, tag } => {
                write!(f, "the tag differs from rank {peer}, node {node}, which sends with tag {tag}")
            }
            WaitReason::NoSend => write!(f, "rank {peer} has no further send to rank {rank}"),
        }
    }
}
