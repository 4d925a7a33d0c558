//! What a workload holds, and which algorithm each collective would get.

use chakra_et::workload::{Collectives, Summary, Workload};
use collective::sim::units::Bytes;
use collective::sim::workload::{Algorithms, Use};
use collective::workload::Used;
use serde_json::{Value, json};

use super::choice::Chooser;
use super::{Subject, findings, groups};
use crate::failure::Failure;
use crate::output;
use crate::units_shown;

/// Prints it. Of a workload whose collectives cannot be joined there is nothing to say but why.
pub(super) fn show(
    subject: &Subject<'_>,
    chooser: &Chooser,
    per_group: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let workload = &subject.workload;
    let Ok(collectives) = workload.collectives() else {
        if let (true, Some(verdict)) = (as_json, findings::verdict(&subject.findings)) {
            output::print(&subject.refused_json(verdict).to_string())?;
        }
        return Ok(());
    };
    ask(subject, &collectives, chooser)?;
    let summary = workload.summary(&collectives);
    if as_json {
        return output::print(&to_json(subject, &summary, chooser).to_string());
    }
    let mut text = contents(subject, &summary);
    text.push_str(&groups::to_text(workload, &collectives, per_group));
    let used = chooser.used();
    if !used.is_empty() {
        text.push_str("\nalgorithms\n");
        text.extend(used.iter().map(|used| format!("  {}\n", line(used))));
    }
    text.extend(notes(subject, chooser).iter().map(|note| format!("note: {note}\n")));
    output::print(&text)
}

/// Asks for the algorithm of every collective, so that the chooser has them all.
fn ask(subject: &Subject<'_>, collectives: &Collectives, chooser: &Chooser) -> Result<(), Failure> {
    let workload: &Workload = &subject.workload;
    for collective in &collectives.all {
        let group = &workload.groups()[collective.group as usize];
        let (Some(&first), Some(&node)) = (group.members.first(), collective.nodes.first()) else { continue };
        let (nodes, kind) = (workload.rank(first as usize), collective.kind);
        let (id, name) = (nodes.graph().id(node), nodes.name(node));
        let asked = Use::new(kind, collective.bytes, collective.root, group).of_node(id, name);
        chooser.algorithm(&asked).map_err(|error| {
            let prefix = subject.prefix.display();
            let (bytes, group) = (collective.bytes, group.label());
            let place = format!("rank {first}, node {id} {name:?}");
            Failure::input(format!("{prefix}: {kind} of {bytes} bytes on {group} ({place}): {error}"))
        })?;
    }
    Ok(())
}

fn notes(subject: &Subject<'_>, chooser: &Chooser) -> Vec<String> {
    chooser.notes().into_iter().chain(subject.notes.iter().cloned()).collect()
}

/// What there is but for collectives.
fn contents(subject: &Subject<'_>, summary: &Summary) -> String {
    let size = |bytes: u128| units_shown::size(Bytes(u64::try_from(bytes).unwrap_or(u64::MAX)));
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let mut text = format!(
        "{}: {} nodes on {} rank{}\n{} computation{} on the GPU, {} on the CPU\n",
        subject.prefix.display(),
        summary.nodes,
        summary.ranks,
        plural(summary.ranks as u64),
        summary.computations[0],
        plural(summary.computations[0]),
        summary.computations[1],
    );
    for ((count, bytes), what) in [(summary.messages, "message"), (summary.memory, "load or store")] {
        if count > 0 {
            let what = if count == 1 { what.to_owned() } else { what.replace(" or ", "s and ") + "s" };
            text.push_str(&format!("{count} {what} of {} in all\n", size(bytes)));
        }
    }
    text
}

/// Which rule gave which algorithm to how many collectives, as a line.
fn line(used: &Used) -> String {
    let Used { kind, ranks, algorithm, count, .. } = used;
    let mut sizes = units_shown::size(Bytes(used.min_size));
    if used.max_size > used.min_size {
        sizes.push_str(&format!(" to {}", units_shown::size(Bytes(used.max_size))));
    }
    let rule = used.rule.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
    format!("{count} × {kind} of {ranks} ranks, {sizes}: {algorithm} ({rule})")
}

fn sum(value: u128) -> Value {
    u64::try_from(value).map_or_else(|_| json!(value.to_string()), |value| json!(value))
}

fn to_json(subject: &Subject<'_>, summary: &Summary, chooser: &Chooser) -> Value {
    let groups = summary.groups.iter().map(|group| {
        let kinds = group
            .kinds
            .iter()
            .map(|(kind, count, bytes)| json!({"kind": kind.name(), "count": count, "bytes": sum(*bytes)}));
        let name = subject.workload.groups().get(group.group as usize).map(|group| &group.name);
        json!({"group": name, "ranks": group.members, "collectives": kinds.collect::<Vec<_>>()})
    });
    json!({
        "workload": subject.prefix.display().to_string(),
        "verdict": findings::verdict(&subject.findings).unwrap_or("pass"),
        "ranks": summary.ranks,
        "nodes": summary.nodes,
        "computations": {"gpu": summary.computations[0], "cpu": summary.computations[1]},
        "point_to_point": {"count": summary.messages.0, "bytes": sum(summary.messages.1)},
        "memory": {"count": summary.memory.0, "bytes": sum(summary.memory.1)},
        "groups": groups.collect::<Vec<_>>(),
        "algorithms": algorithms_json(&chooser.used()),
        "findings": findings::to_json(&subject.findings),
        "notes": notes(subject, chooser),
    })
}

/// Which rule gave which algorithm to how many collectives.
pub(super) fn algorithms_json(used: &[Used]) -> Value {
    let used = used.iter().map(|used| {
        json!({
            "algorithm": used.algorithm,
            "rule": used.rule.as_ref().map(ToString::to_string),
            "kind": used.kind.name(),
            "ranks": used.ranks,
            "count": used.count,
            "min_size_bytes": used.min_size,
            "max_size_bytes": used.max_size,
        })
    });
    Value::Array(used.collect())
}
