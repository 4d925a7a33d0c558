//! This project's own form: TOML with one `[[dimension]]` for each part, and explicit units.

mod kinds;
mod write;

use super::Topology;
use crate::config_table::{Fault, Source, Table, read};

pub(crate) use write::write;

/// The topology that the file declares.
pub(super) fn parse(text: &str) -> Result<Topology, Fault> {
    let source = Source(text);
    let file = read(text)?;
    declared(Table::new(source, file.get_ref(), &file.span()))
}

/// The topologies that a file on something else declares, by their names, each with its line: a list of tables under `key`, each
/// with a name beside what a file of its own has. The file's other keys are not looked at.
pub(super) fn parse_named(
    text: &str,
    key: &'static str,
) -> Result<Vec<(String, Option<u64>, Topology)>, Fault> {
    let source = Source(text);
    let file = read(text)?;
    let file = Table::new(source, file.get_ref(), &file.span());
    let one = |table: Table<'_>| {
        let line = table.line();
        let name = table.need("name")?.text("a text")?.to_owned();
        Ok((name, line, declared(table)?))
    };
    file.tables(key)?.into_iter().map(one).collect()
}

/// The topology that a table with the keys of a topology file declares.
pub(crate) fn declared(file: Table<'_>) -> Result<Topology, Fault> {
    let expected = file.get("ranks");
    let parts = file.tables("dimension")?;
    if parts.is_empty() {
        return Err(
            file.fault("there is no dimension: expected one [[dimension]] for each part of the topology")
        );
    }
    file.finish()?;
    let topology = kinds::product(parts)?;
    if let Some(expected) = expected {
        let count = expected.count()?;
        if count != topology.rank_count() {
            return Err(expected.fault(format!(
                "ranks = {count}, but the dimensions make {} ({})",
                topology.rank_count(),
                topology.label()
            )));
        }
    }
    Ok(topology)
}

#[cfg(test)]
mod tests;
