//! Reads one file message by message.

use std::io::{BufReader, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;
use prost::Message;

use crate::error::{FileError, Place, Problem};
use crate::frame::{FrameReader, StreamError};
use crate::proto::{GlobalMetadata, Node};
use crate::schema;

/// Reads one file: the metadata at once, then node by node, so that memory does not grow with the file.
///
/// gzip data is recognised by its first bytes. After an error there are no more nodes. Nodes are
/// decoded, but not judged: for what they mean see [`crate::view`].
///
/// ```
/// use chakra_et::{NodeReader, RankWriter, metadata, proto::Node};
///
/// let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
/// writer.node(&Node { id: 4, ..Node::default() })?;
/// let file = writer.finish();
///
/// let reader = NodeReader::new(&file[..])?;
/// assert_eq!(reader.metadata().version, "0.0.4");
/// for node in reader {
///     assert_eq!(node?.node.id, 4);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NodeReader<R: Read> {
    frames: Frames<R>,
    metadata: GlobalMetadata,
    /// Nodes read so far.
    index: u64,
    failed: bool,
}

/// A node and where it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadNode {
    /// Offset, index and id.
    pub place: Place,
    /// The node as it is in the file.
    pub node: Node,
}

impl<R: Read> NodeReader<R> {
    /// Opens the input and reads the metadata.
    ///
    /// # Errors
    /// If the input is empty, of an older schema or no trace at all.
    pub fn new(input: R) -> Result<Self, FileError> {
        let mut frames = Frames::open(input)?;
        let place = frames.place();
        let Some(first) = frames.next()? else { return Err(fail(place, Problem::Empty)) };
        let metadata = match schema::metadata(first, &[]) {
            Ok(metadata) => metadata,
            // The first node of an old file may look like one of today; the second may tell.
            Err(Problem::NoMetadata) => {
                let first = first.to_vec();
                let second = frames.next().ok().flatten().unwrap_or(&[]);
                schema::metadata(&first, second).map_err(|problem| fail(place, problem))?
            }
            Err(problem) => return Err(fail(place, problem)),
        };
        Ok(Self { frames, metadata, index: 0, failed: false })
    }

    /// The metadata.
    #[must_use]
    pub fn metadata(&self) -> &GlobalMetadata {
        &self.metadata
    }

    fn read(&mut self) -> Result<Option<ReadNode>, FileError> {
        let mut place = Place { index: Some(self.index), ..self.frames.place() };
        let message = match self.frames.next() {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(None),
            Err(error) => return Err(fail(place, error.problem)),
        };
        if self.index == 0 {
            schema::check_first_node(message).map_err(|problem| fail(place, problem))?;
        }
        let node =
            Node::decode(message).map_err(|source| fail(place, Problem::Decode { what: "Node", source }))?;
        place.id = Some(node.id);
        self.index += 1;
        Ok(Some(ReadNode { place, node }))
    }
}

impl<R: Read> Iterator for NodeReader<R> {
    type Item = Result<ReadNode, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let node = self.read().transpose();
        self.failed = !matches!(node, Some(Ok(_)));
        node
    }
}

fn fail(place: Place, problem: Problem) -> FileError {
    FileError { place, problem }
}

/// The two bytes that were looked at, then the rest.
type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// The messages of a plain or compressed input.
#[derive(Debug)]
enum Frames<R: Read> {
    Plain(FrameReader<BufReader<Peeked<R>>>),
    // Boxed as the state of the decoder is large.
    Gzip(Box<FrameReader<BufReader<MultiGzDecoder<Peeked<R>>>>>),
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BUFFER: usize = 64 << 10;

impl<R: Read> Frames<R> {
    fn open(mut input: R) -> Result<Self, FileError> {
        let mut start = Vec::new();
        let looked = input.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start);
        looked.map_err(|error| fail(Place::default(), Problem::Io(error)))?;
        let gzip = start == GZIP_MAGIC;
        let input = Cursor::new(start).chain(input);
        Ok(if gzip {
            let input = BufReader::with_capacity(BUFFER, MultiGzDecoder::new(input));
            Self::Gzip(Box::new(FrameReader::new(input)))
        } else {
            Self::Plain(FrameReader::new(BufReader::with_capacity(BUFFER, input)))
        })
    }

    /// Where the next message begins.
    fn place(&self) -> Place {
        let (offset, decompressed) = match self {
            Self::Plain(frames) => (frames.offset(), false),
            Self::Gzip(frames) => (frames.offset(), true),
        };
        Place { offset, decompressed, ..Place::default() }
    }

    fn next(&mut self) -> Result<Option<&[u8]>, FileError> {
        let place = self.place();
        let next = match self {
            Self::Plain(frames) => frames.next(),
            Self::Gzip(frames) => frames.next(),
        };
        next.map_err(|error| match error {
            StreamError::Io(error) => fail(place, Problem::Io(error)),
            StreamError::Frame(problem) => fail(place, Problem::Frame(problem)),
        })
    }
}
