//! Reads one file node by node.

use std::io::Read;

use prost::Message;

use crate::error::{FileError, Place, Problem};
use crate::messages::{Messages, Schema, fail};
use crate::old;
use crate::proto::{GlobalMetadata, Node};
use crate::warning::Warning;
use crate::wire_bytes::WireBytes;

/// Reads one file: the metadata at once, then node by node, so that memory does not grow with the file.
///
/// gzip data is recognised by its first bytes, and files of schema 0.0.1 are converted. After an error there
/// are no more nodes. Nodes are decoded, but not judged: for what they mean see [`crate::view`]. Nothing is
/// lost: what [`ReadNode::node`] does not hold is in [`ReadNode::wire`], and
/// [`RankWriter::copy`](crate::RankWriter::copy) writes it again.
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
    messages: Messages<R>,
    failed: bool,
    /// Room for a node while it is encoded again.
    room: Vec<u8>,
}

/// A node and where it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadNode {
    /// Offset, index and id.
    pub place: Place,
    /// The node as it is in the file.
    pub node: Node,
    /// What is in the file beyond that: unknown fields, an unusual order.
    pub wire: WireBytes,
}

impl ReadNode {
    /// The bytes of the message, if they are not the canonical ones of the node.
    pub(crate) fn encoding(&self) -> Option<Vec<u8>> {
        self.wire.encode_node(&self.node)
    }
}

impl<R: Read> NodeReader<R> {
    /// Opens the input and reads the metadata.
    ///
    /// # Errors
    /// If the input is empty, of a schema that is not read or no trace at all.
    pub fn new(input: R) -> Result<Self, FileError> {
        Ok(Self { messages: Messages::open(input)?, failed: false, room: Vec::new() })
    }

    /// The metadata.
    #[must_use]
    pub fn metadata(&self) -> &GlobalMetadata {
        self.messages.metadata()
    }

    /// What the metadata do not hold of their bytes.
    #[must_use]
    pub fn metadata_wire(&self) -> &WireBytes {
        self.messages.metadata_bytes()
    }

    /// What there is to warn of in the part that has been read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.messages.warnings.list()
    }

    fn read(&mut self) -> Result<Option<ReadNode>, FileError> {
        let schema = self.messages.schema();
        let Some((mut place, message)) = self.messages.next()? else { return Ok(None) };
        let decoded = decode(schema, &message);
        let node = decoded.map_err(|problem| fail(place, problem))?;
        let wire = match schema {
            Schema::Current => WireBytes::of_node(&node, &message, &mut self.room),
            Schema::V0_0_1 => WireBytes::default(),
        };
        place.id = Some(node.id);
        self.messages.decoded(node.id);
        self.messages.warnings.node(place, &node);
        Ok(Some(ReadNode { place, node, wire }))
    }
}

/// Decodes a node in the thorough way.
pub(crate) fn decode(schema: Schema, message: &[u8]) -> Result<Node, Problem> {
    match schema {
        Schema::Current => Node::decode(message).map_err(|source| Problem::Decode { what: "Node", source }),
        Schema::V0_0_1 => old::node(message),
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
