//! Ranges and iterators: lazy, as in Rust, so that what closures do happens in the same order.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Eval, Machine, Value};
use crate::integer::{Int, IntKind};
use crate::span::SpanId;

/// A shared iterator: whoever holds it goes on where the last one stopped.
pub(crate) type Stream = Rc<RefCell<Iter>>;

/// An iterator with its state.
#[derive(Clone, Debug)]
pub(crate) enum Iter {
    Range(Numbers),
    /// The elements `front..back`.
    List {
        items: Rc<Vec<Value>>,
        front: usize,
        back: usize,
    },
    Rev(Stream),
    StepBy {
        inner: Stream,
        step: usize,
        is_first: bool,
    },
    Enumerate {
        inner: Stream,
        count: usize,
    },
    Zip(Stream, Stream),
    Chain(Option<Stream>, Option<Stream>),
    Map(Stream, Value),
    Filter(Stream, Value),
    FilterMap(Stream, Value),
    /// With the function of `flat_map`.
    Flatten {
        inner: Stream,
        function: Option<Value>,
        front: Option<Stream>,
        back: Option<Stream>,
    },
    Take(Stream, usize),
    Skip(Stream, usize),
    /// Without a function once it has ended.
    TakeWhile(Stream, Option<Value>),
    /// Without a function once it has begun.
    SkipWhile(Stream, Option<Value>),
    MapWhile(Stream, Value),
    Inspect(Stream, Value),
    Cycle {
        original: Stream,
        current: Stream,
    },
    Peekable {
        inner: Stream,
        peeked: Option<Option<Value>>,
    },
    Successors {
        next: Option<Value>,
        function: Value,
    },
}

/// A range of integers. Without an end it is one of numbers that overflow at last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(super) kind: IntKind,
    pub(super) next: i128,
    /// One past the last.
    pub(super) end: Option<i128>,
}

impl Numbers {
    pub(super) fn contains(&self, value: i128) -> bool {
        value >= self.next && self.end.is_none_or(|end| value < end)
    }

    fn len(&self) -> Option<usize> {
        self.end.map(|end| usize::try_from((end - self.next).max(0)).unwrap_or(usize::MAX))
    }
}

fn shared(iter: Iter) -> Stream {
    Rc::new(RefCell::new(iter))
}

fn copied(stream: &Stream) -> Stream {
    shared(stream.borrow().duplicate())
}

impl Iter {
    pub(super) fn of_list(items: Rc<Vec<Value>>) -> Self {
        let back = items.len();
        Iter::List { items, front: 0, back }
    }

    /// A copy with a state of its own.
    pub(super) fn duplicate(&self) -> Self {
        match self {
            Iter::Range(_) | Iter::List { .. } => self.clone(),
            Iter::Rev(inner) => Iter::Rev(copied(inner)),
            Iter::StepBy { inner, step, is_first } => {
                Iter::StepBy { inner: copied(inner), step: *step, is_first: *is_first }
            }
            Iter::Enumerate { inner, count } => Iter::Enumerate { inner: copied(inner), count: *count },
            Iter::Zip(a, b) => Iter::Zip(copied(a), copied(b)),
            Iter::Chain(a, b) => Iter::Chain(a.as_ref().map(copied), b.as_ref().map(copied)),
            Iter::Map(inner, function) => Iter::Map(copied(inner), function.duplicate()),
            Iter::Filter(inner, function) => Iter::Filter(copied(inner), function.duplicate()),
            Iter::FilterMap(inner, function) => Iter::FilterMap(copied(inner), function.duplicate()),
            Iter::Flatten { inner, function, front, back } => Iter::Flatten {
                inner: copied(inner),
                function: function.as_ref().map(Value::duplicate),
                front: front.as_ref().map(copied),
                back: back.as_ref().map(copied),
            },
            Iter::Take(inner, left) => Iter::Take(copied(inner), *left),
            Iter::Skip(inner, left) => Iter::Skip(copied(inner), *left),
            Iter::TakeWhile(inner, function) => {
                Iter::TakeWhile(copied(inner), function.as_ref().map(Value::duplicate))
            }
            Iter::SkipWhile(inner, function) => {
                Iter::SkipWhile(copied(inner), function.as_ref().map(Value::duplicate))
            }
            Iter::MapWhile(inner, function) => Iter::MapWhile(copied(inner), function.duplicate()),
            Iter::Inspect(inner, function) => Iter::Inspect(copied(inner), function.duplicate()),
            Iter::Cycle { original, current } => {
                Iter::Cycle { original: copied(original), current: copied(current) }
            }
            Iter::Peekable { inner, peeked } => {
                Iter::Peekable { inner: copied(inner), peeked: peeked.clone() }
            }
            Iter::Successors { next, function } => {
                Iter::Successors { next: next.clone(), function: function.duplicate() }
            }
        }
    }

    /// The iterators and functions that it is made of.
    pub(super) fn parts(&self) -> Vec<Value> {
        let iter = |stream: &Stream| Value::Iter(Rc::clone(stream));
        match self {
            Iter::Range(_) => Vec::new(),
            Iter::List { items, .. } => vec![Value::List(Rc::clone(items))],
            Iter::Rev(inner)
            | Iter::StepBy { inner, .. }
            | Iter::Enumerate { inner, .. }
            | Iter::Take(inner, _)
            | Iter::Skip(inner, _)
            | Iter::Peekable { inner, .. }
            | Iter::Cycle { original: inner, .. } => vec![iter(inner)],
            Iter::Zip(a, b) => vec![iter(a), iter(b)],
            Iter::Chain(a, b) => a.iter().chain(b).map(iter).collect(),
            Iter::Map(inner, function)
            | Iter::Filter(inner, function)
            | Iter::FilterMap(inner, function)
            | Iter::MapWhile(inner, function)
            | Iter::Inspect(inner, function) => vec![iter(inner), function.clone()],
            Iter::Flatten { inner, function, .. }
            | Iter::TakeWhile(inner, function)
            | Iter::SkipWhile(inner, function) => {
                let mut parts = vec![iter(inner)];
                parts.extend(function.clone());
                parts
            }
            Iter::Successors { next, function } => {
                let mut parts = vec![function.clone()];
                parts.extend(next.clone());
                parts
            }
        }
    }

    /// How many are left, where that is known without running it.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Iter::Range(numbers) => numbers.len(),
            Iter::List { front, back, .. } => Some(back - front),
            Iter::Rev(inner)
            | Iter::Enumerate { inner, .. }
            | Iter::Map(inner, _)
            | Iter::Inspect(inner, _) => inner.borrow().len(),
            Iter::StepBy { inner, step, is_first } => {
                let len = inner.borrow().len()?;
                Some(if *is_first { len.div_ceil(*step) } else { len / step })
            }
            Iter::Zip(a, b) => {
                let (a, b) = (a.borrow().len(), b.borrow().len());
                a.into_iter().chain(b).min()
            }
            Iter::Chain(a, b) => {
                let len = |part: &Option<Stream>| part.as_ref().map_or(Some(0), |part| part.borrow().len());
                len(a)?.checked_add(len(b)?)
            }
            Iter::Take(inner, left) => Some(inner.borrow().len().map_or(*left, |len| len.min(*left))),
            Iter::Skip(inner, left) => inner.borrow().len().map(|len| len.saturating_sub(*left)),
            Iter::Peekable { inner, peeked } => match peeked {
                Some(None) => Some(0),
                Some(Some(_)) => inner.borrow().len().map(|len| len + 1),
                None => inner.borrow().len(),
            },
            _ => None,
        }
    }
}

impl<'a> Machine<'a> {
    /// What a `for` loop over a value runs over.
    pub(super) fn stream(&mut self, value: Value, span: SpanId) -> Eval<Stream> {
        Ok(match value {
            Value::Iter(stream) => stream,
            Value::List(items) => shared(Iter::of_list(items)),
            Value::None => shared(Iter::of_list(Rc::default())),
            Value::Some(value) => shared(Iter::of_list(Rc::new(vec![(*value).clone()]))),
            Value::Place(pointer) => {
                // A `&mut` to an iterator is that iterator; one to a list gives a `&mut` to each element.
                match self.load(&pointer, span)? {
                    Value::Iter(stream) => stream,
                    _ => match self.places(&pointer, span)? {
                        Value::Iter(stream) => stream,
                        other => return self.mistyped(span, &other, "what can be iterated"),
                    },
                }
            }
            other => return self.mistyped(span, &other, "a range, an array, a Vec or an iterator"),
        })
    }

    /// The next item. An iterator that runs is not borrowed while a closure does.
    pub(super) fn next(&mut self, stream: &Stream, span: SpanId) -> Eval<Option<Value>> {
        self.burn(1, span)?;
        let Ok(mut iter) = stream.try_borrow_mut() else { return self.is_running(span) };
        match &mut *iter {
            Iter::Range(numbers) => {
                if numbers.end.is_some_and(|end| numbers.next >= end) {
                    return Ok(None);
                }
                let int = Int::new(numbers.next, numbers.kind);
                numbers.next += 1;
                if numbers.end.is_none() && !numbers.kind.holds(numbers.next) {
                    return self.fail(span, "this range without an end overflows");
                }
                Ok(Some(Value::Int(int)))
            }
            Iter::List { items, front, back } => {
                if front >= back {
                    return Ok(None);
                }
                *front += 1;
                Ok(items.get(*front - 1).cloned())
            }
            Iter::Rev(inner) => self.next_back(inner, span),
            Iter::StepBy { inner, step, is_first } => {
                let skipped = if std::mem::take(is_first) { 0 } else { *step - 1 };
                self.nth(inner, skipped, span)
            }
            Iter::Enumerate { inner, count } => {
                let item = self.next(inner, span)?;
                *count += usize::from(item.is_some());
                let at = count.wrapping_sub(1);
                Ok(item.map(|item| Value::tuple(vec![Value::Int(Int::usize(at)), item])))
            }
            Iter::Zip(a, b) => {
                let Some(a) = self.next(a, span)? else { return Ok(None) };
                let Some(b) = self.next(b, span)? else { return Ok(None) };
                Ok(Some(Value::tuple(vec![a, b])))
            }
            Iter::Chain(a, b) => {
                if let Some(first) = a {
                    if let Some(item) = self.next(first, span)? {
                        return Ok(Some(item));
                    }
                    *a = None;
                }
                match b {
                    Some(second) => self.next(second, span),
                    None => Ok(None),
                }
            }
            Iter::Map(inner, function) => match self.next(inner, span)? {
                Some(item) => self.apply(function, vec![item], span).map(Some),
                None => Ok(None),
            },
            Iter::Filter(inner, function) => loop {
                let Some(item) = self.next(inner, span)? else { return Ok(None) };
                if self.holds(function, item.clone(), span)? {
                    return Ok(Some(item));
                }
            },
            Iter::FilterMap(inner, function) => loop {
                let Some(item) = self.next(inner, span)? else { return Ok(None) };
                if let Some(mapped) = self.maybe(function, item, span)? {
                    return Ok(Some(mapped));
                }
            },
            Iter::Flatten { inner, function, front, back } => loop {
                if let Some(part) = front {
                    if let Some(item) = self.next(part, span)? {
                        return Ok(Some(item));
                    }
                    *front = None;
                }
                match self.next(inner, span)? {
                    Some(item) => *front = Some(self.part(function.as_ref(), item, span)?),
                    None => {
                        return match back {
                            Some(part) => self.next(part, span),
                            None => Ok(None),
                        };
                    }
                }
            },
            Iter::Take(inner, left) => match left.checked_sub(1) {
                Some(less) => {
                    *left = less;
                    self.next(inner, span)
                }
                None => Ok(None),
            },
            Iter::Skip(inner, left) => {
                let skipped = std::mem::take(left);
                self.nth(inner, skipped, span)
            }
            Iter::TakeWhile(inner, function) => {
                let Some(wanted) = function else { return Ok(None) };
                let Some(item) = self.next(inner, span)? else { return Ok(None) };
                if self.holds(wanted, item.clone(), span)? {
                    return Ok(Some(item));
                }
                *function = None;
                Ok(None)
            }
            Iter::SkipWhile(inner, function) => {
                while let Some(unwanted) = function {
                    let Some(item) = self.next(inner, span)? else { return Ok(None) };
                    if !self.holds(unwanted, item.clone(), span)? {
                        *function = None;
                        return Ok(Some(item));
                    }
                }
                self.next(inner, span)
            }
            Iter::MapWhile(inner, function) => match self.next(inner, span)? {
                Some(item) => self.maybe(function, item, span),
                None => Ok(None),
            },
            Iter::Inspect(inner, function) => {
                let item = self.next(inner, span)?;
                if let Some(item) = &item {
                    self.apply(function, vec![item.clone()], span)?;
                }
                Ok(item)
            }
            Iter::Cycle { original, current } => {
                if let Some(item) = self.next(current, span)? {
                    return Ok(Some(item));
                }
                *current = copied(original);
                self.next(current, span)
            }
            Iter::Peekable { inner, peeked } => match peeked.take() {
                Some(item) => Ok(item),
                None => self.next(inner, span),
            },
            Iter::Successors { next, function } => {
                let Some(item) = next.take() else { return Ok(None) };
                *next = self.maybe(function, item.clone(), span)?;
                Ok(Some(item))
            }
        }
    }

    /// The next item from the end.
    pub(super) fn next_back(&mut self, stream: &Stream, span: SpanId) -> Eval<Option<Value>> {
        self.burn(1, span)?;
        let Ok(mut iter) = stream.try_borrow_mut() else { return self.is_running(span) };
        match &mut *iter {
            Iter::Range(numbers) => match &mut numbers.end {
                Some(end) if *end > numbers.next => {
                    *end -= 1;
                    Ok(Some(Value::Int(Int::new(*end, numbers.kind))))
                }
                _ => Ok(None),
            },
            Iter::List { items, front, back } => {
                if front >= back {
                    return Ok(None);
                }
                *back -= 1;
                Ok(items.get(*back).cloned())
            }
            Iter::Rev(inner) => self.next(inner, span),
            Iter::StepBy { inner, step, is_first } => {
                let Some(len) = inner.borrow().len() else { return self.is_one_way(span) };
                let rest = len % *step;
                let skipped = match (*is_first, rest) {
                    (true, 0) => *step - 1,
                    (true, rest) => rest - 1,
                    (false, rest) => rest,
                };
                for _ in 0..skipped {
                    self.next_back(inner, span)?;
                }
                if !*is_first && len < *step {
                    return Ok(None);
                }
                self.next_back(inner, span)
            }
            Iter::Enumerate { inner, count } => {
                let Some(item) = self.next_back(inner, span)? else { return Ok(None) };
                let Some(left) = inner.borrow().len() else { return self.is_one_way(span) };
                Ok(Some(Value::tuple(vec![Value::Int(Int::usize(*count + left)), item])))
            }
            Iter::Zip(a, b) => {
                let lens = (a.borrow().len(), b.borrow().len());
                let (Some(long_a), Some(long_b)) = lens else { return self.is_one_way(span) };
                for _ in long_b..long_a {
                    self.next_back(a, span)?;
                }
                for _ in long_a..long_b {
                    self.next_back(b, span)?;
                }
                match (self.next_back(a, span)?, self.next_back(b, span)?) {
                    (Some(a), Some(b)) => Ok(Some(Value::tuple(vec![a, b]))),
                    _ => Ok(None),
                }
            }
            Iter::Chain(a, b) => {
                if let Some(second) = b {
                    if let Some(item) = self.next_back(second, span)? {
                        return Ok(Some(item));
                    }
                    *b = None;
                }
                match a {
                    Some(first) => self.next_back(first, span),
                    None => Ok(None),
                }
            }
            Iter::Map(inner, function) => match self.next_back(inner, span)? {
                Some(item) => self.apply(function, vec![item], span).map(Some),
                None => Ok(None),
            },
            Iter::Filter(inner, function) => loop {
                let Some(item) = self.next_back(inner, span)? else { return Ok(None) };
                if self.holds(function, item.clone(), span)? {
                    return Ok(Some(item));
                }
            },
            Iter::FilterMap(inner, function) => loop {
                let Some(item) = self.next_back(inner, span)? else { return Ok(None) };
                if let Some(mapped) = self.maybe(function, item, span)? {
                    return Ok(Some(mapped));
                }
            },
            Iter::Flatten { inner, function, front, back } => loop {
                if let Some(part) = back {
                    if let Some(item) = self.next_back(part, span)? {
                        return Ok(Some(item));
                    }
                    *back = None;
                }
                match self.next_back(inner, span)? {
                    Some(item) => *back = Some(self.part(function.as_ref(), item, span)?),
                    None => {
                        return match front {
                            Some(part) => self.next_back(part, span),
                            None => Ok(None),
                        };
                    }
                }
            },
            Iter::Take(inner, left) => {
                let Some(len) = inner.borrow().len() else { return self.is_one_way(span) };
                let Some(less) = left.checked_sub(1) else { return Ok(None) };
                for _ in *left..len {
                    self.next_back(inner, span)?;
                }
                *left = less;
                self.next_back(inner, span)
            }
            Iter::Skip(inner, left) => {
                let Some(len) = inner.borrow().len() else { return self.is_one_way(span) };
                if len > *left { self.next_back(inner, span) } else { Ok(None) }
            }
            Iter::Inspect(inner, function) => {
                let item = self.next_back(inner, span)?;
                if let Some(item) = &item {
                    self.apply(function, vec![item.clone()], span)?;
                }
                Ok(item)
            }
            Iter::Peekable { inner, peeked } => match peeked {
                Some(None) => Ok(None),
                _ => match self.next_back(inner, span)? {
                    Some(item) => Ok(Some(item)),
                    None => Ok(peeked.take().flatten()),
                },
            },
            Iter::TakeWhile(..)
            | Iter::SkipWhile(..)
            | Iter::MapWhile(..)
            | Iter::Cycle { .. }
            | Iter::Successors { .. } => self.is_one_way(span),
        }
    }

    /// The item after so many others.
    pub(super) fn nth(&mut self, stream: &Stream, skipped: usize, span: SpanId) -> Eval<Option<Value>> {
        for _ in 0..skipped {
            if self.next(stream, span)?.is_none() {
                return Ok(None);
            }
        }
        self.next(stream, span)
    }

    /// The item to come.
    pub(super) fn peek(&mut self, stream: &Stream, span: SpanId) -> Eval<Option<Value>> {
        let Ok(mut iter) = stream.try_borrow_mut() else { return self.is_running(span) };
        let Iter::Peekable { inner, peeked } = &mut *iter else {
            return self.fail(span, "only an iterator that is `peekable()` has `peek`");
        };
        if peeked.is_none() {
            *peeked = Some(self.next(inner, span)?);
        }
        Ok(peeked.clone().flatten())
    }

    /// All that is left.
    pub(super) fn collect(&mut self, stream: &Stream, span: SpanId) -> Eval<Vec<Value>> {
        let mut items = Vec::new();
        while let Some(item) = self.next(stream, span)? {
            // A value takes more memory than a step takes time.
            self.burn(3, span)?;
            items.push(item);
        }
        Ok(items)
    }

    fn part(&mut self, function: Option<&Value>, item: Value, span: SpanId) -> Eval<Stream> {
        let part = match function {
            Some(function) => self.apply(function, vec![item], span)?,
            None => item,
        };
        self.stream(part, span)
    }

    /// What a function says of an item.
    pub(super) fn holds(&mut self, function: &Value, item: Value, span: SpanId) -> Eval<bool> {
        let answer = self.apply(function, vec![item], span)?;
        self.bool(&answer, span)
    }

    /// What a function gives for an item, where it gives an Option.
    pub(super) fn maybe(&mut self, function: &Value, item: Value, span: SpanId) -> Eval<Option<Value>> {
        match self.apply(function, vec![item], span)? {
            Value::None => Ok(None),
            Value::Some(value) => Ok(Some((*value).clone())),
            other => self.mistyped(span, &other, "an Option"),
        }
    }

    fn is_running<T>(&mut self, span: SpanId) -> Eval<T> {
        self.fail(span, "this iterator is used by the closure that it calls: use a `for` loop")
    }

    fn is_one_way<T>(&mut self, span: SpanId) -> Eval<T> {
        self.fail(span, "this iterator cannot be run from its end: collect it into a Vec first")
    }
}
