//! What is wrong with a workload, found before it runs.

use chakra_et::validate::Level;
use chakra_et::workload::Finding;
use chakra_et::{Warning, WarningKind};
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

/// What there is to warn of, a line each; what the reader says of several files alike once, and of attributes without a value all
/// in one.
pub(super) fn warnings(of_files: &[Warning], findings: &[Finding]) -> Vec<String> {
    let is_empty = |warning: &&Warning| matches!(warning.kind, WarningKind::AttrWithoutValue { .. });
    let (empty, of_files): (Vec<&Warning>, Vec<&Warning>) = of_files.iter().partition(is_empty);
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
    let of_findings = of_findings.map(|finding| format!("{}: {finding}{}", finding.id, remedy(finding.id)));
    without_value(&empty).into_iter().chain(of_files).chain(of_findings).collect()
}

/// By which argument a finding is settled.
fn remedy(finding: &str) -> &'static str {
    match finding {
        "computation-needs-roofline" => {
            "; --roofline PEAK,BANDWIDTH gives it, such as --roofline 400TFLOP/s,3350GB/s"
        }
        "memory-needs-bandwidth" => "; --memory LATENCY,BANDWIDTH gives it, such as --memory 100ns,2TB/s",
        _ => "",
    }
}

/// All attributes without a value, which some tools write on every node.
fn without_value(warnings: &[&Warning]) -> Option<String> {
    const SHOWN: usize = 6;
    let first = warnings.first()?;
    let mut names: Vec<&str> = Vec::new();
    for warning in warnings {
        if let WarningKind::AttrWithoutValue { name } = &warning.kind
            && !names.contains(&name.as_str())
        {
            names.push(name);
        }
    }
    if names.len() == 1 && warnings.len() == 1 {
        return Some(first.to_string());
    }
    let count: u64 = warnings.iter().map(|warning| warning.count).sum();
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let place = match (&first.input, &first.place) {
        (Some(input), Some(place)) => format!("; the first: {input}: {place}"),
        (Some(input), None) => format!("; the first: {input}"),
        _ => String::new(),
    };
    Some(format!(
        "{}: {count} attributes have no value, which are read as if they were not there: {}{more}{place}",
        first.kind.id(),
        shown.join(", "),
    ))
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

    #[test]
    fn attributes_without_a_value_are_one_line() {
        // Metadata of version "0.0.4"; a node of id 1 and type COMP with an attribute that has a name and no value.
        let file = |name: u8| {
            let attribute = [0x52, 3, 0x0a, 1, name];
            let node = [&[9, 0x08, 1, 0x18, 4][..], &attribute].concat();
            let bytes = [&b"\x07\x0a\x050.0.4"[..], &node].concat();
            let mut reader = NodeReader::new(&bytes[..]).unwrap();
            assert_eq!(reader.by_ref().count(), 1);
            reader
                .warnings()
                .iter()
                .find(|warning| warning.kind.id() == "attribute-without-value")
                .unwrap()
                .clone()
        };
        let lines = warnings(&[file(b'a'), file(b'b'), file(b'a')], &[]);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let wanted = "3 attributes have no value, which are read as if they were not there: \"a\", \"b\"";
        assert!(lines[0].contains(wanted), "{lines:?}");
        assert_eq!(warnings(&[file(b'a')], &[]), [file(b'a').to_string()]);
    }
}
