//! `collective verify`.

mod render;
mod traces;

use std::path::{Path, PathBuf};

use clap::Args;
use collective::msccl::{self, Target, Warning, XmlError};
use collective::verify::{Report, Settings, Slots, Verdict, check, unflagged};
use collective::{Diagnostics, Rule, Schedule, Severity, algorithms};

use crate::console;
use crate::failure::Failure;
use crate::output;
use crate::program::{self, AlgorithmArguments, similar};
use crate::snippet::Place;
use crate::stage::stage;
use crate::xml;

/// Arguments of `collective verify`.
#[derive(Args)]
pub(crate) struct Verify {
    /// What to judge: a built-in algorithm (with --ranks), an MSCCL XML file, a folder of them, or the prefix PREFIX of
    /// traces PREFIX.0.et, …; several are judged one after the other.
    #[arg(value_name = "INPUT", required = true, value_parser = program::names(), hide_possible_values = true)]
    what: Vec<String>,
    #[command(flatten)]
    algorithm: AlgorithmArguments,
    /// How many messages a connection holds before its sender has to wait: a number, or `unlimited`; with 0 a send waits
    /// for its receive [default: 2 under Simple, 8 under LL and LL128].
    #[arg(long, value_name = "SLOTS")]
    slots: Option<Slots>,
    /// Judges by the limits of a runtime too: msccl, msccl-executor or rccl.
    #[arg(long, value_name = "RUNTIME")]
    target: Option<Target>,
    /// Shows in which order each chunk is added up.
    #[arg(long)]
    reduction_order: bool,
    /// Prints JSON: an object, or a list of them for a folder or several algorithms.
    #[arg(long)]
    json: bool,
}

/// What was judged, and how.
struct Judged {
    /// As it was asked for, with all parameters of a built-in algorithm.
    input: String,
    /// The collective, its place and protocol, in words; empty where nothing says it.
    about: String,
    report: Report,
    /// Why only the messages and waits of a trace could be judged, where that is so.
    messages_only: Option<String>,
    /// What a file says that was understood otherwise, or not at all.
    warnings: Vec<Warning>,
    /// Of a file that is no algorithm: where that shows.
    place: Option<Place>,
}

impl Verify {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut judged = Vec::new();
        let mut failures = Vec::new();
        for what in &self.what {
            match self.judge(what) {
                Ok(found) => judged.extend(found),
                Err(Failure::OutputClosed) => return Err(Failure::OutputClosed),
                Err(failure) => failures.push(failure),
            }
        }
        let is_list = self.what.len() > 1 || judged.len() > 1 || Path::new(&self.what[0]).is_dir();
        if self.json {
            output::print(&render::json(&judged, is_list, self.reduction_order).to_string())?;
        } else if !judged.is_empty() {
            let texts: Vec<String> =
                judged.iter().map(|judged| render::text(judged, self.reduction_order)).collect();
            output::print(&texts.join("\n"))?;
        }
        failures.extend(judged.iter().filter_map(verdict));
        Failure::several(failures)
    }

    fn settings(&self) -> Settings {
        let slots = self.slots.unwrap_or_default();
        Settings { slots, target: self.target, reductions: true }
    }

    fn judge(&self, what: &str) -> Result<Vec<Judged>, Failure> {
        let path = Path::new(what);
        if path.is_dir() {
            return xml::in_folder(path)?.iter().map(|path| self.file(path)).collect();
        }
        if xml::is_xml(path) {
            return Ok(vec![self.file(path)?]);
        }
        match algorithms::find(what) {
            Some(algorithm) => Ok(vec![self.built_in(&algorithm.def)?]),
            None => Ok(vec![self.traces(what)?]),
        }
    }

    fn schedule(&self, input: String, schedule: &Schedule) -> Judged {
        let report = stage(&format!("verifying {input}"), || check(schedule, &self.settings()));
        let about = render::about(schedule);
        Judged { input, about, report, messages_only: None, warnings: Vec::new(), place: None }
    }

    fn built_in(&self, algorithm: &'static collective::AlgorithmDef) -> Result<Judged, Failure> {
        let parameters = self.algorithm.parameters(algorithm)?;
        let ranks = self.algorithm.ranks.unwrap_or_default();
        let list: Vec<String> = parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let input = format!("{} ({})", algorithm.name, list.join(", "));
        let values: Vec<usize> = parameters.iter().map(|(_, value)| *value).collect();
        let what = format!("lowering {input}");
        let trace =
            || (algorithm.trace)(algorithm.in_place, &values).and_then(|trace| collective::lower(&trace));
        match stage(&what, trace) {
            Ok(schedule) => Ok(self.schedule(input, &schedule)),
            Err(found) => Ok(refused(input, found, ranks)),
        }
    }

    fn file(&self, path: &Path) -> Result<Judged, Failure> {
        self.expect_file(&path.display())?;
        let input = path.display().to_string();
        let text = match xml::text(path) {
            Ok(text) => text,
            Err(Failure::Input(message)) => return Ok(unreadable(input, message)),
            Err(Failure::At { parts, .. }) => {
                let (message, place) = parts.into_iter().next().unwrap_or_default();
                return Ok(Judged { place, ..unreadable(input, message) });
            }
            Err(failure) => return Err(failure),
        };
        match msccl::read(&text, &input) {
            Ok(imported) => {
                for warning in imported.warnings.iter().filter(|_| !self.json) {
                    console::warn(format!("{input}, {warning}"));
                }
                let mut judged = self.schedule(input, &imported.schedule);
                judged.report.add(unflagged(&imported));
                judged.warnings = imported.warnings;
                Ok(judged)
            }
            Err(XmlError::Refused(found)) => Ok(refused(input, found, 0)),
            Err(error) => {
                let message = error.to_string();
                let place = match Failure::from(error) {
                    Failure::At { parts, .. } => parts.into_iter().next().and_then(|(_, place)| place),
                    _ => None,
                };
                Ok(Judged { place, ..unreadable(input, message) })
            }
        }
    }

    fn traces(&self, prefix: &str) -> Result<Judged, Failure> {
        self.expect_file(&prefix)?;
        let path = PathBuf::from(prefix);
        let reason = match traces::schedule(&path)? {
            Ok(schedule) => return Ok(self.schedule(prefix.to_owned(), &schedule)),
            Err(reason) => reason,
        };
        let survey = chakra_et::validate::Survey::read(&path, |_| ()).map_err(|error| {
            // A folder, file or algorithm that is not there: all three were looked for.
            let hint = if path.exists() {
                String::new()
            } else {
                format!("; nor is there a folder or a built-in algorithm of this name{}", similar(prefix))
            };
            Failure::input(format!("{error}{hint}"))
        })?;
        Ok(traces::judge(prefix, &survey, reason))
    }

    fn expect_file(&self, what: &dyn std::fmt::Display) -> Result<(), Failure> {
        if self.algorithm.any() {
            return Err(Failure::input(format!(
                "{what}: --ranks and --set are for built-in algorithms: a file has its ranks"
            )));
        }
        Ok(())
    }
}

/// What a reader or the language has refused.
fn refused(input: String, found: Diagnostics, ranks: usize) -> Judged {
    let report = Report::of_findings(found, ranks);
    Judged { input, about: String::new(), report, messages_only: None, warnings: Vec::new(), place: None }
}

/// A file that is no algorithm.
fn unreadable(input: String, message: String) -> Judged {
    let found = Diagnostics::without_site(input.clone(), Rule::Malformed, message);
    refused(input, found, 0)
}

/// Why the answer is "no".
fn verdict(judged: &Judged) -> Option<Failure> {
    let verdict = judged.report.verdict();
    let input = &judged.input;
    // Of the first finding that is an error, which the report shows too.
    let of_first = || {
        let findings = &judged.report.findings;
        let error = findings.iter().find(|finding| finding.severity == Severity::Error)?;
        judged.report.sites.get(error.site?).map(Place::from)
    };
    match verdict {
        Verdict::Pass => None,
        Verdict::Broken(Rule::Malformed) => {
            let first = judged.report.findings.first().map_or("", |finding| &finding.message);
            // A reader names the file itself.
            let message =
                if first.starts_with(input) { first.to_owned() } else { format!("{input}: {first}") };
            Some(Failure::Input(message).at(judged.place.clone().or_else(of_first)))
        }
        Verdict::Broken(rule) => Some(Failure::Verdict(format!("{input}: {}", rule.name())).at(of_first())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_names_its_file_is_not_made_to_do_so_twice() {
        let message = |text: &str| match verdict(&unreadable("a.xml".to_owned(), text.to_owned())) {
            Some(Failure::Input(message)) => message,
            other => panic!("{other:?}"),
        };
        assert_eq!(message("a.xml:2: no"), "a.xml:2: no");
        assert_eq!(message("no"), "a.xml: no");
    }
}
