//! Attributes: made with the arm that every known reader accepts, read from any arm that fits.
//!
//! The older C++ reader looks at one arm of an attribute and takes any other for zero, without a word. So
//! whoever writes must choose the right one: `comm_size`, `comm_type`, `num_ops` are [`int64`];
//! `comm_src`, `comm_dst`, `comm_tag`, `comm_priority` are [`int32`]; `tensor_size` is [`uint64`];
//! `is_cpu_op` is [`bool()`]; `pg_name` is [`string`]. Other writers do not keep to this, so the readers
//! here take any integer arm for an integer. What does not fit is an error and never a default.
//! If a name occurs twice, the first attribute wins.
//!
//! ```
//! use chakra_et::attr;
//!
//! let attrs = [attr::int64("comm_size", 1024), attr::string("pg_name", "7")];
//! assert_eq!(attr::find_u64(&attrs, "comm_size")?, Some(1024));
//! assert_eq!(attr::find_u64(&attrs, "num_ops")?, None);
//! assert!(attr::find_u64(&attrs, "pg_name").is_err());
//! # Ok::<(), attr::AttrError>(())
//! ```

use std::borrow::Cow;

use thiserror::Error;

use crate::proto::attribute_proto::Value;
use crate::proto::{AttributeProto, BoolList, StringList};

/// An attribute is missing or is not what its reader needs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AttrError {
    /// There is no such attribute.
    #[error("attribute {name} is missing; {expected} is expected")]
    Missing {
        /// The attribute.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// The attribute is there without a value.
    #[error("attribute {name} has no value; {expected} is expected")]
    NoValue {
        /// The attribute.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// The attribute is of another kind.
    #[error("attribute {name} is stored as {arm}; {expected} is expected")]
    WrongKind {
        /// The attribute.
        name: &'static str,
        /// The arm that it has, such as `string_val`.
        arm: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// The value is out of range.
    #[error("attribute {name} ({arm}) is {value}; {expected} is expected")]
    OutOfRange {
        /// The attribute.
        name: &'static str,
        /// The arm that it has, such as `int32_val`.
        arm: &'static str,
        /// Its value.
        value: i128,
        /// What it should be.
        expected: &'static str,
    },
    /// A message has no literal size, and none can be derived.
    #[error(
        "attribute comm_size is missing, and the size cannot be derived either: that takes msg_chunk_cnt and \
         total_chunk_cnt on the node and collective_size in the metadata (missing: {missing})"
    )]
    NoSize {
        /// The first attribute that is missing for the derivation.
        missing: &'static str,
    },
    /// The derived size of a message is not a whole number of bytes below 2^64.
    #[error(
        "attribute comm_size is missing, and collective_size {collective} / total_chunk_cnt {total} x \
         msg_chunk_cnt {chunks} is not a whole number of bytes"
    )]
    UnevenSize {
        /// Size of the collective.
        collective: u64,
        /// Chunks in all.
        total: u64,
        /// Chunks of the message.
        chunks: u64,
    },
}

/// What the readers of integers expect.
pub(crate) const INTEGER: &str = "a non-negative integer";
pub(crate) const U32: &str = "a non-negative integer below 2^32";

fn make(name: &str, value: Value) -> AttributeProto {
    AttributeProto { name: name.to_owned(), doc_string: String::new(), value: Some(value) }
}

/// An attribute in the arm `int32_val`: peers, tags, priorities, chunk counts.
#[must_use]
pub fn int32(name: &str, value: i32) -> AttributeProto {
    make(name, Value::Int32Val(value))
}

/// An attribute in the arm `int64_val`: sizes of messages, kinds of collectives, numbers of operations.
#[must_use]
pub fn int64(name: &str, value: i64) -> AttributeProto {
    make(name, Value::Int64Val(value))
}

/// An attribute in the arm `uint32_val`.
#[must_use]
pub fn uint32(name: &str, value: u32) -> AttributeProto {
    make(name, Value::Uint32Val(value))
}

/// An attribute in the arm `uint64_val`: sizes of tensors.
#[must_use]
pub fn uint64(name: &str, value: u64) -> AttributeProto {
    make(name, Value::Uint64Val(value))
}

/// An attribute in the arm `bool_val`.
#[must_use]
pub fn bool(name: &str, value: bool) -> AttributeProto {
    make(name, Value::BoolVal(value))
}

/// An attribute in the arm `bool_list`: the dimensions that a collective spans.
#[must_use]
pub fn bool_list(name: &str, values: impl IntoIterator<Item = bool>) -> AttributeProto {
    make(name, Value::BoolList(BoolList { values: values.into_iter().collect() }))
}

/// An attribute in the arm `string_val`.
#[must_use]
pub fn string(name: &str, value: impl Into<String>) -> AttributeProto {
    make(name, Value::StringVal(value.into()))
}

/// An attribute in the arm `string_list`.
#[must_use]
pub fn string_list<S: Into<String>>(name: &str, values: impl IntoIterator<Item = S>) -> AttributeProto {
    make(name, Value::StringList(StringList { values: values.into_iter().map(Into::into).collect() }))
}

/// An unsigned value in the arm `int32_val`, for peers and tags.
///
/// # Errors
/// [`AttrError::OutOfRange`] if it does not fit that arm.
pub fn int32_from(name: &'static str, value: u32) -> Result<AttributeProto, AttrError> {
    i32::try_from(value).map(|value| int32(name, value)).map_err(|_| AttrError::OutOfRange {
        name,
        arm: "int32_val",
        value: value.into(),
        expected: "a value below 2^31",
    })
}

/// An unsigned value in the arm `int64_val`, for sizes.
///
/// # Errors
/// [`AttrError::OutOfRange`] if it does not fit that arm.
pub fn int64_from(name: &'static str, value: u64) -> Result<AttributeProto, AttrError> {
    i64::try_from(value).map(|value| int64(name, value)).map_err(|_| AttrError::OutOfRange {
        name,
        arm: "int64_val",
        value: value.into(),
        expected: "a value below 2^63",
    })
}

/// The first attribute of that name.
#[must_use]
pub fn find<'a>(attrs: &'a [AttributeProto], name: &str) -> Option<&'a AttributeProto> {
    attrs.iter().find(|attr| attr.name == name)
}

/// A non-negative integer below 2^64 from any integer arm, or `None` if there is no such attribute.
///
/// # Errors
/// If the attribute has another kind, no value, or a value out of range.
pub fn find_u64(attrs: &[AttributeProto], name: &'static str) -> Result<Option<u64>, AttrError> {
    find_unsigned(attrs, name, INTEGER)
}

/// A non-negative integer below 2^32 from any integer arm, or `None` if there is no such attribute.
///
/// # Errors
/// If the attribute has another kind, no value, or a value out of range.
pub fn find_u32(attrs: &[AttributeProto], name: &'static str) -> Result<Option<u32>, AttrError> {
    find_unsigned(attrs, name, U32)
}

/// As [`find_u64`], for an attribute that must be there.
///
/// # Errors
/// If the attribute is missing, has another kind, no value, or a value out of range.
pub fn need_u64(attrs: &[AttributeProto], name: &'static str) -> Result<u64, AttrError> {
    find_u64(attrs, name)?.ok_or(AttrError::Missing { name, expected: INTEGER })
}

/// As [`find_u32`], for an attribute that must be there.
///
/// # Errors
/// If the attribute is missing, has another kind, no value, or a value out of range.
pub fn need_u32(attrs: &[AttributeProto], name: &'static str) -> Result<u32, AttrError> {
    find_u32(attrs, name)?.ok_or(AttrError::Missing { name, expected: U32 })
}

/// A truth value, or `None` if there is no such attribute. An integer 0 or 1 will do: some writers store
/// `is_cpu_op` so.
///
/// # Errors
/// If the attribute has another kind, no value, or an integer value other than 0 and 1.
pub fn find_bool(attrs: &[AttributeProto], name: &'static str) -> Result<Option<bool>, AttrError> {
    let expected = "a bool (or an integer 0 or 1)";
    let Some((value, arm)) = find_value(attrs, name, expected)? else { return Ok(None) };
    match (value, integer(value)) {
        (Value::BoolVal(value), _) => Ok(Some(*value)),
        (_, Some(value @ (0 | 1))) => Ok(Some(value == 1)),
        (_, Some(value)) => Err(AttrError::OutOfRange { name, arm, value, expected }),
        (_, None) => Err(AttrError::WrongKind { name, arm, expected }),
    }
}

/// An integer of either sign from any integer arm, or `None` if there is no such attribute.
pub(crate) fn find_integer(attrs: &[AttributeProto], name: &'static str) -> Result<Option<i128>, AttrError> {
    let expected = "an integer";
    let Some((value, arm)) = find_value(attrs, name, expected)? else { return Ok(None) };
    integer(value).map(Some).ok_or(AttrError::WrongKind { name, arm, expected })
}

/// A string, or an integer as its decimal digits, or `None` if there is no such attribute.
pub(crate) fn find_name<'a>(
    attrs: &'a [AttributeProto],
    name: &'static str,
) -> Result<Option<Cow<'a, str>>, AttrError> {
    let expected = "a string (or an integer)";
    match find_value(attrs, name, expected)? {
        None => Ok(None),
        Some((Value::StringVal(value), _)) => Ok(Some(Cow::Borrowed(value))),
        Some((value, arm)) => match integer(value) {
            Some(value) => Ok(Some(Cow::Owned(value.to_string()))),
            None => Err(AttrError::WrongKind { name, arm, expected }),
        },
    }
}

/// A non-negative integer of at most `most`, or `None` if there is no such attribute.
pub(crate) fn find_at_most(
    attrs: &[AttributeProto],
    name: &'static str,
    most: u32,
    expected: &'static str,
) -> Result<Option<u32>, AttrError> {
    let Some((value, arm)) = find_value(attrs, name, expected)? else { return Ok(None) };
    let value = integer(value).ok_or(AttrError::WrongKind { name, arm, expected })?;
    let fits = u32::try_from(value).ok().filter(|&value| value <= most);
    fits.map(Some).ok_or(AttrError::OutOfRange { name, arm, value, expected })
}

/// A string, or `None` if there is no such attribute.
///
/// # Errors
/// If the attribute has another kind or no value.
pub fn find_str<'a>(attrs: &'a [AttributeProto], name: &'static str) -> Result<Option<&'a str>, AttrError> {
    let expected = "a string";
    match find_value(attrs, name, expected)? {
        None => Ok(None),
        Some((Value::StringVal(value), _)) => Ok(Some(value)),
        Some((_, arm)) => Err(AttrError::WrongKind { name, arm, expected }),
    }
}

/// A list of strings, or `None` if there is no such attribute.
///
/// # Errors
/// If the attribute has another kind or no value.
pub fn find_string_list<'a>(
    attrs: &'a [AttributeProto],
    name: &'static str,
) -> Result<Option<&'a [String]>, AttrError> {
    let expected = "a list of strings";
    match find_value(attrs, name, expected)? {
        None => Ok(None),
        Some((Value::StringList(list), _)) => Ok(Some(&list.values)),
        Some((_, arm)) => Err(AttrError::WrongKind { name, arm, expected }),
    }
}

fn find_unsigned<T: TryFrom<i128>>(
    attrs: &[AttributeProto],
    name: &'static str,
    expected: &'static str,
) -> Result<Option<T>, AttrError> {
    let Some((value, arm)) = find_value(attrs, name, expected)? else { return Ok(None) };
    let value = integer(value).ok_or(AttrError::WrongKind { name, arm, expected })?;
    T::try_from(value).map(Some).map_err(|_| AttrError::OutOfRange { name, arm, value, expected })
}

/// The value of the first attribute of that name and the name of its arm.
fn find_value<'a>(
    attrs: &'a [AttributeProto],
    name: &'static str,
    expected: &'static str,
) -> Result<Option<(&'a Value, &'static str)>, AttrError> {
    let Some(attr) = find(attrs, name) else { return Ok(None) };
    let value = attr.value.as_ref().ok_or(AttrError::NoValue { name, expected })?;
    Ok(Some((value, arm(value))))
}

/// The value of any integer arm.
fn integer(value: &Value) -> Option<i128> {
    Some(match *value {
        Value::Int32Val(value) | Value::Sint32Val(value) | Value::Sfixed32Val(value) => value.into(),
        Value::Int64Val(value) | Value::Sint64Val(value) | Value::Sfixed64Val(value) => value.into(),
        Value::Uint32Val(value) | Value::Fixed32Val(value) => value.into(),
        Value::Uint64Val(value) | Value::Fixed64Val(value) => value.into(),
        _ => return None,
    })
}

/// The name of the arm in the schema.
fn arm(value: &Value) -> &'static str {
    match value {
        Value::DoubleVal(_) => "double_val",
        Value::DoubleList(_) => "double_list",
        Value::FloatVal(_) => "float_val",
        Value::FloatList(_) => "float_list",
        Value::Int32Val(_) => "int32_val",
        Value::Int32List(_) => "int32_list",
        Value::Int64Val(_) => "int64_val",
        Value::Int64List(_) => "int64_list",
        Value::Uint32Val(_) => "uint32_val",
        Value::Uint32List(_) => "uint32_list",
        Value::Uint64Val(_) => "uint64_val",
        Value::Uint64List(_) => "uint64_list",
        Value::Sint32Val(_) => "sint32_val",
        Value::Sint32List(_) => "sint32_list",
        Value::Sint64Val(_) => "sint64_val",
        Value::Sint64List(_) => "sint64_list",
        Value::Fixed32Val(_) => "fixed32_val",
        Value::Fixed32List(_) => "fixed32_list",
        Value::Fixed64Val(_) => "fixed64_val",
        Value::Fixed64List(_) => "fixed64_list",
        Value::Sfixed32Val(_) => "sfixed32_val",
        Value::Sfixed32List(_) => "sfixed32_list",
        Value::Sfixed64Val(_) => "sfixed64_val",
        Value::Sfixed64List(_) => "sfixed64_list",
        Value::BoolVal(_) => "bool_val",
        Value::BoolList(_) => "bool_list",
        Value::StringVal(_) => "string_val",
        Value::StringList(_) => "string_list",
        Value::BytesVal(_) => "bytes_val",
        Value::BytesList(_) => "bytes_list",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_integer_arm_reads_as_an_integer() {
        let arms = [
            Value::Int32Val(7),
            Value::Int64Val(7),
            Value::Uint32Val(7),
            Value::Uint64Val(7),
            Value::Sint32Val(7),
            Value::Sint64Val(7),
            Value::Fixed32Val(7),
            Value::Fixed64Val(7),
            Value::Sfixed32Val(7),
            Value::Sfixed64Val(7),
        ];
        for value in arms {
            let attrs = [make("x", value)];
            assert_eq!(find_u64(&attrs, "x"), Ok(Some(7)), "{attrs:?}");
            assert_eq!(find_u32(&attrs, "x"), Ok(Some(7)), "{attrs:?}");
        }
    }

    #[test]
    fn other_kinds_are_no_integers_and_the_error_names_attribute_and_arm() {
        for (value, arm) in [
            (Value::StringVal("7".into()), "string_val"),
            (Value::DoubleVal(7.0), "double_val"),
            (Value::BoolVal(true), "bool_val"),
            (Value::BytesVal(vec![7]), "bytes_val"),
        ] {
            let error = find_u64(&[make("comm_size", value)], "comm_size").unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("attribute comm_size is stored as {arm}; a non-negative integer is expected")
            );
        }
    }

    #[test]
    fn a_value_out_of_range_is_an_error() {
        let error = need_u64(&[int64("comm_size", -1)], "comm_size").unwrap_err();
        assert_eq!(
            error.to_string(),
            "attribute comm_size (int64_val) is -1; a non-negative integer is expected"
        );
        assert!(need_u32(&[uint64("x", 1 << 32)], "x").is_err());
        assert_eq!(need_u64(&[uint64("x", u64::MAX)], "x"), Ok(u64::MAX));
    }

    #[test]
    fn the_first_attribute_of_a_name_wins() {
        assert_eq!(find_u64(&[int32("x", 1), int32("x", 2)], "x"), Ok(Some(1)));
        assert!(find_u64(&[string("x", "a"), int32("x", 2)], "x").is_err());
    }

    #[test]
    fn an_attribute_without_value_is_an_error_only_when_read() {
        let attrs =
            [AttributeProto { name: "x".into(), doc_string: String::new(), value: None }, int32("y", 1)];
        assert_eq!(find_u64(&attrs, "y"), Ok(Some(1)));
        assert!(matches!(find_u64(&attrs, "x"), Err(AttrError::NoValue { .. })));
    }

    #[test]
    fn a_truth_value_may_be_an_integer_0_or_1() {
        assert_eq!(find_bool(&[bool("x", true)], "x"), Ok(Some(true)));
        assert_eq!(find_bool(&[int32("x", 0)], "x"), Ok(Some(false)));
        assert!(find_bool(&[int32("x", 2)], "x").is_err());
        assert!(find_bool(&[string("x", "true")], "x").is_err());
    }

    #[test]
    fn unsigned_values_that_do_not_fit_the_arm_of_the_contract_are_refused() {
        assert_eq!(int64_from("x", 5), Ok(int64("x", 5)));
        assert!(int64_from("x", 1 << 63).is_err());
        assert!(int32_from("x", 1 << 31).is_err());
    }
}
