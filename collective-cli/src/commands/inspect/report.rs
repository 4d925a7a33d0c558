//! Figures and findings, as text and as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use chakra_et::proto::GlobalMetadata;
use chakra_et::summary::Summary;
use chakra_et::validate::{Finding, Level, RankSurvey, Rule, Survey};
use serde_json::{Value, json};

use crate::output::table;

/// Findings of one rule that are shown as text.
const SHOWN: usize = 3;
/// Ranks of which a table is shown.
const RANKS_SHOWN: usize = 16;

/// What the metadata state as version and, where an attribute says more, as schema.
fn version(metadata: &GlobalMetadata) -> String {
    let schema = chakra_et::attr::find_str(&metadata.attr, "schema").ok().flatten();
    match (metadata.version.as_str(), schema) {
        ("", None) => "none".to_owned(),
        ("", Some(schema)) => format!("schema {schema}"),
        (version, None) => version.to_owned(),
        (version, Some(schema)) => format!("{version}, schema {schema}"),
    }
}

/// Versions with how many ranks state each.
fn versions(survey: &Survey) -> BTreeMap<String, usize> {
    let mut versions = BTreeMap::new();
    for rank in survey.ranks() {
        *versions.entry(version(rank.metadata())).or_default() += 1;
    }
    versions
}

/// Findings by rule, in the order of the rules.
fn grouped(findings: &[Finding]) -> Vec<(&'static Rule, Vec<&Finding>)> {
    let mut groups: Vec<(&'static Rule, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        match groups.last_mut() {
            Some((rule, list)) if rule.id == finding.rule.id => list.push(finding),
            _ => groups.push((finding.rule, vec![finding])),
        }
    }
    groups
}

fn count(findings: &[Finding], level: Level) -> usize {
    findings.iter().filter(|finding| finding.level() == level).count()
}

pub(super) fn text(what: &Path, survey: &Survey, findings: &[Finding]) -> String {
    let all = Summary::of(survey);
    let ranks = survey.ranks().len();
    let scope = match survey.ranks() {
        [one] if !survey.is_whole() => format!("rank {} by itself", one.rank()),
        [_] => "1 rank".to_owned(),
        _ => format!("{ranks} ranks"),
    };
    let kind = if survey.is_algorithm() { "an algorithm" } else { "a workload" };
    let mut text = format!("{}: {kind} of {} nodes, {scope}\n\n", what.display(), all.nodes);
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let versions = versions(survey);
    let versions: Vec<String> = versions
        .iter()
        .map(
            |(version, count)| {
                if *count == ranks { version.clone() } else { format!("{version} ({count} ranks)") }
            },
        )
        .collect();
    let mut rows = vec![row("version", versions.join("; "))];
    rows.extend(all.types.iter().map(|(name, count)| row(name, count.to_string())));
    for (name, count) in &all.collectives {
        rows.push(row(name, format!("{}, {} bytes", count.count, count.bytes)));
    }
    if all.sends + all.receives > 0 {
        rows.push(row("sent", format!("{}, {} bytes", all.sends, all.sent_bytes)));
        rows.push(row("received", format!("{}, {} bytes", all.receives, all.received_bytes)));
    }
    rows.push(row("dependences", all.deps.to_string()));
    rows.push(row("depth", all.depth.to_string()));
    rows.push(row("width", all.width.to_string()));
    text.push_str(&table(&rows));
    if ranks > 1 {
        text.push('\n');
        text.push_str(&rank_table(survey.ranks()));
    }
    text.push('\n');
    for (rule, list) in grouped(findings) {
        text.push_str(&format!("{}: {} ({}): {}\n", rule.level, rule.id, list.len(), rule.summary));
        for finding in list.iter().take(SHOWN) {
            text.push_str(&format!("  {finding}\n"));
        }
        if list.len() > SHOWN {
            text.push_str(&format!("  … and {} more; --json has all\n", list.len() - SHOWN));
        }
    }
    text.push_str(&format!(
        "{} error(s), {} warning(s), {} note(s)\n",
        count(findings, Level::Error),
        count(findings, Level::Warning),
        count(findings, Level::Note)
    ));
    text
}

/// Figures by rank; of many ranks only those with the fewest and the most nodes.
fn rank_table(ranks: &[RankSurvey]) -> String {
    let mut rows: Vec<(usize, Summary)> =
        ranks.iter().map(|rank| (rank.rank(), Summary::of_rank(rank))).collect();
    let header = ["rank", "nodes", "sent", "received", "collectives", "depth", "width"];
    let mut text = String::new();
    if rows.len() > RANKS_SHOWN {
        rows.sort_by_key(|(rank, summary)| (summary.nodes, *rank));
        text = format!("the {RANKS_SHOWN} ranks with the fewest and the most nodes; --json has all\n");
        rows.drain(RANKS_SHOWN / 2..rows.len() - RANKS_SHOWN / 2);
    }
    let mut cells: Vec<Vec<String>> = vec![header.map(str::to_owned).to_vec()];
    for (rank, summary) in rows {
        let collectives: u128 = summary.collectives.values().map(|count| count.bytes).sum();
        cells.push(vec![
            rank.to_string(),
            summary.nodes.to_string(),
            summary.sent_bytes.to_string(),
            summary.received_bytes.to_string(),
            collectives.to_string(),
            summary.depth.to_string(),
            summary.width.to_string(),
        ]);
    }
    text.push_str(&table(&cells));
    text
}

/// A sum of bytes: a number, or a string where it would not fit 64 bits.
fn bytes(value: u128) -> Value {
    u64::try_from(value).map_or_else(|_| json!(value.to_string()), |value| json!(value))
}

fn figures(summary: &Summary) -> Value {
    let collectives: serde_json::Map<String, Value> = summary
        .collectives
        .iter()
        .map(|(name, count)| (name.clone(), json!({"count": count.count, "bytes": bytes(count.bytes)})))
        .collect();
    json!({
        "nodes": summary.nodes, "dependences": summary.deps, "types": summary.types, "collectives": collectives,
        "sends": summary.sends, "sent_bytes": bytes(summary.sent_bytes),
        "receives": summary.receives, "received_bytes": bytes(summary.received_bytes),
        "depth": summary.depth, "width": summary.width,
    })
}

pub(super) fn json(what: &Path, survey: &Survey, findings: &[Finding]) -> Value {
    let ranks: Vec<Value> = survey
        .ranks()
        .iter()
        .map(|rank| {
            let mut figures = figures(&Summary::of_rank(rank));
            figures["rank"] = json!(rank.rank());
            figures["version"] = json!(rank.metadata().version);
            figures
        })
        .collect();
    let list: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let related: Vec<Value> =
                finding.related.iter().map(|at| json!({"rank": at.rank, "node": at.node})).collect();
            json!({
                "rule": finding.rule.id, "level": finding.level().to_string(), "rank": finding.rank,
                "node": finding.node, "message": finding.message, "related": related,
            })
        })
        .collect();
    json!({
        "trace": what.display().to_string(),
        "whole": survey.is_whole(),
        "algorithm": survey.is_algorithm(),
        "rank_count": survey.ranks().len(),
        "versions": versions(survey),
        "all": figures(&Summary::of(survey)),
        "ranks": ranks,
        "errors": count(findings, Level::Error),
        "warnings": count(findings, Level::Warning),
        "notes": count(findings, Level::Note),
        "findings": list,
    })
}
