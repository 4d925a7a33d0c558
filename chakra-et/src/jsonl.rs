//! Traces as lines of protobuf JSON, to look at, compare and edit: first the metadata, then one node a line.
//!
//! The conventions are those of protobuf's JSON: names in camel case, 64-bit integers as strings, enum values by
//! name, bytes in base64, defaults left out. Each line is one JSON object, as `chakra_jsonizer` prints them one
//! after another. Fields that the format does not define are kept in base64 under the key `@unknownFields` of
//! the message that has them. Reading is tolerant as protobuf's JSON asks: names in either spelling, integers as
//! numbers or strings, enum values as names or numbers.
//!
//! A canonical file comes back byte by byte the same; of any other, everything but the way in which its fields were
//! ordered and packed.
//!
//! ```
//! use chakra_et::{NodeReader, RankWriter, attr, jsonl, metadata, proto::Node};
//!
//! let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
//! writer.node(&Node { id: 4, r#type: 7, attr: vec![attr::int64("comm_size", 1 << 60)], ..Node::default() })?;
//! let file = writer.finish();
//!
//! let mut lines = Vec::new();
//! jsonl::write(&mut NodeReader::new(&file[..])?, &mut lines)?;
//! let text = String::from_utf8(lines)?;
//! assert_eq!(
//!     text.lines().nth(1),
//!     Some(r#"{"id":"4","type":"COMM_COLL_NODE","attr":[{"name":"comm_size","int64Val":"1152921504606846976"}]}"#)
//! );
//! assert_eq!(jsonl::read(text.as_bytes())?, file);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parse;
mod print;

use std::io::{self, BufRead, Read, Write};

use thiserror::Error;

use crate::error::FileError;
use crate::node_reader::{NodeReader, ReadNode};

/// The key of fields that the format does not define.
const UNKNOWN: &str = "@unknownFields";

/// Lines cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JsonlError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] FileError),
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is not what it should be.
    #[error("line {line}: {message}")]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong, with the path to it within the object.
        message: String,
    },
    /// There is no line.
    #[error("there are no lines; the first must be the metadata, such as {{\"version\":\"0.0.4\"}}")]
    Empty,
}

/// Writes all that a reader gives as lines.
///
/// # Errors
/// If the trace cannot be read on, or the lines cannot be written.
pub fn write<R: Read>(reader: &mut NodeReader<R>, out: &mut impl Write) -> Result<(), JsonlError> {
    let mut line = print::metadata(reader.metadata(), reader.metadata_wire());
    loop {
        line.push('\n');
        out.write_all(line.as_bytes())?;
        match reader.next() {
            Some(node) => line = node_line(&node?),
            None => return Ok(()),
        }
    }
}

/// One node as a line, without the line's end.
#[must_use]
pub fn node_line(read: &ReadNode) -> String {
    print::node(&read.node, &read.wire)
}

/// Reads lines into the bytes of a file.
///
/// # Errors
/// If a line is no metadata or node, or would be a message without bytes; the error names the line and the field.
pub fn read(input: impl BufRead) -> Result<Vec<u8>, JsonlError> {
    let mut bytes = Vec::new();
    let mut messages = 0;
    for (line, number) in input.lines().zip(1..) {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let fail = |message: String| JsonlError::Line { line: number, message };
        let value = serde_json::from_str(&line).map_err(|error| fail(error.to_string()))?;
        let parsed = if messages == 0 { parse::metadata(&value) } else { parse::node(&value) };
        let message = parsed.map_err(fail)?;
        if message.is_empty() {
            let message =
                "it would be a message of length 0, which some readers take for the end of the file";
            return Err(fail(message.to_owned()));
        }
        let length = u32::try_from(message.len())
            .map_err(|_| fail("the message is longer than a length of 32 bits can say".to_owned()))?;
        prost::encoding::encode_varint(length.into(), &mut bytes);
        bytes.extend(message);
        messages += 1;
    }
    if messages == 0 { Err(JsonlError::Empty) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests;
