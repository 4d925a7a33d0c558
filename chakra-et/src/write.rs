//! Writes the file of one rank.

use prost::Message;
use thiserror::Error;

use crate::encode;
use crate::node_reader::{NodeReader, ReadNode};
use crate::proto::{GlobalMetadata, Node};

/// A message cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The metadata are empty. Some readers take a message without bytes for the end of the file.
    #[error("empty metadata would be a message of length 0, which some readers take for the end of the file")]
    EmptyMetadata,
    /// A node has id 0 and nothing else. Some readers take a message without bytes for the end of the file.
    #[error(
        "node {index} has nothing but id 0: that would be a message of length 0, which some readers take for \
         the end of the file"
    )]
    EmptyNode {
        /// The position of the node in the file, counted from 0.
        index: u64,
    },
    /// A message is longer than its length can say.
    #[error("the message of {bytes} bytes is longer than a length of 32 bits can say")]
    TooLong {
        /// Its size.
        bytes: usize,
    },
}

/// Collects the metadata and the nodes of one rank as the bytes of its file.
///
/// The bytes are canonical: fields in ascending order, dependences packed, defaults omitted. Whether the
/// nodes make sense is not checked.
///
/// ```
/// use chakra_et::{RankWriter, graph::{Op, Origin}, graph_from_bytes, metadata, view};
///
/// let recv = Op::Recv { src: 0, tag: 0, bytes: 512 };
/// let mut writer = RankWriter::new(&metadata::write(None, &[])?)?;
/// writer.node(&view::node(0, "COMM_RECV_NODE", recv, vec![], Origin::default())?)?;
/// let graph = graph_from_bytes(&[writer.finish()])?;
/// assert_eq!(graph.rank(0).ops(), [recv]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RankWriter {
    bytes: Vec<u8>,
    nodes: u64,
    /// Room for a node while it is encoded.
    message: Vec<u8>,
}

impl RankWriter {
    /// Begins a file with its metadata.
    ///
    /// # Errors
    /// If the metadata are empty.
    pub fn new(metadata: &GlobalMetadata) -> Result<Self, EncodeError> {
        let mut writer = Self::empty();
        writer.raw(&metadata.encode_to_vec(), EncodeError::EmptyMetadata)?;
        Ok(writer)
    }

    /// Nothing yet, not even metadata.
    fn empty() -> Self {
        Self { bytes: Vec::new(), nodes: 0, message: Vec::new() }
    }

    /// Adds a node.
    ///
    /// # Errors
    /// If it has nothing but id 0; it is then not added.
    pub fn node(&mut self, node: &Node) -> Result<(), EncodeError> {
        let mut message = std::mem::take(&mut self.message);
        message.clear();
        encode::node(node, &mut message);
        let added = self.raw(&message, EncodeError::EmptyNode { index: self.nodes });
        self.message = message;
        self.nodes += u64::from(added.is_ok());
        added
    }

    /// Begins a copy of the file that `reader` reads, with its metadata byte by byte as they are.
    ///
    /// ```
    /// use chakra_et::{NodeReader, RankWriter};
    ///
    /// // Metadata {version "0.0.4"}, then a node {id 1, an unknown field 2046}.
    /// let file = b"\x07\x0a\x050.0.4\x06\x08\x01\xf2\x7f\x01?";
    /// let mut reader = NodeReader::new(&file[..])?;
    /// let mut copy = RankWriter::copying(&reader)?;
    /// for node in &mut reader {
    ///     copy.copy(&node?)?;
    /// }
    /// assert_eq!(copy.finish(), file);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the metadata are empty.
    pub fn copying<R: std::io::Read>(reader: &NodeReader<R>) -> Result<Self, EncodeError> {
        let mut writer = Self::empty();
        match reader.metadata_wire().bytes() {
            Some(bytes) => writer.raw(bytes, EncodeError::EmptyMetadata)?,
            None => writer.raw(&reader.metadata().encode_to_vec(), EncodeError::EmptyMetadata)?,
        }
        Ok(writer)
    }

    /// Adds a node as it was read: byte by byte the same if [`ReadNode::node`] was not changed; otherwise
    /// canonical, with the fields that are not known after those that are. Those of an attribute stay with the
    /// attribute of the same name, and go with it.
    ///
    /// # Errors
    /// If it has nothing but id 0; it is then not added.
    pub fn copy(&mut self, read: &ReadNode) -> Result<(), EncodeError> {
        match read.encoding() {
            None => self.node(&read.node),
            Some(bytes) => {
                self.raw(&bytes, EncodeError::EmptyNode { index: self.nodes })?;
                self.nodes += 1;
                Ok(())
            }
        }
    }

    fn raw(&mut self, message: &[u8], empty: EncodeError) -> Result<(), EncodeError> {
        let bytes = message.len();
        if bytes == 0 {
            return Err(empty);
        }
        let length = u32::try_from(bytes).map_err(|_| EncodeError::TooLong { bytes })?;
        prost::encoding::encode_varint(length.into(), &mut self.bytes);
        self.bytes.extend_from_slice(message);
        Ok(())
    }

    /// The bytes of the file.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{attr, metadata};

    #[test]
    fn a_message_without_bytes_is_refused() {
        assert_eq!(RankWriter::new(&GlobalMetadata::default()).err(), Some(EncodeError::EmptyMetadata));
        let metadata = metadata::write(None, &[]).unwrap();
        let mut writer = RankWriter::new(&metadata).unwrap();
        writer.node(&Node { id: 1, ..Node::default() }).unwrap();
        let before = writer.bytes.clone();
        assert_eq!(writer.node(&Node::default()), Err(EncodeError::EmptyNode { index: 1 }));
        assert_eq!(writer.finish(), before);
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let metadata = GlobalMetadata { version: "0.0.4".into(), attr: vec![] };
        let mut writer = RankWriter::new(&metadata).unwrap();
        let attr = vec![attr::bool("b", false), attr::int32("t", 0), attr::int64("s", 300)];
        let node = Node { name: "n".into(), r#type: 5, data_deps: vec![3, 1], attr, ..Node::default() };
        writer.node(&node).unwrap();
        // By hand from the field numbers. A zero in an arm is stored, a zero in a plain field (id) is not.
        let expected = [
            &[7, 0x0a, 5][..],
            b"0.0.4",
            &[32, 0x12, 1, b'n', 0x18, 5, 0x2a, 2, 3, 1],
            &[0x52, 6, 0x0a, 1, b'b', 0xd8, 1, 0],
            &[0x52, 5, 0x0a, 1, b't', 0x38, 0],
            &[0x52, 6, 0x0a, 1, b's', 0x48, 0xac, 2],
        ];
        assert_eq!(writer.finish(), expected.concat());
    }
}
