//! A table of the file: its values by key, each with its line, and which keys were asked for.

use std::cell::RefCell;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Fault;
use crate::topology::TextPlace;

/// The text, to find lines and to show values as they stand there.
#[derive(Clone, Copy)]
pub(super) struct Source<'a>(pub(super) &'a str);

impl<'a> Source<'a> {
    pub(super) fn place(self, span: &Range<usize>) -> TextPlace {
        TextPlace::of(self.0, span)
    }

    fn raw(self, span: &Range<usize>) -> &'a str {
        // Lists and tables may have several lines; messages have one.
        self.0.get(span.clone()).unwrap_or_default().lines().next().unwrap_or_default()
    }
}

pub(super) struct Table<'a> {
    source: Source<'a>,
    entries: &'a DeTable<'a>,
    /// Where the table begins.
    place: TextPlace,
    /// Every key that was asked for, in order.
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Table<'a> {
    pub(super) fn new(source: Source<'a>, table: &'a DeTable<'a>, span: &Range<usize>) -> Self {
        Self { source, entries: table, place: source.place(span), known: RefCell::default() }
    }

    pub(super) fn fault(&self, message: impl Display) -> Fault {
        (self.place.clone(), message.to_string())
    }

    /// Where the table begins.
    pub(super) fn line(&self) -> Option<u64> {
        self.place.line
    }

    /// The value of a key, if it is there.
    pub(super) fn get(&self, key: &'static str) -> Option<Value<'a>> {
        self.known.borrow_mut().push(key);
        let (_, value) = self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        Some(Value { source: self.source, key, value })
    }

    pub(super) fn need(&self, key: &'static str) -> Result<Value<'a>, Fault> {
        self.get(key).ok_or_else(|| self.fault(format!("the key {key} is missing")))
    }

    /// A count of things, at least 1.
    pub(super) fn count(&self, key: &'static str) -> Result<u32, Fault> {
        self.need(key)?.count()
    }

    pub(super) fn count_or(&self, key: &'static str, default: u32) -> Result<u32, Fault> {
        self.get(key).map_or(Ok(default), |value| value.count())
    }

    /// A quantity with its unit.
    pub(super) fn quantity<T: FromStr<Err: Display>>(&self, key: &'static str) -> Result<T, Fault> {
        self.need(key)?.quantity()
    }

    pub(super) fn quantity_or<T: FromStr<Err: Display>>(
        &self,
        key: &'static str,
        default: T,
    ) -> Result<T, Fault> {
        self.get(key).map_or(Ok(default), |value| value.quantity())
    }

    /// The elements of a list of tables; none if the key is not there.
    pub(super) fn tables(&self, key: &'static str) -> Result<Vec<Table<'a>>, Fault> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        value.elements("a list of tables")?.into_iter().map(|element| element.table()).collect()
    }

    /// Nothing may be left that was not asked for.
    pub(super) fn finish(self) -> Result<(), Fault> {
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
pub(super) struct Value<'a> {
    source: Source<'a>,
    key: &'static str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    /// "key = value: expected …", at the value's line.
    pub(super) fn wrong(&self, expected: impl Display) -> Fault {
        let raw = self.source.raw(&self.value.span());
        self.fault(format!("{} = {raw}: expected {expected}", self.key))
    }

    /// Where the value is.
    pub(super) fn place(&self) -> TextPlace {
        self.source.place(&self.value.span())
    }

    pub(super) fn fault(&self, message: impl Display) -> Fault {
        (self.place(), message.to_string())
    }

    pub(super) fn text(&self, expected: impl Display) -> Result<&'a str, Fault> {
        self.value.get_ref().as_str().ok_or_else(|| self.wrong(expected))
    }

    /// The text if it is one.
    pub(super) fn as_text(&self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    pub(super) fn integer(&self) -> Option<u64> {
        let integer = self.value.get_ref().as_integer()?;
        u64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    pub(super) fn count(&self) -> Result<u32, Fault> {
        let count = self.integer().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        count.ok_or_else(|| self.wrong("a whole number, at least 1"))
    }

    /// A positive finite number, whole or not.
    pub(super) fn factor(&self) -> Result<f64, Fault> {
        let value = self.value.get_ref();
        let float = value.as_float().and_then(|float| float.as_str().parse().ok());
        let number = float.or(self.integer().map(|whole| whole as f64));
        let number = number.filter(|number: &f64| number.is_finite() && *number > 0.0);
        number.ok_or_else(|| self.wrong("a number above 0"))
    }

    pub(super) fn truth(&self) -> Result<bool, Fault> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    pub(super) fn quantity<T: FromStr<Err: Display>>(&self) -> Result<T, Fault> {
        let example = if self.key.ends_with("latency") { "\"500 ns\"" } else { "\"400 GB/s\"" };
        let text = self.text(format!("a text with the unit, such as {example}"))?;
        text.parse().map_err(|error| self.fault(format!("{} = {text:?}: {error}", self.key)))
    }

    pub(super) fn elements(&self, expected: &str) -> Result<Vec<Value<'a>>, Fault> {
        let array = self.value.get_ref().as_array().ok_or_else(|| self.wrong(expected))?;
        let element = |value| Value { source: self.source, key: self.key, value };
        Ok(array.iter().map(element).collect())
    }

    pub(super) fn table(&self) -> Result<Table<'a>, Fault> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong("a table"))?;
        Ok(Table::new(self.source, table, &self.value.span()))
    }
}
