//! What the page is about: names, figures and the verdict.

use collective::verify::{PostCondition, Report, Verdict};
use collective::{Schedule, Severity};

use super::html::Html;
use super::{Page, words};
use crate::json::nanoseconds;

/// Findings that are listed.
const SHOWN: usize = 20;

pub(super) fn write(html: &mut Html, page: &Page<'_>, rounds: Option<u32>) {
    html.open("header", &[]);
    html.element("h1", &[], page.name);
    if !page.summary.is_empty() {
        html.element("p", &[], page.summary);
    }
    verdict(html, page);
    html.open("dl", &[]);
    facts(html, page, rounds);
    html.close("dl");
    for note in &page.notes {
        html.element("p", &[("class", "note")], note);
    }
    html.open("nav", &[("aria-label", "on this page")]);
    let sections = [
        ("#schedule", "Schedule", page.schedule.is_some()),
        ("#sizes", "Sizes", !page.sizes.is_empty()),
        ("#topology", "Topology", page.topology.is_some()),
        ("#time", "Thread blocks and links in time", page.run.is_some()),
        ("#path", "Critical path", page.run.as_ref().is_some_and(|run| run.recording.has_path())),
        ("#tables", "Tables", true),
    ];
    for (target, name, _) in sections.iter().filter(|(.., is_there)| *is_there) {
        html.element("a", &[("href", target)], name);
    }
    html.close("nav");
    html.close("header");
}

/// Pass or not, what was not checked, and what is wrong.
fn verdict(html: &mut Html, page: &Page<'_>) {
    html.open("p", &[]);
    let Some(report) = page.verdict else {
        html.element("span", &[("class", "verdict"), ("id", "verdict")], "not verified");
        html.text(" the traces do not say what they compute.");
        html.close("p");
        return;
    };
    let verdict = report.verdict();
    let class = if verdict == Verdict::Pass { "verdict pass" } else { "verdict fail" };
    html.element("span", &[("class", class), ("id", "verdict")], verdict.name());
    let said = match (verdict, report.post_condition) {
        (Verdict::Pass, PostCondition::Holds) => {
            " Verified: every output chunk holds what the collective wants, in every order in which the steps may run, \
             without races and deadlocks."
        }
        (Verdict::Pass, _) => {
            " Nothing states a post-condition, so that none was checked; there are no races and no deadlocks."
        }
        (Verdict::Broken(_), _) => " This algorithm is wrong.",
    };
    html.text(said);
    html.text(&slots(report));
    html.close("p");
    findings(html, report);
}

fn slots(report: &Report) -> String {
    let with = match report.slots {
        Some(0) => "no slots (rendezvous)".to_owned(),
        Some(1) => "1 slot a connection".to_owned(),
        Some(slots) => format!("{slots} slots a connection"),
        None => "unlimited slots".to_owned(),
    };
    match report.min_slots {
        Some(least) if report.slots == Some(least) => {
            format!(" Judged with {with}, the least that it needs.")
        }
        Some(least) => format!(" Judged with {with}; {least} would do."),
        None => format!(" Judged with {with}."),
    }
}

fn findings(html: &mut Html, report: &Report) {
    if report.findings.is_empty() {
        return;
    }
    html.open("ul", &[("id", "findings")]);
    for finding in report.findings.iter().take(SHOWN) {
        html.open("li", &[]);
        let kind = if finding.severity == Severity::Warning { "warning" } else { "error" };
        html.text(&format!("{kind} ({}): {}", finding.rule.name(), finding.message));
        if let Some(site) = finding.site.and_then(|id| report.sites.get(id)) {
            html.own(" ");
            html.element("code", &[], &site.to_string());
        }
        html.close("li");
    }
    let hidden = report.findings.len().saturating_sub(SHOWN) + report.more;
    if hidden > 0 {
        html.element("li", &[], &format!("and {hidden} more: collective verify lists them"));
    }
    html.close("ul");
}

struct Facts<'a> {
    html: &'a mut Html,
}

impl Facts<'_> {
    fn text(&mut self, id: &'static str, name: &str, text: &str) {
        self.html.open("div", &[]);
        self.html.element("dt", &[], name);
        self.html.element("dd", &[("id", id)], text);
        self.html.close("div");
    }

    /// With the figure as JSON has it.
    fn figure(&mut self, id: &'static str, name: &str, value: &str, text: &str) {
        self.html.open("div", &[]);
        self.html.element("dt", &[], name);
        self.html.element("dd", &[("id", id), ("data-v", value)], text);
        self.html.close("div");
    }
}

fn facts(html: &mut Html, page: &Page<'_>, rounds: Option<u32>) {
    let mut facts = Facts { html };
    if let Some(collective) = page.collective {
        let place = match page.schedule.map(|schedule| schedule.collective.is_in_place()) {
            Some(true) => ", in place",
            Some(false) => ", out of place",
            None => "",
        };
        facts.text("collective", "collective", &format!("{}{place}", collective.replace('_', "-")));
    }
    facts.figure("ranks", "ranks", &page.ranks.to_string(), &page.ranks.to_string());
    if !page.parameters.is_empty() {
        facts.text("parameters", "parameters", &page.parameters);
    }
    if let Some(size) = page.size {
        facts.figure("size", "size", &size.0.to_string(), &words::bytes(size.0));
    }
    if let Some((_, name)) = page.topology {
        facts.text("network", "topology", name);
    }
    if let Some(run) = &page.run {
        let report = run.report;
        facts.text(
            "model",
            "model",
            &format!(
                "{}{}, {} conventions",
                report.model.name(),
                page.machine.map(|machine| format!(" {machine}")).unwrap_or_default(),
                report.conventions.name()
            ),
        );
        facts.figure(
            "time-of-all",
            "time",
            &nanoseconds(report.makespan).to_string(),
            &words::time(report.makespan),
        );
        for (id, name, value) in [("algbw", "algbw", run.algbw), ("busbw", "busbw", run.busbw)] {
            if let Some(value) = value {
                facts.figure(id, name, &value.to_string(), &format!("{} GB/s", words::decimals(value, 3)));
            }
        }
        facts.figure("messages", "messages", &report.messages.to_string(), &report.messages.to_string());
        facts.figure(
            "bytes",
            "bytes sent, by all ranks",
            &report.bytes.0.to_string(),
            &words::bytes(report.bytes.0),
        );
    }
    if let Some(schedule) = page.schedule {
        of_schedule(&mut facts, schedule, page, rounds);
    }
    if let Some(theory) = page.theory {
        facts.text(
            "theory",
            "in theory",
            &format!("{} rounds; the busiest rank sends {} of the size", theory.rounds(), theory.sent),
        );
    }
}

fn of_schedule(facts: &mut Facts<'_>, schedule: &Schedule, page: &Page<'_>, rounds: Option<u32>) {
    if page.run.is_none() {
        let messages = schedule.message_count().to_string();
        facts.figure("messages", "messages", &messages, &messages);
    }
    if let Some(rounds) = rounds {
        facts.figure("rounds", "rounds", &rounds.to_string(), &rounds.to_string());
    }
    let chunks = schedule.collective.logical_chunks().to_string();
    facts.figure("chunks", "chunks", &chunks, &chunks);
    let channels = schedule.channel_count().to_string();
    facts.figure("channels", "channels", &channels, &channels);
    facts.text("protocol", "protocol", schedule.protocol.name());
    let steps = schedule.step_count().to_string();
    facts.figure("step-count", "steps", &steps, &steps);
}
