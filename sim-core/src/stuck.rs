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
    /// The first circle in which ranks wait for each other's messages, if there is one.
    pub deadlock: Option<WaitCycle>,
    /// Dependence cycles, one for each rank that has any.
    pub cycles: Vec<DependenceCycle>,
    /// RECVs that were issued and never served, by rank and node.
    pub receives: Vec<WaitingReceive>,
}

/// Nodes of several ranks that wait for each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitCycle {
    /// The nodes; each waits for the next and the last for the first.
    pub steps: Vec<WaitStep>,
}

/// A node in a [`WaitCycle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitStep {
    /// The rank.
    pub rank: u32,
    /// The node.
    pub node: u64,
    /// What it is.
    pub kind: WaitKind,
}

/// What a node in a [`WaitCycle`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitKind {
    /// A SEND, which waits for a node of its rank.
    Send {
        /// The receiving rank.
        dst: u32,
    },
    /// A RECV, which waits for its SEND.
    Receive {
        /// The sending rank.
        src: u32,
    },
    /// A SEND, which waits for a slot of its connection: under the model machine.
    FullSend {
        /// The receiving rank.
        dst: u32,
    },
    /// A COMP, which waits for a node of its rank.
    Other,
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
        let deadlock = self.deadlock.iter().map(|circle| circle as &dyn fmt::Display);
        let cycles = self.cycles.iter().map(|cycle| cycle as &dyn fmt::Display);
        let lines =
            deadlock.chain(cycles).chain(self.receives.iter().map(|receive| receive as &dyn fmt::Display));
        lines.take(SHOWN).try_for_each(|line| write!(f, "\n  {line}"))?;
        let count = usize::from(self.deadlock.is_some()) + self.cycles.len() + self.receives.len();
        match count.saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

impl fmt::Display for WaitCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Four messages with a computation each.
        const SHOWN: usize = 12;
        f.write_str("ranks wait for each other: ")?;
        self.steps.iter().take(SHOWN).try_for_each(|step| write!(f, "{step} -> "))?;
        match (self.steps.len().saturating_sub(SHOWN), self.steps.first()) {
            (0, Some(first)) => write!(f, "rank {} node {}", first.rank, first.node),
            (more, _) => write!(f, "and {more} more"),
        }
    }
}

impl fmt::Display for WaitStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, node, kind } = self;
        write!(f, "rank {rank} node {node}")?;
        match kind {
            WaitKind::Send { dst } => write!(f, " (send to {dst})"),
            WaitKind::FullSend { dst } => write!(f, " (send to {dst}, whose slots are full)"),
            WaitKind::Receive { src } => write!(f, " (receive from {src})"),
            WaitKind::Other => Ok(()),
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
