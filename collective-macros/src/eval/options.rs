//! Methods of options and of `bool`.

use super::{Eval, Machine, Value};
use crate::method::Method;
use crate::span::SpanId;

impl Machine<'_> {
    /// A method of an Option with this value.
    pub(super) fn option_method(
        &mut self,
        method: Method,
        value: Option<Value>,
        args: Vec<Value>,
        span: SpanId,
    ) -> Eval {
        use Method as M;
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_default();
        Ok(match (method, value) {
            (M::IsSome, value) => Value::Bool(value.is_some()),
            (M::IsNone, value) => Value::Bool(value.is_none()),
            (M::IsSomeAnd, None) => Value::Bool(false),
            (M::IsNoneOr, None) => Value::Bool(true),
            (M::IsSomeAnd | M::IsNoneOr, Some(value)) => Value::Bool(self.holds(&next(), value, span)?),
            (M::Unwrap | M::Expect | M::UnwrapOr | M::UnwrapOrElse, Some(value)) => value,
            (M::Unwrap | M::Expect, None) => {
                let words = match next() {
                    Value::Text(text) => format!(": {text}"),
                    _ => String::new(),
                };
                return self.fail(span, format!("this is `None`, which cannot be unwrapped{words}"));
            }
            (M::UnwrapOr | M::MapOr, None) => next(),
            (M::UnwrapOrElse | M::MapOrElse | M::OrElse, None) => self.apply(&next(), Vec::new(), span)?,
            (M::MapOr | M::MapOrElse, Some(value)) => {
                next();
                self.apply(&next(), vec![value], span)?
            }
            (M::Map, Some(value)) => Value::option(Some(self.apply(&next(), vec![value], span)?)),
            (M::AndThen, Some(value)) => self.apply(&next(), vec![value], span)?,
            (M::Filter, Some(value)) => {
                let holds = self.holds(&next(), value.clone(), span)?;
                Value::option(Some(value).filter(|_| holds))
            }
            (M::Or | M::OrElse, Some(value)) => Value::option(Some(value)),
            (M::Or, None) => next(),
            (M::Xor, value) => match (value, next()) {
                (Some(value), Value::None) => Value::option(Some(value)),
                (None, other) => other,
                (Some(_), _) => Value::None,
            },
            (M::Zip, Some(value)) => match next() {
                Value::Some(other) => Value::option(Some(Value::tuple(vec![value, (*other).clone()]))),
                _ => Value::None,
            },
            (M::Flatten, Some(value)) => value,
            (M::Map | M::AndThen | M::Filter | M::Zip | M::Flatten, None) => Value::None,
            (_, value) => {
                let this = Value::option(value);
                return self.mistyped(span, &this, "something else to call this method on");
            }
        })
    }

    pub(super) fn bool_method(
        &mut self,
        method: Method,
        holds: bool,
        args: Vec<Value>,
        span: SpanId,
    ) -> Eval {
        let arg = args.into_iter().next().unwrap_or_default();
        match method {
            Method::Then if holds => Ok(Value::option(Some(self.apply(&arg, Vec::new(), span)?))),
            Method::ThenSome if holds => Ok(Value::option(Some(arg))),
            Method::Then | Method::ThenSome => Ok(Value::None),
            _ => self.mistyped(span, &Value::Bool(holds), "something else to call this method on"),
        }
    }
}
