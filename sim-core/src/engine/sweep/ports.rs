//! From what a node names (peer, tag and, under ASTRA-sim's conventions, size) to its connection.

use rustc_hash::FxHashMap;

use crate::engine::connection::Key;

/// The connections on one side of a rank, by key: a number for each.
#[derive(Default)]
pub(super) struct Directory {
    /// Neighbouring nodes mostly use the same one.
    last: Option<(Key, u32)>,
    few: Vec<(Key, u32)>,
    /// All, once they are no longer few.
    many: FxHashMap<Key, u32>,
}

/// Up to here looking through a list is quicker than hashing.
const FEW: usize = 8;

impl Directory {
    #[inline]
    pub(super) fn get(&mut self, key: Key) -> Option<u32> {
        match self.last {
            Some((last, number)) if last == key => Some(number),
            _ => self.find(key),
        }
    }

    fn find(&mut self, key: Key) -> Option<u32> {
        let number = if self.many.is_empty() {
            self.few.iter().find(|(known, _)| *known == key)?.1
        } else {
            *self.many.get(&key)?
        };
        self.last = Some((key, number));
        Some(number)
    }

    /// Adds a key that is not there.
    pub(super) fn insert(&mut self, key: Key, number: u32) {
        if self.many.is_empty() && self.few.len() < FEW {
            self.few.push((key, number));
            return;
        }
        if self.many.is_empty() {
            // A rank with that many connections mostly has many more.
            self.many.reserve(8 * FEW);
            self.many.extend(self.few.drain(..));
        }
        self.many.insert(key, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Conventions;

    #[test]
    fn few_and_many_are_found() {
        let mut directory = Directory::default();
        let key = |peer| Key::new(Conventions::Exact, peer, peer % 3, 0);
        for peer in 0..40 {
            assert_eq!(directory.get(key(peer)), None);
            directory.insert(key(peer), 100 + peer);
            for known in 0..=peer {
                assert_eq!(directory.get(key(known)), Some(100 + known));
            }
        }
        assert!(directory.few.is_empty());
    }
}
