//! Calls of closures and functions that are values.

use std::cell::RefCell;

use super::{Eval, Flow, MAX_CALLS, Machine, Shown, Value};
use crate::ast::{ClosureId, Slot};
use crate::span::SpanId;

/// A closure with what it has caught.
#[derive(Debug)]
pub(crate) struct Closure {
    id: ClosureId,
    /// Where the frame of the function around it begins, and which call that is.
    frame: usize,
    serial: u64,
    /// Copies of the variables that it uses, where it owns them.
    owned: Option<RefCell<Vec<Value>>>,
    /// Closures within closures, by what they own.
    nested: usize,
}

impl Closure {
    pub(super) fn duplicate(&self) -> Self {
        let copies =
            |owned: &RefCell<Vec<Value>>| RefCell::new(owned.borrow().iter().map(Value::duplicate).collect());
        Self { owned: self.owned.as_ref().map(copies), ..*self }
    }
}

impl<'a> Machine<'a> {
    pub(super) fn close(&mut self, id: ClosureId, span: SpanId) -> Eval {
        let closure = &self.ast.closures[id.0 as usize];
        let value = |slot: &Slot| self.stack[self.frame + slot.0 as usize].clone();
        let owned: Option<Vec<Value>> = closure.owns.then(|| closure.captures.iter().map(value).collect());
        let mut nested = 0;
        for value in owned.iter().flatten() {
            nested = nested.max(self.nested(value, span)? + 1);
        }
        if nested > MAX_CALLS {
            return self.fail(span, "closures are nested too deep here: use a loop");
        }
        let owned = owned.map(RefCell::new);
        let serial = self.frames.last().copied().unwrap_or_default();
        Ok(Value::Closure(std::rc::Rc::new(Closure { id, frame: self.frame, serial, owned, nested })))
    }

    /// How deep closures are nested in a value.
    fn nested(&mut self, value: &Value, span: SpanId) -> Eval<usize> {
        match value {
            Value::Closure(closure) => Ok(closure.nested),
            Value::Some(value) => self.nested(value, span),
            Value::Tuple(items) | Value::List(items) => {
                let mut most = 0;
                for item in items.iter() {
                    self.burn(1, span)?;
                    most = most.max(self.nested(item, span)?);
                }
                Ok(most)
            }
            Value::Iter(stream) => {
                let mut most = 0;
                for part in stream.borrow().parts() {
                    most = most.max(self.nested(&part, span)?);
                }
                Ok(most)
            }
            _ => Ok(0),
        }
    }

    /// Calls a closure or a function.
    pub(super) fn apply(&mut self, function: &Value, args: Vec<Value>, span: SpanId) -> Eval {
        match function {
            Value::Function(id) => self.call(*id, args, span),
            Value::Closure(closure) => self.apply_closure(closure, args, span),
            Value::Place(pointer) => {
                let function = self.load(pointer, span)?;
                self.apply(&function, args, span)
            }
            other => self.mistyped(span, other, "a function"),
        }
    }

    fn apply_closure(&mut self, closure: &Closure, args: Vec<Value>, span: SpanId) -> Eval {
        if self.depth == MAX_CALLS {
            let message =
                format!("a closure is {MAX_CALLS} calls deep and still goes on: make sure that it ends");
            return self.fail(span, message);
        }
        let outer = self.frame;
        self.depth += 1;
        let result = match &closure.owned {
            Some(owned) => self.apply_owned(closure, owned, args, span),
            None => self.apply_in_place(closure, args, span),
        };
        self.depth -= 1;
        self.frame = outer;
        result
    }

    /// In a frame of its own, with the copies in their places.
    fn apply_owned(
        &mut self,
        closure: &Closure,
        owned: &RefCell<Vec<Value>>,
        args: Vec<Value>,
        span: SpanId,
    ) -> Eval {
        let written = &self.ast.closures[closure.id.0 as usize];
        let function = &self.ast.functions[written.function.0 as usize];
        self.frame = self.push_frame(function.slots.len());
        for (slot, value) in written.captures.iter().zip(std::mem::take(&mut *owned.borrow_mut())) {
            self.set(*slot, value);
        }
        let result = self.run_closure(closure.id, args, span);
        let frame = self.frame;
        let kept =
            written.captures.iter().map(|slot| std::mem::take(&mut self.stack[frame + slot.0 as usize]));
        *owned.borrow_mut() = kept.collect();
        self.pop_frame(frame);
        result
    }

    /// In the frame of the function around it.
    fn apply_in_place(&mut self, closure: &Closure, args: Vec<Value>, span: SpanId) -> Eval {
        if self.frames.binary_search(&closure.serial).is_err() {
            return self.fail(span, "this closure has left the function that it stands in: write `move |…|`");
        }
        self.frame = closure.frame;
        // A closure that calls itself, by way of others, has variables of its own each time.
        let is_active = self.active.contains(&(closure.frame, closure.id));
        let (first, end) = self.ast.closures[closure.id.0 as usize].own;
        let own = closure.frame + first as usize..closure.frame + end as usize;
        let saved = if is_active { self.stack[own.clone()].to_vec() } else { Vec::new() };
        self.active.push((closure.frame, closure.id));
        let result = self.run_closure(closure.id, args, span);
        self.active.pop();
        for (slot, value) in own.zip(saved) {
            self.stack[slot] = value;
        }
        result
    }

    fn run_closure(&mut self, id: ClosureId, args: Vec<Value>, span: SpanId) -> Eval {
        let closure = &self.ast.closures[id.0 as usize];
        let function = &self.ast.functions[closure.function.0 as usize];
        let around = self.function.replace(function);
        let shown = Shown::Params(&closure.params);
        let result = self.track(closure.body.span, false, shown, |machine| {
            for ((pattern, _), arg) in closure.params.iter().zip(args) {
                machine.bind(pattern, arg, span)?;
            }
            machine.eval(&closure.body)
        });
        self.function = around;
        match result {
            Err(Flow::Return) => Ok(std::mem::take(&mut self.carried)),
            other => other,
        }
    }
}
