//! Encodes nodes: the bytes are those that prost gives, in about half the time.
//!
//! prost works out the length of every attribute twice, once for the node's length and once for its own. Here
//! an attribute is written behind a byte for its length, which is filled in afterwards.

use prost::Message;
use prost::encoding::encode_varint;

use crate::proto::attribute_proto::Value;
use crate::proto::{AttributeProto, Node};

/// Adds the fields of a node to `bytes`.
pub(crate) fn node(node: &Node, bytes: &mut Vec<u8>) {
    integer(0x08, node.id, bytes);
    text(0x12, &node.name, bytes);
    // Negative values are sign-extended, as the format has it.
    integer(0x18, i64::from(node.r#type) as u64, bytes);
    packed(0x22, &node.ctrl_deps, bytes);
    packed(0x2a, &node.data_deps, bytes);
    integer(0x30, node.start_time_micros, bytes);
    integer(0x38, node.duration_micros, bytes);
    for (key, info) in [(0x42, &node.inputs), (0x4a, &node.outputs)] {
        if let Some(info) = info {
            bytes.push(key);
            encode_varint(info.encoded_len() as u64, bytes);
            info.encode_raw(bytes);
        }
    }
    for attr in &node.attr {
        attribute(attr, bytes);
    }
}

/// An integer, unless it is the default.
fn integer(key: u8, value: u64, bytes: &mut Vec<u8>) {
    if value != 0 {
        bytes.push(key);
        encode_varint(value, bytes);
    }
}

/// A text, unless it is the default.
fn text(key: u8, value: &str, bytes: &mut Vec<u8>) {
    if !value.is_empty() {
        bytes.push(key);
        encode_varint(value.len() as u64, bytes);
        bytes.extend_from_slice(value.as_bytes());
    }
}

fn packed(key: u8, values: &[u64], bytes: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    bytes.push(key);
    let length: usize = values.iter().map(|&value| prost::encoding::encoded_len_varint(value)).sum();
    encode_varint(length as u64, bytes);
    for &value in values {
        encode_varint(value, bytes);
    }
}

fn attribute(attr: &AttributeProto, bytes: &mut Vec<u8>) {
    bytes.push(0x52);
    let begin = bytes.len();
    bytes.push(0);
    text(0x0a, &attr.name, bytes);
    text(0x12, &attr.doc_string, bytes);
    match &attr.value {
        // What nearly all attributes are; in an arm a zero is stored as well.
        Some(Value::Int32Val(value)) => {
            bytes.push(0x38);
            encode_varint(i64::from(*value) as u64, bytes);
        }
        Some(Value::Int64Val(value)) => {
            bytes.push(0x48);
            encode_varint(*value as u64, bytes);
        }
        Some(Value::Uint64Val(value)) => {
            bytes.push(0x68);
            encode_varint(*value, bytes);
        }
        Some(Value::BoolVal(value)) => bytes.extend_from_slice(&[0xd8, 0x01, u8::from(*value)]),
        Some(Value::StringVal(value)) => {
            bytes.extend_from_slice(&[0xea, 0x01]);
            encode_varint(value.len() as u64, bytes);
            bytes.extend_from_slice(value.as_bytes());
        }
        Some(value) => value.encode(bytes),
        None => {}
    }
    let length = bytes.len() - begin - 1;
    match u8::try_from(length) {
        Ok(length @ 0..0x80) => bytes[begin] = length,
        // One byte will not do.
        _ => {
            bytes.truncate(begin);
            encode_varint(length as u64, bytes);
            attr.encode_raw(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proto::{Fixed32List, Int32List, IoInfo};

    fn any_value() -> impl Strategy<Value = Option<Value>> {
        let values = prop_oneof![
            any::<i32>().prop_map(Value::Int32Val),
            any::<i64>().prop_map(Value::Int64Val),
            any::<u32>().prop_map(Value::Uint32Val),
            any::<u64>().prop_map(Value::Uint64Val),
            any::<bool>().prop_map(Value::BoolVal),
            ".{0,8}".prop_map(Value::StringVal),
            "[a-z]{110,140}".prop_map(Value::StringVal),
            any::<f64>().prop_map(Value::DoubleVal),
            any::<i64>().prop_map(Value::Sint64Val),
            proptest::collection::vec(any::<i32>(), 0..40)
                .prop_map(|values| Value::Int32List(Int32List { values })),
            proptest::collection::vec(any::<u32>(), 0..3)
                .prop_map(|values| Value::Fixed32List(Fixed32List { values })),
        ];
        proptest::option::weighted(0.9, values)
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_of_prost(
            (id, times) in (any::<u64>(), (0..3_u64, any::<u64>())),
            (name, r#type) in (".{0,6}", prop_oneof![0..9, any::<i32>()]),
            deps in proptest::collection::vec(any::<u64>(), 0..5),
            io in proptest::option::of(("[a-z]{0,3}", "[a-z]{0,200}")),
            attrs in proptest::collection::vec(("[a-z]{0,9}", prop_oneof![Just(String::new()), ".{1,3}"], any_value()), 0..6),
        ) {
            let io = io.map(|(values, shapes)| IoInfo { values, shapes, types: String::new() });
            let attr = attrs.into_iter().map(|(name, doc_string, value)| AttributeProto { name, doc_string, value });
            let made = Node {
                id,
                name,
                r#type,
                ctrl_deps: deps.iter().take(1).copied().collect(),
                data_deps: deps,
                start_time_micros: times.0,
                duration_micros: times.1,
                outputs: io.clone().filter(|_| id % 2 == 0),
                inputs: io,
                attr: attr.collect(),
            };
            let mut bytes = Vec::new();
            node(&made, &mut bytes);
            prop_assert_eq!(bytes, made.encode_to_vec());
        }
    }
}
