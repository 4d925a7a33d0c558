//! Methods that change their receiver.

use std::rc::Rc;

use super::lists::counted;
use super::places::Pointer;
use super::{Eval, Machine, Value};
use crate::ast::{Expr, Place};
use crate::method::Method;
use crate::span::SpanId;

impl<'a> Machine<'a> {
    pub(super) fn mutate(
        &mut self,
        method: Method,
        place: &'a Place,
        args: &'a [Expr],
        span: SpanId,
    ) -> Eval {
        use Method as M;
        let pointer = self.pointer(place, span)?;
        let args = self.eval_all(args)?;
        let pointer = self.follow(pointer);
        match method {
            M::IterMut => self.places(&pointer, span),
            M::FirstMut | M::LastMut | M::GetMut | M::AsMut => self.part_mut(method, &pointer, &args, span),
            M::SortByKey | M::Retain => self.by_function(method, &pointer, &args, span),
            _ => self.update_at(&pointer, span, |machine, value| match value {
                Value::List(items) => machine.mutate_list(method, items, args, span),
                Value::None | Value::Some(_) if matches!(method, M::TakeOut | M::Replace) => {
                    let new = args.into_iter().next().map_or(Value::None, |new| Value::option(Some(new)));
                    Ok(std::mem::replace(value, new))
                }
                other => {
                    let other = other.clone();
                    machine.mistyped(span, &other, "a Vec")
                }
            }),
        }
    }

    /// A `&mut` to an element of a list, or to what is in an Option.
    fn part_mut(&mut self, method: Method, pointer: &Pointer, args: &[Value], span: SpanId) -> Eval {
        let len = match self.load(pointer, span)? {
            Value::List(items) => items.len(),
            Value::Some(_) => 1,
            _ => 0,
        };
        let at = match (method, args) {
            (Method::GetMut, [index]) => self.index_value(index, span)?,
            (Method::LastMut, _) => len.saturating_sub(1),
            _ => 0,
        };
        Ok(Value::option((at < len).then(|| pointer.part(at, span))))
    }

    /// What calls a function on every element, which may look at what is around the list.
    fn by_function(&mut self, method: Method, pointer: &Pointer, args: &[Value], span: SpanId) -> Eval {
        let list = self.load(pointer, span)?;
        let items = self.list(list, span)?;
        let function = args.first().cloned().unwrap_or_default();
        let mut keyed = Vec::with_capacity(items.len());
        for item in items.iter() {
            if method == Method::Retain {
                if self.holds(&function, item.clone(), span)? {
                    keyed.push((super::key::Key::Unit, item.clone()));
                }
            } else {
                let key = self.apply(&function, vec![item.clone()], span)?;
                keyed.push((self.key(&key, span)?, item.clone()));
            }
        }
        keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
        let changed = keyed.into_iter().map(|(_, item)| item).collect();
        self.update_at(pointer, span, |_, value| {
            *value = Value::list(changed);
            Ok(Value::Unit)
        })
    }

    fn mutate_list(
        &mut self,
        method: Method,
        items: &mut Rc<Vec<Value>>,
        args: Vec<Value>,
        span: SpanId,
    ) -> Eval {
        use Method as M;
        let len = items.len();
        let is_linear = !matches!(method, M::Push | M::Pop | M::Swap | M::SwapRemove | M::Truncate);
        if is_linear {
            self.burn(len as u64, span)?;
        }
        let owned = self.own(items, span)?;
        match (method, args.as_slice()) {
            (M::Push, [item]) => owned.push(item.clone()),
            (M::Pop, _) => return Ok(Value::option(owned.pop())),
            (M::Insert, [at, item]) => {
                let at = self.index_value(at, span)?;
                if at > len {
                    let there = counted(len, "element");
                    return self.fail(span, format!("nothing can be inserted at {at}: the list has {there}"));
                }
                owned.insert(at, item.clone());
            }
            (M::Remove | M::SwapRemove, [at]) => {
                let at = self.index_value(at, span)?;
                if at >= len {
                    return self.out_of_bounds(span, at, len);
                }
                return Ok(if method == M::Remove { owned.remove(at) } else { owned.swap_remove(at) });
            }
            (M::Truncate, [to]) => {
                let to = self.index_value(to, span)?;
                owned.truncate(to);
            }
            (M::Resize, [to, item]) => {
                let to = self.index_value(to, span)?;
                self.burn((to as u64).saturating_mul(4), span)?;
                owned.resize(to, item.clone());
            }
            (M::Extend | M::ExtendFromSlice, [more]) => {
                let more = self.stream(more.clone(), span)?;
                let more = self.collect(&more, span)?;
                owned.extend(more);
            }
            (M::Append, [other @ Value::Place(pointer)]) => {
                let more = self.list(other.clone(), span)?;
                let pointer = self.follow((**pointer).clone());
                self.update_at(&pointer, span, |_, value| {
                    *value = Value::list(Vec::new());
                    Ok(())
                })?;
                self.burn(more.len() as u64, span)?;
                owned.extend(more.iter().cloned());
            }
            (M::SplitOff, [at]) => {
                let at = self.index_value(at, span)?;
                if at > len {
                    return self.fail(span, format!("there is no element {at} to split at: there are {len}"));
                }
                return Ok(Value::list(owned.split_off(at)));
            }
            (M::Drain, [range]) => {
                let (first, end) = self.bounds(range, len, span)?;
                if end > len {
                    let there = counted(len, "element");
                    return self.fail(span, format!("the part ends at {end}, but the list has only {there}"));
                }
                let drained = owned.drain(first..end).collect();
                return Ok(Value::iter(super::iter::Iter::of_list(Rc::new(drained))));
            }
            (M::Clear, _) => owned.clear(),
            (M::Reverse, _) => owned.reverse(),
            (M::Swap, [a, b]) => {
                let (a, b) = (self.index_value(a, span)?, self.index_value(b, span)?);
                if let Some(beyond) = [a, b].into_iter().find(|at| *at >= len) {
                    return self.out_of_bounds(span, beyond, len);
                }
                owned.swap(a, b);
            }
            (M::Sort | M::SortUnstable, _) => {
                let mut keyed: Vec<_> = self.keys(owned, span)?.into_iter().zip(owned.drain(..)).collect();
                keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
                owned.extend(keyed.into_iter().map(|(_, item)| item));
            }
            (M::Dedup, _) => {
                let mut kept: Vec<Value> = Vec::with_capacity(len);
                for item in owned.drain(..) {
                    let is_new = match kept.last() {
                        Some(last) => !self.equal(last, &item, span)?,
                        None => true,
                    };
                    if is_new {
                        kept.push(item);
                    }
                }
                *owned = kept;
            }
            (M::Fill, [item]) => owned.fill(item.clone()),
            (M::RotateLeft | M::RotateRight, [by]) => {
                let by = self.index_value(by, span)?;
                if by > len {
                    let there = counted(len, "element");
                    return self.fail(span, format!("a list of {there} cannot be rotated by {by}"));
                }
                if method == M::RotateLeft { owned.rotate_left(by) } else { owned.rotate_right(by) }
            }
            _ => {
                let this = Value::List(Rc::clone(items));
                return self.mistyped(span, &this, "something else to call this method on");
            }
        }
        Ok(Value::Unit)
    }

    /// `std::mem::swap`.
    pub(super) fn swap_places(&mut self, [left, right]: &'a [Expr; 2], span: SpanId) -> Eval {
        let mut places = Vec::with_capacity(2);
        for side in [left, right] {
            match self.eval(side)? {
                Value::Place(pointer) => places.push(pointer),
                other => return self.mistyped(side.span, &other, "a `&mut`"),
            }
        }
        let values = [self.load(&places[0], span)?, self.load(&places[1], span)?];
        for (place, value) in places.iter().zip(values.into_iter().rev()) {
            let pointer = self.follow((**place).clone());
            self.update_at(&pointer, span, |_, slot| {
                *slot = value;
                Ok(())
            })?;
        }
        Ok(Value::Unit)
    }
}
