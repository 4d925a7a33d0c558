//! Patterns, and the plain Rust values in a [`Value`].

use std::rc::Rc;

use super::places::Pointer;
use super::{Eval, Machine, Value};
use crate::ast::{Pattern, Rest, Slot};
use crate::integer::Int;
use crate::span::SpanId;

impl<'a> Machine<'a> {
    pub(super) fn int(&mut self, value: &Value, span: SpanId) -> Eval<Int> {
        match value {
            Value::Int(int) => Ok(*int),
            Value::Place(pointer) => {
                let value = self.load(pointer, span)?;
                self.int(&value, span)
            }
            other => self.mistyped(span, other, "an integer"),
        }
    }

    pub(super) fn bool(&mut self, value: &Value, span: SpanId) -> Eval<bool> {
        match value {
            Value::Bool(value) => Ok(*value),
            Value::Place(pointer) => {
                let value = self.load(pointer, span)?;
                self.bool(&value, span)
            }
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
        if let Value::Place(pointer) = value {
            return self.matches_behind(pattern, pointer, value, span);
        }
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
            Pattern::Deref(inner) => self.matches(inner, value, span)?,
            Pattern::Sequence { items, rest, .. } => self.matches_sequence(items, *rest, value, span)?,
        })
    }

    /// Whether what is behind a `&mut` matches; names are bound to a `&mut` of their parts.
    fn matches_behind(
        &mut self,
        pattern: &'a Pattern,
        pointer: &Rc<Pointer>,
        value: &Value,
        span: SpanId,
    ) -> Eval<bool> {
        match pattern {
            Pattern::Wild => return Ok(true),
            Pattern::Bind(slot) => {
                self.set(*slot, value.clone());
                return Ok(true);
            }
            _ => {}
        }
        let at = self.follow((**pointer).clone());
        let behind = self.load(&at, span)?;
        match (pattern, &behind) {
            (Pattern::Some(inner), Value::Some(_)) => self.matches(inner, &at.part(0, span), span),
            (Pattern::Sequence { items, rest, .. }, Value::Tuple(list) | Value::List(list)) => {
                self.burn(list.len() as u64, span)?;
                let parts = (0..list.len()).map(|i| at.part(i, span)).collect();
                self.matches_sequence(items, *rest, &Value::list(parts), span)
            }
            (Pattern::BindAt(slot, inner), _) => {
                self.set(*slot, value.clone());
                self.matches(inner, value, span)
            }
            _ => self.matches(pattern, &behind, span),
        }
    }

    fn matches_sequence(
        &mut self,
        patterns: &'a [Pattern],
        rest: Option<Rest>,
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
            let at = if rest.is_some_and(|rest| i >= rest.at) { i + skipped } else { i };
            if !self.matches(pattern, &items[at], span)? {
                return Ok(false);
            }
        }
        if let Some(Rest { at, name: Some(slot) }) = rest {
            self.burn(skipped as u64, span)?;
            self.set(slot, Value::list(items[at..at + skipped].to_vec()));
        }
        Ok(true)
    }
}
