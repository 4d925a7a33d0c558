//! The algorithms of a sweep: names and patterns of the library, MSCCL XML files, parameters.

use std::sync::Arc;

use super::{Files, each};
use crate::algorithms::{self, Algorithm};
use crate::sweep::subject::Subject;
use crate::workload::file::LEVELS;
use crate::workload::file::table::{Fault, Value};
use crate::workload::glob;
use crate::{CollectiveKind, msccl, verify};

const EXPECTED: &str = "a name, a pattern such as \"allreduce_*\", \"all\", a file \"NAME.xml\", or a table such as \
     { name = \"allreduce_ring\", set = { channels = [1, 2] } }";

/// An entry of the list.
struct Entry<'a> {
    value: Value<'a>,
    name: String,
    is_xml: bool,
    set: Vec<(String, Value<'a>, Vec<usize>)>,
}

impl Entry<'_> {
    fn is_pattern(&self) -> bool {
        self.name == "all" || self.name.contains(['*', '?'])
    }
}

/// All algorithms, in the order of the list; those of a pattern in that of the library.
pub(super) fn subjects(
    value: &Value<'_>,
    kinds: Option<&[CollectiveKind]>,
    files: &mut Files<'_>,
) -> Result<Vec<Subject>, Fault> {
    let entries = match value.list() {
        Some(list) if list.is_empty() => return Err(value.wrong(EXPECTED)),
        Some(list) => list.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?,
        None => vec![entry(*value)?],
    };
    let named: Vec<&str> =
        entries.iter().filter(|entry| !entry.is_pattern()).map(|entry| entry.name.as_str()).collect();
    let mut subjects: Vec<Subject> = Vec::new();
    let is_there = |subjects: &[Subject], name: &str| subjects.iter().any(|subject| subject.name() == name);
    for entry in &entries {
        if entry.is_xml {
            if is_there(&subjects, &entry.name) {
                return Err(entry.value.fault(format!("{} is listed twice", entry.name)));
            }
            subjects.push(xml(entry, kinds, files)?);
            continue;
        }
        let found = library(entry, kinds)?;
        for algorithm in found {
            // What is named by itself stands where it is named; what several patterns have, at the first.
            let elsewhere = entry.is_pattern()
                && (named.contains(&algorithm.name()) || is_there(&subjects, algorithm.name()));
            if elsewhere {
                continue;
            }
            if is_there(&subjects, algorithm.name()) {
                return Err(entry.value.fault(format!("{} is listed twice", algorithm.name())));
            }
            let mut subject = Subject::library(algorithm);
            for (parameter, value, values) in &entry.set {
                subject = subject.with(parameter, values.clone()).map_err(|error| value.fault(error))?;
            }
            subjects.push(subject);
        }
    }
    Ok(subjects)
}

fn entry(value: Value<'_>) -> Result<Entry<'_>, Fault> {
    if let Some(name) = value.as_text() {
        let is_xml = name.to_ascii_lowercase().ends_with(".xml");
        return Ok(Entry { value, name: name.to_owned(), is_xml, set: Vec::new() });
    }
    let (mut name, mut set, mut is_xml) = (None, Vec::new(), false);
    for (key, inner) in value.entries(EXPECTED)? {
        match key.as_str() {
            "name" | "xml" if name.is_some() => return Err(inner.fault("expected a name or xml, not both")),
            "name" | "xml" => {
                is_xml = key == "xml";
                name = Some(inner.text("a text")?.to_owned());
            }
            "set" => {
                for (parameter, values) in inner.entries("a table such as { channels = [1, 2] }")? {
                    let numbers = each(&values, number)?;
                    set.push((parameter, values, numbers));
                }
            }
            _ => return Err(inner.fault(format!("the key {key} is not known here: expected name, xml, set"))),
        }
    }
    let name = name.ok_or_else(|| value.fault("the algorithm has no name: expected name or xml"))?;
    if is_xml && !set.is_empty() {
        return Err(value.fault("set is for algorithms of the library; an XML file has no parameters"));
    }
    Ok(Entry { value, name, is_xml, set })
}

/// The value of a parameter: a number, or the name of an algorithm of a level.
fn number(value: &Value<'_>) -> Result<usize, Fault> {
    let level = |text: &str| LEVELS.into_iter().find(|(name, _)| *name == text).map(|(_, level)| level);
    // Nothing can be more.
    let whole = value.integer().and_then(|number| u32::try_from(number).ok()).map(|number| number as usize);
    whole.or_else(|| value.as_text().and_then(level)).ok_or_else(|| {
        let names = LEVELS.map(|(name, _)| format!("\"{name}\"")).join(", ");
        value.wrong(format!("a whole number, or, for the algorithm of a level, one of {names}"))
    })
}

/// The algorithms of the library that an entry means.
fn library(entry: &Entry<'_>, kinds: Option<&[CollectiveKind]>) -> Result<Vec<&'static Algorithm>, Fault> {
    let allowed = |algorithm: &Algorithm| match kinds {
        Some(kinds) => kinds.contains(&algorithm.def.kind),
        // What each is for is not said, so that they cannot be compared.
        None => !entry.is_pattern() || algorithm.def.kind != CollectiveKind::Custom,
    };
    let matches = |name: &str| entry.name == "all" || glob::matches(&entry.name, name);
    let found: Vec<_> = algorithms::all().filter(|one| matches(one.name()) && allowed(one)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let fault = |message: String| Err(entry.value.fault(message));
    match algorithms::find(&entry.name) {
        Some(other) => {
            fault(format!("{} does {}, which is not among collectives", entry.name, other.def.kind.name()))
        }
        None if entry.is_pattern() => {
            fault(format!("no algorithm of the library is called \"{}\"", entry.name))
        }
        None => fault(format!("there is no algorithm \"{}\"{}", entry.name, similar(&entry.name))),
    }
}

/// What to say after a name that no algorithm has.
fn similar(name: &str) -> String {
    /// Less similar ones are no help (0 is nothing in common, 1 the same).
    const LEAST: f64 = 0.75;
    let mut names: Vec<(f64, &str)> = algorithms::all()
        .map(|algorithm| (strsim::jaro_winkler(name, algorithm.name()), algorithm.name()))
        .filter(|(similarity, _)| *similarity >= LEAST)
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    let names: Vec<&str> = names.into_iter().take(3).map(|(_, name)| name).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(", ")) }
}

fn xml(entry: &Entry<'_>, kinds: Option<&[CollectiveKind]>, files: &mut Files<'_>) -> Result<Subject, Fault> {
    let (text, path) = files.text(&entry.value, &entry.name)?;
    let fault = |message: String| entry.value.fault(message);
    let imported = msccl::read(&text, &path).map_err(|error| fault(error.to_string()))?;
    let schedule = imported.schedule;
    files.warnings.extend(imported.warnings.iter().map(|warning| format!("{path}, {warning}")));
    verify::verify(&schedule, schedule.protocol.slots())
        .map_err(|wrong| fault(format!("{path}: {wrong}")))?;
    if schedule.collective.is_unspecified() {
        files.warnings.push(format!("{path}: it states no post-condition, so none was checked"));
    }
    let kind = schedule.collective.kind();
    if kinds.is_some_and(|kinds| !kinds.contains(&kind)) {
        return Err(fault(format!("{path} does {}, which is not among collectives", kind.name())));
    }
    Ok(Subject::schedule(&entry.name, Arc::new(schedule)))
}
