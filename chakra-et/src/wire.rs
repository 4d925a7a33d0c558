//! The wire format beneath the messages: keys, varints and the fields of a message.
//!
//! What is broken ends a walk with `None`: that a message is broken, and how, is for prost to say.

/// Bytes that are being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

/// The value of a field, as far as the wire shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    /// The value; `None` if it is a group, an old kind of message.
    pub(crate) value: Option<Value<'a>>,
    /// Key and value.
    pub(crate) raw: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// A varint of at most 64 bits.
    #[inline]
    pub(crate) fn varint(&mut self) -> Option<u64> {
        match *self.rest {
            [byte, ref rest @ ..] if byte < 0x80 => {
                self.rest = rest;
                Some(byte.into())
            }
            [first, second, ref rest @ ..] if second < 0x80 => {
                self.rest = rest;
                Some(u64::from(first & 0x7f) | u64::from(second) << 7)
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for (at, &byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                // The tenth byte has room for one bit.
                return (at < 9 || byte < 2).then_some(value);
            }
        }
        None
    }

    /// The next `len` bytes.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(len)?;
        self.rest = tail;
        Some(head)
    }

    /// Bytes preceded by their length.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.varint()?;
        self.take(usize::try_from(len).ok()?)
    }

    pub(crate) fn fixed32(&mut self) -> Option<u32> {
        let (head, tail) = self.rest.split_first_chunk()?;
        self.rest = tail;
        Some(u32::from_le_bytes(*head))
    }

    pub(crate) fn fixed64(&mut self) -> Option<u64> {
        let (head, tail) = self.rest.split_first_chunk()?;
        self.rest = tail;
        Some(u64::from_le_bytes(*head))
    }

    /// Passes over the value of a field, if its key is sound and it is no group.
    pub(crate) fn skip(&mut self, key: u64) -> Option<()> {
        if key > u64::from(u32::MAX) || key >> 3 == 0 {
            return None;
        }
        self.value(key).flatten().map(drop)
    }

    /// The value that belongs to a key; `Some(None)` for the begin of a group.
    fn value(&mut self, key: u64) -> Option<Option<Value<'a>>> {
        Some(Some(match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(self.fixed64()?),
            2 => Value::Bytes(self.bytes()?),
            3 => return Some(None),
            5 => Value::Fixed32(self.fixed32()?),
            _ => return None,
        }))
    }

    /// Passes over a group up to its end.
    fn skip_group(&mut self, number: u64) -> Option<()> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            let key = self.varint()?;
            match key & 7 {
                3 => open.push(key >> 3),
                4 if key >> 3 == innermost => {
                    open.pop();
                }
                _ => self.skip(key)?,
            }
        }
        Some(())
    }
}

/// The fields of a message up to the first that is broken.
pub(crate) fn fields(message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let mut cursor = Cursor::new(message);
    std::iter::from_fn(move || {
        let before = cursor.rest;
        let key = cursor.varint()?;
        let value = cursor.value(key)?;
        if value.is_none() {
            cursor.skip_group(key >> 3)?;
        }
        let raw = &before[..before.len() - cursor.rest.len()];
        Some(Field { number: u32::try_from(key >> 3).ok()?, value, raw })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_have_at_most_64_bits() {
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 31, u64::MAX >> 1, u64::MAX] {
            let mut bytes = Vec::new();
            prost::encoding::encode_varint(value, &mut bytes);
            let mut cursor = Cursor::new(&bytes);
            assert_eq!((cursor.varint(), cursor.is_empty()), (Some(value), true));
            assert_eq!(Cursor::new(&bytes[..bytes.len() - 1]).varint(), None);
        }
        let mut too_long = [0xff; 10];
        too_long[9] = 2;
        assert_eq!(Cursor::new(&too_long).varint(), None);
        assert_eq!(Cursor::new(&[0x80; 11]).varint(), None);
    }

    #[test]
    fn a_group_is_one_field() {
        // Field 5: group {field 1: varint 7, field 5: group {}}; field 2: varint 1.
        let bytes = [0x2b, 0x08, 7, 0x2b, 0x2c, 0x2c, 0x10, 1];
        let found: Vec<_> =
            fields(&bytes).map(|field| (field.number, field.value, field.raw.len())).collect();
        assert_eq!(found, [(5, None, 6), (2, Some(Value::Varint(1)), 2)]);
    }
}
