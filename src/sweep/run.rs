//! Simulating the points of a sweep in several threads.
//!
//! Threads take jobs from one list: to compile an algorithm, some jobs before it is needed, and to simulate points that share a
//! graph. Every thread is a pool of rayon with itself as the only member, so that what happens within a point stays on it.
//! Outcomes wait until all before them were handed over; nobody runs further ahead than a [`WINDOW`].

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::outcome::{Figures, NoResult, Outcome, Why};
use super::plan::{Point, Shard, Sweep};
use crate::et::{self, EtError};
use crate::sim::{Progress, SimError};
use crate::{Schedule, sim};

/// So many jobs may be done before one that is not.
const WINDOW: usize = 1024;

/// So many jobs for each thread are enough to keep all busy until the end.
const JOBS_PER_THREAD: usize = 8;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All points were handed over.
    Complete,
    /// It was stopped before.
    Stopped,
}

enum Job {
    /// Compiles the algorithm of a unit.
    Compile(usize),
    /// Simulates points of a unit and size, the `place`-th such job.
    Simulate { place: usize, unit: usize, size: usize, networks: Range<usize> },
}

impl Sweep {
    /// Simulates the points of a share, but for the first `done` of them, in so many threads (0 as one), and hands each over with
    /// its outcome, in order, in the calling thread. Ends early if `stop` says so, which every thread asks now and then, or
    /// if `each` fails.
    ///
    /// What is handed over does not depend on the number of threads.
    ///
    /// # Errors
    /// That of `each`.
    pub fn run<E>(
        &self,
        shard: Shard,
        done: usize,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
        mut each: impl FnMut(Point, Outcome) -> Result<(), E>,
    ) -> Result<Ended, E> {
        let threads = threads.max(1);
        let jobs = self.jobs(shard, done, threads);
        let total = jobs.iter().filter(|job| matches!(job, Job::Simulate { .. })).count();
        let (next, desk) = (AtomicUsize::new(0), Desk::default());
        let compiled = Compiled::new(self, &jobs);
        let work = || {
            let _closing = Closing(&desk);
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                if stop() || desk.is_closed() {
                    return;
                }
                match job {
                    Job::Compile(unit) => drop(compiled.get(*unit)),
                    Job::Simulate { place, unit, size, networks } => {
                        if !desk.wait_for_turn(*place) {
                            return;
                        }
                        let outcomes = self.simulate(&compiled, *unit, *size, networks.clone(), stop);
                        compiled.used(*unit);
                        let Some(outcomes) = outcomes else { return };
                        desk.put(*place, outcomes);
                    }
                }
            }
            // Nothing is left to be taken, but others may still be at work.
            std::mem::forget(_closing);
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| alone(work));
            }
            // However this ends, the threads must not wait for it.
            let _closing = Closing(&desk);
            let mut at = done;
            for place in 0..total {
                let Some(outcomes) = desk.take(place) else { return Ok(Ended::Stopped) };
                for outcome in outcomes {
                    let Some(point) = self.point_of(shard, at) else { return Ok(Ended::Complete) };
                    each(point, outcome)?;
                    at += 1;
                }
            }
            Ok(Ended::Complete)
        })
    }

    /// What there is to do, in order.
    fn jobs(&self, shard: Shard, done: usize, threads: usize) -> Vec<Job> {
        let networks = self.networks.len();
        let (rows, first_group) = (self.len_of(shard), done / networks);
        let groups = rows / networks;
        // Where groups are few, each is divided, though every part then makes the graph for itself.
        let left = groups.saturating_sub(first_group).max(1);
        let parts = (threads * JOBS_PER_THREAD).div_ceil(left).clamp(1, networks);
        let step = if threads == 1 { networks } else { networks.div_ceil(parts) };
        let mut simulations: Vec<(usize, usize, Range<usize>)> = Vec::new();
        for group in first_group..groups {
            let Some(point) = self.point_of(shard, group * networks) else { break };
            let mut from = if group == first_group { done % networks } else { 0 };
            while from < networks {
                let until = (from + step).min(networks);
                simulations.push((point.unit, point.size, from..until));
                from = until;
            }
        }
        // Each unit is compiled while those before it are simulated.
        let mut units: Vec<usize> = simulations.iter().map(|(unit, ..)| *unit).collect();
        units.dedup();
        let mut ahead = units.iter().filter(|unit| self.is_needed(**unit)).copied().peekable();
        let mut jobs: Vec<Job> = ahead.by_ref().take(threads).map(Job::Compile).collect();
        let mut before = None;
        for (place, (unit, size, networks)) in simulations.into_iter().enumerate() {
            if before.replace(unit) != Some(unit) && self.is_needed(unit) {
                jobs.extend(ahead.next().map(Job::Compile));
            }
            jobs.push(Job::Simulate { place, unit, size, networks });
        }
        jobs
    }

    /// Whether some network takes the unit.
    fn is_needed(&self, unit: usize) -> bool {
        let unit = &self.units[unit];
        unit.values.is_ok() && self.networks.iter().any(|network| network.check(unit.ranks).is_ok())
    }

    /// The outcomes of a unit and size on some networks; None if it was stopped.
    fn simulate(
        &self,
        compiled: &Compiled<'_>,
        unit: usize,
        size: usize,
        networks: Range<usize>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Outcome>> {
        let ranks = self.units[unit].ranks;
        let mut graph = None;
        let mut outcomes = Vec::with_capacity(networks.len());
        for network in &self.networks[networks] {
            if stop() {
                return None;
            }
            let outcome = (|| {
                self.units[unit].values.as_ref().map_err(Clone::clone)?;
                network.check(ranks)?;
                let placement = network.placement(ranks)?;
                let schedule = compiled.get(unit)?;
                let graph = graph.get_or_insert_with(|| et::graph(&schedule, &self.options(size)));
                let graph = graph.as_ref().map_err(no_size)?;
                let watch =
                    |_: &Progress| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
                let simulation = network.simulation(ranks, placement.as_ref())?.observer(&watch);
                match simulation.run(graph) {
                    Ok(report) => Ok(Some(figures(&report))),
                    Err(SimError::Stopped(_)) => Ok(None),
                    Err(error) => Err(NoResult::new(Why::Simulation, error)),
                }
            })();
            outcomes.push(outcome.transpose()?);
        }
        Some(outcomes)
    }
}

fn no_size(error: &EtError) -> NoResult {
    NoResult::new(Why::Size, error)
}

fn figures(report: &sim::Report) -> Figures {
    Figures { time: report.makespan, messages: report.messages, bytes: report.bytes }
}

/// Does something with all that rayon is asked for on this very thread.
fn alone(work: impl Fn()) {
    // Where that cannot be, the pool of the process does it as well.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    work();
    drop(pool);
}

/// A schedule, or why there is none.
type Attempt = Result<Arc<Schedule>, NoResult>;

/// Schedules that are in use.
struct Compiled<'a> {
    sweep: &'a Sweep,
    /// For each unit.
    schedules: Vec<Mutex<Option<Attempt>>>,
    /// Jobs of each unit that are still to be done.
    left: Vec<AtomicUsize>,
}

impl<'a> Compiled<'a> {
    fn new(sweep: &'a Sweep, jobs: &[Job]) -> Self {
        let left: Vec<AtomicUsize> = sweep.units.iter().map(|_| AtomicUsize::new(0)).collect();
        for job in jobs {
            if let Job::Simulate { unit, .. } = job {
                left[*unit].fetch_add(1, Ordering::Relaxed);
            }
        }
        Self { sweep, schedules: sweep.units.iter().map(|_| Mutex::default()).collect(), left }
    }

    /// The schedule of a unit, compiled if it has not been yet.
    fn get(&self, unit: usize) -> Attempt {
        let mut slot = self.schedules[unit].lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| self.sweep.schedule(unit)).clone()
    }

    /// Says that a job of the unit is done; after the last one its schedule is let go.
    fn used(&self, unit: usize) {
        if self.left[unit].fetch_sub(1, Ordering::AcqRel) == 1 {
            *self.schedules[unit].lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// Where outcomes wait for their turn.
#[derive(Default)]
struct Desk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<usize, Vec<Outcome>>,
    /// The place of the next job to be handed over.
    next: usize,
    /// Nothing more comes, or is taken.
    closed: bool,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closed(&self) -> bool {
        self.state().closed
    }

    fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// Waits until a job may be begun; `false` if it need not be any more.
    fn wait_for_turn(&self, place: usize) -> bool {
        let mut state = self.state();
        while place >= state.next + WINDOW && !state.closed {
            state = self.wait(state);
        }
        !state.closed
    }

    fn put(&self, place: usize, outcomes: Vec<Outcome>) {
        self.state().waiting.insert(place, outcomes);
        self.changed.notify_all();
    }

    /// The outcomes of a place; None if they will never come.
    fn take(&self, place: usize) -> Option<Vec<Outcome>> {
        let mut state = self.state();
        loop {
            if let Some(outcomes) = state.waiting.remove(&place) {
                state.next = place + 1;
                self.changed.notify_all();
                return Some(outcomes);
            }
            if state.closed {
                return None;
            }
            state = self.wait(state);
        }
    }
}

/// Closes the desk when a thread leaves, also by a panic, so that none waits for it.
struct Closing<'a>(&'a Desk);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
