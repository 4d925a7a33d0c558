//! The table while it is written: a file of its own that a later run can continue.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use collective::sweep::Shard;

use super::rows::{Format, ReadRow, Rows};
use crate::failure::Failure;

/// A table that is not whole yet.
pub(super) struct Partial {
    file: File,
    path: PathBuf,
    output: PathBuf,
    format: Format,
}

/// What there is to write.
pub(super) enum Begun {
    /// Nothing: the table is whole.
    Whole,
    /// The rows after those that were found.
    Open(Partial),
}

fn fault(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}

impl Partial {
    /// Begins a table, or goes on with one; `found` hears of the rows that are there already.
    pub(super) fn begin(
        output: &Path,
        rows: &Rows<'_>,
        shard: Shard,
        resume: bool,
        found: &mut dyn FnMut(ReadRow),
    ) -> Result<Begun, Failure> {
        let mut path = output.to_owned().into_os_string();
        path.push(".partial");
        let path = PathBuf::from(path);
        let is_there = path.try_exists().map_err(|error| fault(&path, error))?;
        if is_there && !resume {
            let what = "there is an unfinished table: --resume goes on with it; else remove it";
            return Err(fault(&path, what));
        }
        if resume && !is_there && output.try_exists().map_err(|error| fault(output, error))? {
            let whole = rows.format.open(output)?;
            let content = Content::read(whole, output, rows, shard, found)?;
            let points = rows.sweep.len_of(shard);
            if content.rows < points || content.has_more {
                let has = content.rows;
                return Err(fault(output, format!("the table is not whole: {has} of {points} points")));
            }
            return Ok(Begun::Whole);
        }
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| fault(&path, error))?;
        // Where files cannot be locked, nobody is warned.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(fault(&path, "another process is writing it"));
        }
        let content = Content::read(&file, &path, rows, shard, found)?;
        let end = file.set_len(content.bytes).and_then(|()| file.seek(SeekFrom::End(0)));
        end.map_err(|error| fault(&path, error))?;
        let mut partial = Self { file, path, output: output.to_owned(), format: rows.format };
        if content.bytes == 0 {
            partial.write(&rows.format.header())?;
        }
        Ok(Begun::Open(partial))
    }

    /// Adds a line.
    pub(super) fn write(&mut self, line: &str) -> Result<(), Failure> {
        self.file.write_all(line.as_bytes()).map_err(|error| fault(&self.path, error))
    }

    /// Gives the table its name.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.file.sync_all().map_err(|error| fault(&self.path, error))?;
        self.format.finish(&self.path, &self.output)
    }
}

/// What a table holds.
struct Content {
    rows: usize,
    /// The bytes of the lines that are whole.
    bytes: u64,
    /// Whether something comes after them.
    has_more: bool,
}

impl Content {
    /// Reads a table up to the last whole line, and checks that it is of this sweep.
    fn read(
        file: impl Read,
        path: &Path,
        rows: &Rows<'_>,
        shard: Shard,
        found: &mut dyn FnMut(ReadRow),
    ) -> Result<Self, Failure> {
        let mut reader = BufReader::new(file);
        let mut content = Self { rows: 0, bytes: 0, has_more: false };
        let header = rows.format.header();
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            match read {
                Ok(0) => break,
                Ok(_) if line.last() != Some(&b'\n') => {
                    content.has_more = true;
                    break;
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(fault(path, error)),
            }
            let wrong = |what: &str| Failure::input(format!("{}:{number}: {what}", path.display()));
            let is_header = number == 1 && !header.is_empty();
            if is_header && line != header.as_bytes() {
                return Err(wrong("this is not the first line of a table of this version"));
            }
            if !is_header {
                let text = std::str::from_utf8(&line).ok().map(|text| text.trim_end_matches('\n'));
                let row = text.and_then(|text| ReadRow::of(text, rows.format));
                let row = row.ok_or_else(|| wrong("this is not a row of a sweep"))?;
                if row.mark != rows.mark {
                    return Err(wrong(
                        "the table is of another sweep: the file of the sweep, or one that it names, has changed since",
                    ));
                }
                let expected = rows.sweep.point_of(shard, content.rows).map(|point| point.number);
                if expected != Some(row.point) {
                    let expected = expected.map_or("none".to_owned(), |point| point.to_string());
                    let found = row.point;
                    return Err(wrong(&format!(
                        "the row is of point {found}, expected {expected}: the table is of another share"
                    )));
                }
                content.rows += 1;
                found(row);
            }
            content.bytes += line.len() as u64;
        }
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use collective::sweep::{self, Parsed, Sweep};

    use super::*;

    const SPEC: &str = "algorithms = 'allreduce_ring'\nsizes = ['6 B', '4 KiB']\nmodels = ['fluid', 'analytical']\n\
        [[topology]]\nname = 'a \"switch\", fast'\n[[topology.dimension]]\n\
        kind = 'switch'\nsize = 4\nbandwidth = '50 GB/s'\nlatency = '500 ns'\n";

    fn lines(sweep: &Sweep, rows: &Rows<'_>, shard: Shard) -> Vec<String> {
        let mut lines = Vec::new();
        let ended = sweep.run(shard, 0, 1, &|| false, |point, outcome| {
            lines.push(rows.row(point, &outcome));
            Ok::<_, Infallible>(())
        });
        assert_eq!(ended, Ok(sweep::Ended::Complete));
        lines
    }

    /// Whatever a crash or a full disk leaves of the table, what comes of it in the end is the same.
    #[test]
    fn a_table_goes_on_at_every_byte() {
        let none = &mut |_: &Path| Err("there are no files".to_owned());
        let Parsed { sweep, fingerprint, .. } = sweep::parse(SPEC, "sweep.toml", none).unwrap();
        let directory = tempfile::tempdir().unwrap();
        for (format, ending) in [(Format::Csv, "csv"), (Format::JsonLines, "jsonl")] {
            let rows = Rows::new(&sweep, fingerprint, format);
            for shard in [Shard::WHOLE, "2/3".parse().unwrap()] {
                let lines = lines(&sweep, &rows, shard);
                assert!(lines.len() > 1);
                let whole = format.header() + &lines.concat();
                let output = directory.path().join(format!("table.{ending}"));
                let partial = directory.path().join(format!("table.{ending}.partial"));
                for cut in 0..=whole.len() {
                    std::fs::write(&partial, &whole.as_bytes()[..cut]).unwrap();
                    let mut found = 0;
                    let begun = Partial::begin(&output, &rows, shard, true, &mut |_| found += 1).unwrap();
                    let Begun::Open(mut table) = begun else { panic!("cut at {cut}: not open") };
                    // A row is there if its end is.
                    let kept =
                        whole[..cut].matches('\n').count().saturating_sub(format.header().lines().count());
                    assert_eq!(found, kept, "cut at {cut}");
                    lines[found..].iter().for_each(|line| table.write(line).unwrap());
                    // Giving it its name waits for the disk, which a thousand times is long.
                    drop(table);
                    assert!(std::fs::read_to_string(&partial).unwrap() == whole, "cut at {cut}");
                }
            }
        }
    }
}
