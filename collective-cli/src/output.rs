//! Printing that survives a closed pipe.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::failure::Failure;

/// Writes text and a line end to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.trim_end().as_bytes()).and_then(|()| stdout.write_all(b"\n")) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::OutputClosed),
        Err(error) => Err(Failure::input(format!("standard output: {error}"))),
    }
}

/// Writes a file whole or not at all: a reader never sees half of it.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let mut temporary = path.to_owned().into_os_string();
    temporary.push(".tmp");
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        // What is left of the attempt may not exist; there is nothing more to say about it.
        let _ = fs::remove_file(&temporary);
        Failure::input(format!("{}: {error}", path.display()))
    })
}

/// Rows as text: columns as wide as their widest cell, the first to the left, the others to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, width))| {
            if i == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
