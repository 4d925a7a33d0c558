//! A run as a file in Chrome's trace format, for Perfetto and `chrome://tracing`.
//!
//! Written while the run goes on, so memory holds threads but no spans. Spans come in the order of their ends; on threads of the
//! format they must be nested or apart, so those of one track that overlap go to further threads ([`lanes`]).

mod event;
mod lanes;
mod track;

use std::collections::{HashMap, HashSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use collective::sim::topology::Topology;
use collective::sim::workload::{Span, Timeline};
use serde_json::json;

use self::lanes::Lanes;
use self::track::Key;
use crate::failure::Failure;
use crate::output::NewFile;

/// A timeline that is being written. It appears under its name when it is finished.
pub(in crate::commands::simulate) struct TimelineFile<'a> {
    path: PathBuf,
    out: BufWriter<NewFile>,
    /// What went wrong first; nothing is written after that.
    failed: Option<io::Error>,
    is_empty: bool,
    /// For the names of links.
    topology: Option<&'a Topology>,
    /// The names of groups, and by name their numbers.
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    ranks: u32,
    processes: HashSet<u32>,
    lanes: HashMap<Key, Lanes>,
    threads: HashMap<(Key, u32), u64>,
}

impl<'a> TimelineFile<'a> {
    /// Begins a file beside `path`. `names` are those of groups.
    pub(in crate::commands::simulate) fn create(
        path: &Path,
        names: Vec<String>,
        ranks: u32,
        topology: Option<&'a Topology>,
    ) -> Result<Self, Failure> {
        let begin = || {
            let mut out = BufWriter::with_capacity(1 << 18, NewFile::create(path)?);
            out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
            Ok(out)
        };
        let out =
            begin().map_err(|error: io::Error| Failure::input(format!("{}: {error}", path.display())))?;
        Ok(Self {
            path: path.to_owned(),
            out,
            failed: None,
            is_empty: true,
            topology,
            numbers: names.iter().cloned().zip(0..).collect(),
            names,
            ranks,
            processes: HashSet::new(),
            lanes: HashMap::new(),
            threads: HashMap::new(),
        })
    }

    /// Ends the file and gives it its name.
    pub(in crate::commands::simulate) fn finish(mut self) -> Result<(), Failure> {
        let ended = match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.write_all(b"\n]}\n"),
        };
        let file = ended.and_then(|()| self.out.into_inner().map_err(io::IntoInnerError::into_error));
        let named = file.and_then(NewFile::finish);
        named.map_err(|error| Failure::input(format!("{}: {error}", self.path.display())))
    }

    fn write(&mut self, event: &str) {
        if self.failed.is_some() {
            return;
        }
        let end = if self.is_empty { "\n" } else { ",\n" };
        self.is_empty = false;
        let written = self.out.write_all(end.as_bytes()).and_then(|()| self.out.write_all(event.as_bytes()));
        self.failed = written.err();
    }

    /// The process of a track, introduced where it is new. Process 0 has a meaning of its own for Perfetto.
    fn process(&mut self, key: Key) -> u32 {
        let at = key.rank().unwrap_or(self.ranks);
        let process = at.saturating_add(1);
        if self.processes.insert(process) {
            let name = key.rank().map_or_else(|| "links".to_owned(), |rank| format!("rank {rank}"));
            self.write(&event::metadata(process, 0, "process_name", &json!({"name": name})));
            self.write(&event::metadata(process, 0, "process_sort_index", &json!({"sort_index": at})));
        }
        process
    }

    /// The thread of a lane, introduced where it is new. Threads have numbers that no process and no other thread has.
    fn thread(&mut self, process: u32, key: Key, lane: u32) -> u64 {
        if let Some(thread) = self.threads.get(&(key, lane)) {
            return *thread;
        }
        let thread = u64::from(self.ranks) + 2 + self.threads.len() as u64;
        self.threads.insert((key, lane), thread);
        let mut name = key.label(&self.names, self.topology);
        if lane > 0 {
            name.push_str(&format!(" ({})", lane + 1));
        }
        self.write(&event::metadata(process, thread, "thread_name", &json!({"name": name})));
        let place = json!({"sort_index": key.place(lane)});
        self.write(&event::metadata(process, thread, "thread_sort_index", &place));
        thread
    }
}

impl Timeline for TimelineFile<'_> {
    fn span(&mut self, span: &Span<'_>) {
        let number = |name: &str| self.numbers.get(name).copied().unwrap_or(u32::MAX);
        let Some(key) = Key::of(&span.track, number) else { return };
        let process = self.process(key);
        let lane = self.lanes.entry(key).or_default().lane(span.start, span.finish);
        let thread = self.thread(process, key, lane);
        self.write(&event::complete(process, thread, span));
        if let Some(flow) = event::flow(process, thread, span) {
            self.write(&flow);
        }
    }
}
