//! Spans that overlap, side by side.

use std::collections::BTreeSet;

use collective::sim::units::Picos;

/// Lanes, in each of which one span comes after the other.
///
/// Spans come in the order of their ends. Each gets, of the lanes that are free since its start or longer, the one that
/// became free last: so there are never more lanes than spans at once (as in the greedy schedule of the most intervals
/// on k machines, Faigle and Nawijn, 1995).
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Since when each lane is free, and its number.
    free: BTreeSet<(Picos, u32)>,
}

impl Lanes {
    /// The number of a lane for a span. Lanes are numbered in the order in which they are first needed.
    pub(super) fn lane(&mut self, start: Picos, finish: Picos) -> u32 {
        let last = self.free.range(..=(start, u32::MAX)).next_back().copied();
        let lane = match last {
            Some(last) => {
                self.free.remove(&last);
                last.1
            }
            None => self.free.len() as u32,
        };
        self.free.insert((finish, lane));
        lane
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_a_lane_do_not_overlap_and_lanes_are_as_few_as_can_be() {
        // Spans of a linear congruential generator, in the order of their ends.
        let mut state = 12_345_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let mut spans: Vec<(u64, u64)> = (0..40)
                .map(|_| {
                    let start = next(100);
                    (start + next(30), start)
                })
                .collect();
            spans.sort_unstable();
            let mut lanes = Lanes::default();
            let mut ends: Vec<u64> = Vec::new();
            for (finish, start) in &spans {
                let lane = lanes.lane(Picos(*start), Picos(*finish)) as usize;
                if lane == ends.len() {
                    ends.push(0);
                }
                assert!(ends[lane] <= *start);
                ends[lane] = *finish;
            }
            // At once: those that hold a moment in between, and those without length inside of others.
            let at_once =
                |at: u64| spans.iter().filter(|(finish, start)| *start <= at && at < *finish).count();
            let most = (0..130).map(at_once).max().unwrap();
            let inside = |at: u64| spans.iter().filter(|(finish, start)| *start < at && at < *finish).count();
            let points = spans.iter().filter(|(finish, start)| finish == start);
            let most = points.map(|(at, _)| inside(*at) + 1).max().unwrap_or(0).max(most);
            assert_eq!(ends.len(), most, "{spans:?}");
        }
    }
}
