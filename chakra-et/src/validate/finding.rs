//! What the validator says.

use std::fmt;

use super::rules::{Level, Rule};

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The rank, unless it is about the whole trace or a group.
    pub rank: Option<usize>,
    /// The id of the node, if it is about one.
    pub node: Option<u64>,
    /// What is wrong, and what was expected.
    pub message: String,
    /// Other nodes that have to do with it.
    pub related: Vec<NodeRef>,
    /// Position of the node in its file: what findings of one rule and rank are sorted by.
    pub(crate) position: u64,
}

/// A node of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeRef {
    /// Its rank.
    pub rank: usize,
    /// Its id.
    pub node: u64,
}

impl Finding {
    /// A finding about the whole trace.
    pub(crate) fn of_trace(rule: &'static Rule, message: String) -> Self {
        Self { rule, rank: None, node: None, message, related: Vec::new(), position: 0 }
    }

    /// A finding about a rank.
    pub(crate) fn of_rank(rule: &'static Rule, rank: usize, message: String) -> Self {
        Self { rank: Some(rank), ..Self::of_trace(rule, message) }
    }

    /// A finding about a node, which is at `position` in its file.
    pub(crate) fn of_node(
        rule: &'static Rule,
        at: NodeRef,
        position: usize,
        message: impl Into<String>,
    ) -> Self {
        let finding = Self::of_rank(rule, at.rank, message.into());
        Self { node: Some(at.node), position: position as u64, ..finding }
    }

    pub(crate) fn with_related(self, related: Vec<NodeRef>) -> Self {
        Self { related, ..self }
    }

    /// How bad it is.
    #[must_use]
    pub fn level(&self) -> Level {
        self.rule.level
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The message names the node.
        if let Some(rank) = self.rank {
            write!(f, "rank {rank}: ")?;
        }
        f.write_str(&self.message)
    }
}
