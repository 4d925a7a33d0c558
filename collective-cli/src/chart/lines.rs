//! Which rows of tables are points of which line.

use std::collections::BTreeMap;

use collective::sim::units::Bytes;

use super::{Choice, Source, Table, Y, column, in_words};
use crate::failure::Failure;
use crate::picture::Line;

/// Columns that say what came out, or number rows; all others say what was run.
const FIGURES: [&str; 10] = [
    "point",
    "time_ns",
    "algbw_gb_per_s",
    "busbw_gb_per_s",
    "messages",
    "bytes",
    "status",
    "reason",
    "sweep",
    "folded",
];

/// Lines, and what holds for all of them.
pub(super) struct Chosen {
    pub(super) lines: Vec<Line>,
    /// Columns with one value everywhere, and it.
    pub(super) common: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
}

/// A row that is a point.
struct Point<'a> {
    source: usize,
    row: &'a [String],
    x: f64,
    y: f64,
}

pub(super) fn choose(sources: &[Source], choice: &Choice) -> Result<Chosen, Failure> {
    let all = columns(sources);
    let known = |name: &str| {
        let name = column(name).to_owned();
        if all.contains(&name) {
            return Ok(name);
        }
        Err(Failure::input(format!("there is no column \"{name}\": there are {}", all.join(", "))))
    };
    let only = choice.only.iter().map(|(name, value)| Ok((known(name)?, value.as_str())));
    let only: Vec<(String, &str)> = only.collect::<Result<_, Failure>>()?;
    let by: Vec<String> = choice.by.iter().map(|name| known(name)).collect::<Result<_, Failure>>()?;
    known(choice.x.column())?;
    known("time_ns")?;
    let (points, notes) = points(sources, choice, &only)?;
    let (x, mut common, mut differ) = (choice.x.column(), Vec::new(), Vec::new());
    for name in all.iter().filter(|name| *name != x && !FIGURES.contains(&name.as_str())) {
        let mut values = points.iter().map(|point| sources[point.source].table.at(point.row, name));
        let first = values.next().unwrap_or_default().to_owned();
        match values.all(|value| value == first) {
            true if first.is_empty() => {}
            true => common.push((name.clone(), first)),
            false => differ.push(name.clone()),
        }
    }
    let by = if by.is_empty() { differ.clone() } else { by };
    let mut lines = BTreeMap::<(usize, Vec<&str>), BTreeMap<u64, &Point<'_>>>::new();
    for point in &points {
        let table = &sources[point.source].table;
        let key: Vec<&str> = by.iter().map(|name| table.at(point.row, name)).collect();
        // Positive numbers have the order of their bits.
        let line = lines.entry((point.source, key)).or_default();
        match line.get(&point.x.to_bits()) {
            Some(other) if other.y != point.y => {
                return Err(twice(table, other, point, &differ, &by, choice));
            }
            _ => {
                line.insert(point.x.to_bits(), point);
            }
        }
    }
    let line = |((source, key), points): (&(usize, Vec<&str>), &BTreeMap<u64, &Point<'_>>)| Line {
        label: label(&sources[*source].name, &by, key, sources.len() > 1),
        points: points.values().map(|point| (point.x, point.y)).collect(),
    };
    Ok(Chosen { lines: lines.iter().map(line).collect(), common, notes })
}

/// All columns, in the order in which they come.
fn columns(sources: &[Source]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in sources.iter().flat_map(|source| &source.table.columns) {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    all
}

/// The rows that are wanted and have figures, and what to know of the others.
fn points<'a>(
    sources: &'a [Source],
    choice: &Choice,
    only: &[(String, &str)],
) -> Result<(Vec<Point<'a>>, Vec<String>), Failure> {
    let (mut points, mut wanted, mut lost) = (Vec::new(), 0, 0);
    for (number, source) in sources.iter().enumerate() {
        let table = &source.table;
        for row in &table.rows {
            if !only.iter().all(|(name, value)| is(name, table.at(row, name), value)) {
                continue;
            }
            wanted += 1;
            let y = match choice.y {
                Y::Time => table.number(row, "time_ns"),
                bandwidth => table.bandwidth(row, bandwidth.column()),
            };
            let x = table.number(row, choice.x.column()).filter(|x| *x >= 0.0);
            match x.zip(y) {
                Some((x, y)) => points.push(Point { source: number, row, x: x + 0.0, y }),
                None => lost += 1,
            }
        }
    }
    if wanted == 0 {
        return Err(nothing(sources, only));
    }
    if points.is_empty() {
        let column = choice.y.column();
        return Err(Failure::input(format!(
            "none of the {wanted} rows has a {column}: there is nothing to show"
        )));
    }
    let rows = if lost == 1 { "1 row has".to_owned() } else { format!("{lost} rows have") };
    let note = (lost > 0).then(|| format!("{rows} no figure and are left out"));
    Ok((points, note.into_iter().collect()))
}

/// Whether a cell has a value that was asked for; sizes may have units.
fn is(name: &str, cell: &str, value: &str) -> bool {
    let size = |text: &str| text.parse::<Bytes>().ok();
    cell == value || name == "size_bytes" && size(value).is_some() && size(cell) == size(value)
}

/// Why no row is left.
fn nothing(sources: &[Source], only: &[(String, &str)]) -> Failure {
    for (name, value) in only {
        let cells = || {
            sources.iter().flat_map(|source| source.table.rows.iter().map(|row| source.table.at(row, name)))
        };
        if cells().any(|cell| is(name, cell, value)) {
            continue;
        }
        return Failure::input(format!("no row has {name}={value}; there are {}", values(cells())));
    }
    let all: Vec<String> = only.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Failure::input(format!("no row has all of {}", all.join(", ")))
}

/// Some of the different values of a column.
fn values<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let mut values: Vec<&str> = Vec::new();
    for cell in cells.filter(|cell| !cell.is_empty()) {
        if !values.contains(&cell) {
            values.push(cell);
        }
    }
    let more = values.len().saturating_sub(MOST);
    values.truncate(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if values.is_empty() { "no values".to_owned() } else { format!("{}{more}", values.join(", ")) }
}

/// Two rows for one point of a line.
fn twice(
    table: &Table,
    one: &Point<'_>,
    other: &Point<'_>,
    differ: &[String],
    by: &[String],
    choice: &Choice,
) -> Failure {
    let x = in_words(choice.x.column(), &one.x.to_string());
    let differ = differ.iter().find(|name| table.at(one.row, name) != table.at(other.row, name));
    Failure::input(match differ {
        Some(name) => {
            let (first, second) = (table.at(one.row, name), table.at(other.row, name));
            let by = by.join(",");
            format!(
                "several rows for one point, at {x}: they differ in {name} ({first}, {second}); choose one by --where \
                 {name}={first}, or draw a line for each by --by {by},{name}"
            )
        }
        None => format!(
            "two rows say of the same run, at {x}, that its {} is {} and {}",
            choice.y.column(),
            one.y,
            other.y
        ),
    })
}

/// What a line is called.
fn label(source: &str, by: &[String], key: &[&str], with_source: bool) -> String {
    let mut words: Vec<String> = Vec::new();
    for (name, value) in by.iter().zip(key).filter(|(_, value)| !value.is_empty()) {
        match words.last_mut() {
            // As the other reports name an algorithm with its parameters.
            Some(last) if name == "parameters" => {
                let inside: Vec<&str> =
                    value.split_whitespace().filter(|setting| !setting.starts_with("ranks=")).collect();
                if !inside.is_empty() {
                    last.push_str(&format!("({})", inside.join(", ")));
                }
            }
            _ => words.push(in_words(name, value)),
        }
    }
    if with_source || words.is_empty() {
        words.insert(0, source.to_owned());
    }
    words.join(", ")
}
