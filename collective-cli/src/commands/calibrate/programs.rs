//! What was measured: programs with their measured times, and a graph for each size.

use std::path::{Path, PathBuf};

use chakra_et::graph::Graph;
use collective::calibrate::{Point, RunEntry, parse_runs};
use collective::et::EtOptions;
use collective::measured::{self, Place, Run};
use collective::sim::machine::Protocol;
use collective::{Schedule, Size, compile, et};

use super::{Calibrate, beside, is_xml};
use crate::console;
use crate::failure::Failure;
use crate::snippet::Place as TextPlace;
use crate::stage::stage;
use crate::{program, xml};

/// A program, and how long it took at which size.
pub(super) struct Program {
    /// As it was named, with what is special to it.
    pub(super) name: String,
    /// The file of its measurements.
    pub(super) measured: String,
    pub(super) protocol: Protocol,
    pub(super) ranks: usize,
    /// Ascending sizes, each with the measured nanoseconds and the graph.
    times: Vec<(u64, f64, Graph)>,
}

impl Program {
    /// Its points, where it is the `number`-th program.
    pub(super) fn points(&self, number: usize) -> impl Iterator<Item = Point> + '_ {
        self.times.iter().map(move |(size, measured_ns, _)| Point {
            program: number,
            protocol: self.protocol,
            size: *size,
            measured_ns: *measured_ns,
        })
    }

    /// The graph of one of its sizes.
    pub(super) fn graph(&self, size: u64) -> Result<&Graph, String> {
        let found = self.times.binary_search_by_key(&size, |(size, ..)| *size).ok();
        let graph = found.map(|at| &self.times[at].2);
        graph.ok_or_else(|| format!("{}: size {size} was not measured", self.name))
    }
}

/// What is said of a program.
struct Entry {
    measured: PathBuf,
    algorithm: String,
    protocol: Option<collective::Protocol>,
    instances: Option<u32>,
    place: Option<Place>,
    set: Vec<(String, usize)>,
}

impl Calibrate {
    /// All programs, in the order in which they are named.
    pub(super) fn programs(&self, positions: usize) -> Result<Vec<Program>, Failure> {
        self.entries()?.iter().map(|entry| self.program(entry, positions)).collect()
    }

    fn entries(&self) -> Result<Vec<Entry>, Failure> {
        if let Some(list) = &self.runs {
            let name = list.display().to_string();
            let runs = parse_runs(&xml::text(list)?, &name).map_err(|error| {
                let place = TextPlace::of(error.file.clone(), error.place.line, error.place.span.clone());
                Failure::input_at(&error, place)
            })?;
            let entry = |run: RunEntry| Entry {
                measured: beside(list, &run.measured),
                algorithm: match is_xml(&run.algorithm) {
                    true => beside(list, &run.algorithm).display().to_string(),
                    false => run.algorithm,
                },
                protocol: run.protocol,
                instances: run.instances,
                place: run.place.or(self.place),
                set: run.set,
            };
            return Ok(runs.into_iter().map(entry).collect());
        }
        let count = self.measured.len();
        if self.algorithm.len() != count {
            return Err(Failure::input(format!(
                "{count} times --measured, but {} times --algorithm: expected one for each, in the same order",
                self.algorithm.len()
            )));
        }
        let protocols = each("protocol", &self.protocol, count)?;
        let instances = each("instances", &self.instances, count)?;
        let entry = |at: usize| Entry {
            measured: self.measured[at].clone(),
            algorithm: self.algorithm[at].clone(),
            protocol: protocols[at],
            instances: instances[at],
            place: self.place,
            set: self.set.clone(),
        };
        Ok((0..count).map(entry).collect())
    }

    fn program(&self, entry: &Entry, positions: usize) -> Result<Program, Failure> {
        let file = entry.measured.display().to_string();
        let runs = measured::read(&xml::text(&entry.measured)?, &file).map_err(|error| {
            let place = error.line.map(|line| TextPlace::line(error.file.clone(), line));
            Failure::input(&error).at(place)
        })?;
        let (schedule, bounds) = self.schedule(entry, &runs, positions)?;
        let Some(protocol) = Protocol::ALL.into_iter().find(|it| it.name() == schedule.protocol.name())
        else {
            return Err(Failure::input(format!("{}: no machine has its protocol", entry.algorithm)));
        };
        let ranks = schedule.ranks.len();
        if ranks != positions {
            return Err(Failure::input(format!(
                "{} is for {ranks} ranks, but the topology has {positions}",
                entry.algorithm
            )));
        }
        let own = matching(&runs, &schedule, &file, &entry.algorithm)?;
        let in_place = if schedule.collective.is_in_place() { Place::InPlace } else { Place::OutOfPlace };
        let place = entry.place.unwrap_or(in_place);
        let wrong: usize = own.iter().flat_map(|run| &run.measurements).filter(|it| it.is_wrong).count();
        if wrong > 0 {
            console::warn(format!(
                "{file}: {wrong} times are of results that the test found wrong: they are left out"
            ));
        }
        let (from, to) = self.sizes.map_or((0, u64::MAX), |(from, to)| (from.0, to.0));
        let mut times = Vec::new();
        for (size, ns) in measured::times(own.iter().copied(), place) {
            if (from..=to).contains(&size) && (bounds.0..=bounds.1).contains(&size) {
                let graph = et::graph(&schedule, &EtOptions::new(Size::bytes(size)));
                let graph = graph.map_err(|error| Failure::input(format!("{}: {error}", entry.algorithm)))?;
                times.push((size, ns, graph));
            }
        }
        if times.is_empty() {
            let place = if place == Place::InPlace { "in place" } else { "out of place" };
            return Err(Failure::input(format!("{file}: no time {place} is of a size that is to be fitted")));
        }
        let name = name(entry);
        Ok(Program { name, measured: file, protocol, ranks, times })
    }

    /// The schedule, and for which sizes a runtime takes it.
    fn schedule(
        &self,
        entry: &Entry,
        runs: &[Run],
        positions: usize,
    ) -> Result<(Schedule, (u64, u64)), Failure> {
        if is_xml(&entry.algorithm) {
            let path = Path::new(&entry.algorithm);
            if entry.instances.is_some() || !entry.set.is_empty() {
                return Err(Failure::input(format!(
                    "{}: instances and parameters are of built-in algorithms; an XML file has its own",
                    entry.algorithm
                )));
            }
            let imported = xml::read(path)?;
            let (min, max) = (imported.header.min_bytes.unwrap_or(0), imported.header.max_bytes.unwrap_or(0));
            let mut schedule = imported.schedule;
            schedule.protocol = entry.protocol.unwrap_or(schedule.protocol);
            xml::verified(&schedule, path)?;
            // 0 is no bound.
            return Ok((schedule, (min, if max == 0 { u64::MAX } else { max })));
        }
        let algorithm = program::find(&entry.algorithm)?;
        let stated = runs.iter().find_map(|run| run.ranks).map(|ranks| ranks as usize);
        let mut given = vec![("ranks", self.ranks.or(stated).unwrap_or(positions))];
        given.extend(entry.set.iter().map(|(name, value)| (name.as_str(), *value)));
        let mut trace = algorithm.def.trace_with(&given)?;
        trace.options.protocol = entry.protocol.unwrap_or(trace.options.protocol);
        trace.options.instances = entry.instances.unwrap_or(trace.options.instances);
        let schedule = stage(&format!("lowering and verifying {}", entry.algorithm), || compile(&trace))?;
        Ok((schedule, (0, u64::MAX)))
    }
}

/// The runs of the collective among so many ranks; those that say nothing of them too.
fn matching<'a>(
    runs: &'a [Run],
    schedule: &Schedule,
    file: &str,
    algorithm: &str,
) -> Result<Vec<&'a Run>, Failure> {
    let (kind, ranks) = (schedule.collective.kind().name(), schedule.ranks.len());
    let is_own = |run: &&Run| {
        run.collective.as_deref().is_none_or(|its| its == kind)
            && run.ranks.is_none_or(|its| its as usize == ranks)
    };
    let own: Vec<&Run> = runs.iter().filter(is_own).collect();
    if own.is_empty() {
        let told = |run: &Run| {
            let ranks = run.ranks.map(|ranks| format!(" among {ranks} ranks")).unwrap_or_default();
            format!("{}{ranks}", run.collective.as_deref().unwrap_or("a collective"))
        };
        let told: Vec<String> = runs.iter().map(told).collect();
        return Err(Failure::input(format!(
            "{file}: it has {}, but {algorithm} does {kind} among {ranks} ranks",
            told.join(", ")
        )));
    }
    Ok(own)
}

/// A value for each program: one for all, or as many as there are.
fn each<T: Copy>(option: &str, values: &[T], count: usize) -> Result<Vec<Option<T>>, Failure> {
    match values {
        [] => Ok(vec![None; count]),
        [one] => Ok(vec![Some(*one); count]),
        values if values.len() == count => Ok(values.iter().copied().map(Some).collect()),
        values => Err(Failure::input(format!(
            "{} times --{option}: expected one for all, or one for each of {count} --measured",
            values.len()
        ))),
    }
}

fn name(entry: &Entry) -> String {
    let mut special: Vec<String> = entry.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    special.extend(entry.instances.map(|instances| format!("instances={instances}")));
    match special.is_empty() {
        true => entry.algorithm.clone(),
        false => format!("{}({})", entry.algorithm, special.join(", ")),
    }
}
