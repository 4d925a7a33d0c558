//! Findings as errors of the compiler.

use proc_macro2::Ident;

use crate::builds::Build;
use crate::instance::{Finding, Place};
use crate::signature::Signature;
use crate::span::{SpanRange, SpanTable};

/// Errors that are shown at once; more would hide the first.
const MAX_ERRORS: usize = 6;

/// The errors of all builds; the same finding in several of them is one error.
pub(crate) fn errors(
    found: &[(&Build, Vec<Finding>)],
    signature: &Signature,
    builds: usize,
    spans: &SpanTable,
) -> Vec<syn::Error> {
    let mut reported: Vec<&Finding> = Vec::new();
    let mut errors = Vec::new();
    for (build, findings) in found {
        for finding in findings {
            let is_same = |known: &&Finding| {
                let same_words = finding.rule.is_some() || known.message == finding.message;
                known.place == finding.place && known.rule == finding.rule && same_words
            };
            // What is wrong with a build is its own.
            if finding.place != Place::Build && reported.iter().any(is_same) {
                continue;
            }
            reported.push(finding);
            let mut message = finding.message.clone();
            if finding.place != Place::Build && needs_build(signature, builds, &message) {
                message += &format!(" (in `{}`)", build.words(signature));
            }
            for (place, what) in &finding.related {
                message += &format!("\n(line {}: {what})", spans.get(*place).line());
            }
            errors.push(place(finding.place, build, &signature.ident, spans).error(message));
        }
    }
    errors.truncate(MAX_ERRORS);
    errors
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
