//! The ids that the nodes of a rank have in its file, in as little memory as they allow.

/// The id of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    /// Node i has this id + i: most writers count so, and nothing needs to be stored for each node.
    From(u64),
    /// All ids are less than 2^32 apart: the smallest, and how far each is from it.
    Near { first: u64, offsets: Vec<u32> },
    /// Any others.
    Wide(Vec<u64>),
}

impl Default for Ids {
    fn default() -> Self {
        Self::From(0)
    }
}

impl Ids {
    /// Ids as they come, each as two words, the higher one first: in place where that is possible.
    pub(super) fn from_words(mut words: Vec<u32>) -> Self {
        let id = |words: &[u32], at: usize| u64::from(words[2 * at]) << 32 | u64::from(words[2 * at + 1]);
        let count = words.len() / 2;
        let ids = || (0..count).map(|at| id(&words, at));
        let (first, last) = (ids().min().unwrap_or(0), ids().max().unwrap_or(0));
        if u32::try_from(last - first).is_err() {
            return Self::Wide(ids().collect());
        }
        for at in 0..count {
            words[at] = (id(&words, at) - first) as u32;
        }
        words.truncate(count);
        words.shrink_to_fit();
        Self::Near { first, offsets: words }
    }

    /// Ascending ids.
    pub(super) fn from_sorted(ids: Vec<u64>) -> Self {
        let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else { return Self::default() };
        if u32::try_from(last - first).is_err() {
            return Self::Wide(ids);
        }
        Self::Near { first, offsets: ids.into_iter().map(|id| (id - first) as u32).collect() }.settled()
    }

    /// Ascending ids in the form that equal ids always have.
    pub(super) fn settled(self) -> Self {
        match self {
            Self::Near { first, offsets } if offsets.iter().zip(0..).all(|(&offset, at)| offset == at) => {
                Self::From(if offsets.is_empty() { 0 } else { first })
            }
            Self::Wide(mut ids) => {
                ids.shrink_to_fit();
                Self::Wide(ids)
            }
            settled => settled,
        }
    }

    /// The id of a node, which must be one of `count`.
    pub(super) fn get(&self, node: usize, count: usize) -> u64 {
        match self {
            Self::From(first) => {
                assert!(node < count, "there is no node {node}");
                first + node as u64
            }
            Self::Near { first, offsets } => first + u64::from(offsets[node]),
            Self::Wide(ids) => ids[node],
        }
    }

    /// The node with an id, of `count` with ascending ids.
    pub(super) fn position(&self, id: u64, count: usize) -> Option<usize> {
        match self {
            Self::From(first) => usize::try_from(id.checked_sub(*first)?).ok().filter(|&node| node < count),
            Self::Near { first, offsets } => {
                let offset = u32::try_from(id.checked_sub(*first)?).ok()?;
                // Many writers count almost without gaps.
                match offsets.get(offset as usize) {
                    Some(&found) if found == offset => Some(offset as usize),
                    _ => offsets.binary_search(&offset).ok(),
                }
            }
            Self::Wide(ids) => ids.binary_search(&id).ok(),
        }
    }

    /// The positions of the ids by ascending id, unless they ascend.
    pub(super) fn order(&self) -> Option<Vec<u32>> {
        // There are no more than 2^32 nodes, or adding them would have failed.
        match self {
            Self::From(_) => None,
            Self::Near { offsets, .. } => (!offsets.is_sorted()).then(|| {
                let mut order: Vec<u32> = (0..offsets.len() as u32).collect();
                order.sort_unstable_by_key(|&at| offsets[at as usize]);
                order
            }),
            Self::Wide(ids) => (!ids.is_sorted()).then(|| {
                let mut order: Vec<u32> = (0..ids.len() as u32).collect();
                order.sort_unstable_by_key(|&at| ids[at as usize]);
                order
            }),
        }
    }

    /// Reorders the ids.
    pub(super) fn permute(&mut self, order: &[u32]) {
        match self {
            Self::From(_) => {}
            Self::Near { offsets, .. } => super::assemble::permute(offsets, order),
            Self::Wide(ids) => super::assemble::permute(ids, order),
        }
    }

    /// Whether an id occurs twice, of ids in order.
    pub(super) fn repeat(&self) -> bool {
        match self {
            Self::From(_) => false,
            Self::Near { offsets, .. } => offsets.windows(2).any(|pair| pair[0] == pair[1]),
            Self::Wide(ids) => ids.windows(2).any(|pair| pair[0] == pair[1]),
        }
    }

    /// Bytes that the ids occupy besides the value itself.
    pub(super) fn heap_size(&self) -> usize {
        match self {
            Self::From(_) => 0,
            Self::Near { offsets, .. } => offsets.capacity() * size_of::<u32>(),
            Self::Wide(ids) => ids.capacity() * size_of::<u64>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_depends_on_the_ids_only() {
        let cases: [(&[u64], Ids); 6] = [
            (&[], Ids::From(0)),
            (&[7], Ids::From(7)),
            (&[u64::MAX - 1, u64::MAX], Ids::From(u64::MAX - 1)),
            (&[5, 9], Ids::Near { first: 5, offsets: vec![0, 4] }),
            (&[5, 5 + (1 << 32) - 1], Ids::Near { first: 5, offsets: vec![0, u32::MAX] }),
            (&[5, 5 + (1 << 32)], Ids::Wide(vec![5, 5 + (1 << 32)])),
        ];
        for (ids, expected) in cases {
            let words = ids.iter().flat_map(|&id| [(id >> 32) as u32, id as u32]).collect();
            assert_eq!(Ids::from_words(words).settled(), expected);
            assert_eq!(Ids::from_sorted(ids.to_vec()), expected);
            for (node, &id) in ids.iter().enumerate() {
                assert_eq!(
                    (expected.get(node, ids.len()), expected.position(id, ids.len())),
                    (id, Some(node))
                );
                for other in [id.wrapping_add(2), id.wrapping_sub(2)] {
                    assert_eq!(expected.position(other, ids.len()), None, "{other} in {ids:?}");
                }
            }
        }
    }
}
