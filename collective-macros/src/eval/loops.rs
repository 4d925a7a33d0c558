//! Loops.

use std::rc::Rc;

use super::{ActiveLoop, Eval, Flow, Machine, Value};
use crate::ast::{Adapter, Block, For, LoopId, Range, Source, While};
use crate::integer::{Int, IntKind, common};
use crate::span::SpanId;

/// `len` numbers, `step` apart: the numbers of a range or the indices of a list.
#[derive(Clone, Copy, Debug)]
struct Sequence {
    first: i128,
    step: i128,
    len: i128,
}

impl Sequence {
    fn reverse(&mut self) {
        self.first += self.step * (self.len - 1).max(0);
        self.step = -self.step;
    }

    fn step_by(&mut self, step: i128) {
        self.len = (self.len + step - 1) / step;
        // Steps so wide leave a single round, in which the step is not used.
        self.step = self.step.saturating_mul(step);
    }

    fn at(&self, round: i128) -> i128 {
        self.first + self.step * round
    }
}

/// What a `for` loop runs over, worked out before its first round, as in Rust.
struct Rounds {
    items: Items,
    sequence: Sequence,
    /// One for each `enumerate`, the innermost first.
    counters: Vec<Sequence>,
}

enum Items {
    Numbers(IntKind),
    List(Rc<Vec<Value>>),
}

impl Rounds {
    fn each(&mut self, act: impl Fn(&mut Sequence)) {
        act(&mut self.sequence);
        self.counters.iter_mut().for_each(act);
    }

    fn at(&self, round: i128) -> Value {
        let position = self.sequence.at(round);
        let item = match &self.items {
            Items::Numbers(kind) => Value::Int(Int::new(position, *kind)),
            Items::List(items) => items[position as usize].clone(),
        };
        self.counters.iter().fold(item, |item, counter| {
            let count = Value::Int(Int::new(counter.at(round), IntKind::Usize));
            Value::Tuple(Rc::new(vec![count, item]))
        })
    }
}

impl<'a> Machine<'a> {
    pub(super) fn for_loop(&mut self, each: &'a For, span: SpanId) -> Eval {
        let rounds = self.rounds(each, span)?;
        self.track(span, false, |machine| {
            for round in 0..rounds.sequence.len {
                machine.bind(&each.pattern, rounds.at(round), span)?;
                if !machine.round(each.id, &each.body, span)? {
                    break;
                }
            }
            Ok(Value::Unit)
        })
    }

    pub(super) fn while_loop(&mut self, each: &'a While, span: SpanId) -> Eval {
        self.track(span, true, |machine| {
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
        self.track(span, true, |machine| {
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

    fn track(&mut self, span: SpanId, is_open: bool, run: impl FnOnce(&mut Self) -> Eval) -> Eval {
        self.loops.push(ActiveLoop { span, is_open, rounds: 0 });
        let result = run(self);
        self.loops.pop();
        result
    }

    fn rounds(&mut self, each: &'a For, span: SpanId) -> Eval<Rounds> {
        let (items, sequence) = match &each.source {
            Source::Range(range) => {
                let (start, end) = self.range(range, span)?;
                let len = (end.value - start.value + i128::from(range.inclusive)).max(0);
                (Items::Numbers(start.kind), Sequence { first: start.value, step: 1, len })
            }
            Source::List(list) => match self.eval(list)? {
                Value::List(items) => {
                    let len = items.len() as i128;
                    (Items::List(items), Sequence { first: 0, step: 1, len })
                }
                other => return self.mistyped(list.span, &other, "a range, an array or a Vec"),
            },
        };
        let mut rounds = Rounds { items, sequence, counters: Vec::new() };
        for adapter in &each.adapters {
            match adapter {
                Adapter::Rev => rounds.each(Sequence::reverse),
                Adapter::Enumerate => {
                    let len = rounds.sequence.len;
                    rounds.counters.push(Sequence { first: 0, step: 1, len });
                }
                Adapter::StepBy(step) => {
                    let value = self.eval(step)?;
                    let by = self.index_value(&value, step.span)?;
                    if by == 0 {
                        return self
                            .fail(step.span, "a step of 0 never gets anywhere: `step_by` needs at least 1");
                    }
                    rounds.each(|sequence| sequence.step_by(by as i128));
                }
            }
        }
        Ok(rounds)
    }

    /// The ends of a range, in one type.
    pub(super) fn range(&mut self, range: &'a Range, span: SpanId) -> Eval<(Int, Int)> {
        let start = self.eval(&range.start)?;
        let start = self.int(&start, range.start.span)?;
        let end = self.eval(&range.end)?;
        let end = self.int(&end, range.end.span)?;
        match common(start, end) {
            Ok(_) => Ok((start, end)),
            Err(fault) => self.faulty(span, fault, "this range"),
        }
    }
}
