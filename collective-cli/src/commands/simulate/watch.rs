//! A progress bar for runs of more than a second, where somebody looks, and Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use collective::sim::{Observer, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::failure::{Failure, INTERRUPTED};
use crate::{console, interrupt};

/// Shorter runs are over before a bar could be read.
const PATIENCE: Duration = Duration::from_secs(1);

/// Looks at a run.
pub(super) struct Watch {
    interrupted: Arc<AtomicBool>,
    begin: Instant,
    is_seen: bool,
    /// When the run was first looked at, and how many nodes had finished.
    first: OnceLock<(Instant, usize)>,
    bar: OnceLock<ProgressBar>,
}

impl Watch {
    /// Once the run has been looked at, the first Ctrl-C ends it at its next look, a second one the process at once.
    pub(super) fn begin() -> Result<Self, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        // In this order the first signal finds the flag unset.
        flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&interrupted))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&interrupted)))
            .map_err(|error| Failure::input(format!("Ctrl-C cannot be watched for: {error}")))?;
        let is_seen = console::wants_progress();
        Ok(Self { interrupted, begin: Instant::now(), is_seen, first: OnceLock::new(), bar: OnceLock::new() })
    }

    /// Whether the user wants to end it.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        interrupt::at_once();
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    fn new_bar(progress: &Progress, message: String) -> ProgressBar {
        let bar = ProgressBar::new(progress.nodes as u64);
        let template = "simulating {bar:30} {percent} % of the nodes, {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        // Before it is drawn for the first time.
        bar.with_position(progress.finished as u64).with_message(message)
    }

    /// How far it is, and how long it will be if it goes on as so far: the bar itself begins too late to know.
    fn message(&self, progress: &Progress) -> String {
        let (begin, finished) = *self.first.get_or_init(|| (Instant::now(), progress.finished));
        let share =
            (progress.nodes - progress.finished) as f64 / (progress.finished - finished).max(1) as f64;
        let seconds = (begin.elapsed().as_secs_f64() * share).ceil();
        let millions = progress.events as f64 / 1e6;
        format!("about {seconds} s left; {millions:.1} million events, {} simulated", progress.time)
    }
}

impl Observer for Watch {
    fn observe(&self, progress: &Progress) -> ControlFlow<()> {
        // Until now there was nothing to keep.
        interrupt::defer();
        if self.is_interrupted() {
            return ControlFlow::Break(());
        }
        if self.is_seen {
            let message = self.message(progress);
            if self.begin.elapsed() > PATIENCE {
                let bar = self.bar.get_or_init(|| Self::new_bar(progress, message.clone()));
                bar.set_position(progress.finished as u64);
                bar.set_message(message);
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use collective::sim::topology::{Dimension, Topology};
    use collective::sim::{SimError, Simulation};
    use collective::{Size, algorithms, et};

    use super::*;

    #[test]
    fn ctrl_c_ends_a_run_with_what_it_has_found() {
        let watch = Watch::begin().unwrap();
        let graph = |ranks: usize| {
            let schedule = algorithms::allreduce_ring::compile(ranks, 1).unwrap();
            et::graph(&schedule, &et::EtOptions::new(Size::bytes(1 << 20))).unwrap()
        };
        let ring = |ranks| {
            let link = ("50 GB/s".parse().unwrap(), "500 ns".parse().unwrap());
            Topology::new([Dimension::ring(ranks, link.0, link.1)]).unwrap()
        };
        let (graph, topology) = (graph(200), ring(200));
        let simulation = Simulation::new(&topology).observer(&watch);
        assert!(simulation.run(&graph).is_ok());
        signal_hook::low_level::raise(SIGINT).unwrap();
        assert!(watch.is_interrupted());
        match simulation.run(&graph) {
            Err(SimError::Stopped(so_far)) => assert!(so_far.progress.finished > 0),
            other => panic!("{other:?}"),
        }
    }
}
