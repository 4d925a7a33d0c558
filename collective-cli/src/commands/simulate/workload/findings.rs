//! What is wrong with a workload, found before it runs.

use chakra_et::Warning;
use chakra_et::validate::Level;
use chakra_et::workload::Finding;
use serde_json::{Value, json};

/// The findings as JSON.
pub(super) fn to_json(findings: &[Finding]) -> Value {
    let finding = |finding: &Finding| {
        let related = finding.related.iter().map(|node| json!({"rank": node.rank, "node": node.node}));
        json!({
            "level": finding.level.to_string(),
            "id": finding.id,
            "rank": finding.rank,
            "node": finding.node,
            "message": finding.message,
            "related": related.collect::<Vec<_>>(),
        })
    };
    Value::Array(findings.iter().map(finding).collect())
}

/// The id of the first error: the verdict.
pub(super) fn verdict(findings: &[Finding]) -> Option<&'static str> {
    findings.iter().find(|finding| finding.level == Level::Error).map(|finding| finding.id)
}

/// What there is to warn of, a line each; what the reader says of several files alike once.
pub(super) fn warnings(of_files: &[Warning], findings: &[Finding]) -> Vec<String> {
    let mut alike: Vec<(&Warning, usize)> = Vec::new();
    for warning in of_files {
        match alike.iter_mut().find(|(first, _)| first.kind == warning.kind) {
            Some((_, more)) => *more += 1,
            None => alike.push((warning, 0)),
        }
    }
    let of_files = alike.into_iter().map(|(warning, more)| match more {
        0 => warning.to_string(),
        more => format!("{warning}; likewise in {more} more files"),
    });
    let of_findings = findings.iter().filter(|finding| finding.level == Level::Warning);
    of_files.chain(of_findings.map(|finding| format!("{}: {finding}", finding.id))).collect()
}

/// The errors, a line each.
pub(super) fn errors(findings: &[Finding]) -> String {
    let errors = findings.iter().filter(|finding| finding.level == Level::Error);
    errors.map(|finding| format!("\n  {}: {finding}", finding.id)).collect()
}
