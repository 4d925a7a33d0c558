//! Decodes nodes as the graph needs them: by hand, without allocation, and strictly.
//!
//! What is plainly right is taken from the bytes of a message directly. Everything else, broken or merely
//! unusual, is [`Unclear`] here and left to prost and [`crate::view`], whose errors are therefore the only
//! ones. So a mistake here could at worst accept what they refuse; the tests compare the two.

use crate::attr::AttrError;
use crate::figures::{Figure, Figures};
use crate::wire::Cursor;

/// The message has to be looked at in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unclear;

impl From<AttrError> for Unclear {
    fn from(_: AttrError) -> Self {
        Self
    }
}

/// What the graph needs of a node. One value serves for all nodes in turn.
#[derive(Debug, Default)]
pub(crate) struct HotNode {
    pub(crate) id: u64,
    pub(crate) node_type: i32,
    pub(crate) micros: u64,
    /// Dependences of both kinds by id, as they come.
    pub(crate) deps: Vec<u64>,
    pub(crate) slots: Slots,
    /// Whether the node has something to warn of: an attribute without value or twice.
    pub(crate) odd_attr: bool,
}

/// The attributes with a meaning, the first of each name.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    values: [u64; Figure::COUNT],
    /// Which are there: a bit each.
    present: u16,
    /// Which of those are no non-negative integers.
    unfit: u16,
}

impl Slots {
    fn bit(figure: Figure) -> u16 {
        1 << figure as u16
    }
}

impl Figures for Slots {
    type Error = Unclear;

    #[inline]
    fn find(&self, figure: Figure) -> Result<Option<u64>, Unclear> {
        match () {
            () if self.present & Self::bit(figure) == 0 => Ok(None),
            () if self.unfit & Self::bit(figure) != 0 => Err(Unclear),
            () => Ok(Some(self.values[figure as usize])),
        }
    }

    #[inline]
    fn find_u32(&self, figure: Figure) -> Result<Option<u32>, Unclear> {
        self.find(figure)?.map(u32::try_from).transpose().map_err(|_| Unclear)
    }

    #[inline]
    fn has(&self, figure: Figure) -> bool {
        self.present & Self::bit(figure) != 0
    }
}

/// What an attribute holds: as far as the graph cares an integer or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held<'a> {
    Nothing,
    Integer(u64),
    Negative(i64),
    Bool(bool),
    Text(&'a str),
    /// A list: the number of its arm, and its message.
    List(u64, &'a [u8]),
    Other,
}

/// A key on the wire: the number of a field and how its value is stored.
const fn key(number: u64, wire_type: u64) -> u64 {
    number << 3 | wire_type
}
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

impl HotNode {
    /// Decodes a message, replacing what was there. With `names`, repeated attributes are looked for.
    pub(crate) fn decode(&mut self, message: &[u8], names: bool) -> Result<(), Unclear> {
        self.id = 0;
        self.node_type = 0;
        self.micros = 0;
        self.deps.clear();
        self.slots.present = 0;
        self.slots.unfit = 0;
        self.odd_attr = false;
        self.read(message, names).ok_or(Unclear)
    }

    fn read(&mut self, message: &[u8], names: bool) -> Option<()> {
        let mut cursor = Cursor::new(message);
        let mut seen = Names::default();
        while !cursor.is_empty() {
            let key = cursor.varint()?;
            match key {
                0x08 => self.id = cursor.varint()?,
                0x12 => utf8(cursor.bytes()?)?,
                // Truncated as the format has it for an int32.
                0x18 => self.node_type = cursor.varint()? as i32,
                0x20 | 0x28 => self.deps.push(cursor.varint()?),
                0x22 | 0x2a => {
                    let mut packed = Cursor::new(cursor.bytes()?);
                    while !packed.is_empty() {
                        self.deps.push(packed.varint()?);
                    }
                }
                0x30 => drop(cursor.varint()?),
                0x38 => self.micros = cursor.varint()?,
                0x42 | 0x4a => io_info(cursor.bytes()?)?,
                0x52 => {
                    let (name, held) = attribute(cursor.bytes()?)?;
                    self.odd_attr |= matches!(held, Held::Nothing);
                    match Figure::from_name(name) {
                        Some(figure) => self.keep(figure, held),
                        None => {
                            utf8(name)?;
                            if names {
                                self.odd_attr |= seen.repeats(name);
                            }
                        }
                    }
                }
                _ if key >> 3 <= 10 => return None,
                _ => cursor.skip(key)?,
            }
        }
        Some(())
    }

    #[inline]
    fn keep(&mut self, figure: Figure, held: Held<'_>) {
        let slots = &mut self.slots;
        let bit = Slots::bit(figure);
        if slots.present & bit != 0 {
            self.odd_attr = true;
            return;
        }
        slots.present |= bit;
        match held {
            Held::Integer(value) => slots.values[figure as usize] = value,
            _ => slots.unfit |= bit,
        }
    }
}

#[inline]
fn utf8(bytes: &[u8]) -> Option<()> {
    text(bytes).map(drop)
}

#[inline]
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn io_info(message: &[u8]) -> Option<()> {
    let mut cursor = Cursor::new(message);
    while !cursor.is_empty() {
        match cursor.varint()? {
            0x0a | 0x12 | 0x1a => utf8(cursor.bytes()?)?,
            key if key >> 3 <= 3 => return None,
            key => cursor.skip(key)?,
        }
    }
    Some(())
}

/// Name, whose encoding is still to be checked, and value of an attribute.
#[inline]
pub(crate) fn attribute(message: &[u8]) -> Option<(&[u8], Held<'_>)> {
    let mut cursor = Cursor::new(message);
    let mut name: &[u8] = &[];
    let mut held = Held::Nothing;
    let signed = |value: i64| u64::try_from(value).map_or(Held::Negative(value), Held::Integer);
    while !cursor.is_empty() {
        let next = cursor.varint()?;
        held = match next {
            0x0a => {
                // Of several names the last counts, but all must be text.
                utf8(name)?;
                name = cursor.bytes()?;
                continue;
            }
            0x12 => {
                utf8(cursor.bytes()?)?;
                continue;
            }
            _ if next == key(3, FIXED64) => cursor.fixed64().map(|_| Held::Other)?,
            _ if next == key(5, FIXED32) => cursor.fixed32().map(|_| Held::Other)?,
            _ if next == key(7, VARINT) => signed((cursor.varint()? as i32).into()),
            _ if next == key(9, VARINT) => signed(cursor.varint()? as i64),
            _ if next == key(11, VARINT) => Held::Integer((cursor.varint()? as u32).into()),
            _ if next == key(13, VARINT) => Held::Integer(cursor.varint()?),
            _ if next == key(15, VARINT) => signed(zigzag((cursor.varint()? as u32).into())),
            _ if next == key(17, VARINT) => signed(zigzag(cursor.varint()?)),
            _ if next == key(19, FIXED32) => Held::Integer(cursor.fixed32()?.into()),
            _ if next == key(21, FIXED64) => Held::Integer(cursor.fixed64()?),
            _ if next == key(23, FIXED32) => signed((cursor.fixed32()? as i32).into()),
            _ if next == key(25, FIXED64) => signed(cursor.fixed64()? as i64),
            _ if next == key(27, VARINT) => cursor.varint().map(|value| Held::Bool(value != 0))?,
            _ if next == key(29, BYTES) => text(cursor.bytes()?).map(Held::Text)?,
            _ if next == key(31, BYTES) => cursor.bytes().map(|_| Held::Other)?,
            _ if next & 7 == BYTES && matches!(next >> 3, 4..=32) && next >> 3 & 1 == 0 => {
                let bytes = cursor.bytes()?;
                list(next >> 3, bytes).map(|()| Held::List(next >> 3, bytes))?
            }
            _ if next >> 3 <= 32 => return None,
            _ => {
                cursor.skip(next)?;
                continue;
            }
        };
    }
    Some((name, held))
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Checks the list in the arm with this number.
fn list(arm: u64, message: &[u8]) -> Option<()> {
    let element = match arm {
        4 | 22 | 26 => FIXED64,
        6 | 20 | 24 => FIXED32,
        30 | 32 => BYTES,
        _ => VARINT,
    };
    let mut cursor = Cursor::new(message);
    while !cursor.is_empty() {
        let next = cursor.varint()?;
        match next {
            _ if next == key(1, BYTES) => {
                let bytes = cursor.bytes()?;
                match element {
                    BYTES if arm == 30 => utf8(bytes)?,
                    BYTES => {}
                    FIXED64 => bytes.len().is_multiple_of(8).then_some(())?,
                    FIXED32 => bytes.len().is_multiple_of(4).then_some(())?,
                    _ => {
                        let mut packed = Cursor::new(bytes);
                        while !packed.is_empty() {
                            packed.varint()?;
                        }
                    }
                }
            }
            _ if next == key(1, element) => cursor.skip(next)?,
            _ if next >> 3 <= 1 => return None,
            _ => cursor.skip(next)?,
        }
    }
    Some(())
}

/// Nodes with more attributes than this are left to the thorough way when repeated names are looked for.
const MOST_NAMES: usize = 24;

/// The names of the attributes of a node so far, to find those that occur twice.
struct Names<'a> {
    names: [&'a [u8]; MOST_NAMES],
    count: usize,
    /// A bit for each of 64 kinds of names: most nodes are done without comparing names.
    kinds: u64,
}

impl Default for Names<'_> {
    fn default() -> Self {
        Self { names: [&[]; MOST_NAMES], count: 0, kinds: 0 }
    }
}

impl<'a> Names<'a> {
    /// Whether the name was there before, or that cannot be told.
    fn repeats(&mut self, name: &'a [u8]) -> bool {
        let last = name.last().copied().unwrap_or(0);
        let middle = name.get(name.len() / 2).copied().unwrap_or(0);
        let kind = 1 << ((usize::from(last) * 7 + usize::from(middle) * 3 + name.len()) % 64);
        if self.kinds & kind != 0 && self.names[..self.count].contains(&name) {
            return true;
        }
        self.kinds |= kind;
        if self.count == MOST_NAMES {
            return true;
        }
        self.names[self.count] = name;
        self.count += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::*;
    use crate::proto::attribute_proto::Value;
    use crate::proto::*;
    use crate::{attr, view};

    /// Compares the two ways: whatever is accepted here must be accepted there, and be the same.
    fn check(message: &[u8]) -> bool {
        let mut hot = HotNode { id: 77, deps: vec![3], ..HotNode::default() };
        let accepted = hot.decode(message, true).is_ok();
        let reference = Node::decode(message);
        let Ok(node) = reference else {
            assert!(!accepted, "accepted what does not decode: {message:02x?}");
            return false;
        };
        if !accepted {
            return false;
        }
        assert_eq!((hot.id, hot.node_type, hot.micros), (node.id, node.r#type, node.duration_micros));
        let sorted = |mut deps: Vec<u64>| {
            deps.sort_unstable();
            deps
        };
        assert_eq!(sorted(hot.deps.clone()), sorted([&node.data_deps[..], &node.ctrl_deps].concat()));
        let op = crate::figures::op(hot.node_type, hot.micros, &hot.slots, Some(4096));
        assert_eq!(op, view::op(&node, Some(4096)).map_err(Unclear::from));
        assert_eq!(crate::figures::origin(&hot.slots), view::origin(&node));
        true
    }

    fn every_arm() -> Vec<Value> {
        vec![
            Value::DoubleVal(1.5),
            Value::DoubleList(DoubleList { values: vec![1.5, 2.5] }),
            Value::FloatVal(1.5),
            Value::FloatList(FloatList { values: vec![1.5, 2.5] }),
            Value::Int32Val(-7),
            Value::Int32List(Int32List { values: vec![-7, 300] }),
            Value::Int64Val(-7),
            Value::Int64List(Int64List { values: vec![-7, 300] }),
            Value::Uint32Val(7),
            Value::Uint32List(Uint32List { values: vec![7, 300] }),
            Value::Uint64Val(u64::MAX),
            Value::Uint64List(Uint64List { values: vec![7, u64::MAX] }),
            Value::Sint32Val(-7),
            Value::Sint32List(Sint32List { values: vec![-7, 300] }),
            Value::Sint64Val(7),
            Value::Sint64List(Sint64List { values: vec![-7, 300] }),
            Value::Fixed32Val(7),
            Value::Fixed32List(Fixed32List { values: vec![7, 300] }),
            Value::Fixed64Val(7),
            Value::Fixed64List(Fixed64List { values: vec![7, 300] }),
            Value::Sfixed32Val(-7),
            Value::Sfixed32List(Sfixed32List { values: vec![-7, 300] }),
            Value::Sfixed64Val(7),
            Value::Sfixed64List(Sfixed64List { values: vec![-7, 300] }),
            Value::BoolVal(true),
            Value::BoolList(BoolList { values: vec![true, false] }),
            Value::StringVal("text ü".into()),
            Value::StringList(StringList { values: vec!["a".into(), String::new()] }),
            Value::BytesVal(vec![0xff]),
            Value::BytesList(BytesList { values: vec![vec![0xff], vec![]] }),
        ]
    }

    fn node_of(values: Vec<(String, Option<Value>)>, node_type: i32, deps: Vec<u64>) -> Node {
        let attribute = |(name, value)| AttributeProto { name, doc_string: String::new(), value };
        Node {
            id: 3,
            name: "name".into(),
            r#type: node_type,
            ctrl_deps: deps.iter().take(2).copied().collect(),
            data_deps: deps,
            duration_micros: 9,
            inputs: Some(IoInfo { values: "[1]".into(), ..IoInfo::default() }),
            attr: values.into_iter().map(attribute).collect(),
            ..Node::default()
        }
    }

    const NAMES: [&str; 16] = [
        "comm_dst",
        "comm_src",
        "comm_tag",
        "comm_size",
        "comm_type",
        "num_ops",
        "tensor_size",
        "msg_chunk_cnt",
        "total_chunk_cnt",
        "tb_id",
        "local_time_step",
        "source_line",
        "source_file",
        "x",
        "",
        "ü",
    ];

    #[test]
    fn every_arm_of_every_attribute_is_read_as_the_reference_reads_it() {
        for value in every_arm() {
            for name in NAMES {
                for node_type in 0..9 {
                    let mut values: Vec<_> =
                        NAMES.iter().map(|&name| (name.to_owned(), Some(Value::Uint64Val(1)))).collect();
                    values.insert(0, (name.to_owned(), Some(value.clone())));
                    check(&node_of(values, node_type, vec![1]).encode_to_vec());
                }
            }
        }
    }

    #[test]
    fn names_that_occur_twice_and_missing_values_are_noticed() {
        let odd = |attrs: Vec<AttributeProto>| {
            let mut hot = HotNode::default();
            hot.decode(&Node { attr: attrs, ..Node::default() }.encode_to_vec(), true).unwrap();
            hot.odd_attr
        };
        assert!(!odd(vec![attr::int32("tb_id", 1), attr::int32("x", 1), attr::int32("y", 1)]));
        assert!(odd(vec![attr::int32("tb_id", 1), attr::int32("tb_id", 1)]));
        assert!(odd(vec![attr::int32("x", 1), attr::int32("y", 1), attr::int32("x", 1)]));
        assert!(odd(vec![AttributeProto { name: "x".into(), ..AttributeProto::default() }]));
        let many = |count: u32| (0..count).map(|i| attr::int32(&format!("attribute {i}"), 1)).collect();
        assert!(!odd(many(24)));
        assert!(odd(many(25)), "it is not clear");
    }

    fn attrs() -> impl Strategy<Value = Vec<(String, Option<Value>)>> {
        let name = proptest::sample::select(NAMES.to_vec()).prop_map(str::to_owned);
        let integer = (0..3000_i64).prop_map(Value::Int64Val);
        let value = prop_oneof![integer, proptest::sample::select(every_arm())];
        proptest::collection::vec((name, proptest::option::weighted(0.95, value)), 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn sound_nodes_are_clear(values in attrs(), node_type in -1..9, deps in proptest::collection::vec(any::<u64>(), 0..5)) {
            prop_assert!(check(&node_of(values, node_type, deps).encode_to_vec()));
        }

        #[test]
        fn damaged_nodes_are_never_accepted_otherwise_than_by_the_reference(
            values in attrs(),
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = node_of(values, 5, vec![1, 300]).encode_to_vec();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            check(&bytes);
            check(&bytes[..cut.index(bytes.len())]);
        }

        #[test]
        fn random_bytes_are_never_accepted_otherwise_than_by_the_reference(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0..12_u8, Just(0x52), Just(0x0a)], 0..60)) {
            check(&bytes);
        }
    }
}
