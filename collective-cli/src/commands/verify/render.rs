//! A report as text and as JSON.

use collective::msccl::Warning;
use collective::verify::{PostCondition, Report, Verdict};
use collective::{Diagnostic, RankId, Schedule};
use serde_json::{Value, json};

use super::Judged;
use crate::console;

/// Findings of one algorithm that people are shown.
const SHOWN: usize = 20;

/// "all-reduce in place, Simple".
pub(super) fn about(schedule: &Schedule) -> String {
    let collective = &schedule.collective;
    let place = if collective.is_in_place() { "in place" } else { "out of place" };
    format!("{} {place}, {}, {} steps", collective.kind(), schedule.protocol, schedule.step_count())
}

pub(super) fn text(judged: &Judged, reduction_order: bool) -> String {
    let Judged { input, about, report, messages_only, warnings: _, place: _ } = judged;
    let verdict = report.verdict();
    let shown = console::verdict(&verdict.to_string(), matches!(verdict, Verdict::Pass));
    let mut text = format!("{input}: {shown}\n");
    let mut facts = Vec::new();
    if !about.is_empty() {
        let name = if *input == report.name { String::new() } else { format!("{}: ", report.name) };
        facts.push(format!("{name}{about}, {} ranks", report.ranks));
        facts.push(match report.slots {
            Some(0) => "no slots (rendezvous)".to_owned(),
            Some(1) => "1 slot a connection".to_owned(),
            Some(slots) => format!("{slots} slots a connection"),
            None => "unlimited slots".to_owned(),
        });
    }
    if !facts.is_empty() {
        text.push_str(&format!("  {}\n", facts.join("; ")));
    }
    for finding in report.findings.iter().take(SHOWN) {
        text.push_str(&finding_text(report, finding));
    }
    let hidden = report.findings.len().saturating_sub(SHOWN) + report.more;
    if hidden > 0 {
        let how = if report.findings.len() > SHOWN { "; --json lists more" } else { "" };
        text.push_str(&format!("  and {hidden} findings more{how}\n"));
    }
    text.push_str(&format!("  post-condition: {}{}\n", report.post_condition.name(), why(judged)));
    if let Some(reason) = messages_only {
        text.push_str(&format!(
            "  only messages and dependences could be judged, with unlimited slots: {reason}\n"
        ));
    } else if let Some(slots) = report.min_slots {
        text.push_str(&format!("  smallest sufficient number of slots: {slots}\n"));
    }
    // Of what is wrong the order of additions is of no account.
    if let Some(reductions) = report.reductions.as_ref().filter(|_| report.verdict() == Verdict::Pass) {
        let differing = reductions.differing();
        text.push_str(&match differing[..] {
            [] => "  reductions: every rank adds in the same order, so results are the same to the bit\n".to_owned(),
            [chunk] => format!("  reductions: ranks add chunk {chunk} in different orders: rounding may differ\n"),
            [first, ..] => format!(
                "  reductions: ranks add {} chunks in different orders, chunk {first} first: rounding may differ\n",
                differing.len()
            ),
        });
        if reduction_order {
            reductions.to_string().lines().for_each(|line| text.push_str(&format!("    {line}\n")));
        }
    }
    text
}

/// Why the post-condition was not checked.
fn why(judged: &Judged) -> &'static str {
    let report = &judged.report;
    match (report.post_condition, report.verdict()) {
        (PostCondition::NotChecked, Verdict::Pass) if judged.messages_only.is_some() => {
            " (the traces do not say what they compute)"
        }
        (PostCondition::NotChecked, Verdict::Pass) => " (nothing states one)",
        _ => "",
    }
}

fn finding_text(report: &Report, finding: &Diagnostic) -> String {
    let site = |id| report.sites.get(id).map(ToString::to_string);
    let mut text = format!("  {} ({}): {}\n", finding.severity.name(), finding.rule.name(), finding.message);
    if let Some(site) = finding.site.and_then(site) {
        text.push_str(&format!("      at {site}\n"));
    }
    for (id, what) in &finding.related {
        if let Some(site) = site(*id) {
            text.push_str(&format!("      {site}: {what}\n"));
        }
    }
    text
}

/// One object, or a list.
pub(super) fn json(judged: &[Judged], is_list: bool, reduction_order: bool) -> Value {
    let mut all: Vec<Value> = judged.iter().map(|judged| object(judged, reduction_order)).collect();
    match all.pop() {
        Some(only) if !is_list && all.is_empty() => only,
        last => {
            all.extend(last);
            json!(all)
        }
    }
}

fn object(judged: &Judged, reduction_order: bool) -> Value {
    let report = &judged.report;
    let findings: Vec<Value> = report.findings.iter().map(|finding| finding_json(report, finding)).collect();
    let mut value = json!({
        "input": judged.input,
        "name": report.name,
        "ranks": report.ranks,
        "verdict": report.verdict().name(),
        "post_condition": report.post_condition.name(),
        "slots": report.slots,
        "min_slots": report.min_slots,
        "findings": findings,
        "more_findings": report.more,
    });
    if let Some(reason) = &judged.messages_only {
        value["messages_only"] = json!(reason);
    }
    if !judged.warnings.is_empty() {
        let warning = |it: &Warning| json!({"line": it.line, "message": it.message, "more": it.more});
        value["warnings"] = judged.warnings.iter().map(warning).collect();
    }
    if let Some(reductions) = &report.reductions {
        value["same_order_everywhere"] = json!(reductions.same_everywhere());
        if reduction_order {
            let order = |(chunk, order, ranks): (u32, String, &[RankId])| {
                let ranks: Vec<u32> = ranks.iter().map(|rank| rank.0).collect();
                json!({"chunk": chunk, "order": order, "ranks": ranks})
            };
            value["reduction_order"] = reductions.orders().map(order).collect();
        }
    }
    value
}

fn finding_json(report: &Report, finding: &Diagnostic) -> Value {
    let site = |id| report.sites.get(id).map(ToString::to_string);
    let at = &finding.at;
    let related: Vec<Value> =
        finding.related.iter().map(|(id, what)| json!({"source": site(*id), "message": what})).collect();
    json!({
        "rule": finding.rule.name(),
        "severity": finding.severity.name(),
        "rank": at.rank.map(|rank| rank.0),
        "threadblock": at.thread_block.map(|block| block.0),
        "step": at.step,
        "buffer": at.buffer.map(|buffer| buffer.letter()),
        "index": at.index,
        "message": finding.message,
        "source": finding.site.and_then(site),
        "related": related,
    })
}
