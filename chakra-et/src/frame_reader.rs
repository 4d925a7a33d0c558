//! Reads messages from a stream.

use std::io::{self, Read};

use crate::frame::{FrameProblem, split_message};

/// The buffer is small at first, as many traces are, and grows up to this as long as blocks fill it; beyond it
/// only for a message that does not fit.
const BLOCK: usize = 256 << 10;
const FIRST_BLOCK: usize = 8 << 10;

/// Reads messages one by one, holding a block of the input.
#[derive(Debug)]
pub(crate) struct FrameReader<R> {
    input: R,
    buffer: Vec<u8>,
    /// The part of the buffer that is read but not used.
    begin: usize,
    end: usize,
    /// Size of the message before `begin`.
    length: usize,
    /// Where `begin` is in the input.
    offset: u64,
    at_end: bool,
}

/// Why [`FrameReader::next`] failed.
#[derive(Debug)]
pub(crate) enum StreamError {
    Io(io::Error),
    Frame(FrameProblem),
}

impl<R: Read> FrameReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), begin: 0, end: 0, length: 0, offset: 0, at_end: false }
    }

    /// Where the next message begins; after an error, where the broken one began.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next message, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, StreamError> {
        let (length, used) = loop {
            let available = &self.buffer[self.begin..self.end];
            if available.is_empty() {
                if self.at_end {
                    return Ok(None);
                }
            } else {
                match split_message(available) {
                    Ok((message, used)) => break (message.len(), used),
                    // More input may help.
                    Err(FrameProblem::TruncatedLength | FrameProblem::TruncatedMessage { .. })
                        if !self.at_end => {}
                    Err(problem) => return Err(StreamError::Frame(problem)),
                }
            }
            self.fill().map_err(StreamError::Io)?;
        };
        self.begin += used;
        self.offset += used as u64;
        self.length = length;
        Ok(Some(self.present()))
    }

    /// The message that [`FrameReader::next`] gave last.
    pub(crate) fn present(&self) -> &[u8] {
        &self.buffer[self.begin - self.length..self.begin]
    }

    /// Passes over messages without bytes. How many they were, and whether the input ends with them.
    pub(crate) fn skip_empty(&mut self) -> Result<(u64, bool), StreamError> {
        let mut skipped = 0;
        loop {
            let available = &self.buffer[self.begin..self.end];
            let zeros = available.iter().take_while(|&&byte| byte == 0).count();
            let more = zeros < available.len();
            self.begin += zeros;
            self.length = 0;
            self.offset += zeros as u64;
            skipped += zeros as u64;
            if more || self.at_end {
                return Ok((skipped, !more));
            }
            self.fill().map_err(StreamError::Io)?;
        }
    }

    /// Reads another part of the input. The buffer grows only when it is full of input: an announced length
    /// alone must not cost memory.
    fn fill(&mut self) -> io::Result<()> {
        if self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
            self.length = 0;
        }
        let size = self.buffer.len();
        if self.end == size {
            self.buffer.resize((2 * size).max(FIRST_BLOCK), 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => {
                    self.end += count;
                    // A block that the input fills may be larger the next time.
                    if self.end == self.buffer.len() && self.end < BLOCK {
                        self.buffer.resize(2 * self.end, 0);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte a time, as a pipe may.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }

    #[test]
    fn messages_do_not_depend_on_how_the_input_arrives() {
        let mut file = Vec::new();
        let sizes = [3_usize, 0, 127, 128, 20_000, 1, 700_000, 5];
        for (at, &size) in sizes.iter().enumerate() {
            prost::encoding::encode_varint(size as u64, &mut file);
            file.extend(std::iter::repeat_n(at as u8 + 1, size));
        }
        let mut whole = FrameReader::new(&file[..]);
        let mut trickle = FrameReader::new(Trickle(&file));
        for (at, &size) in sizes.iter().enumerate() {
            let expected = vec![at as u8 + 1; size];
            assert!(whole.next().unwrap() == Some(&expected));
            assert!(trickle.next().unwrap() == Some(&expected));
            assert_eq!(whole.offset(), trickle.offset());
        }
        assert!(whole.next().unwrap().is_none() && trickle.next().unwrap().is_none());
        assert_eq!(whole.offset(), file.len() as u64);
    }

    #[test]
    fn empty_messages_are_counted() {
        let mut reader = FrameReader::new(Trickle(&[0, 0, 1, 9, 0, 0, 0]));
        assert_eq!(reader.skip_empty().unwrap(), (2, false));
        assert_eq!(reader.next().unwrap(), Some(&[9][..]));
        assert_eq!(reader.skip_empty().unwrap(), (3, true));
        assert_eq!(reader.next().unwrap(), None);
        assert_eq!(reader.offset(), 7);
    }
}
