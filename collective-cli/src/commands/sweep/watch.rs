//! A progress bar for sweeps of more than a second, where somebody looks, and Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::failure::{Failure, INTERRUPTED};
use crate::{console, interrupt};

/// Looks at a sweep.
pub(super) struct Watch {
    interrupted: Arc<AtomicBool>,
    bar: ProgressBar,
}

impl Watch {
    /// From now on the first Ctrl-C ends the sweep after the points that are under way, a second one the process at once.
    pub(super) fn begin(points: usize, done: usize) -> Result<Self, Failure> {
        // Rows are kept.
        interrupt::defer();
        let interrupted = Arc::new(AtomicBool::new(false));
        // In this order the first signal finds the flag unset.
        flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&interrupted))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&interrupted)))
            .map_err(|error| Failure::input(format!("Ctrl-C cannot be watched for: {error}")))?;
        let bar = if console::wants_progress() {
            ProgressBar::with_draw_target(Some(points as u64), ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) =
            ProgressStyle::with_template("sweeping {bar:30} {pos} of {len} points, about {eta} left")
        {
            bar.set_style(style);
        }
        bar.set_position(done as u64);
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_secs(1));
        Ok(Self { interrupted, bar })
    }

    /// Whether the user wants to end it.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// A point more.
    pub(super) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        interrupt::at_once();
        self.bar.finish_and_clear();
    }
}
