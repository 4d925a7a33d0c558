//! This project's own form: TOML with one `[[dimension]]` for each part, and explicit units.

mod kinds;
mod table;

use toml::de::DeTable;

use super::Topology;
use table::{Source, Table};

/// The line, counted from 1, where known, and what is wrong.
pub(super) type Fault = (Option<u64>, String);

/// The topology that the file declares.
pub(super) fn parse(text: &str) -> Result<Topology, Fault> {
    let source = Source(text);
    let file = DeTable::parse(text)
        .map_err(|error| (error.span().and_then(|span| source.line(&span)), one_line(error.message())))?;
    let file = Table::new(source, file.get_ref(), &file.span());
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

/// The parser's messages may have several lines; errors here have one.
fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
