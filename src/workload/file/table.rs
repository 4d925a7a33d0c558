//! A table of a TOML file: its values by key, each with its line, and which keys were asked for.

use std::cell::RefCell;
use std::fmt::Display;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::sim::topology::TextPlace;

/// Where, as far as it is known, and what is wrong.
pub(crate) type Fault = (TextPlace, String);

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
    place: TextPlace,
    /// Every key that was asked for, in order.
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(source: Source<'a>, entries: &'a DeTable<'a>, span: &Range<usize>) -> Self {
        Self { source, entries, place: source.place(span), known: RefCell::default() }
    }

    /// Where the table begins.
    pub(crate) fn line(&self) -> Option<u64> {
        self.place.line
    }

    pub(crate) fn fault(&self, message: impl Display) -> Fault {
        (self.place.clone(), message.to_string())
    }

    /// Where the value of the first of some keys is that is there; else where the table begins.
    pub(crate) fn place_of(&self, keys: &[&str]) -> TextPlace {
        let find = |key: &&str| self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == *key);
        match keys.iter().find_map(find) {
            Some((_, value)) => self.source.place(&value.span()),
            None => self.place.clone(),
        }
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&self, key: &'static str) -> Option<Value<'a>> {
        self.known.borrow_mut().push(key);
        let (key, value) = self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        Some(Value { source: self.source, key: key.get_ref(), value })
    }

    /// The elements of a list of tables; none if the key is not there.
    pub(crate) fn tables(&self, key: &'static str) -> Result<Vec<Table<'a>>, Fault> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let expected = || value.wrong(format!("a list of tables, [[{key}]]"));
        let list = value.list().ok_or_else(expected)?;
        let table = |value: Value<'a>| {
            let table = value.value.get_ref().as_table().ok_or_else(expected)?;
            Ok(Table::new(value.source, table, &value.value.span()))
        };
        list.into_iter().map(table).collect()
    }

    /// Nothing may be left that was not asked for.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        let known = self.known.into_inner();
        let unknown = self.entries.iter().map(|(key, _)| key);
        let first =
            unknown.filter(|key| !known.contains(&key.get_ref().as_ref())).min_by_key(|key| key.span().start);
        let Some(key) = first else { return Ok(()) };
        let place = self.source.place(&key.span());
        Err((place, format!("the key {} is not known here: expected {}", key.get_ref(), known.join(", "))))
    }
}

/// A value with its key and place.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    source: Source<'a>,
    key: &'a str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    /// "key = value", as it stands there.
    pub(crate) fn shown(&self) -> String {
        format!("{} = {}", self.key, self.source.raw(&self.value.span()))
    }

    /// "key = value: expected …", at the value's line.
    pub(crate) fn wrong(&self, expected: impl Display) -> Fault {
        self.fault(format!("{}: expected {expected}", self.shown()))
    }

    /// Where the value is.
    pub(crate) fn place(&self) -> TextPlace {
        self.source.place(&self.value.span())
    }

    pub(crate) fn fault(&self, message: impl Display) -> Fault {
        (self.place(), message.to_string())
    }

    pub(crate) fn text(&self, expected: impl Display) -> Result<&'a str, Fault> {
        self.as_text().ok_or_else(|| self.wrong(expected))
    }

    /// The text if it is one.
    pub(crate) fn as_text(&self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    pub(crate) fn integer(&self) -> Option<u64> {
        let integer = self.value.get_ref().as_integer()?;
        u64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    /// A number of things, at least 1.
    pub(crate) fn count(&self) -> Result<u32, Fault> {
        let count = self.integer().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        count.ok_or_else(|| self.wrong("a whole number, at least 1"))
    }

    pub(crate) fn truth(&self) -> Result<bool, Fault> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// The elements if it is a list.
    pub(crate) fn list(&self) -> Option<Vec<Value<'a>>> {
        let element = |value| Value { value, ..*self };
        Some(self.value.get_ref().as_array()?.iter().map(element).collect())
    }

    /// The entries of a table, by key.
    pub(crate) fn entries(&self, expected: &str) -> Result<Vec<(String, Value<'a>)>, Fault> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong(expected))?;
        let entry = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let key: &'a std::borrow::Cow<'a, str> = key.get_ref();
            (key.clone().into_owned(), Value { source: self.source, key, value })
        };
        Ok(table.iter().map(entry).collect())
    }
}
