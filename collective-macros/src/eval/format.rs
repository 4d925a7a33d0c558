//! Texts made of values, and assertions.

use super::{Eval, Machine, Value};
use crate::ast::{Assert, Condition, Format, Piece, Spec};
use crate::span::SpanId;

/// The longest text that is made.
const MAX_TEXT: usize = 4096;

impl<'a> Machine<'a> {
    pub(super) fn format(&mut self, format: &'a Format, span: SpanId) -> Eval<String> {
        let args = self.eval_all(&format.args)?;
        let mut text = String::new();
        for piece in &format.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Arg(arg, spec) => {
                    let Some(value) = args.get(*arg) else { continue };
                    let shown = self.shown(value, spec.is_debug, span)?;
                    let is_number = matches!(self.plain(value.clone(), span)?, Value::Int(_));
                    text.push_str(&padded(&shown, *spec, is_number));
                }
            }
            if text.len() > MAX_TEXT {
                return self.fail(
                    span,
                    format!("this text is longer than {MAX_TEXT} bytes, too long for build time"),
                );
            }
        }
        self.burn(text.len() as u64 / 8, span)?;
        Ok(text)
    }

    /// A value as `{}` or `{:?}` shows it.
    pub(super) fn shown(&mut self, value: &Value, is_debug: bool, span: SpanId) -> Eval<String> {
        self.burn(1, span)?;
        let all = |machine: &mut Self, items: &[Value]| -> Eval<String> {
            let mut parts = Vec::new();
            for item in items {
                parts.push(machine.shown(item, is_debug, span)?);
            }
            Ok(parts.join(", "))
        };
        Ok(match value {
            Value::Unit => "()".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(int) => int.value.to_string(),
            Value::Text(text) if is_debug => format!("{text:?}"),
            Value::Text(text) => text.to_string(),
            Value::Tuple(items) if items.len() == 1 => format!("({},)", all(self, items)?),
            Value::Tuple(items) => format!("({})", all(self, items)?),
            Value::List(items) => format!("[{}]", all(self, items)?),
            Value::None => "None".to_owned(),
            Value::Some(value) => format!("Some({})", self.shown(value, is_debug, span)?),
            Value::Input | Value::Output | Value::Scratch(_) | Value::Chunk(_) => {
                let message = "a chunk or buffer is not shown at build time: show its `rank()` instead";
                return self.fail(span, message);
            }
            Value::Place(pointer) => {
                let value = self.load(pointer, span)?;
                self.shown(&value, is_debug, span)?
            }
            other => return self.mistyped(span, other, "what can be shown"),
        })
    }

    pub(super) fn assert(&mut self, assert: &'a Assert, span: SpanId) -> Eval {
        let what = match &assert.condition {
            Condition::Holds(condition) => {
                let value = self.eval(condition)?;
                if self.bool(&value, condition.span)? {
                    return Ok(Value::Unit);
                }
                format!("`{}` does not hold", assert.shown)
            }
            Condition::Compare { is_equal, sides: [left, right] } => {
                let (a, b) = (self.eval(left)?, self.eval(right)?);
                if self.equal(&a, &b, span)? == *is_equal {
                    return Ok(Value::Unit);
                }
                let shown = (self.shown(&a, true, span), self.shown(&b, true, span));
                match shown {
                    (Ok(a), Ok(b)) => format!("`{}` does not hold (left {a}, right {b})", assert.shown),
                    _ => return Err(super::Flow::Stop),
                }
            }
            Condition::Never => "the algorithm panics here".to_owned(),
        };
        match &assert.message {
            Some(message) => {
                let words = self.format(message, span)?;
                let message = if words.is_empty() { what } else { format!("{what}: {words}") };
                self.fail(span, message)
            }
            None => self.fail(span, what),
        }
    }
}

fn padded(text: &str, spec: Spec, is_number: bool) -> String {
    let missing = spec.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text.to_owned();
    }
    match (is_number, spec.is_zero_padded) {
        (true, true) => {
            let (sign, digits) = match text.strip_prefix('-') {
                Some(digits) => ("-", digits),
                None => ("", text),
            };
            format!("{sign}{}{digits}", "0".repeat(missing))
        }
        (true, false) => format!("{}{text}", " ".repeat(missing)),
        (false, _) => format!("{text}{}", " ".repeat(missing)),
    }
}
