//! Methods of lists, ranges and iterators that leave their receiver as it is, or use it up.

use std::cmp::Ordering;
use std::rc::Rc;

use super::iter::{Iter, Stream};
use super::{Eval, Machine, Value};
use crate::integer::Int;
use crate::method::Method;
use crate::span::SpanId;

impl Machine<'_> {
    pub(super) fn method(
        &mut self,
        method: Method,
        this: Value,
        args: Vec<Value>,
        receiver: SpanId,
        span: SpanId,
    ) -> Eval {
        // A `&mut` to a list is iterated by `&mut` to its elements.
        if let (Value::Place(_), Method::IntoIter) = (&this, method) {
            return Ok(Value::Iter(self.stream(this, receiver)?));
        }
        let this = self.plain(this, receiver)?;
        match (method, this) {
            (Method::Clone, this) => Ok(this.duplicate()),
            (Method::ToString, this) => Ok(Value::Text(self.shown(&this, false, span)?.into())),
            (Method::Iter | Method::IntoIter, this) => Ok(Value::Iter(self.stream(this, receiver)?)),
            (method, Value::Bool(holds)) => self.bool_method(method, holds, args, span),
            (method, Value::None) => self.option_method(method, None, args, span),
            (method, Value::Some(value)) => self.option_method(method, Some((*value).clone()), args, span),
            (method, Value::List(items)) => match self.list_method(method, &items, &args, span)? {
                Some(value) => Ok(value),
                // What only iterators have, on what is an iterator in Rust.
                None => self.iter_method(method, &Value::List(items), args, receiver, span),
            },
            (method, this) => self.iter_method(method, &this, args, receiver, span),
        }
    }

    /// A method of lists; nothing where it is one of iterators.
    fn list_method(
        &mut self,
        method: Method,
        items: &Rc<Vec<Value>>,
        args: &[Value],
        span: SpanId,
    ) -> Eval<Option<Value>> {
        use Method as M;
        let len = items.len();
        let part = |range: std::ops::Range<usize>| Value::list(items[range].to_vec());
        if let M::SplitFirst | M::SplitLast | M::SplitAt | M::Concat | M::IsSorted = method {
            self.burn(len as u64, span)?;
        }
        Ok(Some(match (method, args) {
            (M::Len, _) => Value::Int(Int::usize(len)),
            (M::IsEmpty, _) => Value::Bool(items.is_empty()),
            (M::First, _) => Value::option(items.first().cloned()),
            (M::Last, _) => Value::option(items.last().cloned()),
            (M::Get, [range @ Value::Iter(_)]) => match self.part_of(items, range, span)? {
                Ok(part) => Value::option(Some(part)),
                Err(_) => Value::None,
            },
            (M::Get, [index]) => {
                let at = self.index_value(index, span)?;
                Value::option(items.get(at).cloned())
            }
            (M::Contains, [wanted]) => {
                for item in items.iter() {
                    if self.equal(item, wanted, span)? {
                        return Ok(Some(Value::Bool(true)));
                    }
                }
                Value::Bool(false)
            }
            (M::StartsWith | M::EndsWith, [other]) => {
                let other = self.list(other.clone(), span)?;
                let Some(skipped) = len.checked_sub(other.len()) else { return Ok(Some(Value::Bool(false))) };
                let first = if method == M::StartsWith { 0 } else { skipped };
                let part = part(first..first + other.len());
                Value::Bool(self.equal(&part, &Value::List(other), span)?)
            }
            (M::SplitFirst, _) => {
                Value::option(items.first().map(|first| Value::tuple(vec![first.clone(), part(1..len)])))
            }
            (M::SplitLast, _) => {
                Value::option(items.last().map(|last| Value::tuple(vec![last.clone(), part(0..len - 1)])))
            }
            (M::SplitAt, [at]) => {
                let at = self.index_value(at, span)?;
                if at > len {
                    return self.fail(span, format!("there is no element {at} to split at: there are {len}"));
                }
                Value::tuple(vec![part(0..at), part(at..len)])
            }
            (M::Concat, _) => {
                let mut all = Vec::new();
                for inner in items.iter() {
                    let inner = self.list(inner.clone(), span)?;
                    self.burn(inner.len() as u64, span)?;
                    all.extend(inner.iter().cloned());
                }
                Value::list(all)
            }
            (M::IsSorted, _) => Value::Bool(self.keys(items, span)?.is_sorted()),
            (M::ToVec, _) => Value::List(Rc::clone(items)),
            // Of an array.
            (M::Map, [function]) => {
                let mut mapped = Vec::with_capacity(len);
                for item in items.iter() {
                    mapped.push(self.apply(function, vec![item.clone()], span)?);
                }
                Value::list(mapped)
            }
            (M::Windows | M::Chunks | M::ChunksExact, [length]) => {
                let length = self.index_value(length, span)?;
                if length == 0 {
                    return self.fail(span, "parts of 0 elements never get anywhere: give at least 1");
                }
                let parts: Vec<Value> = match method {
                    M::Windows => items.windows(length).map(|part| Value::list(part.to_vec())).collect(),
                    M::Chunks => items.chunks(length).map(|part| Value::list(part.to_vec())).collect(),
                    _ => items.chunks_exact(length).map(|part| Value::list(part.to_vec())).collect(),
                };
                self.burn((parts.len() as u64).saturating_mul(length.min(len) as u64), span)?;
                Value::iter(Iter::of_list(Rc::new(parts)))
            }
            _ => return Ok(None),
        }))
    }

    fn iter_method(
        &mut self,
        method: Method,
        this: &Value,
        args: Vec<Value>,
        receiver: SpanId,
        span: SpanId,
    ) -> Eval {
        use Method as M;
        let inner = self.stream(this.clone(), receiver)?;
        let numbers = match *inner.borrow() {
            Iter::Range(numbers) => Some(numbers),
            _ => None,
        };
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_default();
        Ok(Value::iter(match method {
            M::Rev => Iter::Rev(inner),
            M::StepBy => {
                let step = self.index_value(&next(), span)?;
                if step == 0 {
                    return self.fail(span, "a step of 0 never gets anywhere: `step_by` needs at least 1");
                }
                Iter::StepBy { inner, step, is_first: true }
            }
            M::Enumerate => Iter::Enumerate { inner, count: 0 },
            M::Zip => Iter::Zip(inner, self.stream(next(), span)?),
            M::Chain => Iter::Chain(Some(inner), Some(self.stream(next(), span)?)),
            M::Map => Iter::Map(inner, next()),
            M::Filter => Iter::Filter(inner, next()),
            M::FilterMap => Iter::FilterMap(inner, next()),
            M::FlatMap => Iter::Flatten { inner, function: Some(next()), front: None, back: None },
            M::Flatten => Iter::Flatten { inner, function: None, front: None, back: None },
            M::Take => Iter::Take(inner, self.index_value(&next(), span)?),
            M::Skip => Iter::Skip(inner, self.index_value(&next(), span)?),
            M::TakeWhile => Iter::TakeWhile(inner, Some(next())),
            M::SkipWhile => Iter::SkipWhile(inner, Some(next())),
            M::MapWhile => Iter::MapWhile(inner, next()),
            M::Inspect => Iter::Inspect(inner, next()),
            M::Cycle => {
                let current = Value::Iter(Rc::clone(&inner)).duplicate();
                let current = self.stream(current, span)?;
                Iter::Cycle { original: inner, current }
            }
            M::Peekable => Iter::Peekable { inner, peeked: None },
            M::Contains => {
                let Some(numbers) = numbers else {
                    return self.mistyped(receiver, this, "a range or a list");
                };
                let value = self.int(&next(), span)?.value;
                return Ok(Value::Bool(numbers.contains(value)));
            }
            M::Len | M::IsEmpty => {
                let Some(len) = inner.borrow().len() else {
                    return self.fail(span, "this iterator does not know how many items it has");
                };
                return Ok(match method {
                    M::Len => Value::Int(Int::usize(len)),
                    _ => Value::Bool(len == 0),
                });
            }
            _ => return self.consume(method, &inner, [next(), next()], span),
        }))
    }

    /// Methods that run an iterator.
    fn consume(&mut self, method: Method, inner: &Stream, [a, b]: [Value; 2], span: SpanId) -> Eval {
        use Method as M;
        Ok(match method {
            M::Next => Value::option(self.next(inner, span)?),
            M::NextBack => Value::option(self.next_back(inner, span)?),
            M::Nth => {
                let skipped = self.index_value(&a, span)?;
                Value::option(self.nth(inner, skipped, span)?)
            }
            M::Peek => Value::option(self.peek(inner, span)?),
            M::Collect | M::ToVec => Value::list(self.collect(inner, span)?),
            M::Last => {
                let mut last = None;
                while let Some(item) = self.next(inner, span)? {
                    last = Some(item);
                }
                Value::option(last)
            }
            M::Sum | M::Product => {
                let mut total = self.int(&a, span)?;
                let op = if method == M::Sum { crate::ast::BinaryOp::Add } else { crate::ast::BinaryOp::Mul };
                while let Some(item) = self.next(inner, span)? {
                    let item = self.int(&item, span)?;
                    total = match crate::integer::arithmetic(op, total, item) {
                        Ok(total) => total,
                        Err(fault) => return self.faulty(span, fault, "this"),
                    };
                }
                Value::Int(total)
            }
            M::Fold => {
                let mut state = a;
                while let Some(item) = self.next(inner, span)? {
                    state = self.apply(&b, vec![state, item], span)?;
                }
                state
            }
            M::ForEach => {
                while let Some(item) = self.next(inner, span)? {
                    self.apply(&a, vec![item], span)?;
                }
                Value::Unit
            }
            M::All | M::Any => {
                while let Some(item) = self.next(inner, span)? {
                    if self.holds(&a, item, span)? == (method == M::Any) {
                        return Ok(Value::Bool(method == M::Any));
                    }
                }
                Value::Bool(method == M::All)
            }
            M::Find => {
                while let Some(item) = self.next(inner, span)? {
                    if self.holds(&a, item.clone(), span)? {
                        return Ok(Value::option(Some(item)));
                    }
                }
                Value::None
            }
            M::FindMap => {
                while let Some(item) = self.next(inner, span)? {
                    if let Some(found) = self.maybe(&a, item, span)? {
                        return Ok(Value::option(Some(found)));
                    }
                }
                Value::None
            }
            M::Position => {
                let mut at = 0;
                while let Some(item) = self.next(inner, span)? {
                    if self.holds(&a, item, span)? {
                        return Ok(Value::option(Some(Value::Int(Int::usize(at)))));
                    }
                    at += 1;
                }
                Value::None
            }
            M::Smallest | M::Largest | M::MinByKey | M::MaxByKey => self.extreme(method, inner, &a, span)?,
            M::Partition => {
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                while let Some(item) = self.next(inner, span)? {
                    let holds = self.holds(&a, item.clone(), span)?;
                    if holds { yes.push(item) } else { no.push(item) }
                }
                Value::tuple(vec![Value::list(yes), Value::list(no)])
            }
            M::Unzip => {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                while let Some(item) = self.next(inner, span)? {
                    match self.plain(item, span)? {
                        Value::Tuple(pair) if pair.len() == 2 => {
                            left.push(pair[0].clone());
                            right.push(pair[1].clone());
                        }
                        other => return self.mistyped(span, &other, "pairs"),
                    }
                }
                Value::tuple(vec![Value::list(left), Value::list(right)])
            }
            _ => {
                let this = Value::Iter(Rc::clone(inner));
                return self.mistyped(span, &this, "something else to call this method on");
            }
        })
    }

    /// The smallest item, the first of several; or the largest, the last of several.
    fn extreme(&mut self, method: Method, inner: &Stream, key: &Value, span: SpanId) -> Eval {
        let is_largest = matches!(method, Method::Largest | Method::MaxByKey);
        let is_by_key = matches!(method, Method::MinByKey | Method::MaxByKey);
        let mut best = None;
        while let Some(item) = self.next(inner, span)? {
            let by = if is_by_key { self.apply(key, vec![item.clone()], span)? } else { item.clone() };
            let by = self.key(&by, span)?;
            let is_better = match &best {
                None => true,
                Some((_, known)) => match by.cmp(known) {
                    Ordering::Less => !is_largest,
                    Ordering::Equal | Ordering::Greater => is_largest,
                },
            };
            if is_better {
                best = Some((item, by));
            }
        }
        Ok(Value::option(best.map(|(item, _)| item)))
    }

    /// `count()` and `reduce()`, whose names the language has too.
    pub(super) fn count(&mut self, inner: &Stream, span: SpanId) -> Eval {
        let mut count = 0;
        while self.next(inner, span)?.is_some() {
            count += 1;
        }
        Ok(Value::Int(Int::usize(count)))
    }

    pub(super) fn reduce(&mut self, inner: &Stream, function: &Value, span: SpanId) -> Eval {
        let Some(mut state) = self.next(inner, span)? else { return Ok(Value::None) };
        while let Some(item) = self.next(inner, span)? {
            state = self.apply(function, vec![state, item], span)?;
        }
        Ok(Value::option(Some(state)))
    }
}
