//! Repetition in a sequence of tokens: what was said before is named by its distance.
//!
//! A collective does the same on every rank, shifted. Steps being written as differences, most runs of steps are
//! then equal to an earlier run, of the same thread block or of another rank.

use rustc_hash::FxHashMap;

use super::coding::{Reader, UnpackError, Writer};

/// Writes sequences of tokens, each of which may refer to all before it.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    ids: FxHashMap<Box<[u8]>, u32>,
    /// All tokens so far, by id.
    history: Vec<u32>,
    /// Where each id, and each pair of ids, stood last.
    last: FxHashMap<u32, usize>,
    last_pair: FxHashMap<(u32, u32), usize>,
}

impl Repeats {
    /// Writes a sequence whose length the reader knows: 0 and a new token, or how many tokens to repeat from how
    /// far back.
    pub(super) fn write(&mut self, tokens: &[Box<[u8]>], writer: &mut Writer) {
        let start = self.history.len();
        let mut fresh = Vec::with_capacity(tokens.len());
        for token in tokens {
            let known = self.ids.get(token).copied();
            let next = self.ids.len() as u32;
            let id = known.unwrap_or_else(|| *self.ids.entry(token.clone()).or_insert(next));
            self.history.push(id);
            fresh.push(known.is_none());
        }
        let mut at = start;
        while at < self.history.len() {
            let length = if fresh[at - start] {
                writer.number(0);
                writer.bytes.extend_from_slice(&tokens[at - start]);
                1
            } else {
                let (from, length) = self.longest(at);
                writer.number(length as u64);
                writer.number((at - from) as u64);
                length
            };
            for passed in at..at + length {
                self.last.insert(self.history[passed], passed);
                if passed > 0 {
                    self.last_pair.insert((self.history[passed - 1], self.history[passed]), passed - 1);
                }
            }
            at += length;
        }
    }

    /// Where the tokens from `at` on stood before, and how many of them.
    fn longest(&self, at: usize) -> (usize, usize) {
        let history = &self.history;
        let pair = history.get(at + 1).and_then(|next| self.last_pair.get(&(history[at], *next)));
        let single = self.last.get(&history[at]);
        let length = |from: usize| {
            let ahead = history[at..].iter().zip(&history[from..]);
            ahead.take_while(|(a, b)| a == b).count()
        };
        let candidates = single.into_iter().chain(pair).map(|from| (*from, length(*from)));
        // A token that is not fresh stands somewhere before.
        candidates.max_by_key(|(_, length)| *length).unwrap_or((at, 1))
    }
}

/// Reads such sequences; `T` is a token as it was parsed.
#[derive(Debug)]
pub(super) struct History<T> {
    distinct: Vec<T>,
    /// All tokens so far, by their position among the distinct ones.
    tokens: Vec<u32>,
}

impl<T> History<T> {
    pub(super) fn new() -> Self {
        Self { distinct: Vec::new(), tokens: Vec::new() }
    }

    /// Reads `length` tokens.
    pub(super) fn read<'s>(
        &'s mut self,
        length: usize,
        reader: &mut Reader<'_>,
        token: fn(&mut Reader<'_>) -> Result<T, UnpackError>,
    ) -> Result<impl ExactSizeIterator<Item = &'s T> + use<'s, T>, UnpackError> {
        let start = self.tokens.len();
        let end = start + length;
        while self.tokens.len() < end {
            let repeated = reader.at_most(end - self.tokens.len())?;
            if repeated == 0 {
                self.tokens.push(self.distinct.len() as u32);
                self.distinct.push(token(reader)?);
                continue;
            }
            let distance = reader.at_most(self.tokens.len())?;
            if distance == 0 {
                return Err(reader.error("a step repeats itself"));
            }
            // What is repeated may overlap what it gives.
            for _ in 0..repeated {
                self.tokens.push(self.tokens[self.tokens.len() - distance]);
            }
        }
        Ok(self.tokens[start..].iter().map(|token| &self.distinct[*token as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sequences: &[&str]) -> usize {
        let (mut repeats, mut writer) = (Repeats::default(), Writer::default());
        for sequence in sequences {
            let tokens: Vec<Box<[u8]>> = sequence.bytes().map(|byte| Box::from([byte])).collect();
            repeats.write(&tokens, &mut writer);
        }
        let (mut history, mut reader) = (History::new(), Reader::new(&writer.bytes));
        for sequence in sequences {
            let read = history.read(sequence.len(), &mut reader, |reader| reader.byte()).unwrap();
            let read: Vec<u8> = read.copied().collect();
            assert_eq!(String::from_utf8_lossy(&read), **sequence);
        }
        assert!(reader.is_at_end());
        writer.bytes.len()
    }

    #[test]
    fn sequences_are_read_as_they_were_written() {
        check(&["", "a", "aaaaaaaa", "abababab", "abcabcabd", "dcba", "abcabcabd"]);
        check(&["mississippi", "mississippi", "ssi"]);
    }

    #[test]
    fn what_stood_before_takes_two_numbers() {
        let once = check(&["mississippi"]);
        assert_eq!(check(&["mississippi", "mississippi"]), once + 2);
        // A run: the token, then one repetition.
        assert_eq!(check(&["aaaaaaaaaaaaaaaaaaaaaaaa"]), 4);
    }

    #[test]
    fn damage_is_an_error() {
        let read = |bytes: &[u8]| -> Result<Vec<u8>, UnpackError> {
            let mut history = History::new();
            let tokens = history.read(3, &mut Reader::new(bytes), |reader| reader.byte())?;
            Ok(tokens.copied().collect())
        };
        assert_eq!(read(&[0, b'a', 2, 1]).unwrap(), b"aaa");
        assert!(read(&[1, 1]).is_err(), "nothing before the first");
        assert!(read(&[0, b'a', 2, 0]).is_err(), "itself");
        assert!(read(&[0, b'a', 3, 1]).is_err(), "too many");
        assert!(read(&[0, b'a']).is_err(), "too few");
    }
}
