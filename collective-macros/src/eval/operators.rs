//! Operators, and the messages of the faults that they can have.

use super::{Eval, Machine, Value};
use crate::ast::{BinaryOp, Expr, Guard, IntMethod, Words};
use crate::integer::{self, Answer, Fault, Guarded, Int, IntKind};
use crate::span::SpanId;

impl<'a> Machine<'a> {
    #[inline]
    pub(super) fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value, words: &Words, span: SpanId) -> Eval {
        use BinaryOp as Op;
        let is_comparison = matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge);
        match (a, b) {
            (Value::Int(a), Value::Int(b)) if is_comparison => {
                Ok(Value::Bool(integer::compare(op, a.value, b.value)))
            }
            (Value::Int(a), Value::Int(b)) => match integer::arithmetic(op, *a, *b) {
                Ok(int) => Ok(Value::Int(int)),
                Err(fault) => self.fail(span, explain_binary(fault, op, *a, *b, words)),
            },
            (Value::Bool(a), Value::Bool(b)) => match op {
                Op::BitAnd => Ok(Value::Bool(a & b)),
                Op::BitOr => Ok(Value::Bool(a | b)),
                Op::BitXor => Ok(Value::Bool(a ^ b)),
                _ if is_comparison => Ok(Value::Bool(integer::compare(op, i128::from(*a), i128::from(*b)))),
                _ => self.mistyped(span, &Value::Bool(*a), "integers"),
            },
            (Value::Place(_), _) | (_, Value::Place(_)) => {
                let (a, b) = (self.plain(a.clone(), span)?, self.plain(b.clone(), span)?);
                self.binary(op, &a, &b, words, span)
            }
            _ => match op {
                Op::Eq => Ok(Value::Bool(self.equal(a, b, span)?)),
                Op::Ne => Ok(Value::Bool(!self.equal(a, b, span)?)),
                _ if is_comparison => {
                    let order = self.order(a, b, span)?;
                    Ok(Value::Bool(integer::compare(op, order as i128, 0)))
                }
                _ => self.mistyped(span, a, "integers or booleans"),
            },
        }
    }

    /// Whether two values are equal; integers by value, for the types are the compiler's to check. Takes fuel for
    /// each item that is compared.
    pub(super) fn equal(&mut self, a: &Value, b: &Value, span: SpanId) -> Eval<bool> {
        self.burn(1, span)?;
        Ok(match (a, b) {
            (Value::Int(a), Value::Int(b)) => a.value == b.value,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Place(_), _) | (_, Value::Place(_)) => {
                let (a, b) = (self.plain(a.clone(), span)?, self.plain(b.clone(), span)?);
                self.equal(&a, &b, span)?
            }
            (Value::Unit, Value::Unit) | (Value::None, Value::None) => true,
            (Value::None, Value::Some(_)) | (Value::Some(_), Value::None) => false,
            (Value::Some(a), Value::Some(b)) => self.equal(a, b, span)?,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) | (Value::List(a), Value::List(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(b.iter()) {
                    if !self.equal(a, b, span)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => match (a.buffer(), b.buffer()) {
                (Some(a), Some(b)) => a == b,
                _ => return self.mistyped(span, a, "values that can be compared"),
            },
        })
    }

    /// `checked_sub` and its like.
    pub(super) fn guarded(
        &mut self,
        guard: Guard,
        op: BinaryOp,
        [left, right]: &'a [Expr; 2],
        span: SpanId,
    ) -> Eval {
        let a = self.eval(left)?;
        let a = self.int(&a, left.span)?;
        let b = self.eval(right)?;
        let b = self.int(&b, right.span)?;
        match integer::guarded(guard, op, a, b) {
            Ok(Guarded::Int(int)) if guard == Guard::Checked => Ok(Value::option(Some(Value::Int(int)))),
            Ok(Guarded::Int(int)) => Ok(Value::Int(int)),
            Ok(Guarded::Nothing) => Ok(Value::None),
            Ok(Guarded::Pair(int, overflows)) => {
                Ok(Value::tuple(vec![Value::Int(int), Value::Bool(overflows)]))
            }
            Err(fault) => self.faulty(span, fault, "this"),
        }
    }

    pub(super) fn int_method(
        &mut self,
        method: IntMethod,
        this: &Value,
        args: &[Value],
        span: SpanId,
    ) -> Eval {
        let this = self.plain(this.clone(), span)?;
        if let (IntMethod::Min | IntMethod::Max, [other]) = (method, args)
            && !matches!(this, Value::Int(_))
        {
            let is_less = self.order(other, &this, span)?.is_lt();
            return Ok(if is_less == (method == IntMethod::Min) { other.clone() } else { this });
        }
        let this = self.int(&this, span)?;
        let mut ints = Vec::with_capacity(args.len());
        for arg in args {
            ints.push(self.int(arg, span)?);
        }
        match integer::method(method, this, &ints) {
            Ok(Answer::Int(int)) => Ok(Value::Int(int)),
            Ok(Answer::Bool(value)) => Ok(Value::Bool(value)),
            Err(fault @ Fault::Overflow(_)) if method == IntMethod::Pow => {
                let message = explain(fault, "this");
                self.fail(span, format!("{message}; if it should wrap, use `wrapping_pow`"))
            }
            Err(fault) => self.faulty(span, fault, "this"),
        }
    }
}

/// `rank - 1` underflows: what happened, with the numbers, and what to do.
#[cold]
fn explain_binary(fault: Fault, op: BinaryOp, a: Int, b: Int, words: &Words) -> String {
    let text = format!("`{}`", words.text);
    let (x, y) = (a.value, b.value);
    match fault {
        Fault::Underflow(kind) if op == BinaryOp::Sub && kind.min() == 0 => {
            let advice = match &words.instead {
                Some(instead) => format!("; to step back around a ring, add `ranks` first: `{instead}`"),
                None => "; make sure that the left side is not the smaller one".to_owned(),
            };
            format!("{text} underflows: {x} - {y} is below zero for {}{advice}", kind.name())
        }
        Fault::Overflow(kind) | Fault::Underflow(kind) => {
            let sign = match op {
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Mul => "*",
                BinaryOp::Div => "/",
                BinaryOp::Rem => "%",
                _ => "and",
            };
            // The operators that have a method which wraps.
            let method = match op {
                BinaryOp::Add => "wrapping_add",
                BinaryOp::Sub => "wrapping_sub",
                BinaryOp::Mul => "wrapping_mul",
                _ => "",
            };
            let wraps = match (method, kind) {
                // A number that is written without a type has no methods.
                ("", _) | (_, IntKind::I32) => String::new(),
                _ => format!("; if it should wrap, use `{method}`"),
            };
            let (way, limit) = match fault {
                Fault::Underflow(_) => ("below", kind.min()),
                _ => ("above", kind.max()),
            };
            format!(
                "{text} overflows: {x} {sign} {y} is {way} {limit}, the limit of {}{}{wraps}",
                kind.name(),
                advice(kind)
            )
        }
        Fault::DivideByZero => format!("{text} divides by zero: {x} by 0"),
        Fault::ShiftTooFar(kind) => {
            let (bits, advice) = (kind.bits(), advice(kind));
            let name = kind.name();
            format!("{text} shifts too far: by {y}, where {bits} bits are all that {name} has{advice}")
        }
        fault => explain(fault, &text),
    }
}

/// What to do about a type that has become too small.
fn advice(kind: IntKind) -> &'static str {
    match kind {
        IntKind::I32 => {
            ", the type of a number that is written without one: write the type, such as `1usize`"
        }
        _ => "",
    }
}

/// The message of a fault of something other than a binary operator.
pub(super) fn explain(fault: Fault, text: &str) -> String {
    match fault {
        Fault::Underflow(kind) => {
            format!("{text} is below {}, the least that {} can hold", kind.min(), kind.name())
        }
        Fault::Overflow(kind) => {
            format!("{text} overflows: it is above {}, the most that {} can hold", kind.max(), kind.name())
        }
        Fault::DivideByZero => format!("{text} divides by zero"),
        Fault::ShiftTooFar(kind) => format!("{text} shifts by more than the {} bits there are", kind.bits()),
        Fault::Mixed(a, b) => {
            format!("{text} mixes {} and {}: convert one of them with `as`", a.name(), b.name())
        }
        Fault::Undefined => format!("{text} has no value for this number, so it would panic"),
    }
}
