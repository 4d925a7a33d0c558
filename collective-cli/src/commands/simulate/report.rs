//! What the simulation of a collective says, for people and as JSON.

use collective::sim::Report;
use collective::sim::machine::Protocol;
use collective::sim::report::{algbw_gb_per_s, busbw_gb_per_s};
use collective::sim::topology::LoadedTopology;
use collective::sim::units::Picos;
use serde_json::{Value, json};

use super::figures::Worth;
use super::links::{self, Carried};
use super::{Simulate, Subject, path};
use crate::console;
use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// What a simulation found.
pub(super) struct Found<'a> {
    pub(super) loaded: Option<&'a LoadedTopology>,
    pub(super) report: &'a Report,
    /// Of a machine.
    pub(super) worth: Option<&'a Worth>,
}

impl Simulate {
    pub(super) fn bandwidths(&self, subject: &Subject, report: &Report) -> (Option<f64>, Option<f64>) {
        let algbw = subject.size.and_then(|size| algbw_gb_per_s(size, report.makespan));
        // A graph has at most u32::MAX ranks, or it could not have matched the topology.
        let ranks = subject.program.rank_count() as u32;
        let busbw = subject
            .size
            .zip(subject.collective.as_deref())
            .and_then(|(size, collective)| busbw_gb_per_s(collective, ranks, size, report.makespan));
        (algbw, busbw)
    }

    pub(super) fn json_report(&self, subject: &Subject, found: &Found<'_>) -> Value {
        let Found { loaded, report, worth } = *found;
        let (algbw, busbw) = self.bandwidths(subject, report);
        let ranks: Vec<Value> = report
            .finish
            .iter()
            .enumerate()
            .map(|(rank, finish)| json!({"rank": rank, "finish_ns": nanoseconds(*finish)}))
            .collect();
        let parameters: serde_json::Map<String, Value> =
            subject.parameters.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let carried = loaded.map(|loaded| carried(loaded, report));
        let busiest = carried.as_ref().and_then(links::busiest);
        let busiest = busiest.map(|busiest| busiest.to_json());
        let mut value = json!({
            "algorithm": subject.name,
            "parameters": parameters,
            "collective": subject.collective,
            "size_bytes": subject.size.map(|size| size.0),
            "topology": self.topology.as_ref().map(|path| path.display().to_string()),
            "placement": self.placement.as_ref().map(ToString::to_string),
            "model": report.model.name(),
            "conventions": report.conventions.name(),
            "time_ns": nanoseconds(report.makespan),
            "messages": report.messages,
            "bytes": report.bytes.0,
            "algbw_gb_per_s": algbw,
            "busbw_gb_per_s": busbw,
            "ranks": ranks,
            "busiest_link": busiest,
            "folded": report.folded,
            "notes": report.notes,
        });
        if let Some(machine) = &self.machine.machine {
            value["machine"] = json!(machine);
            value["protocol"] = json!(subject.program.protocol().map(Protocol::name));
            value["figures"] = worth.map_or(Value::Null, Worth::to_json);
        }
        if let (true, Some(carried)) = (self.links, &carried) {
            value["links"] = links::to_json(carried);
        }
        if let (Some(_), Some(path)) = (self.critical_path, &report.critical_path) {
            value["critical_path"] = path::to_json(path);
        }
        value
    }

    pub(super) fn text_report(&self, subject: &Subject, found: &Found<'_>) -> String {
        let Found { loaded, report, worth } = *found;
        let (algbw, busbw) = self.bandwidths(subject, report);
        let bandwidth = |value: Option<f64>| value.map_or("unknown".to_owned(), |gb| format!("{gb:.3} GB/s"));
        let size = subject.size.map_or("size unknown".to_owned(), |size| size.to_string());
        let parameters: Vec<String> = subject
            .parameters
            .iter()
            .filter(|(name, _)| *name != "ranks")
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let parameters =
            if parameters.is_empty() { String::new() } else { format!(" ({})", parameters.join(", ")) };
        let placement = self.placement.as_ref().map(|placement| format!(" (placement {placement})"));
        let placement = placement.unwrap_or_default();
        let about = format!(
            "{}{parameters}, {size}, {} ranks{placement}, on {} ({} under {} conventions)",
            subject.name,
            report.finish.len(),
            self.network(),
            self.model_in_words(&subject.program, report.model),
            report.conventions.name(),
        );
        let mut text = format!("{}\n\n", console::heading(&about));
        let row = |name: &str, value: String| vec![name.to_owned(), value];
        text.push_str(&table(&[
            row("time", units_shown::time_exact(report.makespan)),
            row("algbw", bandwidth(algbw)),
            row("busbw", bandwidth(busbw)),
            row("messages", report.messages.to_string()),
            row("bytes sent", units_shown::size_exact(report.bytes)),
        ]));
        let (first, last) = (report.finish.iter().min(), report.finish.iter().max());
        if let (Some(first), Some(last)) = (first, last) {
            if first == last {
                text.push_str("\nall ranks finish together\n");
            } else {
                let at = |time: &Picos| report.finish.iter().position(|finish| finish == time).unwrap_or(0);
                text.push_str(&format!(
                    "\nrank {} finishes first, at {}; rank {} last\n",
                    at(first),
                    units_shown::time_exact(*first),
                    at(last)
                ));
            }
        }
        let carried = loaded.map(|loaded| carried(loaded, report));
        if let Some(busiest) = carried.as_ref().and_then(links::busiest) {
            text.push_str(&busiest.to_text(report.makespan));
        }
        if let Some(worth) = worth {
            text.push_str(&worth.to_text());
        }
        if report.folded {
            text.push_str("all ranks do the same: one was simulated for all (--no-fold simulates each)\n");
        }
        text.push_str(&console::notes(&report.notes));
        if let (true, Some(carried)) = (self.links, &carried) {
            text.push_str(&links::to_text(carried));
        }
        if let (Some(_), Some(path)) = (self.critical_path, &report.critical_path) {
            text.push_str(&path::to_text(path));
        }
        text
    }
}

fn carried<'a>(loaded: &'a LoadedTopology, report: &'a Report) -> Carried<'a> {
    let Report { links, makespan, model, .. } = report;
    Carried { topology: &loaded.topology, loads: links.as_deref(), makespan: *makespan, model: *model }
}
