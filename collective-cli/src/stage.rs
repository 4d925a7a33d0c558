//! A stage of the work: shown where it takes long, and timed for those who want to know.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console;

/// Shorter stages are over before anything could be read.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does a stage, called such as "compiling allreduce_ring".
pub(crate) fn stage<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let spinner = console::wants_progress().then(|| Spinner::of(what.to_owned()));
    let result = timed(what, work);
    drop(spinner);
    result
}

/// The same of a stage that shows its progress itself.
pub(crate) fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    console::info(|| format!("{what}: {:.3} s", begin.elapsed().as_secs_f64()));
    result
}

/// Something that turns, from a second on.
struct Spinner {
    /// Dropped, it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    fn of(what: String) -> Self {
        let (end, ended) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || {
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
                bar.set_style(style);
            }
            bar.set_message(what);
            bar.enable_steady_tick(Duration::from_millis(200));
            let _ = ended.recv();
            bar.finish_and_clear();
        });
        // Without a thread there is nothing to see; the work is done all the same.
        Self { end: Some(end), thread: thread.ok() }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spinner_ends_with_its_stage() {
        let begin = Instant::now();
        drop(Spinner::of("waiting".to_owned()));
        assert_eq!(stage("adding", || 1 + 1), 2);
        // It does not wait for its patience to end, however slow the machine.
        let _ = begin;
    }
}
