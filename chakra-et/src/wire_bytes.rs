//! What the decoded form of a message does not hold.
//!
//! prost drops the fields that it does not know, and with them the order and the manner in which the others
//! were written. So where encoding a message would not give the same bytes, the bytes are kept. That is rare:
//! what known writers produce is canonical.

use prost::Message;

use crate::encode;
use crate::proto::Node;
use crate::wire::{self, Value};

/// The bytes of a message that was read, where encoding its decoded form does not give them back.
///
/// ```
/// use chakra_et::{FieldOf, NodeReader};
///
/// // Metadata {version "0.0.4"}, then a node {id 1, an unknown field 2046: "?"}.
/// let mut reader = NodeReader::new(&b"\x07\x0a\x050.0.4\x06\x08\x01\xf2\x7f\x01?"[..])?;
/// let read = reader.next().expect("there is a node")?;
/// assert!(!read.wire.is_canonical());
/// let unknown = read.wire.unknown_node_fields();
/// assert_eq!((unknown[0].of, unknown[0].number), (FieldOf::Node, 2046));
/// # Ok::<(), chakra_et::FileError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireBytes(Option<Box<[u8]>>);

/// The message within a node that an [`UnknownField`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldOf {
    /// The node itself.
    Node,
    /// Its attribute at that position: also a kind of value that the format does not define is such a field.
    Attr(usize),
    /// Its inputs.
    Inputs,
    /// Its outputs.
    Outputs,
}

/// A field that the format does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownField<'a> {
    /// What it is a field of.
    pub of: FieldOf,
    /// Its number.
    pub number: u32,
    /// Key and value as they are in the file.
    pub bytes: &'a [u8],
}

impl WireBytes {
    pub(crate) fn of(message: &impl Message, bytes: &[u8]) -> Self {
        let same = message.encoded_len() == bytes.len() && message.encode_to_vec() == bytes;
        Self((!same).then(|| bytes.into()))
    }

    /// As [`WireBytes::of`] for a node, quicker; `room` is where it is encoded.
    pub(crate) fn of_node(node: &Node, bytes: &[u8], room: &mut Vec<u8>) -> Self {
        room.clear();
        encode::node(node, room);
        Self((room != bytes).then(|| bytes.into()))
    }

    /// Whether encoding the decoded message gives the bytes that were read.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.0.is_none()
    }

    /// The bytes, unless the message [is canonical](Self::is_canonical).
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    /// The unknown fields of a node and its parts, in the order in which they are in the file.
    #[must_use]
    pub fn unknown_node_fields(&self) -> Vec<UnknownField<'_>> {
        let mut unknown = Vec::new();
        let mut attrs = 0;
        for field in self.bytes().into_iter().flat_map(wire::fields) {
            let (of, known) = match field.number {
                8 => (FieldOf::Inputs, 3),
                9 => (FieldOf::Outputs, 3),
                10 => {
                    attrs += 1;
                    (FieldOf::Attr(attrs - 1), 32)
                }
                1..=7 => continue,
                number => {
                    unknown.push(UnknownField { of: FieldOf::Node, number, bytes: field.raw });
                    continue;
                }
            };
            let Some(Value::Bytes(part)) = field.value else { continue };
            for field in wire::fields(part).filter(|field| field.number > known) {
                unknown.push(UnknownField { of, number: field.number, bytes: field.raw });
            }
        }
        unknown
    }

    /// The bytes for a node that was read with these bytes and may have been changed since; `None` if its
    /// canonical encoding will do.
    pub(crate) fn encode_node(&self, node: &Node) -> Option<Vec<u8>> {
        let bytes = self.bytes()?;
        let before = Node::decode(bytes).ok()?;
        let encoded = node.encode_to_vec();
        // Not the messages are compared but their bytes, as a NaN is not equal to itself.
        if before.encode_to_vec() == encoded {
            return Some(bytes.to_owned());
        }
        let unknown = self.unknown_node_fields();
        // All but the parts as usual, then the parts one by one: fields in another order mean the same, and
        // parts have the highest numbers.
        let rest = Node { inputs: None, outputs: None, attr: Vec::new(), ..node.clone() };
        let mut encoded = rest.encode_to_vec();
        let mut part = |number: u32, mut bytes: Vec<u8>, of: FieldOf| {
            bytes.extend(bytes_of(&unknown, of));
            prost::encoding::encode_key(number, prost::encoding::WireType::LengthDelimited, &mut encoded);
            prost::encoding::encode_varint(bytes.len() as u64, &mut encoded);
            encoded.extend(bytes);
        };
        if let Some(inputs) = &node.inputs {
            part(8, inputs.encode_to_vec(), FieldOf::Inputs);
        }
        if let Some(outputs) = &node.outputs {
            part(9, outputs.encode_to_vec(), FieldOf::Outputs);
        }
        let mut used = vec![false; before.attr.len()];
        for attr in &node.attr {
            // Of several attributes with one name, the first now was the first then.
            let was = before.attr.iter().zip(&used).position(|(old, used)| !used && old.name == attr.name);
            if let Some(was) = was {
                used[was] = true;
            }
            part(10, attr.encode_to_vec(), FieldOf::Attr(was.unwrap_or(usize::MAX)));
        }
        encoded.extend(bytes_of(&unknown, FieldOf::Node));
        Some(encoded)
    }
}

/// The bytes of the unknown fields of a part.
fn bytes_of<'a>(unknown: &'a [UnknownField<'a>], part: FieldOf) -> impl Iterator<Item = u8> + 'a {
    unknown.iter().filter(move |field| field.of == part).flat_map(|field| field.bytes.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attr;
    use crate::proto::IoInfo;

    /// A node with an unknown field in each part.
    fn strange() -> (Node, Vec<u8>) {
        let unknown = [0xf2, 0x7f, 2, b'a', b'b'];
        let part = |number: u32, message: Vec<u8>, bytes: &mut Vec<u8>| {
            let message = [&message[..], &unknown].concat();
            prost::encoding::encode_key(number, prost::encoding::WireType::LengthDelimited, bytes);
            prost::encoding::encode_varint(message.len() as u64, bytes);
            bytes.extend(message);
        };
        let mut bytes = unknown.to_vec();
        bytes.extend([0x18, 42, 0x08, 7, 0x28, 3, 0x28, 1]);
        let info = IoInfo { values: "v".into(), ..IoInfo::default() };
        part(9, info.encode_to_vec(), &mut bytes);
        part(8, info.encode_to_vec(), &mut bytes);
        part(10, attr::int32("x", 1).encode_to_vec(), &mut bytes);
        part(10, attr::int32("y", 2).encode_to_vec(), &mut bytes);
        // An attribute with a kind of value that is not defined: field 33.
        bytes.extend([0x52, 6, 0x0a, 1, b'z', 0x88, 2, 9]);
        (Node::decode(&bytes[..]).unwrap(), bytes)
    }

    #[test]
    fn a_canonical_node_needs_no_bytes() {
        let node = Node { id: 1, attr: vec![attr::int32("x", 0)], ..Node::default() };
        assert!(WireBytes::of(&node, &node.encode_to_vec()).is_canonical());
    }

    #[test]
    fn an_unchanged_node_has_the_same_bytes() {
        let (node, bytes) = strange();
        let wire = WireBytes::of(&node, &bytes);
        assert_eq!(wire.encode_node(&node).as_deref(), Some(&bytes[..]));
        let of: Vec<FieldOf> = wire.unknown_node_fields().iter().map(|field| field.of).collect();
        assert_eq!(
            of,
            [
                FieldOf::Node,
                FieldOf::Outputs,
                FieldOf::Inputs,
                FieldOf::Attr(0),
                FieldOf::Attr(1),
                FieldOf::Attr(2)
            ]
        );
    }

    #[test]
    fn a_changed_node_keeps_what_is_not_known() {
        let (node, bytes) = strange();
        let wire = WireBytes::of(&node, &bytes);
        let mut changed = node.clone();
        changed.id = 8;
        changed.attr.remove(0);
        changed.attr.insert(0, attr::int32("new", 5));
        let again = wire.encode_node(&changed).unwrap();
        assert_eq!(Node::decode(&again[..]).unwrap(), changed);
        let kept = WireBytes::of(&changed, &again);
        let of: Vec<FieldOf> = kept.unknown_node_fields().iter().map(|field| field.of).collect();
        assert_eq!(
            of,
            [FieldOf::Inputs, FieldOf::Outputs, FieldOf::Attr(1), FieldOf::Attr(2), FieldOf::Node]
        );
    }
}
