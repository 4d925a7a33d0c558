//! Traces: those that this project has written hold their schedule; of others only messages and waits can be judged.

use std::path::Path;

use chakra_et::validate::{Finding, Level, Options, Survey, validate};
use collective::et::{self, Recovered};
use collective::verify::Report;
use collective::{Diagnostic, Diagnostics, Location, RankId, Rule, Schedule};

use super::Judged;
use crate::commands::convert_et;
use crate::failure::Failure;

/// The schedule that traces were made from, or why they do not say it.
pub(super) fn schedule(prefix: &Path) -> Result<Result<Schedule, String>, Failure> {
    // What cannot be read is said by those who judge messages, who also know single files.
    let Ok(ranks) = convert_et::read_ranks(prefix) else {
        return Ok(Err("they are not the traces of a whole algorithm".to_owned()));
    };
    match et::recover(&ranks) {
        Ok(Recovered::Full(original)) => Ok(Ok(original.schedule)),
        Ok(Recovered::Opaque(opaque)) => Ok(Err(opaque.to_string())),
        Err(error) => Err(Failure::input(format!("{}: {error}", prefix.display()))),
    }
}

/// Judges the messages and waits of traces, of which `reason` says why there is no more to judge.
pub(super) fn judge(prefix: &str, survey: &Survey, reason: String) -> Judged {
    let findings = validate(survey, &Options::default());
    // What a tool might stumble over says nothing about the algorithm; `collective inspect` has it.
    let errors = findings.iter().filter(|finding| finding.level() == Level::Error || is_unmatched(finding));
    let found = Diagnostics {
        findings: errors.map(diagnostic).collect(),
        ..Diagnostics::without_site(prefix, Rule::Malformed, "")
    };
    let report = Report::of_findings(found, survey.ranks().len());
    let (input, about) = (prefix.to_owned(), String::new());
    Judged { input, about, report, messages_only: Some(reason), warnings: Vec::new(), place: None }
}

fn is_unmatched(finding: &Finding) -> bool {
    matches!(finding.rule.id, "unmatched-send" | "unmatched-receive" | "size-mismatch")
}

fn diagnostic(finding: &Finding) -> Diagnostic {
    let rule = match finding.rule.id {
        _ if is_unmatched(finding) => Rule::Unmatched,
        "cyclic-dependence" | "self-dependence" | "no-root" | "deadlock" => Rule::Deadlock,
        _ => Rule::Malformed,
    };
    let place = match (finding.rank, finding.node) {
        (Some(rank), Some(node)) => format!("rank {rank}, node {node}: "),
        (Some(rank), None) => format!("rank {rank}: "),
        _ => String::new(),
    };
    let at = finding.rank.and_then(|rank| u32::try_from(rank).ok()).map(|rank| Location::rank(RankId(rank)));
    Diagnostic::new(rule, None, format!("{place}{}", finding.message)).at(at.unwrap_or_default())
}
