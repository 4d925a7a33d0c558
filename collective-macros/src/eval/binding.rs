//! Patterns, places, and the plain Rust values in a [`Value`].

use std::rc::Rc;

use super::{Eval, Machine, Value};
use crate::ast::{Pattern, Place, Projection, Slot, Target};
use crate::integer::Int;
use crate::span::SpanId;

impl<'a> Machine<'a> {
    pub(super) fn int(&mut self, value: &Value, span: SpanId) -> Eval<Int> {
        match value {
            Value::Int(int) => Ok(*int),
            other => self.mistyped(span, other, "an integer"),
        }
    }

    pub(super) fn bool(&mut self, value: &Value, span: SpanId) -> Eval<bool> {
        match value {
            Value::Bool(value) => Ok(*value),
            other => self.mistyped(span, other, "a bool"),
        }
    }

    /// An integer as the `usize` that an index or a parameter is.
    pub(super) fn index_value(&mut self, value: &Value, span: SpanId) -> Eval<usize> {
        let int = self.int(value, span)?;
        match usize::try_from(int.value) {
            Ok(index) => Ok(index),
            Err(_) => self.fail(span, format!("{} is no index: it must be a `usize`", int.value)),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, slot: Slot, value: Value) {
        self.stack[self.frame + slot.0 as usize] = value;
    }

    /// Binds a pattern that always matches.
    #[inline]
    pub(super) fn bind(&mut self, pattern: &'a Pattern, value: Value, span: SpanId) -> Eval<()> {
        if let Pattern::Bind(slot) = pattern {
            self.set(*slot, value);
            return Ok(());
        }
        if self.matches(pattern, &value, span)? {
            Ok(())
        } else {
            self.mistyped(span, &value, "what the pattern describes")
        }
    }

    /// Whether a value matches; names in the pattern are bound along the way.
    pub(super) fn matches(&mut self, pattern: &'a Pattern, value: &Value, span: SpanId) -> Eval<bool> {
        Ok(match pattern {
            Pattern::Wild => true,
            Pattern::Bind(slot) => {
                self.set(*slot, value.clone());
                true
            }
            Pattern::BindAt(slot, inner) => {
                self.set(*slot, value.clone());
                self.matches(inner, value, span)?
            }
            Pattern::Int(wanted) => self.int(value, span)?.value == wanted.value,
            Pattern::Bool(wanted) => self.bool(value, span)? == *wanted,
            Pattern::Range { first, last, inclusive } => {
                let value = self.int(value, span)?.value;
                first.is_none_or(|first| value >= first.value)
                    && last.is_none_or(|last| value < last.value || (*inclusive && value == last.value))
            }
            Pattern::Constant(id) => {
                let constant = self.call(*id, Vec::new(), span)?;
                self.equal(&constant, value, span)?
            }
            Pattern::None => match value {
                Value::None => true,
                Value::Some(_) => false,
                other => return self.mistyped(span, other, "an Option"),
            },
            Pattern::Some(inner) => match value {
                Value::None => false,
                Value::Some(value) => self.matches(inner, value, span)?,
                other => return self.mistyped(span, other, "an Option"),
            },
            Pattern::Either(cases) => {
                for case in cases {
                    if self.matches(case, value, span)? {
                        return Ok(true);
                    }
                }
                false
            }
            Pattern::Sequence { items, rest, .. } => self.matches_sequence(items, *rest, value, span)?,
        })
    }

    fn matches_sequence(
        &mut self,
        patterns: &'a [Pattern],
        rest: Option<usize>,
        value: &Value,
        span: SpanId,
    ) -> Eval<bool> {
        let (Value::Tuple(items) | Value::List(items)) = value else {
            return self.mistyped(span, value, "a tuple");
        };
        let fits = if rest.is_some() { patterns.len() <= items.len() } else { patterns.len() == items.len() };
        if !fits {
            return Ok(false);
        }
        let skipped = items.len() - patterns.len();
        for (i, pattern) in patterns.iter().enumerate() {
            let at = if rest.is_some_and(|rest| i >= rest) { i + skipped } else { i };
            if !self.matches(pattern, &items[at], span)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn assign(&mut self, target: &'a Target, value: Value, span: SpanId) -> Eval<()> {
        match (target, value) {
            (Target::Ignore, _) => Ok(()),
            (Target::Place(place), value) => self.update(place, span, |_, slot| {
                *slot = value;
                Ok(())
            }),
            (Target::Tuple(targets), Value::Tuple(items)) if targets.len() == items.len() => {
                for (target, item) in targets.iter().zip(items.iter()) {
                    self.assign(target, item.clone(), span)?;
                }
                Ok(())
            }
            (Target::Tuple(_), value) => self.mistyped(span, &value, "a tuple"),
        }
    }

    /// Changes the value at a place. Its indices are evaluated first.
    pub(super) fn update<T>(
        &mut self,
        place: &'a Place,
        span: SpanId,
        change: impl FnOnce(&mut Self, &mut Value) -> Eval<T>,
    ) -> Eval<T> {
        let path = self.resolve(place, span)?;
        self.update_resolved(place.slot, &path, span, change)
    }

    /// The indices on the way to a place.
    pub(super) fn resolve(&mut self, place: &'a Place, span: SpanId) -> Eval<Vec<(usize, SpanId)>> {
        let mut path = Vec::with_capacity(place.path.len());
        for projection in &place.path {
            path.push(match projection {
                Projection::Field(field) => (*field, span),
                Projection::Index(index) => {
                    let value = self.eval(index)?;
                    (self.index_value(&value, index.span)?, index.span)
                }
            });
        }
        Ok(path)
    }

    pub(super) fn update_resolved<T>(
        &mut self,
        slot: Slot,
        path: &[(usize, SpanId)],
        span: SpanId,
        change: impl FnOnce(&mut Self, &mut Value) -> Eval<T>,
    ) -> Eval<T> {
        // The root is taken out of its slot while it changes, so that it is not shared with the slot.
        let slot = self.frame + slot.0 as usize;
        let mut root = std::mem::take(&mut self.stack[slot]);
        let result = self.update_at(&mut root, path, span, change);
        self.stack[slot] = root;
        result
    }

    fn update_at<T>(
        &mut self,
        value: &mut Value,
        path: &[(usize, SpanId)],
        span: SpanId,
        change: impl FnOnce(&mut Self, &mut Value) -> Eval<T>,
    ) -> Eval<T> {
        let Some(((index, at), rest)) = path.split_first() else { return change(self, value) };
        let (Value::Tuple(items) | Value::List(items)) = value else {
            let value = value.clone();
            return self.mistyped(span, &value, "a tuple or a list");
        };
        let len = items.len();
        match self.own(items, span)?.get_mut(*index) {
            Some(item) => self.update_at(item, rest, span, change),
            None => self.out_of_bounds(*at, *index, len),
        }
    }

    /// The items for changing; shared ones are copied, which takes fuel.
    pub(super) fn own<'v>(
        &mut self,
        items: &'v mut Rc<Vec<Value>>,
        span: SpanId,
    ) -> Eval<&'v mut Vec<Value>> {
        if Rc::get_mut(items).is_none() {
            self.burn(items.len() as u64, span)?;
        }
        Ok(Rc::make_mut(items))
    }

    pub(super) fn out_of_bounds<T>(&mut self, span: SpanId, index: usize, len: usize) -> Eval<T> {
        let there = match len {
            0 => "the list is empty".to_owned(),
            1 => "the list has only element 0".to_owned(),
            _ => format!("the list has the elements 0 to {}", len - 1),
        };
        self.fail(span, format!("there is no element {index}: {there}"))
    }
}
