//! Expressions, blocks and statements.

use std::rc::Rc;

use collective_dsl::Cost;

use super::iter::Iter;
use super::{Eval, Flow, MAX_NESTING, Machine, Value};
use crate::ast::{AssignBinary, Binary, Block, CostUnit, Expr, ExprKind, If, Literal, Match, Statement};
use crate::integer::{Int, IntKind};
use crate::span::SpanId;

impl<'a> Machine<'a> {
    pub(super) fn eval(&mut self, expr: &'a Expr) -> Eval {
        self.burn(1, expr.span)?;
        if self.nesting == MAX_NESTING {
            return self.fail(expr.span, "calls and expressions are nested too deep here: use a loop");
        }
        self.nesting += 1;
        let result = self.eval_kind(expr);
        self.nesting -= 1;
        result
    }

    #[inline]
    fn eval_kind(&mut self, expr: &'a Expr) -> Eval {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Local(slot) => Ok(self.stack[self.frame + slot.0 as usize].clone()),
            ExprKind::Literal(literal) => Ok(match literal {
                Literal::Int(id) => Value::Int(self.ast.literals[id.0 as usize]),
                Literal::Bool(value) => Value::Bool(*value),
                Literal::Text(text) => Value::Text(text.clone()),
            }),
            ExprKind::Binary(binary) => self.binary_expr(binary, span),
            ExprKind::Dsl(method, call, receiver, args) => self.dsl(*method, *call, receiver, args, span),
            ExprKind::Input => Ok(Value::Input),
            ExprKind::Output => Ok(Value::Output),
            ExprKind::Cost(unit, number) => {
                let number = self.usize_arg(number)?;
                Ok(Value::Cost(match unit {
                    CostUnit::Flops => Cost::flops(number),
                    CostUnit::Micros => Cost::micros(number),
                }))
            }
            ExprKind::Scratch(name) => match self.eval(name)? {
                Value::Text(name) => Ok(Value::Scratch(name)),
                other => self.mistyped(name.span, &other, "a text"),
            },
            ExprKind::Unit => Ok(Value::Unit),
            ExprKind::Constant(id) => self.call(*id, Vec::new(), span),
            ExprKind::Not(inner) => {
                let value = self.eval(inner)?;
                match self.plain(value, span)? {
                    Value::Bool(value) => Ok(Value::Bool(!value)),
                    other => Ok(Value::Int(self.int(&other, inner.span)?.not())),
                }
            }
            ExprKind::Negate(inner) => {
                let value = self.eval(inner)?;
                match self.int(&value, inner.span)?.negate() {
                    Ok(int) => Ok(Value::Int(int)),
                    Err(fault) => self.faulty(span, fault, "this"),
                }
            }
            ExprKind::And(sides) => self.short_circuit(sides, false),
            ExprKind::Or(sides) => self.short_circuit(sides, true),
            ExprKind::Cast(inner, kind) => self.cast(inner, *kind),
            ExprKind::Assign(target, value) => {
                let value = self.eval(value)?;
                self.assign(target, value, span)?;
                Ok(Value::Unit)
            }
            ExprKind::AssignBinary(assign) => self.assign_binary(assign, span),
            ExprKind::Tuple(items) => Ok(Value::Tuple(Rc::new(self.eval_all(items)?))),
            ExprKind::List(items) => Ok(Value::list(self.eval_all(items)?)),
            ExprKind::Repeat(parts) => self.repeat(parts),
            ExprKind::Field(tuple, field) => self.field(tuple, *field),
            ExprKind::Index(parts) => self.index(parts),
            ExprKind::Block(block) => self.block(block),
            ExprKind::LabelledBlock(id, block) => match self.block(block) {
                Err(Flow::Break(target)) if target == *id => Ok(std::mem::take(&mut self.carried)),
                other => other,
            },
            ExprKind::If(branch) => self.if_expr(branch),
            ExprKind::Match(matching) => self.match_expr(matching, span),
            ExprKind::For(each) => self.for_loop(each, span),
            ExprKind::While(each) => self.while_loop(each, span),
            ExprKind::Loop(id, body) => self.endless_loop(*id, body, span),
            ExprKind::Break(id, value) => self.leave(value.as_deref(), Flow::Break(*id)),
            ExprKind::Continue(id) => Err(Flow::Continue(*id)),
            ExprKind::Return(value) => self.leave(value.as_deref(), Flow::Return),
            ExprKind::Call(id, args) => {
                let args = self.eval_all(args)?;
                self.call(*id, args, span)
            }
            ExprKind::Range(range) => self.range(range, span),
            ExprKind::Function(id) => Ok(Value::Function(*id)),
            ExprKind::Closure(id) => self.close(*id, span),
            ExprKind::Apply(function, args) => {
                let function = self.eval(function)?;
                let args = self.eval_all(args)?;
                self.apply(&function, args, span)
            }
            ExprKind::IntMethod(method, this, args) => {
                let this = self.eval(this)?;
                let args = self.eval_all(args)?;
                self.int_method(*method, &this, &args, span)
            }
            ExprKind::Guarded(guard, op, sides) => self.guarded(*guard, *op, sides, span),
            ExprKind::None => Ok(Value::None),
            ExprKind::Some(value) => Ok(Value::option(Some(self.eval(value)?))),
            ExprKind::Try(option) => match self.eval(option)? {
                Value::Some(value) => Ok((*value).clone()),
                Value::None => {
                    self.carried = Value::None;
                    Err(Flow::Return)
                }
                other => self.mistyped(option.span, &other, "an Option"),
            },
            ExprKind::Deref(inner) => {
                let value = self.eval(inner)?;
                self.plain(value, span)
            }
            ExprKind::BorrowMut(place) => Ok(Value::Place(Rc::new(self.pointer(place, span)?))),
            ExprKind::Method(method, receiver, args) => {
                let this = self.eval(receiver)?;
                let args = self.eval_all(args)?;
                self.method(*method, this, args, receiver.span, span)
            }
            ExprKind::Mutate(method, place, args) => self.mutate(*method, place, args, span),
            ExprKind::SwapPlaces(sides) => self.swap_places(sides, span),
            ExprKind::Successors(parts) => {
                let first = self.eval(&parts[0])?;
                let function = self.eval(&parts[1])?;
                let next = match first {
                    Value::Some(value) => Some((*value).clone()),
                    _ => None,
                };
                Ok(Value::iter(Iter::Successors { next, function }))
            }
            ExprKind::Typed(inner, _) => self.eval(inner),
            ExprKind::Format(format) => Ok(Value::Text(self.format(format, span)?.into())),
            ExprKind::Print(format) => {
                self.eval_all(&format.args)?;
                Ok(Value::Unit)
            }
            ExprKind::Assert(assert) => self.assert(assert, span),
            ExprKind::Invalid => self.fail(span, "this is not evaluated at build time"),
        }
    }

    pub(super) fn eval_all(&mut self, exprs: &'a [Expr]) -> Eval<Vec<Value>> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.eval(expr)?);
        }
        Ok(values)
    }

    pub(super) fn block(&mut self, block: &'a Block) -> Eval {
        for statement in &block.statements {
            match statement {
                Statement::Expr(expr) => {
                    self.eval(expr)?;
                }
                Statement::Let { pattern, init: Some(init), otherwise, .. } => {
                    let value = self.eval(init)?;
                    match otherwise {
                        None => self.bind(pattern, value, init.span)?,
                        Some(otherwise) => {
                            if !self.matches(pattern, &value, init.span)? {
                                self.eval(otherwise)?;
                            }
                        }
                    }
                }
                // The compiler makes sure that it is assigned before it is read.
                Statement::Let { init: None, .. } => {}
            }
        }
        match &block.tail {
            Some(tail) => self.eval(tail),
            None => Ok(Value::Unit),
        }
    }

    fn binary_expr(&mut self, binary: &'a Binary, span: SpanId) -> Eval {
        let left = self.eval(&binary.left)?;
        let right = self.eval(&binary.right)?;
        self.binary(binary.op, &left, &right, &binary.words, span)
    }

    fn assign_binary(&mut self, assign: &'a AssignBinary, span: SpanId) -> Eval {
        let right = self.eval(&assign.value)?;
        self.update(&assign.place, span, |machine, place| {
            *place = machine.binary(assign.op, place, &right, &assign.words, span)?;
            Ok(Value::Unit)
        })
    }

    /// `&&` and `||`: the left side alone decides when it is `decides`.
    fn short_circuit(&mut self, [left, right]: &'a [Expr; 2], decides: bool) -> Eval {
        let value = self.eval(left)?;
        if self.bool(&value, left.span)? == decides {
            return Ok(Value::Bool(decides));
        }
        let value = self.eval(right)?;
        Ok(Value::Bool(self.bool(&value, right.span)?))
    }

    fn cast(&mut self, inner: &'a Expr, kind: IntKind) -> Eval {
        let value = self.eval(inner)?;
        match self.plain(value, inner.span)? {
            Value::Bool(value) => Ok(Value::Int(Int::new(i128::from(value), kind))),
            other => Ok(Value::Int(self.int(&other, inner.span)?.cast(kind))),
        }
    }

    fn if_expr(&mut self, branch: &'a If) -> Eval {
        let condition = self.eval(&branch.condition)?;
        if self.bool(&condition, branch.condition.span)? {
            return self.block(&branch.then);
        }
        match &branch.otherwise {
            Some(otherwise) => self.eval(otherwise),
            None => Ok(Value::Unit),
        }
    }

    fn match_expr(&mut self, matching: &'a Match, span: SpanId) -> Eval {
        let value = self.eval(&matching.scrutinee)?;
        for arm in &matching.arms {
            if !self.matches(&arm.pattern, &value, span)? {
                continue;
            }
            let accepted = match &arm.guard {
                Some(guard) => {
                    let holds = self.eval(guard)?;
                    self.bool(&holds, guard.span)?
                }
                None => true,
            };
            if accepted {
                return self.eval(&arm.body);
            }
        }
        self.fail(span, "no arm of this `match` fits the value")
    }

    fn leave(&mut self, value: Option<&'a Expr>, flow: Flow) -> Eval {
        self.carried = match value {
            Some(value) => self.eval(value)?,
            None => Value::Unit,
        };
        Err(flow)
    }
}
