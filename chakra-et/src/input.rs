//! The bytes of a file, decompressed where they are gzip data.

use std::io::{self, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;

/// The two bytes that were looked at, then the rest.
type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// A plain or compressed input.
#[derive(Debug)]
pub(crate) enum Source<R: Read> {
    Plain(Peeked<R>),
    // Boxed as the state of the decoder is large.
    Gzip(Box<MultiGzDecoder<Peeked<R>>>),
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

impl<R: Read> Source<R> {
    /// Looks at the first bytes.
    pub(crate) fn open(mut input: R) -> io::Result<Self> {
        let mut start = Vec::new();
        input.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start)?;
        let gzip = start == GZIP_MAGIC;
        let input = Cursor::new(start).chain(input);
        Ok(if gzip { Self::Gzip(Box::new(MultiGzDecoder::new(input))) } else { Self::Plain(input) })
    }

    pub(crate) fn is_gzip(&self) -> bool {
        matches!(self, Self::Gzip(_))
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(input) => input.read(buffer),
            Self::Gzip(input) => input.read(buffer),
        }
    }
}
