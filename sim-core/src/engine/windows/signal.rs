//! Tells threads that the next window is open, or that there is none.
//!
//! Whoever waits looks again for some microseconds, which is how long it takes if the others are at work, and then
//! sleeps. It does not yield: on a busy machine that gives a whole time slice away, where who is woken gets its turn soon.

use std::hint;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use super::team::lock;

/// The window behind the last.
const OVER: u64 = u64::MAX;

/// Looks before it sleeps: some tens of microseconds, about what it takes to wake up.
const LOOKS: u32 = 4096;

pub(super) struct Signal {
    window: AtomicU64,
    sleepers: AtomicUsize,
    sleep: Mutex<()>,
    awake: Condvar,
}

impl Signal {
    /// Before the first window, which is 1.
    pub(super) fn new() -> Self {
        Self {
            window: AtomicU64::new(0),
            sleepers: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            awake: Condvar::new(),
        }
    }

    pub(super) fn open(&self, window: u64) {
        self.window.store(window, Ordering::SeqCst);
        // Either this sees who is about to sleep, or that one sees the window.
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.sleep));
            self.awake.notify_all();
        }
    }

    pub(super) fn end(&self) {
        self.open(OVER);
    }

    /// Waits for a window after the `seen` one; None at the end.
    pub(super) fn wait(&self, seen: u64) -> Option<u64> {
        for _ in 0..LOOKS {
            let window = self.window.load(Ordering::Acquire);
            if window > seen {
                return (window != OVER).then_some(window);
            }
            hint::spin_loop();
        }
        let mut asleep = lock(&self.sleep);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut window = self.window.load(Ordering::SeqCst);
        while window <= seen {
            asleep = self.awake.wait(asleep).unwrap_or_else(|poisoned| poisoned.into_inner());
            window = self.window.load(Ordering::SeqCst);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        (window != OVER).then_some(window)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn sleepers_are_woken_and_windows_may_be_missed() {
        let signal = Signal::new();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let mut seen = vec![0];
                while let Some(window) = signal.wait(seen[seen.len() - 1]) {
                    seen.push(window);
                }
                seen
            });
            for window in 1..=20 {
                // Long enough to fall asleep in.
                thread::sleep(Duration::from_millis(window % 2 * 3));
                signal.open(window);
            }
            signal.end();
            let seen = waiter.join().unwrap();
            assert!(seen.is_sorted() && seen.len() > 1, "{seen:?}");
        });
        assert_eq!(signal.wait(7), None);
    }
}
