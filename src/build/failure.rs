//! What stops a build script, as one line each.

use std::fmt;

use crate::{AlgorithmDef, Diagnostics};

/// Something wrong with an algorithm, as one line: `file:line:column: rule: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    text: String,
}

impl Failure {
    pub(super) fn whole(message: String) -> Self {
        Self { text: message }
    }

    /// About one instance, at no place in the source.
    pub(super) fn of(def: &AlgorithmDef, given: &[(&str, usize)], message: impl fmt::Display) -> Self {
        Self::whole(format!("{}: {message}", words(def, given)))
    }

    /// Every finding about one instance.
    pub(super) fn all(def: &AlgorithmDef, given: &[(&str, usize)], wrong: &Diagnostics) -> Vec<Self> {
        let findings = wrong.findings.iter().map(|finding| {
            let mut text = match finding.site.and_then(|site| wrong.sites.get(site)) {
                Some(site) => format!("{site}: {}: {}", finding.rule.name(), finding.message),
                None => format!("{}: {}", finding.rule.name(), finding.message),
            };
            for (site, what) in &finding.related {
                if let Some(site) = wrong.sites.get(*site) {
                    text += &format!("; {site}: {what}");
                }
            }
            Self::whole(format!("{text} (in {})", words(def, given)))
        });
        findings.collect()
    }
}

/// `ring(ranks = 8)`.
fn words(def: &AlgorithmDef, given: &[(&str, usize)]) -> String {
    let given: Vec<String> = given.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("{}({})", def.name, given.join(", "))
}

impl fmt::Display for Failure {
    /// On one line, as Cargo wants it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        f.write_str(&lines.join("; "))
    }
}

impl std::error::Error for Failure {}
