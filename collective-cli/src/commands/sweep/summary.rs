//! What a sweep came to.

use std::collections::BTreeMap;
use std::path::Path;

use collective::sweep::{Field, Shard, Sweep, Why};
use serde_json::{Value, json};

use super::best;
use crate::output::table;

/// Seconds, to the millisecond.
pub(super) fn seconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// Counts what was done.
pub(super) struct Summary<'a> {
    sweep: &'a Sweep,
    shard: Shard,
    output: Option<&'a Path>,
    statuses: BTreeMap<String, usize>,
    found: usize,
}

impl<'a> Summary<'a> {
    pub(super) fn new(sweep: &'a Sweep, shard: Shard, output: Option<&'a Path>) -> Self {
        Self { sweep, shard, output, statuses: BTreeMap::new(), found: 0 }
    }

    /// A row that was there before, with its status.
    pub(super) fn found(&mut self, status: &str) {
        self.found += 1;
        *self.statuses.entry(status.to_owned()).or_default() += 1;
    }

    /// A point that was simulated, or why it was not.
    pub(super) fn add(&mut self, why: Option<Why>) {
        *self.statuses.entry(why.map_or("ok", Why::name).to_owned()).or_default() += 1;
    }

    /// Number of points so far.
    pub(super) fn done(&self) -> usize {
        self.statuses.values().sum()
    }

    pub(super) fn json(&self, best: Option<&[Field]>, seconds: f64) -> Value {
        let mut value = json!({
            "points": self.sweep.len(),
            "shard": self.shard.to_string(),
            "done": self.done(),
            "found": self.found,
            "is_whole": self.done() == self.sweep.len_of(self.shard),
            "statuses": self.statuses,
            "output": self.output.map(|path| path.display().to_string()),
            "elapsed_s": self::seconds(seconds),
        });
        if let Some(fields) = best {
            value["best"] = best::json(self.sweep, fields);
        }
        value
    }

    pub(super) fn text(&self, best: Option<&[Field]>, seconds: f64) -> String {
        let mut rows = Vec::new();
        if let Some(output) = self.output {
            rows.push(vec!["table".to_owned(), format!("  {}", output.display())]);
        }
        let share = if self.shard.is_whole() {
            String::new()
        } else {
            format!(" (share {} of {})", self.shard, self.sweep.len())
        };
        let found = if self.found > 0 { format!(", {} of them found", self.found) } else { String::new() };
        rows.push(vec!["points".to_owned(), format!("  {}{share}{found}", self.done())]);
        for (status, count) in &self.statuses {
            let what = match status.as_str() {
                "ok" => "  simulated",
                "ranks" => "  not for the number of ranks",
                "topology" => "  topology of other ranks",
                "parameters" => "  not with the parameters",
                "size" => "  not for the size",
                _ => "  not under the model",
            };
            rows.push(vec![what.to_owned(), format!("  {count}")]);
        }
        rows.push(vec!["time".to_owned(), format!("  {seconds:.1} s")]);
        // Both columns to the left.
        let width = rows.iter().map(|row| row[1].chars().count()).max().unwrap_or(0);
        rows.iter_mut().for_each(|row| row[1] = format!("{:<width$}", row[1]));
        let mut text = table(&rows);
        if let Some(fields) = best {
            text.push_str(&best::text(self.sweep, fields));
        }
        text
    }
}
