//! The messages of one file: the metadata, then node by node, whatever the nodes are then decoded into.

use std::borrow::Cow;
use std::io::Read;

use crate::error::{FileError, Place, Problem};
use crate::frame_reader::{FrameReader, StreamError};
use crate::input::Source;
use crate::metadata;
use crate::old;
use crate::proto::GlobalMetadata;
use crate::schema;
use crate::warning::{WarningKind, Warnings};
use crate::wire_bytes::WireBytes;

/// The schema of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    /// 0.0.4, also called 1.0.0.
    Current,
    /// 0.0.1, whose nodes are converted.
    V0_0_1,
}

/// The nodes of a file as messages.
///
/// A message without bytes is a node with id 0, as the format has it. But some writers end a file with zero
/// bytes, so when id 0 is taken, those at the end are ignored.
#[derive(Debug)]
pub(crate) struct Messages<R: Read> {
    frames: FrameReader<Source<R>>,
    decompressed: bool,
    schema: Schema,
    metadata: GlobalMetadata,
    metadata_bytes: WireBytes,
    pub(crate) warnings: Warnings,
    /// The first messages of a file without metadata: nodes that were looked at already.
    early: std::vec::IntoIter<(Place, Vec<u8>)>,
    /// Nodes so far.
    index: u64,
    id_0_taken: bool,
    /// Messages without bytes that were passed over but are nodes.
    empty: u64,
}

/// The message of a node: where it is, and its bytes.
pub(crate) type Message<'a> = (Place, Cow<'a, [u8]>);

impl<R: Read> Messages<R> {
    pub(crate) fn open(input: R) -> Result<Self, FileError> {
        let source = Source::open(input).map_err(|error| fail(Place::default(), Problem::Io(error)))?;
        let decompressed = source.is_gzip();
        let mut messages = Self {
            frames: FrameReader::new(source),
            decompressed,
            schema: Schema::Current,
            metadata: GlobalMetadata::default(),
            metadata_bytes: WireBytes::default(),
            warnings: Warnings::default(),
            early: Vec::new().into_iter(),
            index: 0,
            id_0_taken: false,
            empty: 0,
        };
        if decompressed {
            messages.warnings.add(None, WarningKind::Gzip);
        }
        messages.read_metadata()?;
        Ok(messages)
    }

    fn read_metadata(&mut self) -> Result<(), FileError> {
        let place = self.place();
        let Some(first) = self.frame()? else { return Err(fail(place, Problem::Empty)) };
        match schema::metadata(first, &[]) {
            Ok(metadata) => {
                self.metadata_bytes = WireBytes::of(&metadata, first);
                self.metadata = metadata;
                self.warn_of_metadata(place);
                Ok(())
            }
            // The first node of an old file may look like one of today; the second may tell.
            Err(Problem::NoMetadata | Problem::OldSchema { .. }) => {
                let first = first.to_vec();
                let second_place = self.place();
                let second = self.frame().ok().flatten().map(<[u8]>::to_vec);
                match schema::metadata(&first, second.as_deref().unwrap_or(&[])) {
                    Err(Problem::OldSchema { version: schema::V0_0_1, .. }) => {
                        self.begin_old(place, first, second.map(|second| (second_place, second)));
                        Ok(())
                    }
                    Err(problem) => Err(fail(place, problem)),
                    // Only the evidence against a file grows with the second message.
                    Ok(_) => Err(fail(place, Problem::NoMetadata)),
                }
            }
            Err(problem) => Err(fail(place, problem)),
        }
    }

    fn begin_old(&mut self, place: Place, first: Vec<u8>, second: Option<(Place, Vec<u8>)>) {
        self.schema = Schema::V0_0_1;
        self.metadata = old::metadata();
        self.warnings.add(None, WarningKind::Converted { from: schema::V0_0_1 });
        let mut early = vec![(place, first)];
        early.extend(second);
        self.early = early.into_iter();
    }

    fn warn_of_metadata(&mut self, place: Place) {
        let version = &self.metadata.version;
        let kind = if self.metadata == GlobalMetadata::default() && self.metadata_bytes.is_canonical() {
            WarningKind::EmptyMetadata
        } else if metadata::is_known(&self.metadata) {
            return;
        } else {
            WarningKind::UnknownVersion { version: version.clone() }
        };
        self.warnings.add(Some(place), kind);
    }

    pub(crate) fn metadata(&self) -> &GlobalMetadata {
        &self.metadata
    }

    pub(crate) fn metadata_bytes(&self) -> &WireBytes {
        &self.metadata_bytes
    }

    pub(crate) fn schema(&self) -> Schema {
        self.schema
    }

    /// The next node, or `None` at the end. Its id is to be given to [`Messages::decoded`].
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Message<'_>>, FileError> {
        let mut place = Place { index: Some(self.index), ..self.place() };
        if self.empty > 0 {
            // They take a byte each, and the frames are behind them.
            place.offset -= self.empty;
            self.empty -= 1;
            self.warnings.add(Some(Place { id: Some(0), ..place }), WarningKind::EmptyNode);
            return Ok(Some((place, Cow::Borrowed(&[]))));
        }
        if self.index < 2
            && let Some((early, message)) = self.early.next()
        {
            return Ok(Some((Place { index: place.index, ..early }, Cow::Owned(message))));
        }
        // The frame is looked at through its length first, as the borrow checker does not see that it is
        // returned from one branch only.
        match self.frames.next().map(|message| message.map(<[u8]>::len)) {
            Ok(None) => {
                if self.index == 0 {
                    self.warnings.add(None, WarningKind::NoNodes);
                }
                Ok(None)
            }
            Ok(Some(0)) => self.empty_message(place),
            Ok(Some(_)) => {
                let message = self.frames.present();
                if self.index == 0 && self.schema == Schema::Current {
                    schema::check_first_node(message).map_err(|problem| fail(place, problem))?;
                }
                Ok(Some((place, Cow::Borrowed(message))))
            }
            Err(error) => Err(fail(place, problem(error))),
        }
    }

    fn empty_message(&mut self, place: Place) -> Result<Option<Message<'_>>, FileError> {
        if self.id_0_taken {
            let (more, at_end) = self.frames.skip_empty().map_err(|error| fail(place, problem(error)))?;
            if at_end {
                let place = Place { index: None, ..place };
                self.warnings.add(Some(place), WarningKind::TrailingZeros { count: more + 1 });
                return Ok(None);
            }
            self.empty = more;
        }
        self.warnings.add(Some(Place { id: Some(0), ..place }), WarningKind::EmptyNode);
        Ok(Some((place, Cow::Borrowed(&[]))))
    }

    /// The node was decoded and has this id.
    #[inline]
    pub(crate) fn decoded(&mut self, id: u64) {
        self.index += 1;
        self.id_0_taken |= id == 0;
    }

    /// Where the next message begins.
    fn place(&self) -> Place {
        Place { offset: self.frames.offset(), decompressed: self.decompressed, ..Place::default() }
    }

    fn frame(&mut self) -> Result<Option<&[u8]>, FileError> {
        let place = self.place();
        self.frames.next().map_err(|error| fail(place, problem(error)))
    }
}

fn problem(error: StreamError) -> Problem {
    match error {
        StreamError::Io(error) => Problem::Io(error),
        StreamError::Frame(problem) => Problem::Frame(problem),
    }
}

pub(crate) fn fail(place: Place, problem: Problem) -> FileError {
    FileError { place, problem }
}
