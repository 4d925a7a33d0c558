//! Tables as Apache Parquet: what a table of comma-separated values says, column by column with types.
//!
//! A number that may be any of 64 bits is an unsigned INT64, a bandwidth and `time_ns` a DOUBLE, and what a cell does not say is null. A DOUBLE has
//! no picoseconds from about an hour on, so there is one more column than in other tables, `time_ps`, which is exact.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::{Field, Row};
use parquet::schema::parser::parse_message_type;

use super::rows::{COLUMNS, Format, csv_cell, decimal, picos, split};
use crate::failure::Failure;
use crate::output::NewFile;

/// The column that other tables do not have.
const EXACT: &str = "time_ps";

/// Rows that are in memory at once.
const ROWS: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Count,
    Real,
    Text,
}

fn kind(column: &str) -> Kind {
    match column {
        "point" | "instances" | "ranks" | "size_bytes" | "messages" | "bytes" | EXACT => Kind::Count,
        "time_ns" | "algbw_gb_per_s" | "busbw_gb_per_s" => Kind::Real,
        _ => Kind::Text,
    }
}

fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.into_iter().chain([EXACT])
}

fn fault(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}

/// Writes the Parquet table of comma-separated values with their header; whole or not at all.
pub(super) fn write(values: impl BufRead, to: &Path) -> Result<(), Failure> {
    let fields = columns().map(|name| match kind(name) {
        Kind::Count => format!("OPTIONAL INT64 {name} (INTEGER(64,false));"),
        Kind::Real => format!("OPTIONAL DOUBLE {name};"),
        Kind::Text => format!("OPTIONAL BYTE_ARRAY {name} (STRING);"),
    });
    let message = format!("message sweep {{ {} }}", fields.collect::<String>());
    let broken = |error: ParquetError| fault(to, error);
    let schema = Arc::new(parse_message_type(&message).map_err(broken)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("collective {}", env!("CARGO_PKG_VERSION")))
        .build();
    let file = NewFile::create(to).map_err(|error| fault(to, error))?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(broken)?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in values.lines().skip(1) {
        let line = line.map_err(|error| fault(to, error))?;
        let mut cells = split(&line).ok_or_else(|| fault(to, "a line is no row of a sweep"))?;
        let time = COLUMNS.iter().position(|name| *name == "time_ns").and_then(|at| cells.get(at));
        let exact = time.and_then(|time| picos(time)).map_or(String::new(), |time| time.0.to_string());
        cells.push(exact);
        rows.push(cells);
        if rows.len() == ROWS {
            writer.next_row_group().and_then(|group| fill(group, &rows)).map_err(broken)?;
            rows.clear();
        }
    }
    if !rows.is_empty() {
        writer.next_row_group().and_then(|group| fill(group, &rows)).map_err(broken)?;
    }
    writer.into_inner().map_err(broken)?.finish().map_err(|error| fault(to, error))
}

/// Writes a group of rows.
fn fill(mut group: SerializedRowGroupWriter<'_, NewFile>, rows: &[Vec<String>]) -> Result<(), ParquetError> {
    for (at, name) in columns().enumerate() {
        let cells = || rows.iter().filter_map(|row| row.get(at)).filter(|cell| !cell.is_empty());
        let present: Vec<i16> =
            rows.iter().map(|row| i16::from(row.get(at).is_some_and(|cell| !cell.is_empty()))).collect();
        let wrong = |cell: &String| ParquetError::General(format!("{name}: {cell:?} is no number"));
        let Some(mut column) = group.next_column()? else { break };
        match kind(name) {
            Kind::Count => {
                // The same 64 bits; the schema says that they have no sign.
                let number =
                    |cell: &String| cell.parse::<u64>().map(u64::cast_signed).map_err(|_| wrong(cell));
                let values = cells().map(number).collect::<Result<Vec<i64>, _>>()?;
                column.typed::<Int64Type>().write_batch(&values, Some(&present), None)?;
            }
            Kind::Real => {
                let number = |cell: &String| cell.parse::<f64>().map_err(|_| wrong(cell));
                let values = cells().map(number).collect::<Result<Vec<f64>, _>>()?;
                column.typed::<DoubleType>().write_batch(&values, Some(&present), None)?;
            }
            Kind::Text => {
                let values: Vec<ByteArray> = cells().map(|cell| ByteArray::from(cell.as_str())).collect();
                column.typed::<ByteArrayType>().write_batch(&values, Some(&present), None)?;
            }
        }
        column.close()?;
    }
    group.close().map(|_| ())
}

/// The comma-separated values of a Parquet table, with their header.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    let file = File::open(path).map_err(|error| fault(path, error))?;
    let reader = SerializedFileReader::new(file).map_err(|error| fault(path, error))?;
    let schema = reader.metadata().file_metadata().schema();
    let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
    if !names.iter().copied().eq(columns()) {
        return Err(fault(path, "this is not a Parquet table of a sweep of this version"));
    }
    let rows = parquet::record::reader::RowIter::from_file_into(Box::new(reader));
    Ok(Box::new(Lines { rows, line: Format::Parquet.header().into_bytes(), at: 0 }))
}

/// Rows as lines of text.
struct Lines<I> {
    rows: I,
    /// What is left of it from `at` on has not been read.
    line: Vec<u8>,
    at: usize,
}

impl<I: Iterator<Item = Result<Row, ParquetError>>> Read for Lines<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            let Some(row) = self.rows.next() else { return Ok(0) };
            self.line = text(&row.map_err(io::Error::other)?)?.into_bytes();
            self.at = 0;
        }
        let count = buffer.len().min(self.line.len() - self.at);
        buffer[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// A row as a line of comma-separated values.
fn text(row: &Row) -> io::Result<String> {
    let exact = row.get_column_iter().find(|(name, _)| *name == EXACT).map(|(_, field)| field);
    let mut cells = Vec::with_capacity(COLUMNS.len());
    for (name, field) in row.get_column_iter().filter(|(name, _)| *name != EXACT) {
        cells.push(match (name.as_str(), field, exact) {
            ("time_ns", _, Some(Field::ULong(exact))) => decimal(collective::sim::units::Picos(*exact)),
            (_, Field::Null, _) => String::new(),
            (_, Field::ULong(number), _) => number.to_string(),
            (_, Field::Double(number), _) => serde_json::json!(number).to_string(),
            (_, Field::Str(text), _) => csv_cell(text),
            (name, other, _) => {
                return Err(io::Error::other(format!("{name}: {other} is no value of a sweep")));
            }
        });
    }
    Ok(cells.join(",") + "\n")
}
