//! What a node states beside its operation: name, group, root, stream, memory.
//!
//! As for operations there are two ways: from the bytes of a message, where all is plain, and from the decoded node,
//! whose errors are the only ones. A test compares the two.

use std::borrow::Cow;

use super::CollectiveKind;
use crate::attr::{self, AttrError};
use crate::graph::Op;
use crate::hot::{self, Held, Unclear};
use crate::proto::attribute_proto::Value;
use crate::proto::{Node, NodeType};
use crate::wire::Cursor;

/// The values of `tensor_loc`, as schema 0.0.1 defined them (`MemoryType`); today's leaves it open.
pub(super) const LOCAL_MEMORY: u32 = 1;
pub(super) const REMOTE_MEMORY: u32 = 2;

/// What a node states beside its operation; only what belongs to its operation, else the default.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Stated<'a> {
    pub(super) name: Cow<'a, str>,
    /// Of a collective the group, unless it is on all ranks.
    pub(super) group: Option<Cow<'a, str>>,
    /// Of a collective that has one, the position of the root.
    pub(super) root: u32,
    /// Of a computation.
    pub(super) on_cpu: bool,
    /// Of a computation the stream or thread, 0 if it states none.
    pub(super) stream: Option<i128>,
    /// Of a load or store.
    pub(super) remote: bool,
    /// Whether a collective leaves out dimensions of the network.
    pub(super) partial: bool,
}

/// The name of a group, unless it stands for all ranks.
fn group(name: Cow<'_, str>) -> Option<Cow<'_, str>> {
    (!name.is_empty() && name != "0").then_some(name)
}

fn has_root(kind: u32) -> bool {
    CollectiveKind::from_wire(kind).is_some_and(CollectiveKind::has_root)
}

/// Attributes with a meaning here, the first of each name.
#[derive(Default)]
struct Slots<'a> {
    pg_name: Option<Held<'a>>,
    root: Option<Held<'a>>,
    is_cpu_op: Option<Held<'a>>,
    stream: Option<Held<'a>>,
    tid: Option<Held<'a>>,
    tensor_loc: Option<Held<'a>>,
    involved_dim: Option<Held<'a>>,
}

impl<'a> Stated<'a> {
    /// Takes it from a message that [`hot::HotNode`] has accepted.
    pub(super) fn quick(message: &'a [u8], op: Op) -> Result<Self, Unclear> {
        let mut slots = Slots::default();
        let mut name = "";
        let mut cursor = Cursor::new(message);
        while !cursor.is_empty() {
            match cursor.varint().ok_or(Unclear)? {
                0x12 => {
                    let bytes = cursor.bytes().ok_or(Unclear)?;
                    name = std::str::from_utf8(bytes).map_err(|_| Unclear)?;
                }
                0x52 => {
                    let attribute = cursor.bytes().and_then(hot::attribute).ok_or(Unclear)?;
                    slots.keep(attribute);
                }
                key => cursor.skip(key).ok_or(Unclear)?,
            }
        }
        let mut stated = slots.meaning(op)?;
        stated.name = Cow::Borrowed(name);
        Ok(stated)
    }

    /// Takes it from a node.
    pub(super) fn of(node: &'a Node, op: Op) -> Result<Self, AttrError> {
        let attrs = node.attr.as_slice();
        let mut stated = Self { name: Cow::Borrowed(&node.name), ..Self::default() };
        match op {
            Op::Coll { kind, .. } => {
                stated.group = attr::find_name(attrs, "pg_name")?.and_then(group);
                if has_root(kind) {
                    stated.root = attr::find_u32(attrs, "root")?.unwrap_or(0);
                }
                let dims = attr::find(attrs, "involved_dim").and_then(|attr| attr.value.as_ref());
                stated.partial = matches!(dims, Some(Value::BoolList(list)) if list.values.contains(&false));
            }
            Op::Comp { .. } => {
                stated.on_cpu = attr::find_bool(attrs, "is_cpu_op")?.unwrap_or(false);
                let tid = || attr::find_integer(attrs, "tid");
                let stream = if stated.on_cpu { tid()? } else { attr::find_integer(attrs, "stream")? };
                // Older converters state the stream of the GPU as its thread.
                stated.stream = Some(stream.map_or_else(tid, |stream| Ok(Some(stream)))?.unwrap_or(0));
            }
            Op::Mem { .. } => {
                let expected = "1 (local memory) or 2 (remote memory)";
                let place = attr::find_at_most(attrs, "tensor_loc", REMOTE_MEMORY, expected)?;
                stated.remote = place == Some(REMOTE_MEMORY);
            }
            _ => {}
        }
        Ok(stated)
    }
}

impl<'a> Slots<'a> {
    #[inline]
    fn keep(&mut self, (name, held): (&[u8], Held<'a>)) {
        let slot = match name {
            b"pg_name" => &mut self.pg_name,
            b"root" => &mut self.root,
            b"is_cpu_op" => &mut self.is_cpu_op,
            b"stream" => &mut self.stream,
            b"tid" => &mut self.tid,
            b"tensor_loc" => &mut self.tensor_loc,
            b"involved_dim" => &mut self.involved_dim,
            _ => return,
        };
        slot.get_or_insert(held);
    }

    fn meaning(&self, op: Op) -> Result<Stated<'a>, Unclear> {
        let mut stated = Stated::default();
        match op {
            Op::Coll { kind, .. } => {
                stated.group = match self.pg_name {
                    None => None,
                    Some(Held::Text(name)) => group(Cow::Borrowed(name)),
                    Some(_) => return Err(Unclear),
                };
                if has_root(kind) {
                    stated.root = match self.root {
                        None => 0,
                        Some(Held::Integer(root)) => u32::try_from(root).map_err(|_| Unclear)?,
                        Some(_) => return Err(Unclear),
                    };
                }
                stated.partial = match self.involved_dim {
                    Some(Held::List(BOOL_LIST, message)) => has_false(message).ok_or(Unclear)?,
                    _ => false,
                };
            }
            Op::Comp { .. } => {
                stated.on_cpu = match self.is_cpu_op {
                    None | Some(Held::Bool(false) | Held::Integer(0)) => false,
                    Some(Held::Bool(true) | Held::Integer(1)) => true,
                    Some(_) => return Err(Unclear),
                };
                let own = if stated.on_cpu { self.tid } else { self.stream };
                stated.stream = Some(match own.or(self.tid) {
                    None => 0,
                    Some(Held::Integer(stream)) => stream.into(),
                    Some(Held::Negative(stream)) => stream.into(),
                    Some(_) => return Err(Unclear),
                });
            }
            Op::Mem { .. } => {
                stated.remote = match self.tensor_loc {
                    None => false,
                    Some(Held::Integer(place)) if place <= u64::from(REMOTE_MEMORY) => {
                        place == u64::from(REMOTE_MEMORY)
                    }
                    Some(_) => return Err(Unclear),
                };
            }
            _ => {}
        }
        Ok(stated)
    }
}

/// The arm `bool_list`.
const BOOL_LIST: u64 = 28;

fn has_false(message: &[u8]) -> Option<bool> {
    let mut cursor = Cursor::new(message);
    let mut found = false;
    while !cursor.is_empty() {
        match cursor.varint()? {
            0x08 => found |= cursor.varint()? == 0,
            0x0a => {
                let mut packed = Cursor::new(cursor.bytes()?);
                while !packed.is_empty() {
                    found |= packed.varint()? == 0;
                }
            }
            key => cursor.skip(key)?,
        }
    }
    Some(found)
}

/// Whether a node is not the collective that its type says, but the operation on the CPU that launches it: so older
/// converters of PyTorch's traces write those.
pub(super) fn is_host_side(node: &Node) -> bool {
    node.r#type == NodeType::CommCollNode as i32
        && ["comm_type", "comm_size"].iter().all(|name| attr::find(&node.attr, name).is_none())
        && attr::find_bool(&node.attr, "is_cpu_op") == Ok(Some(true))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::*;
    use crate::proto::AttributeProto;

    const NAMES: [&str; 8] =
        ["pg_name", "root", "is_cpu_op", "stream", "tid", "tensor_loc", "involved_dim", "x"];

    fn values() -> Vec<Value> {
        let list = |values: &[bool]| Value::BoolList(crate::proto::BoolList { values: values.to_vec() });
        vec![
            Value::Int32Val(-7),
            Value::Int64Val(1),
            Value::Uint64Val(u64::MAX),
            Value::Uint32Val(2),
            Value::Sint64Val(0),
            Value::Sfixed32Val(-1),
            Value::BoolVal(true),
            Value::BoolVal(false),
            Value::StringVal("7".into()),
            Value::StringVal("0".into()),
            Value::StringVal(String::new()),
            Value::DoubleVal(1.0),
            list(&[true, false]),
            list(&[true]),
        ]
    }

    fn ops() -> Vec<Op> {
        vec![
            Op::Coll { kind: 0, bytes: 1 },
            Op::Coll { kind: 5, bytes: 1 },
            Op::Comp { micros: 0, ops: 0, bytes: 0 },
            Op::Mem { store: true, bytes: 1 },
            Op::Send { dst: 0, tag: 0, bytes: 1 },
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn whatever_is_clear_is_what_the_node_says(
            attrs in proptest::collection::vec(
                (proptest::sample::select(NAMES.to_vec()), proptest::option::weighted(0.9, proptest::sample::select(values()))),
                0..8,
            ),
            op in proptest::sample::select(ops()),
        ) {
            let attr = attrs.into_iter()
                .map(|(name, value)| AttributeProto { name: name.into(), doc_string: String::new(), value })
                .collect();
            let node = Node { name: "näme".into(), data_deps: vec![1, 300], attr, ..Node::default() };
            let message = node.encode_to_vec();
            match (Stated::quick(&message, op), Stated::of(&node, op)) {
                (Ok(quick), thorough) => prop_assert_eq!(Ok(quick), thorough),
                (Err(Unclear), _) => {}
            }
        }
    }

    #[test]
    fn usual_nodes_are_clear() {
        let node = |attr| Node { name: "n".into(), attr, ..Node::default() }.encode_to_vec();
        let clear = |attr: Vec<AttributeProto>, op| Stated::quick(&node(attr), op).is_ok();
        let coll = Op::Coll { kind: 5, bytes: 1 };
        assert!(clear(
            vec![attr::string("pg_name", "5"), attr::int32("is_cpu_op", 0), attr::int32("root", 1)],
            coll
        ));
        let comp = Op::Comp { micros: 0, ops: 0, bytes: 0 };
        assert!(clear(vec![attr::bool("is_cpu_op", true), attr::int64("tid", -1)], comp));
    }

    #[test]
    fn the_thread_of_a_node_on_the_gpu_is_its_stream_where_it_states_none() {
        let comp = Op::Comp { micros: 0, ops: 0, bytes: 0 };
        let stream = |attr| Stated::of(&Node { attr, ..Node::default() }, comp).unwrap().stream.unwrap();
        assert_eq!(stream(vec![attr::int64("tid", 1), attr::int64("stream", 7)]), 7);
        assert_eq!(stream(vec![attr::int64("tid", 7)]), 7);
        let on_cpu = attr::bool("is_cpu_op", true);
        assert_eq!(stream(vec![on_cpu, attr::int64("tid", 3), attr::int64("stream", 0)]), 3);
    }

    #[test]
    fn a_place_of_memory_that_the_format_never_defined_is_an_error() {
        let load = Op::Mem { store: false, bytes: 1 };
        let of = |place| {
            let node = Node { attr: vec![attr::uint32("tensor_loc", place)], ..Node::default() };
            Stated::of(&node, load).map(|stated| stated.remote).map_err(|error| error.to_string())
        };
        assert_eq!([of(0), of(1), of(2)], [Ok(false), Ok(false), Ok(true)]);
        assert_eq!(
            of(3).unwrap_err(),
            "attribute tensor_loc (uint32_val) is 3; 1 (local memory) or 2 (remote memory) is expected"
        );
    }
}
