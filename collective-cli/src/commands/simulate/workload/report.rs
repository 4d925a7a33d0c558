//! What the simulation of a workload says, for people and as JSON.

use chakra_et::validate::Level;
use collective::sim::topology::LoadedTopology;
use collective::sim::units::Picos;
use collective::sim::workload::WorkloadReport;
use serde_json::{Value, json};

use super::choice::Chooser;
use super::{Subject, collectives, dry_run, findings, path, spent};
use crate::commands::simulate::Simulate;
use crate::commands::simulate::links::{self, Carried};
use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// A report, with all that it is about.
pub(super) struct Outcome<'a> {
    pub(super) command: &'a Simulate,
    pub(super) subject: &'a Subject<'a>,
    pub(super) topology: &'a LoadedTopology,
    pub(super) chooser: &'a Chooser,
    pub(super) report: &'a WorkloadReport,
}

impl Outcome<'_> {
    fn carried(&self) -> Carried<'_> {
        let WorkloadReport { links, makespan, model, .. } = self.report;
        Carried {
            topology: &self.topology.topology,
            loads: links.as_deref(),
            makespan: *makespan,
            model: *model,
        }
    }

    fn notes(&self) -> Vec<String> {
        let of_findings = self.subject.findings.iter().filter(|finding| finding.level == Level::Note);
        let mut notes = self.report.notes.clone();
        notes.extend(self.chooser.notes());
        notes.extend(self.subject.notes.iter().cloned());
        notes.extend(of_findings.map(ToString::to_string));
        notes
    }

    pub(super) fn to_text(&self) -> String {
        let Self { command, subject, report, .. } = *self;
        let placement = command.placement.as_ref().map(|placement| format!(" (placement {placement})"));
        let rules = command.compat.map(|compat| format!(", as {compat} runs it")).unwrap_or_default();
        let mut text = format!(
            "{}, {} ranks{}, on {} ({} under {} conventions{rules})\n\n",
            subject.prefix.display(),
            report.ranks.len(),
            placement.unwrap_or_default(),
            command.network(),
            report.model,
            report.conventions,
        );
        let count: u64 = report.collectives.iter().map(|times| times.count).sum();
        let row = |name: &str, value: String| vec![name.to_owned(), value];
        text.push_str(&table(&[
            row("iteration time", units_shown::time_exact(report.makespan)),
            row("nodes", subject.workload.node_count().to_string()),
            row("collectives", count.to_string()),
            row("messages", report.delivered.to_string()),
            row("bytes sent", units_shown::size_exact(report.bytes)),
        ]));
        text.push('\n');
        text.push_str(&spent::to_text(report));
        text.push_str(&collectives::to_text(report, command.workload.per_group));
        text.push_str(&self.messages());
        text.push_str(&path::to_text(&report.critical_path, command.critical_path));
        text.push_str(&spent::ranks_to_text(report, command.workload.per_rank));
        for note in self.notes() {
            text.push_str(&format!("note: {note}\n"));
        }
        if command.links {
            text.push_str(&links::to_text(&self.carried()));
        }
        text
    }

    /// Messages outside collectives, and the busiest link.
    fn messages(&self) -> String {
        let WorkloadReport { messages, makespan, .. } = self.report;
        let mut text = String::from("\n");
        if messages.count > 0 {
            text.push_str(&format!(
                "messages outside collectives: {}, {} in all, {} each\n",
                messages.count,
                units_shown::size(messages.bytes),
                units_shown::time(Picos(messages.time.0 / messages.count)),
            ));
        }
        if let Some(busiest) = links::busiest(&self.carried()) {
            text.push_str(&busiest.to_text(*makespan));
        }
        if text.len() == 1 { String::new() } else { text }
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { command, subject, report, chooser, .. } = *self;
        let carried = self.carried();
        let busiest = links::busiest(&carried);
        let mut value = json!({
            "workload": subject.prefix.display().to_string(),
            "topology": command.topology.as_ref().map(|path| path.display().to_string()),
            "placement": command.placement.as_ref().map(ToString::to_string),
            "model": report.model.name(),
            "conventions": report.conventions.name(),
            "compat": command.compat.map(|compat| compat.name()),
            "time_ns": nanoseconds(report.makespan),
            "nodes": subject.workload.node_count(),
            "messages": report.delivered,
            "bytes": report.bytes.0,
            "spent": spent::to_json(report),
            "ranks": spent::ranks_to_json(report),
            "collectives": collectives::to_json(report),
            "algorithms": dry_run::algorithms_json(&chooser.used()),
            "point_to_point": {
                "count": report.messages.count,
                "bytes": report.messages.bytes.0,
                "time_ns": nanoseconds(report.messages.time),
            },
            "critical_path": path::to_json(&report.critical_path, command.critical_path.is_some()),
            "busiest_link": busiest.map(|busiest| busiest.to_json()),
            "most_nodes_in_flight": report.most_in_flight,
            "findings": findings::to_json(&subject.findings),
            "notes": self.notes(),
            "warnings": report.warnings,
        });
        if command.links {
            value["links"] = links::to_json(&carried);
        }
        value
    }
}
