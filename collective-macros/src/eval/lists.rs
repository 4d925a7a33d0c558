//! Arrays, vectors and tuples.

use std::rc::Rc;

use super::iter::{Iter, Numbers};
use super::{Eval, Machine, Value};
use crate::ast::Expr;
use crate::integer::Int;
use crate::span::SpanId;

impl<'a> Machine<'a> {
    /// `[item; count]` and `vec![item; count]`.
    pub(super) fn repeat(&mut self, [item, count]: &'a [Expr; 2]) -> Eval {
        let item = self.eval(item)?;
        let value = self.eval(count)?;
        let length = self.index_value(&value, count.span)?;
        // A value takes more memory than a step takes time.
        self.burn((length as u64).saturating_mul(4), count.span)?;
        let mut items: Vec<Value> = (1..length).map(|_| item.duplicate()).collect();
        if length > 0 {
            items.push(item);
        }
        Ok(Value::list(items))
    }

    pub(super) fn index(&mut self, [list, index]: &'a [Expr; 2]) -> Eval {
        let items = self.eval(list)?;
        let items = self.list(items, list.span)?;
        let value = self.eval(index)?;
        if let Value::Iter(_) = &value {
            return match self.part_of(&items, &value, index.span)? {
                Ok(part) => Ok(part),
                Err((at, len)) => self.fail(
                    index.span,
                    format!("the part ends at {at}, but the list has only {}", counted(len, "element")),
                ),
            };
        }
        let at = self.index_value(&value, index.span)?;
        match items.get(at) {
            Some(item) => Ok(item.clone()),
            None => self.out_of_bounds(index.span, at, items.len()),
        }
    }

    /// The items of a list, perhaps behind a `&mut`.
    pub(super) fn list(&mut self, value: Value, span: SpanId) -> Eval<Rc<Vec<Value>>> {
        match self.plain(value, span)? {
            Value::List(items) => Ok(items),
            other => self.mistyped(span, &other, "an array or a Vec"),
        }
    }

    /// Where a range in a list begins and ends.
    pub(super) fn bounds(&mut self, range: &Value, len: usize, span: SpanId) -> Eval<(usize, usize)> {
        let numbers = match range {
            Value::Iter(stream) => match *stream.borrow() {
                Iter::Range(numbers) => Some(numbers),
                _ => None,
            },
            _ => None,
        };
        let Some(numbers) = numbers else { return self.mistyped(span, range, "a range") };
        let place = |value: i128| usize::try_from(value.max(0)).unwrap_or(usize::MAX);
        let (first, end) = (place(numbers.next), numbers.end.map_or(len, place));
        if first > end {
            return self.fail(span, format!("this part begins at {first}, after its end, {end}"));
        }
        Ok((first, end))
    }

    /// A part of a list; where that goes too far, its end and the length of the list.
    pub(super) fn part_of(
        &mut self,
        items: &[Value],
        range: &Value,
        span: SpanId,
    ) -> Eval<Result<Value, (usize, usize)>> {
        let (first, end) = self.bounds(range, items.len(), span)?;
        match items.get(first..end) {
            Some(part) => {
                self.burn(part.len() as u64, span)?;
                Ok(Ok(Value::list(part.to_vec())))
            }
            None => Ok(Err((end, items.len()))),
        }
    }

    pub(super) fn field(&mut self, tuple: &'a Expr, field: usize) -> Eval {
        let value = self.eval(tuple)?;
        match self.plain(value, tuple.span)? {
            Value::Tuple(items) if field < items.len() => Ok(items[field].clone()),
            // `start` and `end` of a range.
            Value::Iter(stream) => match *stream.borrow() {
                Iter::Range(Numbers { kind, next, end: Some(end) }) => {
                    Ok(Value::Int(Int::new(if field == 0 { next } else { end }, kind)))
                }
                _ => self.fail(tuple.span, "only a range has this field"),
            },
            other => self.mistyped(tuple.span, &other, "a tuple with this field"),
        }
    }
}

/// `1 element`, `2 elements`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
