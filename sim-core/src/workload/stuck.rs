//! Who waits for whom when a workload cannot go on.

use std::fmt;

use crate::units::Picos;

/// A workload that cannot go on: who waits for whom. Nodes are named by their ids in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StuckWorkload {
    /// When the last node finished, or the last message moved.
    pub time: Picos,
    /// Number of unfinished nodes.
    pub unfinished: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Nodes of which each waits for the next.
    pub waits: Vec<Wait>,
    /// Whether the last waits for the first: a deadlock. Else the last says what never comes.
    pub is_circle: bool,
}

/// A node that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The rank.
    pub rank: u32,
    /// The node.
    pub node: u64,
    /// Its name.
    pub name: String,
    /// What it is: `all_reduce of 1024 bytes on group "5"`.
    pub what: String,
    /// Why it waits.
    pub why: String,
}

impl fmt::Display for StuckWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 24;
        let Self { time, unfinished, nodes, waits, is_circle } = self;
        let kind = if *is_circle { "deadlock" } else { "the run cannot go on" };
        write!(f, "{kind} at {time}: {unfinished} of {nodes} nodes are left")?;
        for wait in waits.iter().take(SHOWN) {
            let Wait { rank, node, name, what, why } = wait;
            write!(f, "\n  rank {rank}, node {node} {name:?} ({what}) {why}")?;
        }
        if waits.len() > SHOWN {
            write!(f, "\n  … and {} more", waits.len() - SHOWN)?;
        }
        if *is_circle {
            write!(f, "\n  and so on: the circle is closed")?;
        }
        Ok(())
    }
}
