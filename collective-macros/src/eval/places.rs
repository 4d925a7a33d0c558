//! Places: what is assigned to, and what a `&mut` points to.

use std::rc::Rc;

use super::{Eval, Machine, Value};
use crate::ast::{Place, Projection, Root, Target};
use crate::span::SpanId;

/// Where a value lies: a slot of the stack, and the way from there through lists, tuples and options.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    slot: usize,
    path: Vec<(usize, SpanId)>,
}

impl Pointer {
    fn to(&self, index: usize, span: SpanId) -> Self {
        let mut path = Vec::with_capacity(self.path.len() + 1);
        path.extend_from_slice(&self.path);
        path.push((index, span));
        Self { slot: self.slot, path }
    }

    /// A `&mut` to a part.
    pub(super) fn part(&self, index: usize, span: SpanId) -> Value {
        Value::Place(Rc::new(self.to(index, span)))
    }
}

impl<'a> Machine<'a> {
    pub(super) fn assign(&mut self, target: &'a Target, value: Value, span: SpanId) -> Eval<()> {
        match (target, value) {
            (Target::Ignore, _) => Ok(()),
            (Target::Place(place), value) => self.update(place, span, |_, slot| {
                *slot = value;
                Ok(())
            }),
            (Target::Sequence(targets), Value::Tuple(items) | Value::List(items))
                if targets.len() == items.len() =>
            {
                for (target, item) in targets.iter().zip(items.iter()) {
                    self.assign(target, item.clone(), span)?;
                }
                Ok(())
            }
            (Target::Sequence(_), value) => self.mistyped(span, &value, "a tuple"),
        }
    }

    /// Changes the value at a place. Its indices are evaluated first.
    pub(super) fn update<T>(
        &mut self,
        place: &'a Place,
        span: SpanId,
        change: impl FnOnce(&mut Self, &mut Value) -> Eval<T>,
    ) -> Eval<T> {
        let pointer = self.pointer(place, span)?;
        self.update_at(&pointer, span, change)
    }

    /// Where a place is.
    pub(super) fn pointer(&mut self, place: &'a Place, span: SpanId) -> Eval<Pointer> {
        let slot = match &place.root {
            Root::Local(slot) => self.frame + slot.0 as usize,
            Root::Expr(expr) => {
                let value = self.eval(expr)?;
                if let Value::Place(pointer) = value {
                    return self.project((*pointer).clone(), &place.path, span);
                }
                // What has no place gets one until the function ends, which is memory.
                self.burn(16, span)?;
                self.stack.push(value);
                self.stack.len() - 1
            }
        };
        self.project(Pointer { slot, path: Vec::new() }, &place.path, span)
    }

    fn project(&mut self, pointer: Pointer, path: &'a [Projection], span: SpanId) -> Eval<Pointer> {
        let mut at = pointer;
        for projection in path {
            at = self.follow(at);
            match projection {
                Projection::Deref => {}
                Projection::Field(field) => at.path.push((*field, span)),
                Projection::Index(index) => {
                    let value = self.eval(index)?;
                    let position = self.index_value(&value, index.span)?;
                    at.path.push((position, index.span));
                }
            }
        }
        Ok(at)
    }

    /// Where the value behind a `&mut` is.
    pub(super) fn follow(&self, pointer: Pointer) -> Pointer {
        let mut at = pointer;
        while let Some(Value::Place(next)) = self.look(&at) {
            at = (**next).clone();
        }
        at
    }

    /// The value at a place.
    fn look(&self, pointer: &Pointer) -> Option<&Value> {
        let mut value = self.stack.get(pointer.slot)?;
        for (index, _) in &pointer.path {
            value = match value {
                Value::Tuple(items) | Value::List(items) => items.get(*index)?,
                Value::Some(value) => value,
                _ => return None,
            };
        }
        Some(value)
    }

    /// What a `&mut` points to.
    pub(super) fn load(&mut self, pointer: &Pointer, span: SpanId) -> Eval {
        let at = self.follow(pointer.clone());
        match self.look(&at) {
            Some(value) => Ok(value.clone()),
            None => self.fail(span, "this `&mut` points to nothing any more: use an index instead"),
        }
    }

    /// The value itself, or the one behind a `&mut`.
    pub(super) fn plain(&mut self, value: Value, span: SpanId) -> Eval {
        match value {
            Value::Place(pointer) => self.load(&pointer, span),
            other => Ok(other),
        }
    }

    /// An iterator of a `&mut` to each element of a list.
    pub(super) fn places(&mut self, pointer: &Pointer, span: SpanId) -> Eval {
        let at = self.follow(pointer.clone());
        let items = match self.look(&at) {
            Some(Value::List(items)) => items.len(),
            Some(Value::Some(_)) => 1,
            _ => 0,
        };
        self.burn(2 * items as u64, span)?;
        let places = (0..items).map(|i| at.part(i, span)).collect();
        Ok(Value::iter(super::iter::Iter::of_list(Rc::new(places))))
    }

    pub(super) fn update_at<T>(
        &mut self,
        pointer: &Pointer,
        span: SpanId,
        change: impl FnOnce(&mut Self, &mut Value) -> Eval<T>,
    ) -> Eval<T> {
        // The root is taken out of its slot while it changes, so that it is not shared with the slot.
        let Some(slot) = self.stack.get_mut(pointer.slot) else {
            return self.fail(span, "this `&mut` points to nothing any more: use an index instead");
        };
        let mut root = std::mem::take(slot);
        let result = self.update_within(&mut root, &pointer.path, span, change);
        if let Some(slot) = self.stack.get_mut(pointer.slot) {
            *slot = root;
        }
        result
    }

    fn update_within<T>(
        &mut self,
        value: &mut Value,
        path: &[(usize, SpanId)],
        span: SpanId,
        change: impl FnOnce(&mut Self, &mut Value) -> Eval<T>,
    ) -> Eval<T> {
        let Some(((index, at), rest)) = path.split_first() else { return change(self, value) };
        let items = match value {
            Value::Tuple(items) | Value::List(items) => items,
            Value::Some(value) => return self.update_within(Rc::make_mut(value), rest, span, change),
            other => {
                let other = other.clone();
                return self.mistyped(span, &other, "a tuple or a list");
            }
        };
        let len = items.len();
        match self.own(items, span)?.get_mut(*index) {
            Some(item) => self.update_within(item, rest, span, change),
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
