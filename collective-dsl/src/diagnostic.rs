//! What is wrong with a program, in the user's words.

use std::fmt;

use crate::ids::{RankId, SiteId, ThreadBlockId};
use crate::schedule::{MemoryBuffer, Place};
use crate::site::SiteTable;

/// The rule that a finding breaks. [`Rule::name`] is the word of the command and of its JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// A rank, chunk, count or parameter that does not exist or makes no sense.
    Malformed,
    /// More of something than the runtime that it is meant for can hold.
    Limit,
    /// An access outside its buffer.
    Bounds,
    /// Thread blocks and connections that do not fit: two thread blocks on one side of a connection, or one thread
    /// block with two peers or two channels.
    Ownership,
    /// A send without its receive, or the reverse.
    Unmatched,
    /// Steps that wait for each other.
    Deadlock,
    /// A read of a chunk that nobody has written.
    Uninitialised,
    /// A reference that is used after its data was overwritten.
    Stale,
    /// Two accesses to one chunk, one of them a write, that nothing orders.
    Race,
    /// The collective's post-condition does not hold.
    Wrong,
    /// A step that others wait for, but that a file does not mark as one to wait for: repaired, and a warning.
    Hasdep,
    /// A step that writes to the input of a collective out of place, which callers expect to keep: a warning.
    Input,
    /// Data that nobody reads, or a buffer that nobody uses: a warning.
    Unused,
}

impl Rule {
    /// The rule's name in messages and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Rule::Malformed => "malformed",
            Rule::Limit => "limit",
            Rule::Bounds => "bounds",
            Rule::Ownership => "ownership",
            Rule::Unmatched => "unmatched",
            Rule::Deadlock => "deadlock",
            Rule::Uninitialised => "uninitialised",
            Rule::Stale => "stale",
            Rule::Race => "race",
            Rule::Wrong => "wrong",
            Rule::Hasdep => "hasdep",
            Rule::Input => "input",
            Rule::Unused => "unused",
        }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Odd, but no reason to refuse.
    Warning,
    /// A reason to refuse.
    Error,
}

impl Severity {
    /// The word of the command and of its JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Where in a schedule a finding is, as far as it has a place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Location {
    /// The rank.
    pub rank: Option<RankId>,
    /// The thread block of the rank.
    pub thread_block: Option<ThreadBlockId>,
    /// The step of the thread block, from 0.
    pub step: Option<u32>,
    /// The buffer of the rank.
    pub buffer: Option<MemoryBuffer>,
    /// The chunk of the buffer.
    pub index: Option<u32>,
}

impl Location {
    /// A rank.
    #[must_use]
    pub fn rank(rank: RankId) -> Self {
        Self { rank: Some(rank), ..Self::default() }
    }

    /// A thread block.
    #[must_use]
    pub fn thread_block(rank: RankId, block: ThreadBlockId) -> Self {
        Self { thread_block: Some(block), ..Self::rank(rank) }
    }

    /// A step.
    #[must_use]
    pub fn step(rank: RankId, block: ThreadBlockId, step: u32) -> Self {
        Self { step: Some(step), ..Self::thread_block(rank, block) }
    }

    /// The same, and a chunk of the rank's memory.
    #[must_use]
    pub fn place(self, place: Place) -> Self {
        Self { buffer: Some(place.buffer), index: Some(place.index), ..self }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The rule that is broken.
    pub rule: Rule,
    /// Whether that is a reason to refuse.
    pub severity: Severity,
    /// What is wrong, with rank, buffer and chunk.
    pub message: String,
    /// Where in the schedule it is, once there is one.
    pub at: Location,
    /// The operation at fault, where there is one.
    pub site: Option<SiteId>,
    /// Other operations that explain it, each with what it did.
    pub related: Vec<(SiteId, String)>,
}

impl Diagnostic {
    /// An error without related places.
    #[must_use]
    pub fn new(rule: Rule, site: Option<SiteId>, message: impl Into<String>) -> Self {
        let severity = Severity::Error;
        let at = Location::default();
        Self { rule, severity, message: message.into(), at, site, related: Vec::new() }
    }

    /// The same as a warning.
    #[must_use]
    pub fn as_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// Says where in the schedule it is.
    #[must_use]
    pub fn at(self, at: Location) -> Self {
        Self { at, ..self }
    }

    /// Adds a place that explains the finding.
    #[must_use]
    pub fn with_related(mut self, site: SiteId, what: impl Into<String>) -> Self {
        self.related.push((site, what.into()));
        self
    }
}

/// Everything found wrong with one program; never empty when returned as an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    /// The program's name.
    pub name: String,
    /// The findings, the first one first.
    pub findings: Vec<Diagnostic>,
    /// The places that the findings name.
    pub sites: SiteTable,
}

impl Diagnostics {
    /// Findings of one program, the first one first, and the places that they name.
    #[must_use]
    pub fn new(name: impl Into<String>, findings: Vec<Diagnostic>, sites: SiteTable) -> Self {
        Self { name: name.into(), findings, sites }
    }

    /// A single finding that belongs to no place in the source.
    #[must_use]
    pub fn without_site(name: impl Into<String>, rule: Rule, message: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            findings: vec![Diagnostic::new(rule, None, message)],
            sites: SiteTable::default(),
        }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.findings.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            match finding.site.and_then(|id| self.sites.get(id)) {
                Some(site) => write!(f, "{site}: {}: {}", finding.rule.name(), finding.message)?,
                None => write!(f, "{}: {}", self.name, finding.message)?,
            }
            for (site, what) in &finding.related {
                if let Some(site) = self.sites.get(*site) {
                    write!(f, "\n  {site}: {what}")?;
                }
            }
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
