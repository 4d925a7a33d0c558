//! Loops.

use super::iter::{Iter, Numbers};
use super::{ActiveLoop, Eval, Flow, Machine, Shown, Value};
use crate::ast::{Block, For, LoopId, Range, While};
use crate::integer::{IntKind, common};
use crate::span::SpanId;

impl<'a> Machine<'a> {
    pub(super) fn for_loop(&mut self, each: &'a For, span: SpanId) -> Eval {
        let items = self.eval(&each.items)?;
        let items = self.stream(items, each.items.span)?;
        self.track(span, false, Shown::Pattern(&each.pattern), |machine| {
            while let Some(item) = machine.next(&items, each.items.span)? {
                machine.bind(&each.pattern, item, span)?;
                if !machine.round(each.id, &each.body, span)? {
                    break;
                }
            }
            Ok(Value::Unit)
        })
    }

    pub(super) fn while_loop(&mut self, each: &'a While, span: SpanId) -> Eval {
        self.track(span, true, Shown::Condition(&each.condition), |machine| {
            loop {
                let condition = machine.eval(&each.condition);
                let condition = condition.and_then(|value| machine.bool(&value, each.condition.span));
                match condition {
                    Ok(true) => {}
                    Ok(false) => return Ok(Value::Unit),
                    Err(Flow::Break(id)) if id == each.id => return Ok(Value::Unit),
                    Err(Flow::Continue(id)) if id == each.id => continue,
                    Err(flow) => return Err(flow),
                }
                if !machine.round(each.id, &each.body, span)? {
                    return Ok(Value::Unit);
                }
            }
        })
    }

    pub(super) fn endless_loop(&mut self, id: LoopId, body: &'a Block, span: SpanId) -> Eval {
        self.track(span, true, Shown::Nothing, |machine| {
            while machine.round(id, body, span)? {}
            Ok(std::mem::take(&mut machine.carried))
        })
    }

    /// Runs the body once; false when the loop is left.
    fn round(&mut self, id: LoopId, body: &'a Block, span: SpanId) -> Eval<bool> {
        self.burn(1, span)?;
        if let Some(active) = self.loops.last_mut() {
            active.rounds += 1;
        }
        match self.block(body) {
            Ok(_) => Ok(true),
            Err(Flow::Continue(target)) if target == id => Ok(true),
            Err(Flow::Break(target)) if target == id => Ok(false),
            Err(flow) => Err(flow),
        }
    }

    pub(super) fn track(
        &mut self,
        span: SpanId,
        is_open: bool,
        shown: Shown<'a>,
        run: impl FnOnce(&mut Self) -> Eval,
    ) -> Eval {
        let (function, frame) = (self.function, self.frame);
        self.loops.push(ActiveLoop { span, is_open, rounds: 0, shown, function, frame });
        let result = run(self);
        self.loops.pop();
        result
    }

    /// A range as an iterator.
    pub(super) fn range(&mut self, range: &'a Range, span: SpanId) -> Eval {
        let mut ends = [None; 2];
        for (end, written) in ends.iter_mut().zip([&range.start, &range.end]) {
            if let Some(written) = written {
                let value = self.eval(written)?;
                *end = Some(self.int(&value, written.span)?);
            }
        }
        let kind = match ends {
            [Some(start), Some(end)] => match common(start, end) {
                Ok(kind) => kind,
                Err(fault) => return self.faulty(span, fault, "this range"),
            },
            [Some(only), None] | [None, Some(only)] => only.kind,
            [None, None] => IntKind::Usize,
        };
        let next = ends[0].map_or(0, |start| start.value);
        let end = ends[1].map(|end| end.value + i128::from(range.inclusive));
        Ok(Value::iter(Iter::Range(Numbers { kind, next, end })))
    }
}
