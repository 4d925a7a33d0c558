//! What `collective compare` found, as text and as JSON.

use collective::Size;
use collective::compare::{Comparison, LeftOut};
use collective::sim::report::{algbw_gb_per_s, busbw_gb_per_s};
use collective::sim::units::{Bytes, Picos};
use collective::sim::{Conventions, Model};
use serde_json::{Value, json};

use super::Compare;
use crate::console;
use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// So many columns of sizes fit a terminal.
const COLUMNS: usize = 5;

/// What is shown.
pub(super) struct Shown<'a> {
    pub(super) arguments: &'a Compare,
    pub(super) ranks: usize,
    pub(super) conventions: Conventions,
    pub(super) comparison: Comparison,
    pub(super) left_out: Vec<LeftOut>,
}

impl Shown<'_> {
    pub(super) fn text(&self) -> String {
        let Self { arguments, ranks, conventions, comparison, left_out } = self;
        let rate = if arguments.model() == Model::Machine && arguments.reduce_rate.is_none() {
            "reductions as the machine has them"
        } else if arguments.reduce_rate.is_some() {
            "reductions at the given rate"
        } else {
            "reductions take no time"
        };
        let about = format!(
            "{} among {ranks} ranks on {} ({} under {} conventions)",
            arguments.collective.name().replace('_', "-"),
            arguments.network(),
            arguments.model_in_words(),
            conventions.name(),
        );
        let mut text = format!(
            "{}\n{} algorithms with their parameters, steps wait as --order {} says, {rate}\n\n",
            console::heading(&about),
            comparison.rows.len(),
            arguments.order().name(),
        );
        text.push_str(&self.winners());
        if comparison.sizes.len() > 1 {
            text.push_str("\nwhich is fastest where\n");
            text.push_str(&self.stretches());
        }
        if comparison.rows.len() > 1 {
            text.push_str("\ntimes of all, in the order of the last column\n");
            text.push_str(&self.all());
        }
        if !console::wants_notes() {
            return text;
        }
        text.push_str(
            "note: of parameters such as segments and channels only some values are tried; between two sizes with different \
             winners a third that wins only there is not seen; simulate has --order threadblock by default\n",
        );
        if !matches!(arguments.model(), Model::LogGp | Model::Machine) {
            text.push_str(
                "note: a message costs its sender nothing here but the link's time: many at once, as in all-pairs, come out better than \
                 on hardware; --model loggp charges o and g for each\n",
            );
        }
        for one in left_out {
            text.push_str(&format!("note: left out: {}: {}\n", one.label, one.why));
        }
        for (label, size, why) in self.without_time() {
            text.push_str(&format!("note: {label} has no time at {size}: {why}\n"));
        }
        text
    }

    /// One line a size: the fastest, and how far behind the next one is.
    fn winners(&self) -> String {
        let comparison = &self.comparison;
        let head = ["size", "time", "algbw", "busbw", "  fastest", "  next"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (index, size) in comparison.sizes.iter().enumerate() {
            let ranking = comparison.ranking(index);
            let Some((best, time)) = ranking.first() else {
                rows.push(vec![whole(*size), "-".to_owned()]);
                continue;
            };
            let (algbw, busbw) = self.bandwidths(*size, *time);
            let gb = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
            let next = ranking.get(1).map(|(row, other)| {
                let label = &comparison.rows[*row].label;
                format!("  {label} {}", behind(*time, *other))
            });
            let label = format!("  {}", comparison.rows[*best].label);
            rows.push(vec![
                whole(*size),
                units_shown::time(*time),
                gb(algbw),
                gb(busbw),
                label,
                next.unwrap_or_default(),
            ]);
        }
        left_from(4, &mut rows);
        table(&rows)
    }

    fn stretches(&self) -> String {
        let stretches = self.comparison.stretches();
        let rows: Vec<Vec<String>> = stretches
            .iter()
            .map(|stretch| {
                let label = &self.comparison.rows[stretch.row].label;
                vec![format!("  {label}"), rounded(stretch.from), "..".to_owned(), rounded(stretch.until)]
            })
            .collect();
        table(&rows)
    }

    /// All algorithms at a few sizes, the fastest at the largest first.
    fn all(&self) -> String {
        let comparison = &self.comparison;
        let shown = self.shown_sizes();
        let sizes = shown.iter().map(|index| whole(comparison.sizes[*index]));
        let mut rows: Vec<Vec<String>> = vec![std::iter::once("algorithm".to_owned()).chain(sizes).collect()];
        let time = |row: usize, size: usize| comparison.rows[row].times[size].as_ref().ok().copied();
        let mut order: Vec<usize> = (0..comparison.rows.len()).collect();
        if let Some(last) = shown.last() {
            order.sort_by_key(|row| time(*row, *last).unwrap_or(Picos(u64::MAX)));
        }
        for row in order {
            let cells = shown.iter().map(|size| time(row, *size).map_or("-".to_owned(), units_shown::time));
            rows.push(std::iter::once(comparison.rows[row].label.clone()).chain(cells).collect());
        }
        table(&rows)
    }

    /// Indices of sizes, evenly spread from the first to the last.
    fn shown_sizes(&self) -> Vec<usize> {
        let sizes = self.comparison.sizes.len();
        let columns = sizes.min(COLUMNS);
        (0..columns)
            .map(|column| if columns < 2 { 0 } else { column * (sizes - 1) / (columns - 1) })
            .collect()
    }

    /// Candidates without a time for some size: the first such size, and why.
    fn without_time(&self) -> Vec<(&str, String, String)> {
        let comparison = &self.comparison;
        let of_row = |row: &'_ collective::compare::Row| {
            let mut times = row.times.iter().zip(&comparison.sizes);
            times.find_map(|(time, size)| time.as_ref().err().map(|why| (whole(*size), why.to_string())))
        };
        let rows = comparison.rows.iter();
        rows.filter_map(|row| of_row(row).map(|(size, why)| (row.label.as_str(), size, why))).collect()
    }

    fn bandwidths(&self, size: Size, time: Picos) -> (Option<f64>, Option<f64>) {
        let (bytes, ranks) = (Bytes(size.in_bytes()), u32::try_from(self.ranks).unwrap_or(u32::MAX));
        (algbw_gb_per_s(bytes, time), busbw_gb_per_s(self.arguments.collective.name(), ranks, bytes, time))
    }

    pub(super) fn json(&self) -> Value {
        let Self { arguments, ranks, conventions, comparison, left_out } = self;
        let sizes: Vec<Value> = comparison.sizes.iter().map(|size| json!(size.in_bytes())).collect();
        let algorithms: Vec<Value> = comparison
            .rows
            .iter()
            .map(|row| {
                let times =
                    row.times.iter().map(|time| time.as_ref().map_or(Value::Null, |time| nanoseconds(*time)));
                let errors = row.times.iter().zip(&comparison.sizes).filter_map(|(time, size)| {
                    let why = time.as_ref().err()?;
                    Some(json!({"size_bytes": size.in_bytes(), "error": why.to_string()}))
                });
                let (times, errors): (Vec<Value>, Vec<Value>) = (times.collect(), errors.collect());
                json!({"algorithm": row.label, "times_ns": times, "errors": errors})
            })
            .collect();
        let fastest: Vec<Value> = comparison
            .sizes
            .iter()
            .enumerate()
            .map(|(index, size)| {
                let Some((row, time)) = comparison.best(index) else {
                    return json!({"size_bytes": size.in_bytes(), "algorithm": null});
                };
                let (algbw, busbw) = self.bandwidths(*size, time);
                json!({
                    "size_bytes": size.in_bytes(),
                    "algorithm": comparison.rows[row].label,
                    "time_ns": nanoseconds(time),
                    "algbw_gb_per_s": algbw,
                    "busbw_gb_per_s": busbw,
                })
            })
            .collect();
        let stretches: Vec<Value> = comparison
            .stretches()
            .iter()
            .map(|stretch| {
                json!({
                    "algorithm": comparison.rows[stretch.row].label,
                    "from_bytes": stretch.from.in_bytes(),
                    "until_bytes": stretch.until.in_bytes(),
                })
            })
            .collect();
        json!({
            "collective": arguments.collective.name(),
            "ranks": ranks,
            "topology": arguments.topology.as_ref().map(|path| path.display().to_string()),
            "placement": arguments.placement.as_ref().map(ToString::to_string),
            "model": arguments.model().name(),
            "machine": arguments.machine.machine,
            "conventions": conventions.name(),
            "order": arguments.order().name(),
            "sizes_bytes": sizes,
            "algorithms": algorithms,
            "fastest": fastest,
            "stretches": stretches,
            "left_out": left_out
                .iter()
                .map(|one| json!({"algorithm": one.label, "error": one.why.to_string()}))
                .collect::<Vec<_>>(),
        })
    }
}

/// Pads the cells of the columns from one on, so that they stand at the left.
fn left_from(first: usize, rows: &mut [Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    for column in first..columns {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let width = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            *cell = format!("{cell:<width$}");
        }
    }
}

/// A size in the unit that leaves a whole number.
fn whole(size: Size) -> String {
    Bytes(size.in_bytes()).to_string()
}

/// A size between two that were asked for, to three digits.
fn rounded(size: Size) -> String {
    let bytes = size.in_bytes();
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, _)) if bytes.is_multiple_of(unit) => whole(size),
        Some((unit, name)) => {
            let value = bytes as f64 / unit as f64;
            let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
            format!("{value:.decimals$} {name}")
        }
        None => format!("{bytes} B"),
    }
}

/// How much longer another one takes.
fn behind(best: Picos, other: Picos) -> String {
    if best == other {
        return "as fast".to_owned();
    }
    let percent = (other.0 as f64 / best.0.max(1) as f64 - 1.0) * 100.0;
    if percent < 1000.0 { format!("+{percent:.1} %") } else { format!("×{:.1}", percent / 100.0 + 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_between_have_three_digits() {
        let shown = |bytes| rounded(Size::bytes(bytes));
        assert_eq!(
            [shown(900), shown(1024), shown(1500), shown(3 << 20)],
            ["900 B", "1 KiB", "1.46 KiB", "3 MiB"]
        );
        assert_eq!([shown(123_456), shown(123_456_789)], ["121 KiB", "118 MiB"]);
    }

    #[test]
    fn a_rival_is_behind_by_percent_or_times() {
        assert_eq!(behind(Picos(1000), Picos(1000)), "as fast");
        assert_eq!(behind(Picos(1000), Picos(1125)), "+12.5 %");
        assert_eq!(behind(Picos(1000), Picos(30_000)), "×30.0");
    }
}
