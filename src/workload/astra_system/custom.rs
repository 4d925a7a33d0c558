//! Traces that carry out a collective, with the sizes that they state.

use std::path::{Path, PathBuf};

use chakra_et::graph::{Graph, Op};
use chakra_et::{NodeReader, RankFiles, RankWriter};

use super::super::foreign::Foreign;
use crate::sim::workload::Algorithm;

/// The traces of a prefix.
#[derive(Debug)]
pub(super) struct Custom {
    prefix: String,
    traces: Foreign,
    literal: bool,
}

impl Custom {
    /// Reads the traces, and checks that they are those of an algorithm.
    pub(super) fn read(prefix: &str, directory: &Path) -> Result<Self, String> {
        let path = directory.join(prefix);
        let name = path.display().to_string();
        let files = RankFiles::find(&path, "et").map_err(|error| error.to_string())?;
        if !files.is_whole() {
            return Err(format!(
                "{name}: expected the prefix of the traces of all ranks, not the file of one"
            ));
        }
        let read = |(_, path): &(usize, PathBuf)| {
            let named = |error: String| format!("{}: {error}", path.display());
            let bytes = std::fs::read(path).map_err(|error| named(error.to_string()))?;
            without_size(&bytes).map_err(named)
        };
        let ranks: Vec<Vec<u8>> = files.ranks().iter().map(read).collect::<Result<_, _>>()?;
        let traces = Foreign::new(name, ranks)?;
        let literal = !traces.at(0)?.ranks().iter().flat_map(|rank| rank.ops()).any(is_empty_message);
        Ok(Self { prefix: prefix.to_owned(), traces, literal })
    }

    /// As the file states it.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether all messages have a size of their own.
    pub(super) fn is_literal(&self) -> bool {
        self.literal
    }

    /// The algorithm for a size of the collective, by the convention of nccl-tests.
    pub(super) fn at(&self, size: u64) -> Result<Algorithm, String> {
        let graph: Graph = self.traces.at(size)?;
        Ok(Algorithm::new(self.prefix.as_str(), graph))
    }
}

/// In a collective of 0 bytes only messages with a size of their own have bytes.
fn is_empty_message(op: &Op) -> bool {
    matches!(op, Op::Send { bytes: 0, .. } | Op::Recv { bytes: 0, .. })
}

/// The same trace without the size that it was made for, to which its messages would be brought.
fn without_size(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let reader = NodeReader::new(bytes).map_err(|error| text(&error))?;
    let mut header = reader.metadata().clone();
    header.attr.retain(|attribute| attribute.name != "collective_size");
    let mut writer = RankWriter::new(&header).map_err(|error| text(&error))?;
    for node in reader {
        writer.node(&node.map_err(|error| text(&error))?.node).map_err(|error| text(&error))?;
    }
    Ok(writer.finish())
}
