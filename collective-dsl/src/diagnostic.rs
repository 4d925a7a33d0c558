//! What is wrong with a program, in the user's words.

use std::fmt;

use crate::ids::SiteId;
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
    /// The collective's post-condition does not hold.
    Wrong,
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
            Rule::Wrong => "wrong",
            Rule::Unused => "unused",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that is broken.
    pub rule: Rule,
    /// What is wrong, with rank, buffer and chunk.
    pub message: String,
    /// The operation at fault, where there is one.
    pub site: Option<SiteId>,
    /// Other operations that explain it, each with what it did.
    pub related: Vec<(SiteId, String)>,
}

impl Diagnostic {
    /// A finding without related places.
    #[must_use]
    pub fn new(rule: Rule, site: Option<SiteId>, message: impl Into<String>) -> Self {
        Self { rule, message: message.into(), site, related: Vec::new() }
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
