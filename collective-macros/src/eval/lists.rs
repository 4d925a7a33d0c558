//! Arrays, vectors and tuples.

use std::rc::Rc;

use super::{Eval, Machine, Value};
use crate::ast::{Expr, ListMethod, Mutation, Place};
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
        Ok(Value::list(vec![item; length]))
    }

    pub(super) fn index(&mut self, [list, index]: &'a [Expr; 2]) -> Eval {
        let items = self.eval(list)?;
        let value = self.eval(index)?;
        let at = self.index_value(&value, index.span)?;
        match &items {
            Value::List(items) => match items.get(at) {
                Some(item) => Ok(item.clone()),
                None => self.out_of_bounds(index.span, at, items.len()),
            },
            other => self.mistyped(list.span, other, "an array or a Vec"),
        }
    }

    pub(super) fn field(&mut self, tuple: &'a Expr, field: usize) -> Eval {
        match self.eval(tuple)? {
            Value::Tuple(items) if field < items.len() => Ok(items[field].clone()),
            other => self.mistyped(tuple.span, &other, "a tuple with this field"),
        }
    }

    pub(super) fn list_method(&mut self, method: ListMethod, list: &'a Expr, args: &'a [Expr]) -> Eval {
        let items = match self.eval(list)? {
            Value::List(items) => items,
            other => return self.mistyped(list.span, &other, "an array or a Vec"),
        };
        Ok(match (method, args) {
            (ListMethod::Len, _) => Value::Int(Int::usize(items.len())),
            (ListMethod::IsEmpty, _) => Value::Bool(items.is_empty()),
            (ListMethod::Last, _) => Value::option(items.last().cloned()),
            (ListMethod::Get, [index]) => {
                let at = self.eval(index)?;
                let at = self.index_value(&at, index.span)?;
                Value::option(items.get(at).cloned())
            }
            (ListMethod::First | ListMethod::Get, _) => Value::option(items.first().cloned()),
        })
    }

    pub(super) fn list_contains(&mut self, [list, item]: &'a [Expr; 2]) -> Eval {
        let items = match self.eval(list)? {
            Value::List(items) => items,
            other => return self.mistyped(list.span, &other, "an array or a Vec"),
        };
        let wanted = self.eval(item)?;
        for candidate in items.iter() {
            if self.equal(candidate, &wanted, item.span)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }

    pub(super) fn mutate(
        &mut self,
        mutation: Mutation,
        place: &'a Place,
        args: &'a [Expr],
        span: SpanId,
    ) -> Eval {
        let path = self.resolve(place, span)?;
        let values = self.eval_all(args)?;
        self.update_resolved(place.slot, &path, span, |machine, value| match value {
            Value::List(items) => machine.mutate_list(mutation, items, values, span),
            other => {
                let other = other.clone();
                machine.mistyped(span, &other, "a Vec")
            }
        })
    }

    fn mutate_list(
        &mut self,
        mutation: Mutation,
        items: &mut Rc<Vec<Value>>,
        args: Vec<Value>,
        span: SpanId,
    ) -> Eval {
        let owned = self.own(items, span)?;
        match mutation {
            Mutation::Pop => return Ok(Value::option(owned.pop())),
            Mutation::Push => owned.extend(args),
            Mutation::Reverse => {
                self.burn(owned.len() as u64, span)?;
                owned.reverse();
            }
            Mutation::Clear => owned.clear(),
            Mutation::Swap => {
                let mut indices = [0; 2];
                for (index, arg) in indices.iter_mut().zip(&args) {
                    *index = self.index_value(arg, span)?;
                    if *index >= owned.len() {
                        return self.out_of_bounds(span, *index, owned.len());
                    }
                }
                owned.swap(indices[0], indices[1]);
            }
        }
        Ok(Value::Unit)
    }
}
