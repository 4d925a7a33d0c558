//! Whether windows hold enough to be worth several threads, or windows at all.

/// Below this number of events in a window, handing it to other threads costs more than it brings.
const DENSE: u64 = 64;

/// Below this, dividing it costs more than it brings.
const SPARSE: u64 = 16;

/// The mean is over about so many windows.
const SPAN: u64 = 16;

/// Windows between two looks at whether to go on.
const WINDOWS_BETWEEN_LOOKS: u64 = 1024;

pub(super) struct Pace {
    /// Number of nodes of the graph.
    nodes: u64,
    always: bool,
    windows: u64,
    /// Number of events so far.
    events: u64,
    /// A moving average of the events of a window, times `SPAN`.
    sum: u64,
}

/// What to do with the next window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    /// Run its blocks in several threads.
    Share,
    /// Run its blocks one after the other.
    Alone,
    /// Begin anew without windows.
    GiveUp,
}

impl Pace {
    pub(super) fn new(nodes: usize, always: bool) -> Self {
        // Some windows go by before the mean says anything.
        Self { nodes: nodes as u64, always, windows: 0, events: 0, sum: 4 * DENSE * SPAN }
    }

    /// A window has ended, with so many events in all so far.
    pub(super) fn advise(&mut self, events: u64) -> Advice {
        let of_window = events.saturating_sub(self.events);
        self.events = events;
        self.sum = self.sum - self.sum / SPAN + of_window;
        self.windows += 1;
        let mean = self.sum / SPAN;
        // What is lost is small against what lies ahead.
        let looks = self.windows.is_multiple_of(WINDOWS_BETWEEN_LOOKS) && events < self.nodes / 8;
        match () {
            () if self.always || mean >= DENSE => Advice::Share,
            () if looks && mean < SPARSE => Advice::GiveUp,
            () => Advice::Alone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(of_window: u64, windows: u64, nodes: usize, always: bool) -> Vec<Advice> {
        let mut pace = Pace::new(nodes, always);
        let mut advice: Vec<_> = (1..=windows).map(|window| pace.advise(window * of_window)).collect();
        advice.dedup();
        advice
    }

    #[test]
    fn large_windows_are_shared_small_ones_are_not_and_tiny_ones_given_up_early() {
        use Advice::{Alone, GiveUp, Share};
        assert_eq!(advice(1000, 5000, 1 << 24, false), [Share]);
        assert_eq!(advice(30, 5000, 1 << 24, false), [Share, Alone]);
        assert_eq!(advice(2, 1024, 1 << 24, false), [Share, Alone, GiveUp]);
        assert_eq!(advice(2, 5000, 8, false), [Share, Alone], "too late");
        assert_eq!(advice(2, 5000, 1 << 24, true), [Share]);
    }

    #[test]
    fn a_small_window_now_and_then_changes_nothing() {
        let mut pace = Pace::new(1 << 24, false);
        let mut events = 0;
        for window in 0..1000 {
            events += if window % 2 == 0 { 2 } else { 1000 };
            assert_eq!(pace.advise(events), Advice::Share);
        }
    }
}
