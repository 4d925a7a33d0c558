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
        1 => format!("{warning}; likewise in one more file"),
        more => format!("{warning}; likewise in {more} more files"),
    });
    let of_findings = findings.iter().filter(|finding| finding.level == Level::Warning);
    of_files.chain(of_findings.map(|finding| format!("{}: {finding}", finding.id))).collect()
}

/// The errors, a line each, as far as a reader goes; JSON has all.
pub(super) fn errors(findings: &[Finding]) -> String {
    const SHOWN: usize = 50;
    let errors = findings.iter().filter(|finding| finding.level == Level::Error);
    let more = errors.clone().count().saturating_sub(SHOWN);
    let mut lines: String =
        errors.take(SHOWN).map(|finding| format!("\n  {}: {finding}", finding.id)).collect();
    if more > 0 {
        lines.push_str(&format!("\n  … and {more} more (--json has them)"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use chakra_et::NodeReader;

    use super::*;

    #[test]
    fn what_is_alike_in_several_files_is_said_once() {
        // Metadata of version "0.0.4", then a message without bytes.
        let mut reader = NodeReader::new(&b"\x07\x0a\x050.0.4\x00"[..]).unwrap();
        assert_eq!(reader.by_ref().count(), 1);
        let warning = reader.warnings()[0].clone();
        let lines = |count: usize| warnings(&vec![warning.clone(); count], &[]);
        assert_eq!(lines(1), [warning.to_string()]);
        assert_eq!(lines(2), [format!("{warning}; likewise in one more file")]);
        assert_eq!(lines(5), [format!("{warning}; likewise in 4 more files")]);
    }
}
