//! What nccl-tests and rccl-tests print.

use super::{Fault, Measurement, Place, Run, collective_of};

/// Types of elements, as they are named in rows.
const TYPES: [&str; 16] = [
    "int8", "char", "uint8", "int32", "int", "uint32", "int64", "uint64", "half", "float", "double",
    "bfloat16", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2",
];

pub(super) fn read(text: &str) -> Result<Vec<Run>, Fault> {
    let mut runs = Vec::new();
    let mut run = Run::default();
    let mut columns = Columns::usual();
    for (number, line) in (1..).zip(text.lines()) {
        let line = without_prefix(line).trim();
        match line.strip_prefix('#') {
            Some(comment) => {
                let comment = comment.trim_start_matches('#').trim();
                if let Some(found) = Columns::of(comment) {
                    columns = found;
                } else if let Some(rank) = rank(comment) {
                    begin(&mut runs, &mut run);
                    run.ranks = run.ranks.max(Some(rank.saturating_add(1)));
                } else if comment.starts_with("nThread") {
                    begin(&mut runs, &mut run);
                } else if !comment.contains("concluded") {
                    name(comment, &mut runs, &mut run);
                }
            }
            None => match row(line, &columns) {
                Some(Ok(times)) => {
                    run.measurements
                        .extend(times.into_iter().map(|it| Measurement { line: Some(number), ..it }));
                }
                Some(Err(message)) => return Err((Some(number), message)),
                None => name(line, &mut runs, &mut run),
            },
        }
    }
    runs.push(run);
    Ok(runs)
}

/// Begins another run, if the one before has times.
fn begin(runs: &mut Vec<Run>, run: &mut Run) {
    if !run.measurements.is_empty() {
        runs.push(std::mem::take(run));
    }
}

/// Takes the name of the test from a line, if it has one: a command line, or what the test says of itself.
fn name(line: &str, runs: &mut Vec<Run>, run: &mut Run) {
    if let Some(collective) = collective_of(line) {
        begin(runs, run);
        run.collective = Some(collective);
    }
}

/// The rank of a line such as `Rank  0 Group  0 Pid   6899 on host device  0 [0000:04:00] NVIDIA H100`.
fn rank(comment: &str) -> Option<u32> {
    let mut words = comment.strip_prefix("Rank ")?.split_whitespace();
    let rank = words.next()?.parse().ok()?;
    words.any(|word| word == "device").then_some(rank)
}

/// The line without what `mpirun --tag-output` (`[1,0]<stdout>:`) or `srun --label` (`0:`) write before it.
fn without_prefix(line: &str) -> &str {
    if let Some((tag, rest)) = line.split_once('>')
        && let Some((job, stream)) = tag.split_once('<')
        && job.starts_with('[')
        && job.ends_with(']')
        && ["stdout", "stderr", "stddiag"].contains(&stream)
    {
        return rest.strip_prefix(':').unwrap_or(rest);
    }
    match line.split_once(": ") {
        Some((label, rest)) if !label.is_empty() && label.trim().bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => line,
    }
}

/// The columns of figures: those before the first time are of no account, and some versions leave one of them blank.
#[derive(Debug, PartialEq)]
struct Columns {
    /// Names from the first time on.
    figures: Vec<String>,
    /// How many stand before.
    before: usize,
}

impl Columns {
    /// Of rows without a line of names.
    fn usual() -> Self {
        let figures = ["time", "algbw", "busbw", "#wrong"].repeat(2);
        Self { figures: figures.into_iter().map(str::to_owned).collect(), before: 5 }
    }

    /// Those of the line of names.
    fn of(comment: &str) -> Option<Self> {
        let names: Vec<&str> = comment.split_whitespace().filter(|name| *name != "timestamp").collect();
        if !matches!(names.first(), Some(&("size" | "bytes"))) || !names.contains(&"algbw") {
            return None;
        }
        let before = names.iter().position(|name| is_time(name))?;
        Some(Self { figures: names[before..].iter().map(|name| (*name).to_owned()).collect(), before })
    }

    /// Where the groups of figures begin: out of place, and in place unless the test has none.
    fn groups(&self) -> Vec<usize> {
        self.figures.iter().enumerate().filter(|(_, name)| is_time(name)).map(|(at, _)| at).collect()
    }
}

fn is_time(name: &str) -> bool {
    ["time", "cputime"].contains(&name)
}

/// The times of a row; none if the line is not one.
fn row(line: &str, columns: &Columns) -> Option<Result<Vec<Measurement>, String>> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let size: u64 = words.first()?.parse().ok()?;
    let _count: u64 = words.get(1)?.parse().ok()?;
    if !TYPES.contains(words.get(2)?) {
        return None;
    }
    // A timestamp: 2026-01-31 12:00:00.
    if let [.., date, time] = words[..]
        && date.split('-').count() == 3
        && time.split(':').count() == 3
    {
        words.truncate(words.len() - 2);
    }
    let groups = columns.groups();
    let (all, half) = (columns.figures.len(), columns.figures.len() / groups.len().max(1));
    let could_be = |figures: usize| (figures + 3..=figures + columns.before.max(3)).contains(&words.len());
    let (figures, places): (usize, &[Place]) = if could_be(all) && groups.len() == 2 {
        (all, &[Place::OutOfPlace, Place::InPlace])
    } else if could_be(all) {
        (all, &[Place::OutOfPlace])
    } else if could_be(half) {
        // A replay leaves the columns of out-of-place blank.
        (half, &[Place::InPlace])
    } else {
        let expected = format!("{} to {}", all + 3, all + columns.before.max(3));
        return Some(Err(format!(
            "the row of size {size} has {} columns, but {expected} were expected: is it cut off, or did another process write into it?",
            words.len()
        )));
    };
    if size == 0 {
        return Some(Ok(Vec::new()));
    }
    let words = &words[words.len() - figures..];
    let mut times = Vec::new();
    for (group, place) in places.iter().enumerate() {
        let at = group * half;
        let number = |text: &str| text.parse::<f64>().ok().filter(|us| us.is_finite() && *us > 0.0);
        let Some(us) = number(words[at]) else {
            return Some(Err(format!(
                "the time \"{}\" of size {size} is none: expected microseconds above 0; is the row cut off?",
                words[at]
            )));
        };
        let verdict = columns.figures.iter().skip(at).take(half).position(|name| name == "#wrong");
        let wrong = verdict.and_then(|verdict| words[at + verdict].parse::<f64>().ok());
        let is_wrong = wrong.is_some_and(|wrong| wrong > 0.0);
        times.push(Measurement { size, place: Some(*place), ns: us * 1000.0, is_wrong, line: None });
    }
    Some(Ok(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> Vec<Run> {
        super::super::read(text, "log").unwrap()
    }

    /// As nccl-tests 2.13 and later print.
    const ALL_REDUCE: &str = "\
# nThread 1 nGpus 2 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   1201 on      node1 device  0 [0x07] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid   1201 on      node1 device  1 [0x0f] NVIDIA A100-SXM4-80GB
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       
           8             2     float     sum      -1    10.50    0.00    0.00      0    10.25    0.00    0.00      0
     1048576        262144     float     sum      -1    30.00   34.95   34.95      0    29.00   36.16   36.16      3
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 17.7 
#
";

    #[test]
    fn a_run_is_read_with_its_ranks_places_and_wrong_results() {
        let found = runs(&format!("$ mpirun ./build/all_reduce_perf -g 2\n{ALL_REDUCE}"));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].collective.as_deref(), found[0].ranks), (Some("all_reduce"), Some(2)));
        assert_eq!(found[0].times(Place::OutOfPlace), [(8, 10_500.0), (1 << 20, 30_000.0)]);
        // The other result in place was wrong.
        assert_eq!(found[0].times(Place::InPlace), [(8, 10_250.0)]);
        assert_eq!(found[0].measurements[0].line, Some(11));
    }

    #[test]
    fn runs_behind_each_other_are_told_apart_with_prefixes_and_lines_between() {
        let tagged: String = ALL_REDUCE.lines().map(|line| format!("[1,0]<stdout>:{line}\n")).collect();
        let labelled: String = ALL_REDUCE.lines().map(|line| format!(" 0: {line}\n")).collect();
        let gather = ALL_REDUCE.replace("     sum  ", "    none  ").replace("#  Rank  1", "#  Rank 15");
        let gather = gather
            .replace("Using devices", "Using devices\nnode1:1201:1201 [0] NCCL INFO Bootstrap : Using eth0");
        let text = format!(
            "# Collective test starting: all_reduce_perf\n{tagged}# Collective test concluded: all_reduce_perf\n{labelled}\
             # nccl-tests version 2.17.6\n# Collective test starting: all_gather_perf\n{gather}"
        );
        let found = runs(&text);
        let told: Vec<_> = found.iter().map(|run| (run.collective.as_deref(), run.ranks)).collect();
        assert_eq!(told, [(Some("all_reduce"), Some(2)), (None, Some(2)), (Some("all_gather"), Some(16))]);
        assert!(found.iter().all(|run| run.measurements.len() == 4));
    }

    /// Older tests have other columns, and leave those blank that do not apply.
    #[test]
    fn columns_that_are_not_there_or_blank_do_not_matter() {
        let errors = "\
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       
     1048576          8192   float            73.18   14.33   12.54  0e+00    71.25   14.72   12.88    N/A
        2048            16   float     sum    7e+00    0.29    0.26  2e-07     7.50    0.27    0.24  2e-07
";
        let found = runs(errors);
        assert_eq!(found[0].times(Place::OutOfPlace), [(2048, 7000.0), (1 << 20, 73_180.0)]);
        assert_eq!(found[0].times(Place::InPlace), [(2048, 7500.0), (1 << 20, 71_250.0)]);

        let once = "\
#       size         count      type    root     time   algbw   busbw #wrong
     1048576        262144     float       0    20.00   52.43   52.43      0
";
        assert_eq!(runs(once)[0].times(Place::OutOfPlace), [(1 << 20, 20_000.0)]);
    }

    #[test]
    fn further_columns_are_passed_over() {
        let each = "\
#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%           timestamp
        1024           256     float     sum      -1    11.00    0.09    0.16       0    10.10    12.00    12.00     3.10    12.00    0.09    0.16       0    11.10    13.00    13.00     3.00  2026-01-31 12:00:00
           0             0     float     sum      -1     0.15    0.00    0.00       0     0.10     0.20     0.20     3.10     0.15    0.00    0.00       0     0.10     0.20     0.20     3.00  2026-01-31 12:00:01
";
        let found = runs(each);
        assert_eq!(found[0].times(Place::InPlace), [(1024, 12_000.0)]);
        assert_eq!(found[0].measurements.len(), 2, "size 0 is left out");
    }

    #[test]
    fn rows_alone_and_rows_of_a_replay_are_read() {
        let alone = "        1024           256      half     sum      -1    11.00    0.09    0.16      0    12.00    0.09    0.16    N/A\n";
        assert_eq!(runs(alone)[0].times(Place::InPlace), [(1024, 12_000.0)]);
        let replay = "        1024           256      half     sum      -1                                    12.00    0.09    0.16    N/A\n";
        assert_eq!(runs(replay)[0].times(Place::OutOfPlace), []);
        assert_eq!(runs(replay)[0].times(Place::InPlace), [(1024, 12_000.0)]);
    }

    #[test]
    fn a_broken_row_is_named_by_its_line() {
        for (row, part) in [
            (
                "1024 256 float sum -1 11.00 0.09 0.16 0 12.00 0.09 0.16",
                "the time \"-1\" of size 1024 is none",
            ),
            ("1024 256 float sum -1 11.00 0.09", "the time \"sum\" of size 1024 is none"),
            ("1024 256 float sum", "the row of size 1024 has 4 columns, but 11 to 13 were expected"),
            (
                "1024 256 float sum -1 fast 0.09 0.16 0 12.00 0.09 0.16 0",
                "the time \"fast\" of size 1024 is none",
            ),
        ] {
            let error = super::super::read(&format!("{ALL_REDUCE}{row}\n"), "a.log").unwrap_err().to_string();
            assert!(error.starts_with("a.log:15: ") && error.contains(part), "{error}");
        }
    }
}
