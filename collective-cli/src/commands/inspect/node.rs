//! One node in full.

use std::fs::File;
use std::path::Path;

use chakra_et::validate::Survey;
use chakra_et::{NodeReader, RankFiles, ReadNode, jsonl};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The nodes with this id, of one rank or of all.
pub(super) fn show(
    what: &Path,
    survey: &Survey,
    rank: Option<usize>,
    id: u64,
    as_json: bool,
) -> Result<String, Failure> {
    let files = RankFiles::find(what, "et").map_err(Failure::input)?;
    let mut shown = Vec::new();
    for (survey, (number, path)) in survey.ranks().iter().zip(files.ranks()) {
        if rank.is_some_and(|rank| rank != *number) {
            continue;
        }
        for read in read(path, id)? {
            shown.push((*number, read, survey.dependants(id)));
        }
    }
    if shown.is_empty() {
        let of = rank.map_or(String::new(), |rank| format!(" of rank {rank}"));
        return Err(Failure::input(format!("{}{of}: there is no node with id {id}", what.display())));
    }
    if as_json {
        let list: Vec<Value> =
            shown.iter().map(|(rank, read, dependants)| object(*rank, read, dependants)).collect();
        return Ok(Value::Array(list).to_string());
    }
    let texts: Vec<String> =
        shown.iter().map(|(rank, read, dependants)| text(*rank, read, dependants)).collect();
    Ok(texts.join("\n"))
}

fn read(path: &Path, id: u64) -> Result<Vec<ReadNode>, Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(|error| fail(&error))?;
    let reader = NodeReader::new(file).map_err(|error| fail(&error))?;
    let mut found = Vec::new();
    for node in reader {
        let node = node.map_err(|error| fail(&error))?;
        if node.node.id == id {
            found.push(node);
        }
    }
    Ok(found)
}

/// The node as protobuf's JSON has it.
fn fields(read: &ReadNode) -> Value {
    serde_json::from_str(&jsonl::node_line(read)).unwrap_or(Value::Null)
}

fn object(rank: usize, read: &ReadNode, dependants: &[u64]) -> Value {
    json!({
        "rank": rank, "offset": read.place.offset, "index": read.place.index,
        "node": fields(read), "dependants": dependants,
    })
}

fn text(rank: usize, read: &ReadNode, dependants: &[u64]) -> String {
    let node = &read.node;
    let kind = chakra_et::summary::type_name(node.r#type);
    let mut text = format!("rank {rank}, {}: {kind} {:?}\n", read.place, node.name);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<18} {value}\n"));
    let list = |ids: &[u64]| match ids {
        [] => "none".to_owned(),
        ids => ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    };
    line("data_deps", list(&node.data_deps));
    line("ctrl_deps", list(&node.ctrl_deps));
    line("dependants", list(dependants));
    if node.start_time_micros > 0 {
        line("start_time_micros", node.start_time_micros.to_string());
    }
    line("duration_micros", node.duration_micros.to_string());
    for (name, info) in [("inputs", &node.inputs), ("outputs", &node.outputs)] {
        if let Some(info) = info {
            line(name, format!("values {}, shapes {}, types {}", info.values, info.shapes, info.types));
        }
    }
    let fields = fields(read);
    for attr in fields.get("attr").and_then(Value::as_array).into_iter().flatten() {
        let Some(attr) = attr.as_object() else { continue };
        let name = attr.get("name").and_then(Value::as_str).unwrap_or("");
        let value: Vec<String> = attr
            .iter()
            .filter(|(key, _)| *key != "name")
            .map(|(key, value)| {
                let value = value.get("values").unwrap_or(value);
                format!("{value} ({key})")
            })
            .collect();
        line(name, if value.is_empty() { "no value".to_owned() } else { value.join(", ") });
    }
    if let Some(unknown) = fields.get("@unknownFields") {
        line("unknown fields", unknown.to_string());
    }
    text
}
