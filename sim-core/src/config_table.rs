//! A table of a TOML file: its values by key, each with its line, and which keys were asked for.

use std::cell::RefCell;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::topology::{ConfigError, TextPlace};
use crate::units::{Bandwidth, Bytes, Latency, Picos};

/// Where, as far as it is known, and what is wrong.
pub(crate) type Fault = (TextPlace, String);

/// The fault as one of a file.
pub(crate) fn invalid(file: &str, (place, message): Fault) -> ConfigError {
    ConfigError::Invalid { file: file.to_owned(), line: place.line, span: place.span, message }
}

/// The file's own table, of which [`Table::new`] makes one that knows its keys.
pub(crate) fn read(text: &str) -> Result<Spanned<DeTable<'_>>, Fault> {
    DeTable::parse(text).map_err(|error| {
        let place = error.span().map(|span| TextPlace::of(text, &span)).unwrap_or_default();
        (place, one_line(error.message()))
    })
}

/// The parser's messages may have several lines; errors here have one.
fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}

/// What is written as a text with its unit.
pub(crate) trait Quantity: FromStr<Err: Display> {
    /// One, for messages.
    const EXAMPLE: &'static str;
}

impl Quantity for Bandwidth {
    const EXAMPLE: &'static str = "400 GB/s";
}

impl Quantity for Latency {
    const EXAMPLE: &'static str = "500 ns";
}

impl Quantity for Picos {
    const EXAMPLE: &'static str = "500 ns";
}

impl Quantity for Bytes {
    const EXAMPLE: &'static str = "64 KiB";
}

/// The text, to find lines and to show values as they stand there.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a>(pub(crate) &'a str);

impl<'a> Source<'a> {
    pub(crate) fn place(self, span: &Range<usize>) -> TextPlace {
        TextPlace::of(self.0, span)
    }

    fn raw(self, span: &Range<usize>) -> &'a str {
        // Lists and tables may have several lines; messages have one.
        self.0.get(span.clone()).unwrap_or_default().lines().next().unwrap_or_default()
    }
}

pub(crate) struct Table<'a> {
    source: Source<'a>,
    entries: &'a DeTable<'a>,
    /// Where the table begins.
    place: TextPlace,
    /// Every key that was asked for, in order.
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(source: Source<'a>, table: &'a DeTable<'a>, span: &Range<usize>) -> Self {
        Self { source, entries: table, place: source.place(span), known: RefCell::default() }
    }

    pub(crate) fn fault(&self, message: impl Display) -> Fault {
        (self.place.clone(), message.to_string())
    }

    /// Where the table begins.
    pub(crate) fn line(&self) -> Option<u64> {
        self.place.line
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&self, key: &'static str) -> Option<Value<'a>> {
        self.known.borrow_mut().push(key);
        let (_, value) = self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        Some(Value { source: self.source, key, value })
    }

    pub(crate) fn need(&self, key: &'static str) -> Result<Value<'a>, Fault> {
        self.get(key).ok_or_else(|| self.fault(format!("the key {key} is missing")))
    }

    /// A count of things, at least 1.
    pub(crate) fn count(&self, key: &'static str) -> Result<u32, Fault> {
        self.need(key)?.count()
    }

    pub(crate) fn count_or(&self, key: &'static str, default: u32) -> Result<u32, Fault> {
        self.get(key).map_or(Ok(default), |value| value.count())
    }

    /// A quantity with its unit.
    pub(crate) fn quantity<T: Quantity>(&self, key: &'static str) -> Result<T, Fault> {
        self.need(key)?.quantity()
    }

    pub(crate) fn quantity_or<T: Quantity>(&self, key: &'static str, default: T) -> Result<T, Fault> {
        self.get(key).map_or(Ok(default), |value| value.quantity())
    }

    /// A quantity with its unit, if it is there.
    pub(crate) fn quantity_if<T: Quantity>(&self, key: &'static str) -> Result<Option<T>, Fault> {
        self.get(key).map(|value| value.quantity()).transpose()
    }

    /// The elements of a list of tables; none if the key is not there.
    pub(crate) fn tables(&self, key: &'static str) -> Result<Vec<Table<'a>>, Fault> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        value.elements("a list of tables")?.into_iter().map(|element| element.table()).collect()
    }

    /// Nothing may be left that was not asked for.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        let mut known = self.known.into_inner();
        let unknown = self.entries.iter().map(|(key, _)| key);
        let first =
            unknown.filter(|key| !known.contains(&key.get_ref().as_ref())).min_by_key(|key| key.span().start);
        let Some(key) = first else { return Ok(()) };
        let mut seen = Vec::new();
        known.retain(|name| {
            !seen.contains(name) && {
                seen.push(*name);
                true
            }
        });
        let place = self.source.place(&key.span());
        Err((place, format!("the key {} is not known here: expected {}", key.get_ref(), known.join(", "))))
    }
}

/// A value with its key and place.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    source: Source<'a>,
    key: &'static str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    /// "key = value: expected …", at the value's line.
    pub(crate) fn wrong(&self, expected: impl Display) -> Fault {
        let raw = self.source.raw(&self.value.span());
        self.fault(format!("{} = {raw}: expected {expected}", self.key))
    }

    /// Where the value is.
    pub(crate) fn place(&self) -> TextPlace {
        self.source.place(&self.value.span())
    }

    pub(crate) fn fault(&self, message: impl Display) -> Fault {
        (self.place(), message.to_string())
    }

    pub(crate) fn text(&self, expected: impl Display) -> Result<&'a str, Fault> {
        self.value.get_ref().as_str().ok_or_else(|| self.wrong(expected))
    }

    /// The text if it is one.
    pub(crate) fn as_text(&self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    pub(crate) fn integer(&self) -> Option<u64> {
        let integer = self.value.get_ref().as_integer()?;
        u64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    pub(crate) fn count(&self) -> Result<u32, Fault> {
        let count = self.integer().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        count.ok_or_else(|| self.wrong("a whole number, at least 1"))
    }

    /// A positive finite number, whole or not.
    pub(crate) fn factor(&self) -> Result<f64, Fault> {
        let value = self.value.get_ref();
        let float = value.as_float().and_then(|float| float.as_str().parse().ok());
        let number = float.or(self.integer().map(|whole| whole as f64));
        let number = number.filter(|number: &f64| number.is_finite() && *number > 0.0);
        number.ok_or_else(|| self.wrong("a number above 0"))
    }

    pub(crate) fn truth(&self) -> Result<bool, Fault> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    pub(crate) fn quantity<T: Quantity>(&self) -> Result<T, Fault> {
        let text = self.text(format!("a text with the unit, such as {:?}", T::EXAMPLE))?;
        text.parse().map_err(|error| self.fault(format!("{} = {text:?}: {error}", self.key)))
    }

    pub(crate) fn elements(&self, expected: &str) -> Result<Vec<Value<'a>>, Fault> {
        let array = self.value.get_ref().as_array().ok_or_else(|| self.wrong(expected))?;
        let element = |value| Value { source: self.source, key: self.key, value };
        Ok(array.iter().map(element).collect())
    }

    pub(crate) fn table(&self) -> Result<Table<'a>, Fault> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong("a table"))?;
        Ok(Table::new(self.source, table, &self.value.span()))
    }
}
