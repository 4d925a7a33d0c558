//! What is asked of the verifier, and what it answers.

use std::fmt;
use std::str::FromStr;

use super::reduction::Reductions;
use crate::diagnostic::{Diagnostic, Diagnostics, Rule, Severity};
use crate::msccl::Target;
use crate::options::{Protocol, UnknownOption};
use crate::schedule::Schedule;
use crate::site::SiteTable;

/// The most findings of one rule that a report lists; the others are counted.
pub(super) const MOST_OF_A_RULE: usize = 64;

/// Findings of one rule, as many as are listed, and how many more there are.
#[derive(Default)]
pub(super) struct Found {
    pub(super) list: Vec<Diagnostic>,
    pub(super) more: usize,
}

impl Found {
    /// Adds a finding; it is only described if it is listed.
    pub(super) fn push(&mut self, describe: impl FnOnce() -> Diagnostic) {
        if self.list.len() < MOST_OF_A_RULE {
            self.list.push(describe());
        } else {
            self.more += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// How many messages a connection holds before its sender has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Slots {
    /// As many as the protocol of the schedule has ([`Protocol::slots`]).
    #[default]
    Protocol,
    /// So many; with 0 a send is complete only when its receive takes the message (rendezvous).
    Limited(u32),
    /// As many as it takes.
    Unlimited,
}

impl Slots {
    /// The number, `u32::MAX` for unlimited.
    #[must_use]
    pub fn number(self, protocol: Protocol) -> u32 {
        match self {
            Slots::Protocol => protocol.slots(),
            Slots::Limited(slots) => slots,
            Slots::Unlimited => u32::MAX,
        }
    }
}

impl FromStr for Slots {
    type Err = UnknownOption;

    /// A number, or `unlimited`.
    fn from_str(text: &str) -> Result<Self, UnknownOption> {
        match text.parse() {
            Ok(slots) => Ok(Slots::Limited(slots)),
            Err(_) if text == "unlimited" => Ok(Slots::Unlimited),
            Err(_) => Err(UnknownOption::new("number of slots", text, "a whole number, or unlimited")),
        }
    }
}

/// What is asked of the verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Settings {
    /// Slots a connection.
    pub slots: Slots,
    /// A runtime whose limits shall hold.
    pub target: Option<Target>,
    /// Whether [`Report::reductions`] is wanted.
    pub reductions: bool,
}

/// The answer in one word: `pass`, or the first broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No rule is broken.
    Pass,
    /// The first rule that is broken, in the order of [`Rule`].
    Broken(Rule),
}

impl Verdict {
    /// The word: `pass`, or the rule's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Broken(rule) => rule.name(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What became of the collective's post-condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostCondition {
    /// Every chunk ends with what the collective wants, whatever the order in which steps run.
    Holds,
    /// Some chunk does not.
    Fails,
    /// Nothing states one, the schedule never gets to its end, or what it ends with depends on a race.
    NotChecked,
}

impl PostCondition {
    /// The words of the command and of its JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PostCondition::Holds => "holds",
            PostCondition::Fails => "fails",
            PostCondition::NotChecked => "not checked",
        }
    }
}

/// Everything that the verifier says of a schedule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The schedule's name.
    pub name: String,
    /// Number of ranks.
    pub ranks: usize,
    /// The slots a connection that it was judged with; `None` for unlimited.
    pub slots: Option<u32>,
    /// What became of the post-condition.
    pub post_condition: PostCondition,
    /// The smallest number of slots, 1 or more, with which it runs to its end; `None` if none is enough, or if messages
    /// do not match so that there is no saying.
    pub min_slots: Option<u32>,
    /// What was found, in the order of the rules; of each rule at most 64, warnings included.
    pub findings: Vec<Diagnostic>,
    /// How many findings more there are.
    pub more: usize,
    /// In which order reductions add, if that was asked for and the schedule runs to its end without a race.
    pub reductions: Option<Reductions>,
    /// The places that the findings name.
    pub sites: SiteTable,
}

impl Report {
    pub(super) fn new(schedule: &Schedule, slots: u32) -> Self {
        Self {
            name: schedule.name.clone(),
            ranks: schedule.ranks.len(),
            slots: (slots != u32::MAX).then_some(slots),
            post_condition: PostCondition::NotChecked,
            min_slots: None,
            findings: Vec::new(),
            more: 0,
            reductions: None,
            sites: schedule.sites.clone(),
        }
    }

    /// A report of what somebody else has found, such as a reader that refuses a file.
    #[must_use]
    pub fn of_findings(found: Diagnostics, ranks: usize) -> Self {
        let mut report = Self {
            name: found.name,
            ranks,
            slots: None,
            post_condition: PostCondition::NotChecked,
            min_slots: None,
            findings: Vec::new(),
            more: 0,
            reductions: None,
            sites: found.sites,
        };
        report.add(found.findings);
        report
    }

    /// The verdict: the first of the rules, in the order of [`Rule`], that a finding breaks which is no warning.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        errors.map(|finding| finding.rule).min().map_or(Verdict::Pass, Verdict::Broken)
    }

    /// Adds findings, each behind those of its rule; beyond 64 of a rule they are only counted.
    pub fn add(&mut self, findings: impl IntoIterator<Item = Diagnostic>) {
        for finding in findings {
            let same = |other: &&Diagnostic| other.rule == finding.rule;
            if self.findings.iter().filter(same).count() < MOST_OF_A_RULE {
                let at = self.findings.partition_point(|other| other.rule <= finding.rule);
                self.findings.insert(at, finding);
            } else {
                self.more += 1;
            }
        }
    }

    pub(super) fn add_found(&mut self, found: Found) {
        self.more += found.more;
        self.add(found.list);
    }

    /// The errors, for messages of a compiler; `None` if there is none.
    #[must_use]
    pub fn errors(&self) -> Option<Diagnostics> {
        let errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        let findings: Vec<Diagnostic> = errors.cloned().collect();
        (!findings.is_empty()).then(|| Diagnostics {
            name: self.name.clone(),
            findings,
            sites: self.sites.clone(),
        })
    }
}
