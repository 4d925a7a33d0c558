//! What each collective means, in elements of whole buffers.
//!
//! This is the definition as the field states it, written down a second time: it knows nothing of chunks, slots or
//! the post-conditions that the verifier compares with. Only a custom collective has no other definition than its
//! program's.

use crate::collective::{Collective, CollectiveKind};

/// Elements that belong together in a rank's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) from: From,
    pub(super) length: u64,
}

/// What elements of an output are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// All ranks' inputs combined, beginning at an element.
    Combined(u64),
    /// One rank's input, beginning at an element.
    Rank(u32, u64),
    /// Several inputs combined: of a rank, beginning at an element.
    These(Vec<(u32, u64)>),
    /// A token: every element is 1 when every rank has been heard of.
    Token,
    /// Anything.
    Anything,
}

impl From {
    /// How many contributions are combined here.
    pub(super) fn contributions(&self, ranks: u32) -> u32 {
        match self {
            From::Combined(_) => ranks,
            From::These(inputs) => inputs.len() as u32,
            From::Rank(..) | From::Token | From::Anything => 1,
        }
    }
}

/// The `index`-th of `parts` parts of `elements`: where it begins and how long it is. The first `elements` mod `parts`
/// parts have one more.
fn part(elements: u64, parts: u64, index: u64) -> (u64, u64) {
    let (each, more) = (elements / parts, elements % parts);
    (index * each + index.min(more), each + u64::from(index < more))
}

/// The output of a rank from its first element to its last, for a collective of so many elements.
pub(super) fn output(collective: &Collective, elements: u64, rank: u32) -> Vec<Segment> {
    let ranks = collective.ranks() as u64;
    let (me, root) = (u64::from(rank), collective.root().0);
    let all = |from| vec![Segment { from, length: elements }];
    let gathered = || {
        (0..ranks)
            .map(|of| Segment { from: From::Rank(of as u32, 0), length: part(elements, ranks, of).1 })
            .collect()
    };
    match collective.kind() {
        CollectiveKind::AllReduce => all(From::Combined(0)),
        CollectiveKind::Reduce if rank == root => all(From::Combined(0)),
        CollectiveKind::ReduceScatter => {
            let (begin, length) = part(elements, ranks, me);
            vec![Segment { from: From::Combined(begin), length }]
        }
        CollectiveKind::AllGather => gathered(),
        CollectiveKind::Gather if rank == root => gathered(),
        CollectiveKind::AllToAll => {
            let each = elements / ranks;
            let from = |of: u64| Segment { from: From::Rank(of as u32, me * each), length: each };
            (0..ranks).map(from).collect()
        }
        CollectiveKind::AllToAllV => all_to_all_v(collective, elements, rank),
        CollectiveKind::Broadcast => all(From::Rank(root, 0)),
        CollectiveKind::SendRecv if rank == collective.destination().0 => all(From::Rank(root, 0)),
        CollectiveKind::Scatter => {
            let (begin, length) = part(elements, ranks, me);
            vec![Segment { from: From::Rank(root, begin), length }]
        }
        CollectiveKind::Barrier => all(From::Token),
        CollectiveKind::Custom => custom(collective, elements, rank),
        CollectiveKind::Reduce | CollectiveKind::Gather | CollectiveKind::SendRecv => Vec::new(),
    }
}

/// The rank that sends most sends `elements`; all chunks are equal.
fn all_to_all_v(collective: &Collective, elements: u64, rank: u32) -> Vec<Segment> {
    let ranks = collective.ranks() as u32;
    let chunks = |from, to| u64::from(collective.table_entry(from, to));
    let sent = (0..ranks).map(|from| (0..ranks).map(|to| chunks(from, to)).sum::<u64>());
    let each = elements / sent.max().unwrap_or(0).max(1);
    let segment = |from| {
        let before: u64 = (0..rank).map(|to| chunks(from, to)).sum();
        Segment { from: From::Rank(from, before * each), length: chunks(from, rank) * each }
    };
    (0..ranks).map(segment).collect()
}

/// Output chunks as the program states them; what it says nothing of may hold anything.
fn custom(collective: &Collective, elements: u64, rank: u32) -> Vec<Segment> {
    let chunks = collective.chunks() as u64;
    let segment = |index: u32| {
        let expected = collective.expected().and_then(|expected| expected.get(&(rank, index)));
        match expected {
            None => Segment { from: From::Anything, length: 0 },
            Some(inputs) => {
                let length = inputs.iter().map(|(chunk, _)| part(elements, chunks, (*chunk).into()).1).max();
                let inputs =
                    inputs.iter().map(|(chunk, of)| (*of, part(elements, chunks, (*chunk).into()).0));
                Segment { from: From::These(inputs.collect()), length: length.unwrap_or(0) }
            }
        }
    };
    (0..collective.output_chunks() as u32).map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventy_three_elements_among_four_ranks() {
        // Case D41: 19, 18, 18, 18.
        let parts: Vec<_> = (0..4).map(|index| part(73, 4, index)).collect();
        assert_eq!(parts, [(0, 19), (19, 18), (37, 18), (55, 18)]);
        assert_eq!(
            (0..4).map(|index| part(2, 4, index)).collect::<Vec<_>>(),
            [(0, 1), (1, 1), (2, 0), (2, 0)]
        );
    }

    #[test]
    fn outputs_by_hand() {
        let rank = |of, begin, length| Segment { from: From::Rank(of, begin), length };
        let new = |kind, ranks| Collective::new(kind, ranks, 2).unwrap();
        let gather = new(CollectiveKind::AllGather, 3);
        assert_eq!(output(&gather, 7, 1), [rank(0, 0, 3), rank(1, 0, 2), rank(2, 0, 2)]);
        let scatter = new(CollectiveKind::ReduceScatter, 3);
        assert_eq!(output(&scatter, 7, 1), [Segment { from: From::Combined(3), length: 2 }]);
        let exchange = new(CollectiveKind::AllToAll, 2);
        assert_eq!(output(&exchange, 8, 1), [rank(0, 4, 4), rank(1, 4, 4)]);
        let reduce = new(CollectiveKind::Reduce, 2).rooted(1).unwrap();
        assert_eq!(output(&reduce, 8, 0), []);
        assert_eq!(output(&reduce, 8, 1), [Segment { from: From::Combined(0), length: 8 }]);
        // Rank 0 sends two chunks to itself and one to rank 1, rank 1 two to rank 0: three chunks of two elements each.
        let table = Collective::all_to_all_v(&[vec![2, 1], vec![2, 0]]).unwrap();
        assert_eq!(output(&table, 6, 0), [rank(0, 0, 4), rank(1, 0, 4)]);
        assert_eq!(output(&table, 6, 1), [rank(0, 4, 2), rank(1, 4, 0)]);
    }
}
