//! The tables of all shares as one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::rows::{Format, ReadRow};
use crate::failure::Failure;

/// A table that is read row by row.
struct Table {
    path: PathBuf,
    reader: BufReader<Box<dyn Read>>,
    format: Format,
    number: u64,
    /// The row that comes next, and its line.
    next: Option<(ReadRow, String)>,
}

impl Table {
    fn open(path: &Path, format: Format) -> Result<Self, Failure> {
        let shown = path.display();
        if Format::of(path)? != format {
            return Err(Failure::input(format!("{shown}: expected the same ending as the table to write")));
        }
        let reader = BufReader::new(format.open(path)?);
        let mut table = Self { path: path.to_owned(), reader, format, number: 0, next: None };
        let header = format.header();
        if !header.is_empty() && table.line()?.as_deref() != Some(header.as_str()) {
            return Err(table.fault("this is not the first line of a table of this version"));
        }
        table.advance()?;
        Ok(table)
    }

    fn fault(&self, what: &str) -> Failure {
        Failure::input(format!("{}:{}: {what}", self.path.display(), self.number.max(1)))
    }

    fn line(&mut self) -> Result<Option<String>, Failure> {
        let mut line = String::new();
        self.number += 1;
        let read = self.reader.read_line(&mut line).map_err(|error| self.fault(&error.to_string()))?;
        Ok((read > 0).then_some(line))
    }

    fn advance(&mut self) -> Result<(), Failure> {
        self.next = None;
        let Some(line) = self.line()? else { return Ok(()) };
        let row = line.strip_suffix('\n').and_then(|line| ReadRow::of(line, self.format));
        let Some(row) = row else {
            return Err(self.fault("this is not a whole row of a sweep"));
        };
        self.next = Some((row, line));
        Ok(())
    }
}

/// Joins tables in the order of the points, and says how many of each status there are.
pub(super) fn merge(
    paths: &[PathBuf],
    output: &Path,
    format: Format,
) -> Result<BTreeMap<String, usize>, Failure> {
    let mut tables = paths.iter().map(|path| Table::open(path, format)).collect::<Result<Vec<_>, _>>()?;
    // A share may be empty, if there are fewer groups of points than shares.
    let mark = tables.iter().find_map(|table| table.next.as_ref().map(|(row, _)| row.mark.clone()));
    let points = mark.as_deref().and_then(|mark| mark.split_once('/')?.1.parse::<usize>().ok());
    let (Some(mark), Some(points)) = (mark, points) else {
        return Err(Failure::input("no file has a row"));
    };
    let mut temporary = output.to_owned().into_os_string();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let joined = join(&mut tables, &mark, points, &temporary, format)
        .and_then(|statuses| format.finish(&temporary, output).map(|()| statuses));
    if joined.is_err() {
        // What is left of the attempt may not exist; there is nothing more to say about it.
        let _ = fs::remove_file(&temporary);
    }
    joined
}

fn join(
    tables: &mut [Table],
    mark: &str,
    points: usize,
    to: &Path,
    format: Format,
) -> Result<BTreeMap<String, usize>, Failure> {
    let broken = |error: std::io::Error| Failure::input(format!("{}: {error}", to.display()));
    let mut writer = BufWriter::new(File::create(to).map_err(broken)?);
    writer.write_all(format.header().as_bytes()).map_err(broken)?;
    let (mut expected, mut statuses) = (0, BTreeMap::new());
    loop {
        // The lowest point that comes next, and of equal ones that of the first file.
        let next = tables
            .iter()
            .enumerate()
            .filter_map(|(index, table)| Some((table.next.as_ref()?.0.point, index)));
        let Some((point, index)) = next.min() else { break };
        let table = &mut tables[index];
        if let Some((row, line)) = &table.next {
            if row.mark != mark {
                return Err(table.fault("the row is of another sweep than the other files"));
            }
            if point < expected {
                return Err(table.fault(&format!("point {point} was there before: is a share named twice?")));
            }
            if point > expected {
                break;
            }
            writer.write_all(line.as_bytes()).map_err(broken)?;
            *statuses.entry(row.status.clone()).or_default() += 1;
        }
        table.advance()?;
        expected += 1;
    }
    if expected < points {
        return Err(Failure::Verdict(format!("point {expected} of {points} is in none of the files")));
    }
    if let Some(table) = tables.iter().find(|table| table.next.is_some()) {
        return Err(table.fault(&format!("the sweep has no more than {points} points")));
    }
    writer.flush().map_err(broken)?;
    Ok(statuses)
}
