//! What a chunk holds: for each part of the collective's data the multiset of ranks whose contribution is in it.
//!
//! Multisets of ranks are stored once each, as runs of neighbouring ranks, and a sum is computed once for
//! each pair: the millions of sums of a large program are few distinct ones, the same for every chunk.

use rustc_hash::FxHashMap;

use super::execute::Algebra;
use crate::ids::RankId;

/// A chunk's content; compare for equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// Nobody has written.
    Empty,
    /// What comes of reading what nobody has written, or what does not exist.
    Undefined,
    /// Contributions to one logical chunk.
    Sum { chunk: u32, ranks: u32 },
    /// Contributions to several logical chunks added together; an index into the table.
    Mixed(u32),
}

/// `count` contributions of each rank in `first..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) count: u32,
}

/// All distinct contents of a run.
#[derive(Default)]
pub(super) struct Values {
    sets: Interner<Run>,
    sums: FxHashMap<(u32, u32), u32>,
    mixed: Interner<(u32, u32)>,
}

/// Lists stored once each, end to end.
struct Interner<T> {
    items: Vec<T>,
    ends: Vec<u32>,
    ids: FxHashMap<Box<[T]>, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ends: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Interner<T> {
    fn get(&self, id: u32) -> &[T] {
        let id = id as usize;
        let begin = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        &self.items[begin..self.ends[id] as usize]
    }

    fn intern(&mut self, list: &[T]) -> u32 {
        if let Some(id) = self.ids.get(list) {
            return *id;
        }
        let id = self.ends.len() as u32;
        self.items.extend_from_slice(list);
        self.ends.push(self.items.len() as u32);
        self.ids.insert(list.into(), id);
        id
    }
}

impl Algebra for Values {
    type Content = Value;
    const EMPTY: Value = Value::Empty;
    const UNDEFINED: Value = Value::Undefined;

    fn own(&mut self, rank: RankId, chunk: u32) -> Value {
        let ranks = self.sets.intern(&[Run { first: rank.0, last: rank.0, count: 1 }]);
        Value::Sum { chunk, ranks }
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        match (a, b) {
            (Value::Empty | Value::Undefined, _) | (_, Value::Empty | Value::Undefined) => Value::Undefined,
            (Value::Sum { chunk: x, ranks: a }, Value::Sum { chunk: y, ranks: b }) if x == y => {
                Value::Sum { chunk: x, ranks: self.add_sets(a, b) }
            }
            _ => {
                let mut parts: Vec<(u32, u32)> = self.parts(a);
                for (chunk, ranks) in self.parts(b) {
                    match parts.binary_search_by_key(&chunk, |part| part.0) {
                        Ok(at) => parts[at].1 = self.add_sets(parts[at].1, ranks),
                        Err(at) => parts.insert(at, (chunk, ranks)),
                    }
                }
                Value::Mixed(self.mixed.intern(&parts))
            }
        }
    }
}

impl Values {
    /// The logical chunks in a content, each with the ranks that contributed to it.
    pub(super) fn contents(&self, value: Value) -> Vec<(u32, &[Run])> {
        self.parts(value).into_iter().map(|(chunk, ranks)| (chunk, self.sets.get(ranks))).collect()
    }

    fn parts(&self, value: Value) -> Vec<(u32, u32)> {
        match value {
            Value::Empty | Value::Undefined => Vec::new(),
            Value::Sum { chunk, ranks } => vec![(chunk, ranks)],
            Value::Mixed(id) => self.mixed.get(id).to_vec(),
        }
    }

    fn add_sets(&mut self, a: u32, b: u32) -> u32 {
        let key = (a.min(b), a.max(b));
        if let Some(sum) = self.sums.get(&key) {
            return *sum;
        }
        let sum = add_runs(self.sets.get(a), self.sets.get(b));
        let id = self.sets.intern(&sum);
        self.sums.insert(key, id);
        id
    }
}

/// The sum of two multisets: boundaries of both, counts added, equal neighbours joined.
fn add_runs(a: &[Run], b: &[Run]) -> Vec<Run> {
    // Changes of the count along the ranks.
    let mut steps: Vec<(u32, i64)> = Vec::with_capacity(2 * (a.len() + b.len()));
    for run in a.iter().chain(b) {
        steps.push((run.first, i64::from(run.count)));
        steps.push((run.last + 1, -i64::from(run.count)));
    }
    steps.sort_unstable();
    let mut runs: Vec<Run> = Vec::new();
    let mut count = 0;
    let mut from = 0;
    for (at, change) in steps {
        if count > 0 && at > from {
            // A program that doubles a sum often enough reaches any count; beyond u32 it is wrong all the same.
            let run = Run { first: from, last: at - 1, count: u32::try_from(count).unwrap_or(u32::MAX) };
            match runs.last_mut() {
                Some(last) if last.last + 1 == run.first && last.count == run.count => last.last = run.last,
                _ => runs.push(run),
            }
        }
        count += change;
        from = at;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u32, last: u32, count: u32) -> Run {
        Run { first, last, count }
    }

    #[test]
    fn neighbours_join_and_doubles_count() {
        assert_eq!(add_runs(&[run(0, 2, 1)], &[run(3, 3, 1)]), [run(0, 3, 1)]);
        assert_eq!(add_runs(&[run(0, 2, 1)], &[run(2, 4, 1)]), [run(0, 1, 1), run(2, 2, 2), run(3, 4, 1)]);
        assert_eq!(add_runs(&[run(0, 1, 1), run(4, 5, 1)], &[run(2, 3, 1)]), [run(0, 5, 1)]);
    }

    #[test]
    fn a_count_never_wraps_around_to_a_right_one() {
        let mut values = Values::default();
        let mut sum = values.own(RankId(0), 0);
        for _ in 0..40 {
            sum = values.add(sum, sum);
        }
        assert_eq!(values.contents(sum), [(0, &[run(0, 0, u32::MAX)][..])]);
    }

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let mut values = Values::default();
        let own: Vec<Value> = (0..5).map(|r| values.own(RankId(r), 7)).collect();
        let forwards = own.iter().copied().reduce(|a, b| values.add(a, b)).unwrap();
        let backwards = own.iter().rev().copied().reduce(|a, b| values.add(a, b)).unwrap();
        assert_eq!(forwards, backwards);
        assert_eq!(values.contents(forwards), [(7, &[run(0, 4, 1)][..])]);
    }

    #[test]
    fn different_chunks_added_together_are_told_apart() {
        let mut values = Values::default();
        let (a, b) = (values.own(RankId(0), 1), values.own(RankId(0), 2));
        let sum = values.add(a, b);
        assert_eq!(values.contents(sum), [(1, &[run(0, 0, 1)][..]), (2, &[run(0, 0, 1)][..])]);
    }
}
