//! Tells today's schema from those that came before it.
//!
//! No file states its schema reliably, and the older ones decode as today's with fields of another
//! meaning, so the fields themselves have to tell:
//!
//! | schema | how it is known |
//! |---|---|
//! | 0.0.1 | no metadata; proto2, so that an id 0 is stored; all attributes are fields, up to number 20 |
//! | 0.0.2, 0.0.3 | no metadata at first; attributes in field 11, with their type in field 2 |
//! | later 0.0.3 | metadata with such attributes in field 1, where the version is today |
//! | draft of 0.0.4 | metadata with today's attributes, but in field 1 |

use prost::Message;

use crate::error::Problem;
use crate::proto::GlobalMetadata;
use crate::wire::{self, Field, Value};

/// The only older schema that is read.
pub(crate) const V0_0_1: &str = "0.0.1";

/// Decodes the first message of a file, or says what it is instead. `second` is the message after it.
pub(crate) fn metadata(first: &[u8], second: &[u8]) -> Result<GlobalMetadata, Problem> {
    if is_node(first) {
        return Err(match old_node(first).or_else(|| old_node(second)) {
            Some(version) => Problem::OldSchema { version, evidence: "no metadata message comes first" },
            None => Problem::NoMetadata,
        });
    }
    let evidence = "its metadata holds an attribute where the version belongs";
    // Of a version that is stated several times the last counts; so it must here, or what is read would not be
    // read again once it is written.
    let version = wire::fields(first).filter(|field| field.number == 1).last();
    if let Some(Value::Bytes(attr @ [0x0a, ..])) = version.and_then(|field| field.value) {
        let typed = matches!(field(attr, 2), Some(Value::Varint(_)));
        let version = if typed { "0.0.3" } else { "a draft of 0.0.4" };
        return Err(Problem::OldSchema { version, evidence });
    }
    GlobalMetadata::decode(first).map_err(|source| Problem::Decode { what: "GlobalMetadata", source })
}

/// The first node of a file whose metadata raised no doubt (that of the later 0.0.3 may be empty).
pub(crate) fn check_first_node(node: &[u8]) -> Result<(), Problem> {
    let evidence = "its first node has attributes in field 11";
    match field(node, 11) {
        Some(Value::Bytes([0x0a, ..])) => {
            Err(Problem::OldSchema { version: attribute_version(node), evidence })
        }
        _ => Ok(()),
    }
}

/// Whether the message where the metadata belongs is a node.
fn is_node(message: &[u8]) -> bool {
    let Some(first) = wire::fields(message).next() else { return false };
    match (first.number, first.value) {
        (1, Some(Value::Varint(_))) => true,
        // A node with id 0 begins with its name, which, unlike an attribute, does not begin with a field.
        (2, Some(Value::Bytes(name))) => {
            !name.starts_with(&[0x0a]) && matches!(field(message, 3), Some(Value::Varint(_)))
        }
        _ => false,
    }
}

/// The schema of a node that is older than 0.0.4; `None` if nothing speaks against today's.
fn old_node(node: &[u8]) -> Option<&'static str> {
    if matches!(field(node, 11), Some(Value::Bytes(_))) {
        return Some(attribute_version(node));
    }
    let flat = |field: Field<'_>| match field.number {
        8 | 9 | 11 => matches!(field.value, Some(Value::Varint(_))),
        12..=20 => true,
        _ => false,
    };
    if wire::fields(node).any(flat) {
        return Some(V0_0_1);
    }
    // Today's writers omit an id 0 and pack dependences; both is otherwise in proto2.
    let proto2 = field(node, 1) == Some(Value::Varint(0)) || matches!(field(node, 4), Some(Value::Varint(_)));
    // A run time in field 7 was there in 0.0.1 only: then came attributes.
    match (proto2, field(node, 7)) {
        (false, _) => None,
        (true, Some(Value::Varint(_))) => Some(V0_0_1),
        (true, _) => Some("0.0.1 to 0.0.3"),
    }
}

/// 0.0.2 or 0.0.3, by the fields of the first attribute that differ between them.
fn attribute_version(node: &[u8]) -> &'static str {
    for attr in wire::fields(node).filter(|field| field.number == 11) {
        let Some(Value::Bytes(attr)) = attr.value else { continue };
        for Field { number, value, .. } in wire::fields(attr) {
            match (number, value) {
                (4, Some(Value::Fixed32(_))) | (5, Some(Value::Varint(_))) => return "0.0.2",
                (4 | 6, Some(Value::Varint(_))) | (5, Some(Value::Fixed32(_))) => return "0.0.3",
                (7, _) => return "0.0.3",
                _ => {}
            }
        }
    }
    "0.0.2 or 0.0.3"
}

/// The first value of a field.
fn field(message: &[u8], number: u32) -> Option<Value<'_>> {
    wire::fields(message).find(|field| field.number == number).and_then(|field| field.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attr;
    use crate::proto::{Node, NodeType};

    fn verdict(first: &[u8], second: &[u8]) -> String {
        match metadata(first, second).and_then(|_| check_first_node(second)) {
            Ok(()) => "today's".into(),
            Err(problem) => problem.to_string(),
        }
    }

    #[test]
    fn an_empty_first_message_is_empty_metadata() {
        assert_eq!(verdict(&[], &[]), "today's");
    }

    #[test]
    fn metadata_without_version_but_with_attributes_is_todays() {
        let metadata = GlobalMetadata {
            version: String::new(),
            attr: vec![attr::string("schema", "1.0.2-chakra.0.0.4")],
        };
        assert_eq!(verdict(&metadata.encode_to_vec(), &[]), "today's");
    }

    #[test]
    fn a_node_of_today_in_the_first_place_is_missing_metadata() {
        for id in [0, 7] {
            let mut node = Node { id, name: "COMP_NODE".into(), ..Node::default() };
            node.set_type(NodeType::CompNode);
            assert!(
                verdict(&node.encode_to_vec(), &[]).starts_with("the first message is a node"),
                "id {id}"
            );
        }
    }

    #[test]
    fn a_flat_node_is_of_0_0_1() {
        // id 0, name "N", node_type 3, simulated_run_time 5: nothing that today's schema could not have
        // but for the stored 0.
        let first = [0x08, 0, 0x12, 1, b'N', 0x18, 3, 0x38, 5];
        assert!(verdict(&first, &[]).starts_with("looks like schema 0.0.1: no metadata"));
        // id 3, comm_type 1 (field 13) in the second node.
        let first = [0x08, 3, 0x12, 1, b'N', 0x18, 3];
        let second = [0x08, 4, 0x68, 1];
        assert!(verdict(&first, &second).starts_with("looks like schema 0.0.1: no metadata"));
    }

    #[test]
    fn attributes_in_field_11_are_of_0_0_2_or_0_0_3() {
        // An attribute {name "a", type 1, field 5: varint} was an integer in 0.0.2, {.., field 6} in 0.0.3.
        let node = |number: u8| [0x08, 1, 0x5a, 7, 0x0a, 1, b'a', 0x10, 1, number << 3, 9];
        assert!(verdict(&node(5), &[]).starts_with("looks like schema 0.0.2: "));
        assert!(verdict(&node(6), &[]).starts_with("looks like schema 0.0.3: "));
        assert!(verdict(&[], &node(6)).starts_with("looks like schema 0.0.3: its first node"));
    }

    #[test]
    fn metadata_with_an_attribute_in_field_1_is_of_0_0_3_or_the_draft_after_it() {
        // {1: {name "a", type 3}} and {1: {name "a", string_val (29) "b"}}.
        let typed = [0x0a, 5, 0x0a, 1, b'a', 0x10, 3];
        let draft = [0x0a, 7, 0x0a, 1, b'a', 0xea, 1, 1, b'b'];
        assert!(verdict(&typed, &[]).starts_with("looks like schema 0.0.3: its metadata"));
        assert!(verdict(&draft, &[]).starts_with("looks like schema a draft of 0.0.4: its metadata"));
    }

    #[test]
    fn of_several_versions_the_last_counts() {
        assert_eq!(verdict(&[0x0a, 2, 0x0a, 0, 0x0a, 1, b'1'], &[]), "today's");
        assert!(verdict(&[0x0a, 0, 0x0a, 2, 0x0a, 0], &[]).contains("a draft of 0.0.4"));
    }

    #[test]
    fn text_is_no_trace() {
        assert!(verdict(b"hello world, this is text", b"x").contains("does not decode as a GlobalMetadata"));
    }
}
