//! Tables of results: what sweeps and comparisons write.

use std::path::Path;

use collective::sim::report::{algbw_gb_per_s, busbw_gb_per_s};
use collective::sim::units::{Bytes, Picos};
use serde_json::Value;

use crate::failure::Failure;

/// Rows of results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    /// Each with a cell for each column; empty where there is nothing.
    pub(crate) rows: Vec<Vec<String>>,
}

/// The columns of a comparison, as a sweep calls them.
const OF_COMPARISON: [&str; 12] = [
    "algorithm",
    "collective",
    "ranks",
    "size_bytes",
    "order",
    "topology",
    "placement",
    "model",
    "machine",
    "conventions",
    "time_ns",
    "busbw_gb_per_s",
];

impl Table {
    /// Reads what `sweep`, `compare --json` or `simulate --json` have written; the first character says which.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let fault = |why: &str| Failure::input(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fault(&error.to_string()))?;
        let table = match text.trim_start().chars().next() {
            Some('{') => Self::of_json(&text),
            Some(_) => Self::of_csv(&text),
            None => Err("it is empty".to_owned()),
        };
        let table = table.map_err(|why| fault(&why))?;
        if table.rows.is_empty() { Err(fault("it has no rows")) } else { Ok(table) }
    }

    fn of_csv(text: &str) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(text.as_bytes());
        let columns =
            reader.headers().map_err(|error| error.to_string())?.iter().map(str::to_owned).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            rows.push(record.iter().map(str::to_owned).collect());
        }
        Ok(Self { columns, rows })
    }

    /// One comparison, or an object for each row.
    fn of_json(text: &str) -> Result<Self, String> {
        let mut table = Self::default();
        for (number, value) in (1..).zip(serde_json::Deserializer::from_str(text).into_iter::<Value>()) {
            let value = value.map_err(|error| format!("object {number}: {error}"))?;
            if value.get("sizes_bytes").is_some() {
                return Self::of_comparison(&value).ok_or_else(|| {
                    "it looks like what `collective compare --json` prints, but is not whole".to_owned()
                });
            }
            let Value::Object(fields) = value else {
                return Err(format!("object {number}: expected an object for each row"));
            };
            table.add(fields.iter().filter_map(|(name, value)| Some((name.as_str(), cell(value)?))));
        }
        Ok(table)
    }

    /// What `collective compare --json` prints; None if it is something else.
    pub(crate) fn of_comparison(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(cell).unwrap_or_default();
        let ranks = u32::try_from(value.get("ranks")?.as_u64()?).ok()?;
        let collective = value.get("collective")?.as_str()?;
        let mut table = Self { columns: OF_COMPARISON.map(str::to_owned).to_vec(), rows: Vec::new() };
        let sizes = value.get("sizes_bytes")?.as_array()?;
        for algorithm in value.get("algorithms")?.as_array()? {
            let name = algorithm.get("algorithm")?.as_str()?;
            for (size, time) in sizes.iter().zip(algorithm.get("times_ns")?.as_array()?) {
                let bytes = Bytes(size.as_u64()?);
                let picos = time.as_f64().map(|ns| Picos((ns * 1000.0).round() as u64));
                let busbw = picos.and_then(|picos| busbw_gb_per_s(collective, ranks, bytes, picos));
                table.rows.push(vec![
                    name.to_owned(),
                    collective.to_owned(),
                    ranks.to_string(),
                    bytes.0.to_string(),
                    text("order"),
                    text("topology"),
                    text("placement"),
                    text("model"),
                    text("machine"),
                    text("conventions"),
                    cell(time).unwrap_or_default(),
                    busbw.map_or_else(String::new, |busbw| busbw.to_string()),
                ]);
            }
        }
        Some(table)
    }

    /// Adds a row; columns that are new are empty in those before.
    fn add<'a>(&mut self, cells: impl Iterator<Item = (&'a str, String)>) {
        let mut row = vec![String::new(); self.columns.len()];
        for (name, value) in cells {
            let column = self.columns.iter().position(|column| column == name).unwrap_or_else(|| {
                self.columns.push(name.to_owned());
                self.rows.iter_mut().for_each(|row| row.push(String::new()));
                row.push(String::new());
                self.columns.len() - 1
            });
            row[column] = value;
        }
        self.rows.push(row);
    }

    /// The number of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// What stands in a column of a row; empty if there is no such column.
    pub(super) fn at<'a>(&self, row: &'a [String], name: &str) -> &'a str {
        self.column(name).and_then(|column| row.get(column)).map_or("", String::as_str)
    }

    /// A figure of a row.
    pub(super) fn number(&self, row: &[String], name: &str) -> Option<f64> {
        self.at(row, name).parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// A bandwidth of a row in GB/s, as it is stated or else by its definition.
    pub(super) fn bandwidth(&self, row: &[String], name: &str) -> Option<f64> {
        self.number(row, name).or_else(|| {
            let bytes = Bytes(self.at(row, "size_bytes").parse().ok()?);
            let time = Picos((self.number(row, "time_ns")? * 1000.0).round() as u64);
            if name == "algbw_gb_per_s" {
                return algbw_gb_per_s(bytes, time);
            }
            busbw_gb_per_s(self.at(row, "collective"), self.at(row, "ranks").parse().ok()?, bytes, time)
        })
    }
}

/// A value as it stands in a cell; None for what is no cell, such as a list.
fn cell(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Object(fields) => {
            let one = |(name, value): (&String, &Value)| match value {
                Value::Number(value) => Some(format!("{name}={value}")),
                _ => None,
            };
            Some(fields.iter().map(one).collect::<Option<Vec<_>>>()?.join(" "))
        }
        Value::Array(_) => None,
    }
}
