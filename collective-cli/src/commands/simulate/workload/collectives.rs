//! What the collectives of a run took.

use std::collections::BTreeMap;

use chakra_et::workload::CollectiveKind;
use collective::sim::units::{Bytes, Picos};
use collective::sim::workload::{CollectiveTimes, WorkloadReport};
use serde_json::{Value, json};

use super::figures::shortened;
use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// Characters of a group's name.
const NAME: usize = 18;

/// The collectives of a group, or of groups that are alike.
struct Row {
    groups: usize,
    /// Of the first group.
    name: String,
    kind: CollectiveKind,
    /// Of each group.
    ranks: u32,
    algorithms: Vec<String>,
    count: u64,
    bytes: u128,
    time: u128,
    exposed: u128,
    waited: u128,
}

impl Row {
    fn new(times: &CollectiveTimes) -> Self {
        Self {
            groups: 1,
            name: times.group.clone(),
            kind: times.kind,
            ranks: times.ranks,
            algorithms: times.algorithms.clone(),
            count: times.count,
            bytes: times.bytes.0.into(),
            time: times.time.0.into(),
            exposed: times.exposed.0.into(),
            waited: times.waited.0.into(),
        }
    }

    fn add(&mut self, other: &Self) {
        self.groups += other.groups;
        self.count += other.count;
        self.bytes += other.bytes;
        self.time += other.time;
        self.exposed += other.exposed;
        self.waited += other.waited;
    }

    fn mean_size(&self) -> u64 {
        u64::try_from(self.bytes / u128::from(self.count.max(1))).unwrap_or(u64::MAX)
    }

    /// The mean in the size column of nccl-tests, which rules use too.
    fn size(&self) -> Bytes {
        let mean = self.mean_size();
        Bytes(self.kind.size(mean, self.ranks.into()).unwrap_or(u64::MAX))
    }

    /// A sum over all ranks of all groups, as a mean of one rank.
    fn per_rank(&self, sum: u128) -> Picos {
        let ranks = u128::from(self.ranks.max(1)) * self.groups as u128;
        Picos(u64::try_from(sum / ranks).unwrap_or(u64::MAX))
    }

    fn groups(&self) -> String {
        match self.groups {
            1 if self.name.is_empty() => "all ranks".to_owned(),
            1 => shortened(&format!("{:?}", self.name), NAME),
            groups => format!("{groups} groups"),
        }
    }

    fn cells(&self) -> Vec<String> {
        let Self { kind, ranks, count, .. } = self;
        let mut cells = vec![kind.name().to_owned(), self.groups(), ranks.to_string(), count.to_string()];
        cells.push(units_shown::size(self.size()));
        cells.extend([self.time, self.exposed, self.waited].map(|sum| units_shown::time(self.per_rank(sum))));
        cells
    }
}

/// Joins the rows of groups that are alike: in kind, ranks, algorithms, and mean size up to a factor of two. What takes
/// longest comes first.
fn joined(rows: Vec<Row>) -> Vec<Row> {
    let mut alike: BTreeMap<_, Row> = BTreeMap::new();
    for row in rows {
        let class = row.mean_size().checked_ilog2();
        let key = (row.kind, row.ranks, class, row.algorithms.clone());
        match alike.get_mut(&key) {
            Some(joined) => joined.add(&row),
            None => {
                alike.insert(key, row);
            }
        }
    }
    let mut rows: Vec<Row> = alike.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.per_rank(row.time)));
    rows
}

/// A row for groups that are alike, or one for each, with the mean size; below each the algorithms. Nothing if there are no collectives.
pub(super) fn to_text(report: &WorkloadReport, per_group: bool) -> String {
    let rows: Vec<Row> = report.collectives.iter().map(Row::new).collect();
    if rows.is_empty() {
        return String::new();
    }
    let rows = if per_group { rows } else { joined(rows) };
    let header = ["collectives", "group", "ranks", "count", "size", "time a rank", "exposed", "waiting"];
    let mut cells = vec![header.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(Row::cells));
    let mut text = String::from("\n");
    for (line, row) in table(&cells).lines().zip(std::iter::once(None).chain(rows.iter().map(Some))) {
        text.push_str(&format!("{line}\n"));
        if let Some(row) = row {
            text.push_str(&wrapped(&row.algorithms));
        }
    }
    if rows.iter().any(|row| is_gathered(row.kind)) {
        text.push_str(SIZES);
    }
    text
}

/// Whether the size is not the `comm_size` of the node.
pub(super) fn is_gathered(kind: CollectiveKind) -> bool {
    matches!(kind, CollectiveKind::AllGather | CollectiveKind::Gather)
}

/// What sizes are, where that is not what the traces state.
pub(super) const SIZES: &str = "size: as nccl-tests and rules count it, of a gather the whole gathered buffer (comm_size times the ranks)\n";

/// The names of algorithms, in as many lines as they need.
fn wrapped(names: &[String]) -> String {
    const WIDTH: usize = 100;
    let mut text = String::new();
    let mut line = String::from("  by");
    for (at, name) in names.iter().enumerate() {
        let end = if at + 1 < names.len() { "," } else { "" };
        if line.len() > 4 && line.chars().count() + name.chars().count() + 2 > WIDTH {
            text.push_str(&format!("{line}\n"));
            line = String::from("    ");
        }
        line.push_str(&format!(" {name}{end}"));
    }
    text.push_str(&format!("{line}\n"));
    text
}

/// What each group's collectives of a kind took, summed over its ranks.
pub(super) fn to_json(report: &WorkloadReport) -> Value {
    let row = |times: &CollectiveTimes| {
        json!({
            "kind": times.kind.name(),
            "group": times.group,
            "ranks": times.ranks,
            "algorithms": times.algorithms,
            "count": times.count,
            "bytes": times.bytes.0,
            "mean_size_bytes": Row::new(times).size().0,
            "time_ns": nanoseconds(times.time),
            "exposed_ns": nanoseconds(times.exposed),
            "waited_ns": nanoseconds(times.waited),
            "span_ns": nanoseconds(times.span),
        })
    };
    Value::Array(report.collectives.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, kind: CollectiveKind, bytes: u128, time: u128) -> Row {
        Row {
            groups: 1,
            name: name.to_owned(),
            kind,
            ranks: 2,
            algorithms: vec!["ring".to_owned()],
            count: 2,
            bytes,
            time,
            exposed: time / 2,
            waited: 0,
        }
    }

    #[test]
    fn groups_that_are_alike_share_a_row_and_the_longest_comes_first() {
        let rows = vec![
            row("1", CollectiveKind::AllReduce, 2048, 100),
            row("2", CollectiveKind::AllReduce, 3000, 300),
            row("3", CollectiveKind::AllReduce, 4096, 4000),
            row("1", CollectiveKind::AllGather, 2048, 1000),
        ];
        let rows = joined(rows);
        let shown: Vec<(String, u64, Picos)> =
            rows.iter().map(|row| (row.groups(), row.count, row.per_rank(row.time))).collect();
        // The first two: 400 ps over four ranks.
        let expected = [
            ("\"3\"".to_owned(), 2, Picos(2000)),
            ("\"1\"".to_owned(), 2, Picos(500)),
            ("2 groups".to_owned(), 4, Picos(100)),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn long_lists_of_algorithms_are_wrapped() {
        let names: Vec<String> = (0..9).map(|i| format!("an_algorithm_of_some_length({i})")).collect();
        let text = wrapped(&names);
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(names.iter().all(|name| text.contains(name)));
    }
}
