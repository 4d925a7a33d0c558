//! Measured times of collectives: what nccl-tests and rccl-tests print, and tables.
//!
//! [`read`] takes the text of a file, tells by its beginning what it is, and gives its [`Run`]s:
//!
//! * the output of `all_reduce_perf` and its kin, as nccl-tests and rccl-tests print it, of one run or of several behind each
//!   other, with or without the prefixes of `mpirun --tag-output` and `srun --label`, and with lines of others in between;
//! * their JSON (`-J FILE` of nccl-tests), with the feature `topology-files`;
//! * comma-separated values with a line of names: a size (`size_bytes`, `size` or `bytes`) and a time (`time_us`, `time`,
//!   `time_ns`, `time_ms` or `time_s`; `time` is in microseconds, as nccl-tests have it), and where they are there `ranks`,
//!   `collective` and `place` (`out` or `in`).
//!
//! Sizes are those of nccl-tests, which are those of this project too: the vector of an all-reduce, the whole buffer of an all-gather.
//!
//! ```
//! use collective::measured::{self, Place};
//!
//! let text = "\
//! ## Collective test starting: all_gather_perf
//! #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
//!      1048576         32768     float    none      -1    35.20   29.79   26.07      0    34.10   30.75   26.91    N/A
//! ";
//! let runs = measured::read(text, "log")?;
//! assert_eq!(runs[0].collective.as_deref(), Some("all_gather"));
//! assert_eq!(runs[0].times(Place::InPlace), [(1 << 20, 34_100.0)]);
//! # Ok::<(), collective::measured::MeasuredError>(())
//! ```

#[cfg(feature = "topology-files")]
mod json;
mod log;
mod table;

use thiserror::Error;

/// Whether the result of a collective lies where its data were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// In a buffer of its own.
    OutOfPlace,
    /// In the same buffer.
    InPlace,
}

/// A measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// The size of the collective, in bytes.
    pub size: u64,
    /// Out of place or in place, where that is said.
    pub place: Option<Place>,
    /// The time of one collective, in nanoseconds; above 0.
    pub ns: f64,
    /// Whether the data were found to be wrong, so that the time is none.
    pub is_wrong: bool,
    /// The line of the file; none in JSON.
    pub line: Option<u64>,
}

/// What was measured in one run of a test, or under one name in a table.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Run {
    /// The collective, such as `all_reduce`, where that is said.
    pub collective: Option<String>,
    /// The number of ranks, where that is said.
    pub ranks: Option<u32>,
    /// The times, in the order of the file. None has size 0.
    pub measurements: Vec<Measurement>,
}

impl Run {
    /// A time in nanoseconds for each size, ascending: the geometric mean of those in the place, or of those of which no place is
    /// said where there are none in it. Times of wrong results do not count.
    #[must_use]
    pub fn times(&self, place: Place) -> Vec<(u64, f64)> {
        times([self], place)
    }
}

/// The times of [several runs](Run::times) as if they were one.
pub fn times<'a>(runs: impl IntoIterator<Item = &'a Run>, place: Place) -> Vec<(u64, f64)> {
    let all = runs.into_iter().flat_map(|run| &run.measurements).filter(|it| !it.is_wrong);
    let mut all: Vec<&Measurement> = all.filter(|it| it.place.is_none_or(|its| its == place)).collect();
    if all.iter().any(|it| it.place.is_some()) {
        all.retain(|it| it.place.is_some());
    }
    // Stable, so that the sums do not depend on anything but the order in the file.
    all.sort_by_key(|it| it.size);
    let mean = |group: &[&Measurement]| {
        let sum: f64 = group.iter().map(|it| it.ns.ln()).sum();
        (group[0].size, if group.len() == 1 { group[0].ns } else { (sum / group.len() as f64).exp() })
    };
    all.chunk_by(|a, b| a.size == b.size).map(mean).collect()
}

/// A file of measurements that cannot be read; one line, with the file and the line in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{} {message}", line.map(|line| format!("{line}:")).unwrap_or_default())]
#[non_exhaustive]
pub struct MeasuredError {
    /// The file, as it was given.
    pub file: String,
    /// The line, if one is at fault.
    pub line: Option<u64>,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// A line, if one is at fault, and what is wrong.
type Fault = (Option<u64>, String);

/// Reads a file of measurements. `file` is its name for messages.
///
/// # Errors
/// There is nothing measured in it, or a line of figures is broken.
pub fn read(text: &str, file: &str) -> Result<Vec<Run>, MeasuredError> {
    let read = if text.trim_start().starts_with('{') {
        json(text)
    } else {
        match table::head(text) {
            Some(head) => table::read(text, &head),
            None => log::read(text),
        }
    };
    let fault = |(line, message)| MeasuredError { file: file.to_owned(), line, message };
    let mut runs = read.map_err(fault)?;
    runs.retain(|run| !run.measurements.is_empty());
    if runs.is_empty() {
        return Err(fault((
            None,
            "nothing measured was found: expected what nccl-tests or rccl-tests print, or comma-separated values with the columns \
             size_bytes and time_us"
                .to_owned(),
        )));
    }
    Ok(runs)
}

#[cfg(feature = "topology-files")]
fn json(text: &str) -> Result<Vec<Run>, Fault> {
    json::read(text)
}

#[cfg(not(feature = "topology-files"))]
fn json(_text: &str) -> Result<Vec<Run>, Fault> {
    Err((None, "this is JSON, which is read with the feature topology-files".to_owned()))
}

/// The collective of a test, such as `all_reduce` of `./build/all_reduce_perf`.
fn collective_of(test: &str) -> Option<String> {
    let before = test.split("_perf").next().filter(|before| before.len() < test.len())?;
    let begin = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let name = &before[begin..];
    (!name.is_empty()).then(|| collective_named(name))
}

/// A collective by the name that this project has for it, where it has one.
fn collective_named(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    let joined = name.replace('_', "");
    let known = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"];
    let same = known.into_iter().find(|known| known.replace('_', "") == joined);
    same.map_or(name, str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_have_one_name() {
        for (test, name) in [
            ("mpirun -np 8 ./build/all_reduce_perf -b 8", "all_reduce"),
            ("# Collective test starting: alltoall_perf", "all_to_all"),
            ("sendrecv_perf", "send_recv"),
            ("/opt/rccl-tests/reduce_scatter_perf_mpi", "reduce_scatter"),
            ("broadcast_perf", "broadcast"),
        ] {
            assert_eq!(collective_of(test).as_deref(), Some(name), "{test}");
        }
        assert_eq!(collective_of("perf of all"), None);
        assert_eq!(collective_named("AllReduce"), "all_reduce");
    }

    #[test]
    fn several_times_of_a_size_are_their_geometric_mean() {
        let run = read("size,time_us,place\n8,4,out\n8,9,out\n8,5,in\n4,1,out\n", "f").unwrap();
        assert_eq!(run[0].times(Place::OutOfPlace)[0], (4, 1000.0));
        let (size, ns) = run[0].times(Place::OutOfPlace)[1];
        assert!(size == 8 && (ns - 6000.0).abs() < 1e-6, "{ns}");
        assert_eq!(run[0].times(Place::InPlace), [(8, 5000.0)]);
    }

    #[test]
    fn a_file_without_measurements_is_an_error() {
        for text in ["", "hello\n", "# nThread 1 nGpus 8\n"] {
            let error = read(text, "some.log").unwrap_err().to_string();
            assert!(error.starts_with("some.log: nothing measured was found"), "{error}");
        }
    }
}
