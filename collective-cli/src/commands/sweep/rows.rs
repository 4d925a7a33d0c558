//! A row for each point, as comma-separated values (RFC 4180, lines ended by LF) or as JSON lines; of a Parquet table, which is made at
//! the end, as the former.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use collective::sim::report::{algbw_gb_per_s, busbw_gb_per_s};
use collective::sim::units::{Bytes, Picos};
use collective::sweep::{Outcome, Placing, Point, Sweep};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The columns, in order.
pub(super) const COLUMNS: [&str; 24] = [
    "point",
    "algorithm",
    "parameters",
    "protocol",
    "instances",
    "collective",
    "ranks",
    "size_bytes",
    "element_type",
    "order",
    "topology",
    "placement",
    "model",
    "machine",
    "conventions",
    "conditions",
    "time_ns",
    "algbw_gb_per_s",
    "busbw_gb_per_s",
    "messages",
    "bytes",
    "status",
    "reason",
    "sweep",
];

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    JsonLines,
    /// Rows are comma-separated values until the table is whole.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    Parquet,
}

impl Format {
    pub(super) fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::JsonLines),
            #[cfg(feature = "parquet")]
            Some("parquet") => Ok(Self::Parquet),
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => {
                let path = path.display();
                Err(Failure::input(format!(
                    "{path}: this command was built without the feature parquet: build it with --features parquet, or take \
                     the ending .csv or .jsonl"
                )))
            }
            _ => {
                let path = path.display();
                Err(Failure::input(format!(
                    "{path}: expected a table with the ending .csv, .jsonl or .parquet"
                )))
            }
        }
    }

    /// The lines of a whole table.
    pub(super) fn open(self, path: &Path) -> Result<Box<dyn Read>, Failure> {
        #[cfg(feature = "parquet")]
        if self == Self::Parquet {
            return super::columnar::open(path);
        }
        let file =
            File::open(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
        Ok(Box::new(file))
    }

    /// Gives the lines of a table, which are in a file of their own, the name of the table.
    pub(super) fn finish(self, lines: &Path, table: &Path) -> Result<(), Failure> {
        let fault = |path: &Path, error: io::Error| Failure::input(format!("{}: {error}", path.display()));
        #[cfg(feature = "parquet")]
        if self == Self::Parquet {
            let file = File::open(lines).map_err(|error| fault(lines, error))?;
            super::columnar::write(io::BufReader::new(file), table)?;
            return fs::remove_file(lines).map_err(|error| fault(lines, error));
        }
        fs::rename(lines, table).map_err(|error| fault(table, error))
    }

    /// The first line, with its end; empty if the format has none.
    pub(super) fn header(self) -> String {
        match self {
            Self::Csv | Self::Parquet => COLUMNS.join(",") + "\n",
            Self::JsonLines => String::new(),
        }
    }
}

/// Writes the rows of a sweep.
pub(super) struct Rows<'a> {
    pub(super) sweep: &'a Sweep,
    pub(super) format: Format,
    /// What the last column says: which sweep it is, and how many points it has.
    pub(super) mark: String,
}

impl<'a> Rows<'a> {
    pub(super) fn new(sweep: &'a Sweep, fingerprint: u64, format: Format) -> Self {
        Self { sweep, format, mark: format!("{fingerprint:016x}/{}", sweep.len()) }
    }

    /// The line of a point, with its end.
    pub(super) fn row(&self, point: Point, outcome: &Outcome) -> String {
        let (unit, network) = (&self.sweep.units()[point.unit], &self.sweep.networks()[point.network]);
        let (size, subject) = (self.sweep.sizes()[point.size], self.sweep.subject(unit));
        let collective = subject.collective().name();
        let (bytes, ranks) = (Bytes(size.in_bytes()), u32::try_from(unit.ranks).unwrap_or(u32::MAX));
        let figures = outcome.as_ref().ok();
        let algbw = figures.and_then(|figures| algbw_gb_per_s(bytes, figures.time));
        let busbw = figures.and_then(|figures| busbw_gb_per_s(collective, ranks, bytes, figures.time));
        let placement = match network.placing {
            Placing::Identity => "identity".to_owned(),
            Placing::Random { seed } => format!("random:{seed}"),
            _ => String::new(),
        };
        let number =
            |value: Option<f64>| value.map_or(Cell::Nothing, |value| Cell::Number(json!(value).to_string()));
        let count = |value: u64| Cell::Number(value.to_string());
        let cells = [
            count(point.number as u64),
            Cell::text(subject.name()),
            Cell::Parameters(unit.parameters.clone()),
            unit.variant.protocol.map_or(Cell::Nothing, |protocol| Cell::text(protocol.name())),
            unit.variant.instances.map_or(Cell::Nothing, |instances| count(instances.into())),
            Cell::text(collective),
            count(unit.ranks as u64),
            count(bytes.0),
            Cell::text(size.element_type().name()),
            Cell::text(self.sweep.node_order().name()),
            Cell::text(&network.name),
            Cell::text(&placement),
            Cell::text(network.model.name()),
            network.machine.as_ref().map_or(Cell::Nothing, |machine| Cell::text(&machine.name)),
            Cell::text(network.conventions.name()),
            Cell::text(&network.conditions.name),
            figures.map_or(Cell::Nothing, |figures| Cell::Number(decimal(figures.time))),
            number(algbw),
            number(busbw),
            figures.map_or(Cell::Nothing, |figures| count(figures.messages)),
            figures.map_or(Cell::Nothing, |figures| count(figures.bytes.0)),
            Cell::text(outcome.as_ref().err().map_or("ok", |none| none.why.name())),
            outcome.as_ref().err().map_or(Cell::Nothing, |none| Cell::text(&none.reason)),
            Cell::text(&self.mark),
        ];
        let mut line = match self.format {
            Format::Csv | Format::Parquet => cells.iter().map(Cell::csv).collect::<Vec<_>>().join(","),
            Format::JsonLines => {
                let fields =
                    COLUMNS.iter().zip(&cells).map(|(name, cell)| format!("\"{name}\":{}", cell.json()));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
        };
        line.push('\n');
        line
    }
}

/// What stands in a column.
enum Cell {
    Nothing,
    Number(String),
    Text(String),
    Parameters(Vec<(&'static str, usize)>),
}

impl Cell {
    /// A text; nothing if it is empty.
    fn text(text: &str) -> Self {
        if text.is_empty() { Self::Nothing } else { Self::Text(text.to_owned()) }
    }

    fn csv(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Number(number) => number.clone(),
            Self::Text(text) => csv_cell(text),
            Self::Parameters(parameters) => {
                let shown = parameters.iter().map(|(name, value)| format!("{name}={value}"));
                shown.collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Nothing => "null".to_owned(),
            Self::Number(number) => number.clone(),
            Self::Text(text) => json!(text).to_string(),
            Self::Parameters(parameters) => {
                let fields = parameters.iter().map(|(name, value)| format!("\"{name}\":{value}"));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// A text as a cell of comma-separated values.
pub(super) fn csv_cell(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Nanoseconds with the decimals that there are.
pub(super) fn decimal(time: Picos) -> String {
    let (whole, rest) = (time.0 / 1000, time.0 % 1000);
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:03}").trim_end_matches('0').to_owned()
}

/// The time of such a text.
pub(super) fn picos(text: &str) -> Option<Picos> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    if decimals.is_empty() || decimals.len() > 3 {
        return None;
    }
    let decimals: u64 = format!("{decimals:0<3}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(decimals).map(Picos)
}

/// What has to be known of a row that was written before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadRow {
    pub(super) point: usize,
    pub(super) time: Option<Picos>,
    pub(super) status: String,
    pub(super) mark: String,
}

impl ReadRow {
    /// A line without its end; None if it is no row.
    pub(super) fn of(line: &str, format: Format) -> Option<Self> {
        let cells: Vec<String> = match format {
            Format::Csv | Format::Parquet => split(line)?,
            Format::JsonLines => {
                let value: serde_json::Map<String, Value> = serde_json::from_str(line).ok()?;
                let cell = |name: &&str| match value.get(*name)? {
                    Value::String(text) => Some(text.clone()),
                    Value::Null => Some(String::new()),
                    other => Some(other.to_string()),
                };
                COLUMNS.iter().map(cell).collect::<Option<_>>()?
            }
        };
        if cells.len() != COLUMNS.len() {
            return None;
        }
        let at =
            |name: &str| COLUMNS.iter().position(|column| *column == name).map(|index| cells[index].as_str());
        let time = match at("time_ns")? {
            "" => None,
            text => Some(picos(text)?),
        };
        let (status, mark) = (at("status")?.to_owned(), at("sweep")?.to_owned());
        Some(Self { point: at("point")?.parse().ok()?, time, status, mark })
    }
}

/// The cells of a line of comma-separated values.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let cell;
        if let Some(mut quoted) = rest.strip_prefix('"') {
            let mut text = String::new();
            loop {
                let (before, after) = quoted.split_once('"')?;
                text.push_str(before);
                match after.strip_prefix('"') {
                    Some(after) => {
                        text.push('"');
                        quoted = after;
                    }
                    None => {
                        rest = after;
                        break;
                    }
                }
            }
            cell = text;
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            cell = rest[..end].to_owned();
            rest = &rest[end..];
        }
        cells.push(cell);
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Some(cells),
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_decimals() {
        for (picos_of, text) in
            [(0, "0"), (1, "0.001"), (1_500, "1.5"), (2_000, "2"), (u64::MAX, "18446744073709551.615")]
        {
            assert_eq!(decimal(Picos(picos_of)), text);
            assert_eq!(picos(text), Some(Picos(picos_of)), "{text}");
        }
        for wrong in ["", "x", "1.", "1.2345", "-1", "1.-2", "18446744073709551.616"] {
            assert_eq!(picos(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn cells_are_quoted_as_rfc_4180_has_it() {
        for (text, shown) in
            [("plain", "plain"), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""), ("", "")]
        {
            assert_eq!(Cell::text(text).csv(), shown);
            let line = format!("1,{shown},2");
            assert_eq!(split(&line), Some(vec!["1".to_owned(), text.to_owned(), "2".to_owned()]));
        }
        assert_eq!(split("a,"), Some(vec!["a".to_owned(), String::new()]));
        for wrong in ["\"open", "\"a\"b,c"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }
}
