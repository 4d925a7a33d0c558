//! The order of values.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Eval, Machine, Value};
use crate::span::SpanId;

/// A value as it is compared. The order of the variants is the order of `None` and `Some`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Unit,
    Bool(bool),
    Int(i128),
    Text(Arc<str>),
    None,
    Some(Box<Key>),
    List(Vec<Key>),
}

impl Machine<'_> {
    pub(super) fn key(&mut self, value: &Value, span: SpanId) -> Eval<Key> {
        self.burn(1, span)?;
        Ok(match value {
            Value::Unit => Key::Unit,
            Value::Bool(value) => Key::Bool(*value),
            Value::Int(int) => Key::Int(int.value),
            Value::Text(text) => Key::Text(text.clone()),
            Value::None => Key::None,
            Value::Some(value) => Key::Some(Box::new(self.key(value, span)?)),
            Value::Tuple(items) | Value::List(items) => Key::List(self.keys(items, span)?),
            Value::Place(pointer) => {
                let value = self.load(pointer, span)?;
                self.key(&value, span)?
            }
            other => return self.mistyped(span, other, "values that can be compared"),
        })
    }

    pub(super) fn keys(&mut self, values: &[Value], span: SpanId) -> Eval<Vec<Key>> {
        let mut keys = Vec::with_capacity(values.len());
        for value in values {
            keys.push(self.key(value, span)?);
        }
        Ok(keys)
    }

    pub(super) fn order(&mut self, a: &Value, b: &Value, span: SpanId) -> Eval<Ordering> {
        Ok(self.key(a, span)?.cmp(&self.key(b, span)?))
    }
}
