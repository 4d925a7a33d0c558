//! Framing: how messages follow one another in a file.
//!
//! A file is nothing but messages, each preceded by its length as a varint of at most five bytes. There
//! is no magic number, no count and no footer, so a file that was cut between two messages is a valid,
//! shorter file; one that was cut anywhere else is an error here.
//!
//! ```
//! let file = [2, b'a', b'b', 1, b'c'];
//! let messages: Vec<_> = chakra_et::frame::frames(&file).collect::<Result<_, _>>()?;
//! assert_eq!(messages, [(0, &b"ab"[..]), (3, &b"c"[..])]);
//! # Ok::<(), chakra_et::frame::FrameError>(())
//! ```

use thiserror::Error;

/// A length takes at most this many bytes: it is a 32-bit varint.
const MAX_LENGTH_BYTES: usize = 5;

/// The framing is broken at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("byte {offset}: {problem}")]
#[non_exhaustive]
pub struct FrameError {
    /// Where the length of the broken message begins.
    pub offset: u64,
    /// What is wrong.
    pub problem: FrameProblem,
}

/// How framing can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameProblem {
    /// The input ends within a length.
    #[error("the input ends within the length of a message (is the file truncated?)")]
    TruncatedLength,
    /// A length does not fit a 32-bit varint.
    #[error("the length of a message does not fit a 32-bit varint, as the format has it")]
    LengthTooLong,
    /// The input ends within a message.
    #[error("a message of {expected} bytes is announced, but only {found} follow (is the file truncated?)")]
    TruncatedMessage {
        /// Bytes that the message should have.
        expected: u32,
        /// Bytes that are there.
        found: u64,
    },
}

/// Iterates over the messages in `bytes`, each with the byte offset of its length.
pub fn frames(bytes: &[u8]) -> Frames<'_> {
    Frames { rest: bytes, offset: 0 }
}

/// The messages in a byte slice; made by [`frames`].
///
/// After an error there is nothing more.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<(u64, &'a [u8]), FrameError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let offset = self.offset;
        let split = split_message(self.rest);
        Some(match split {
            Ok((message, used)) => {
                self.rest = &self.rest[used..];
                self.offset += used as u64;
                Ok((offset, message))
            }
            Err(problem) => {
                self.rest = &[];
                Err(FrameError { offset, problem })
            }
        })
    }
}

/// The first message of a non-empty slice, and how many bytes it takes together with its length.
pub(crate) fn split_message(bytes: &[u8]) -> Result<(&[u8], usize), FrameProblem> {
    // Most messages are shorter than 128 bytes.
    if let [len, body @ ..] = bytes
        && *len < 0x80
        && let Some(message) = body.get(..usize::from(*len))
    {
        return Ok((message, 1 + message.len()));
    }
    let mut length = Length::default();
    for (at, &byte) in bytes.iter().enumerate() {
        if let Some(expected) = length.push(byte)? {
            let body = &bytes[at + 1..];
            let message = usize::try_from(expected).ok().and_then(|len| body.get(..len));
            let message =
                message.ok_or(FrameProblem::TruncatedMessage { expected, found: body.len() as u64 })?;
            return Ok((message, at + 1 + message.len()));
        }
    }
    Err(FrameProblem::TruncatedLength)
}

/// A length that is being read.
#[derive(Default)]
struct Length {
    value: u64,
    bytes: usize,
}

impl Length {
    /// Takes the next byte; gives the length when that was the last one.
    fn push(&mut self, byte: u8) -> Result<Option<u32>, FrameProblem> {
        self.value |= u64::from(byte & 0x7f) << (7 * self.bytes);
        self.bytes += 1;
        if byte & 0x80 == 0 {
            return u32::try_from(self.value).map(Some).map_err(|_| FrameProblem::LengthTooLong);
        }
        if self.bytes == MAX_LENGTH_BYTES { Err(FrameProblem::LengthTooLong) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame_reader::{FrameReader, StreamError};

    fn first_problem(bytes: &[u8]) -> Option<(u64, FrameProblem)> {
        let sliced = frames(bytes).find_map(Result::err).map(|error| (error.offset, error.problem));
        let mut reader = FrameReader::new(bytes);
        let streamed = loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(StreamError::Frame(problem)) => break Some((reader.offset(), problem)),
                Err(StreamError::Io(error)) => panic!("a slice cannot fail: {error}"),
            }
        };
        assert_eq!(sliced, streamed, "both ways of reading must agree");
        sliced
    }

    #[test]
    fn an_empty_input_has_no_messages() {
        assert_eq!(frames(&[]).count(), 0);
        assert_eq!(first_problem(&[]), None);
    }

    #[test]
    fn a_long_message_has_a_length_of_two_bytes() {
        let mut file = vec![0xac, 0x02];
        file.extend([7; 300]);
        file.push(0);
        let sizes: Vec<_> = frames(&file).map(|frame| frame.map(|(at, m)| (at, m.len()))).collect();
        assert_eq!(sizes, [Ok((0, 300)), Ok((302, 0))]);
    }

    #[test]
    fn a_cut_length_is_an_error_at_its_offset() {
        assert_eq!(first_problem(&[1, 9, 0x80]), Some((2, FrameProblem::TruncatedLength)));
    }

    #[test]
    fn a_cut_message_is_an_error_that_says_how_much_is_missing() {
        let problem = FrameProblem::TruncatedMessage { expected: 4, found: 1 };
        assert_eq!(first_problem(&[0, 4, 9]), Some((1, problem)));
    }

    #[test]
    fn a_huge_length_is_an_error_and_no_huge_allocation() {
        let problem = FrameProblem::TruncatedMessage { expected: u32::MAX, found: 0 };
        assert_eq!(first_problem(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Some((0, problem)));
    }

    #[test]
    fn a_length_beyond_32_bits_or_five_bytes_is_an_error() {
        assert_eq!(first_problem(&[0xff, 0xff, 0xff, 0xff, 0x1f]), Some((0, FrameProblem::LengthTooLong)));
        assert_eq!(first_problem(&[0x80, 0x80, 0x80, 0x80, 0x80, 0]), Some((0, FrameProblem::LengthTooLong)));
    }

    #[test]
    fn nothing_follows_an_error() {
        assert_eq!(frames(&[4, 1]).count(), 1);
    }
}
