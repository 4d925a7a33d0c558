//! How the ranks spent the time of a run.

use collective::sim::units::Picos;
use collective::sim::workload::{RankTimes, WorkloadReport};
use serde_json::{Map, Value, json};

use super::figures::percent;
use crate::json::nanoseconds;
use crate::output::table;
use crate::units_shown;

/// Up to so many ranks are shown one by one.
const SHOWN: usize = 16;

/// What a rank does, by name, and what it is for people.
type Share = (&'static str, &'static str, fn(&RankTimes) -> Picos);

/// Without what was waited and the CPU they are the whole time.
const SHARES: [Share; 6] = [
    ("compute", "computing only", |times| times.compute),
    ("overlapped", "both at once", |times| times.overlapped),
    ("exposed", "communicating only", |times| times.exposed),
    ("waited", "  of these two, waiting", |times| times.waited),
    ("idle", "idle", |times| times.idle),
    ("cpu", "on the CPU", |times| times.cpu),
];

/// A figure of all ranks.
struct Spread {
    mean: Picos,
    least: (usize, Picos),
    most: (usize, Picos),
}

fn spread(ranks: &[RankTimes], of: fn(&RankTimes) -> Picos) -> Option<Spread> {
    let times = || ranks.iter().map(of).enumerate();
    let least = times().min_by_key(|(rank, time)| (*time, *rank))?;
    let most = times().max_by_key(|(rank, time)| (*time, std::cmp::Reverse(*rank)))?;
    let sum: u128 = times().map(|(_, time)| u128::from(time.0)).sum();
    let count = ranks.len() as u128;
    // A mean lies between the extremes, so it fits.
    let mean = Picos(u64::try_from((sum + count / 2) / count).unwrap_or(u64::MAX));
    Some(Spread { mean, least, most })
}

/// Mean and extremes of every share, as a table.
pub(super) fn to_text(report: &WorkloadReport) -> String {
    let header = ["how ranks spend it", "mean", "", "least", "", "most", ""];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (name, words, of) in SHARES {
        let Some(Spread { mean, least, most }) = spread(&report.ranks, of) else { continue };
        if ["waited", "cpu"].contains(&name) && most.1 == Picos::ZERO {
            continue;
        }
        let rank = |(rank, _): (usize, Picos)| {
            let all_alike = least.1 == most.1;
            if all_alike { String::new() } else { format!("rank {rank}") }
        };
        rows.push(vec![
            format!("  {words}"),
            units_shown::time(mean),
            percent(mean, report.makespan),
            units_shown::time(least.1),
            rank(least),
            units_shown::time(most.1),
            rank(most),
        ]);
    }
    table(&rows)
}

/// A row a rank, where they are few and differ, or asked for.
pub(super) fn ranks_to_text(report: &WorkloadReport, asked_for: bool) -> String {
    if report.ranks.len() > SHOWN && !asked_for {
        return format!("\n{} ranks: --per-rank shows each\n", report.ranks.len());
    }
    if !asked_for && report.ranks.len() > 1 && report.ranks.windows(2).all(|two| two[0] == two[1]) {
        return "\nall ranks spend it alike\n".to_owned();
    }
    let header = ["rank", "finish", "compute", "overlapped", "exposed", "idle", "waited", "computing"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (rank, times) in report.ranks.iter().enumerate() {
        let figures =
            [times.finish, times.compute, times.overlapped, times.exposed, times.idle, times.waited];
        let mut row = vec![rank.to_string()];
        row.extend(figures.map(units_shown::time));
        row.push(percent(Picos(times.compute.0 + times.overlapped.0), report.makespan));
        rows.push(row);
    }
    format!("\n{}", table(&rows))
}

/// Mean and extremes of every share.
pub(super) fn to_json(report: &WorkloadReport) -> Value {
    let share = |(name, _, of): Share| {
        let Spread { mean, least, most } = spread(&report.ranks, of)?;
        let extreme = |(rank, time): (usize, Picos)| json!({"rank": rank, "time_ns": nanoseconds(time)});
        let value = json!({"mean_ns": nanoseconds(mean), "least": extreme(least), "most": extreme(most)});
        Some((name.to_owned(), value))
    };
    Value::Object(SHARES.into_iter().filter_map(share).collect())
}

/// Every share of every rank.
pub(super) fn ranks_to_json(report: &WorkloadReport) -> Value {
    let rank = |(rank, times): (usize, &RankTimes)| {
        let mut fields = Map::new();
        fields.insert("rank".to_owned(), json!(rank));
        fields.insert("finish_ns".to_owned(), nanoseconds(times.finish));
        for (name, _, of) in SHARES {
            fields.insert(format!("{name}_ns"), nanoseconds(of(times)));
        }
        fields.insert("compute_utilisation".to_owned(), json!(times.utilisation(report.makespan)));
        Value::Object(fields)
    };
    Value::Array(report.ranks.iter().enumerate().map(rank).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_names_the_first_of_equal_ranks_and_rounds_the_mean() {
        let ranks: Vec<RankTimes> = [4, 1, 4, 1, 1]
            .map(|picos| {
                let mut times = RankTimes::default();
                times.idle = Picos(picos);
                times
            })
            .to_vec();
        let Spread { mean, least, most } = spread(&ranks, |times| times.idle).unwrap();
        assert_eq!((mean, least, most), (Picos(2), (1, Picos(1)), (0, Picos(4))));
        assert!(spread(&[], |times| times.idle).is_none());
    }
}
