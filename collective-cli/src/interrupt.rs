//! Ctrl-C: at once where nothing is lost, else as who works says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::failure::INTERRUPTED;

static AT_ONCE: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on Ctrl-C ends the process with the exit code of an interruption. Without, where that is not possible, the shell says so.
pub(crate) fn watch() {
    let at_once = Arc::clone(AT_ONCE.get_or_init(|| Arc::new(AtomicBool::new(true))));
    let _ = flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), at_once);
}

/// Whoever works has results to keep, and looks for Ctrl-C itself.
pub(crate) fn defer() {
    set(false);
}

/// There is nothing left to keep.
pub(crate) fn at_once() {
    set(true);
}

fn set(at_once: bool) {
    if let Some(flag) = AT_ONCE.get() {
        flag.store(at_once, Ordering::SeqCst);
    }
}
