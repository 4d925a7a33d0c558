//! Findings as errors of the compiler.

use collective_dsl::Rule;
use proc_macro2::Ident;

use crate::builds::Build;
use crate::instance::{Finding, Place};
use crate::signature::Signature;
use crate::span::{SpanRange, SpanTable};
use crate::warning::Warning;

/// Errors that are shown at once; more would hide the first. Steps that wait for each other are shown in full.
const MAX_ERRORS: usize = 6;

/// The first errors of many.
pub(crate) fn first(mut errors: Vec<syn::Error>) -> Vec<syn::Error> {
    errors.truncate(MAX_ERRORS);
    errors
}

/// The errors of all builds; the same finding in several of them is one error.
pub(crate) fn errors(
    found: &[(&Build, Vec<Finding>)],
    signature: &Signature,
    builds: usize,
    spans: &SpanTable,
) -> Vec<syn::Error> {
    let mut reported: Vec<&Finding> = Vec::new();
    let mut errors = Vec::new();
    for (index, (build, findings)) in found.iter().enumerate() {
        // The findings about a deadlock are one chain, which is new or not as a whole.
        let is_chain = findings.iter().all(|finding| finding.rule == Some(Rule::Deadlock));
        if is_chain && findings.iter().all(|finding| is_reported(&reported, finding)) {
            continue;
        }
        for finding in findings {
            if !is_chain && (errors.len() >= MAX_ERRORS || is_reported(&reported, finding)) {
                continue;
            }
            reported.push(finding);
            let mut message = finding.message.clone();
            let context = finding.context.words();
            let is_said = finding.place == Place::Build && !build.is_one_of_many;
            let needs_build = !is_said && needs_build(signature, builds, &message);
            let is_there = |(_, others): &&(&Build, Vec<Finding>)| is_in(others.iter(), finding);
            let likewise = match found[index + 1..].iter().filter(is_there).count() {
                _ if is_chain => None,
                0 => None,
                1 => Some("likewise in 1 more build".to_owned()),
                more => Some(format!("likewise in {more} more builds")),
            };
            let with = match (&context, needs_build) {
                (Some(context), true) => Some(format!("with {context} in `{}`", build.words(signature))),
                (Some(context), false) => Some(format!("with {context}")),
                (None, true) => Some(format!("in `{}`", build.words(signature))),
                (None, false) => None,
            };
            let notes: Vec<String> = with.into_iter().chain(likewise).collect();
            if !notes.is_empty() {
                let gap = if context.is_some() { "\n" } else { " " };
                message += &format!("{gap}({})", notes.join("; "));
            }
            for (place, what) in &finding.related {
                message += &format!("\n(line {}: {what})", spans.get(*place).line());
            }
            errors.push(place(finding.place, build, &signature.ident, spans).error(message));
        }
    }
    errors
}

/// What is hardly meant, as warnings of the compiler: the same of several builds is one.
pub(crate) fn warnings(
    found: &[(&Build, &[Finding])],
    signature: &Signature,
    builds: usize,
    spans: &SpanTable,
) -> Vec<Warning> {
    let mut reported: Vec<&Finding> = Vec::new();
    let mut warnings = Vec::new();
    for (build, findings) in found {
        for finding in *findings {
            if warnings.len() >= MAX_ERRORS || is_reported(&reported, finding) {
                continue;
            }
            reported.push(finding);
            let mut message = finding.message.clone();
            if needs_build(signature, builds, &message) {
                message += &format!(" (in `{}`)", build.words(signature));
            }
            for (place, what) in &finding.related {
                message += &format!(" (line {}: {what})", spans.get(*place).line());
            }
            let span = place(finding.place, build, &signature.ident, spans).first();
            warnings.push(Warning { span, message });
        }
    }
    warnings
}

/// Whether the same finding, perhaps of another build, is among those reported. What is wrong with a build is its own.
fn is_reported(reported: &[&Finding], finding: &Finding) -> bool {
    is_in(reported.iter().copied(), finding)
}

fn is_in<'a>(mut reported: impl Iterator<Item = &'a Finding>, finding: &Finding) -> bool {
    let is_same = |known: &'a Finding| {
        let same_words = finding.rule.is_some() || known.message == finding.message;
        known.place == finding.place && known.rule == finding.rule && same_words
    };
    finding.place != Place::Build && reported.any(is_same)
}

/// Whether a message must say which build it is about.
fn needs_build(signature: &Signature, builds: usize, message: &str) -> bool {
    signature.params.len() > 1 || (builds > 1 && !message.contains("for ranks ="))
}

fn place(place: Place, build: &Build, name: &Ident, spans: &SpanTable) -> SpanRange {
    match place {
        Place::Expression(span) => spans.get(span),
        Place::Function => name.span().into(),
        Place::Build => build.range,
    }
}

#[cfg(test)]
mod tests {
    use quote::format_ident;

    use super::*;
    use crate::eval::Context;
    use crate::signature::Param;

    fn found(rule: Rule, messages: &[String], spans: &mut SpanTable) -> Vec<Finding> {
        let finding = |message: &String| Finding {
            place: Place::Expression(spans.add(proc_macro2::Span::call_site().into())),
            rule: Some(rule),
            message: message.clone(),
            context: Context::default(),
            related: Vec::new(),
        };
        messages.iter().map(finding).collect()
    }

    fn messages(found: &[(&Build, Vec<Finding>)], spans: &SpanTable) -> Vec<String> {
        let signature = Signature {
            ident: format_ident!("test"),
            vis: syn::Visibility::Inherited,
            program: None,
            params: vec![Param { ident: format_ident!("ranks"), name: "ranks".to_owned() }],
            summary: String::new(),
            docs: String::new(),
            cfgs: Vec::new(),
        };
        errors(found, &signature, 1, spans).iter().map(ToString::to_string).collect()
    }

    fn build() -> Build {
        let range = proc_macro2::Span::call_site().into();
        Build { constant: "RANKS_8".to_owned(), range, is_one_of_many: false, values: vec![8] }
    }

    #[test]
    fn steps_that_wait_for_each_other_are_shown_in_full_and_once() {
        let (build, mut spans) = (build(), SpanTable::default());
        let words: Vec<String> = (1..=8).map(|i| format!("({i}/8) waits")).collect();
        let mut chain = found(Rule::Deadlock, &words, &mut spans);
        // Two of them on one line.
        chain[5].place = chain[4].place;
        assert_eq!(messages(&[(&build, chain.clone()), (&build, chain)], &spans), words);
    }

    #[test]
    fn of_other_findings_the_first_are_shown() {
        let (build, mut spans) = (build(), SpanTable::default());
        let words: Vec<String> = (1..=8).map(|i| format!("rank {i} does not exist")).collect();
        let mut wrong = found(Rule::Bounds, &words, &mut spans);
        wrong[1].place = wrong[0].place;
        let first: Vec<String> = [&words[..1], &words[2..7]].concat();
        assert_eq!(messages(&[(&build, wrong)], &spans), first);
    }
}
