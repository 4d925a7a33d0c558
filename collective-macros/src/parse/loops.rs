//! Loops and what leaves them.

use syn::RangeLimits;

use super::Parser;
use super::expressions::{has_let, links};
use crate::ast::{
    Adapter, Arm, Block, Expr, ExprKind, For, LoopId, Match, Pattern, Range, Source, Statement, While,
};

impl Parser {
    pub(super) fn for_loop(&mut self, each: &syn::ExprForLoop) -> ExprKind {
        let mut adapters = Vec::new();
        let Some(source) = self.source(&each.expr, &mut adapters) else {
            // The body may have errors of its own.
            self.scopes.enter();
            self.pattern(&each.pat);
            self.scopes.enter_loop(each.label.as_ref(), false);
            self.block(&each.body);
            self.scopes.leave_loop();
            self.scopes.leave();
            return ExprKind::Invalid;
        };
        self.scopes.enter();
        let (pattern, _) = self.pattern(&each.pat);
        let id = self.scopes.enter_loop(each.label.as_ref(), false);
        let body = self.block(&each.body);
        self.scopes.leave_loop();
        self.scopes.leave();
        ExprKind::For(Box::new(For { id, pattern, source, adapters, body }))
    }

    pub(super) fn while_loop(&mut self, each: &syn::ExprWhile) -> ExprKind {
        let id = self.scopes.enter_loop(each.label.as_ref(), false);
        if let syn::Expr::Let(condition) = &*each.cond {
            let kind = self.while_let(each, condition, id);
            self.scopes.leave_loop();
            return kind;
        }
        if has_let(&each.cond) {
            let kind = self.while_chain(each, id);
            self.scopes.leave_loop();
            return kind;
        }
        let condition = self.expr(&each.cond);
        let body = self.block(&each.body);
        self.scopes.leave_loop();
        ExprKind::While(Box::new(While { id, condition, body }))
    }

    /// `while let PATTERN = VALUE { … }` as a `loop` around a `match`.
    fn while_let(&mut self, each: &syn::ExprWhile, condition: &syn::ExprLet, id: LoopId) -> ExprKind {
        let span = self.span(each);
        let scrutinee = self.expr(&condition.expr);
        let yes = self.arm(&condition.pat, |parser| parser.block_expr(&each.body));
        let body = Expr { span, kind: ExprKind::Break(id, None) };
        let no = Arm { pattern: Pattern::Wild, guard: None, body };
        let kind = ExprKind::Match(Box::new(Match { scrutinee, arms: vec![yes, no] }));
        let round = Statement::Expr(Expr { span, kind });
        ExprKind::Loop(id, Block { statements: vec![round], tail: None })
    }

    /// `while let PATTERN = VALUE && CONDITION { … }` as a `loop` that ends where the conditions do not go on.
    fn while_chain(&mut self, each: &syn::ExprWhile, id: LoopId) -> ExprKind {
        let span = self.span(each);
        let then = Box::new(|parser: &mut Self| {
            let body = Statement::Expr(parser.block_expr(&each.body));
            let again = Some(Box::new(Expr { span, kind: ExprKind::Continue(id) }));
            Expr { span, kind: ExprKind::Block(Block { statements: vec![body], tail: again }) }
        });
        let round = Statement::Expr(self.chain(&links(&each.cond), then, span));
        let end = Statement::Expr(Expr { span, kind: ExprKind::Break(id, None) });
        ExprKind::Loop(id, Block { statements: vec![round, end], tail: None })
    }

    pub(super) fn endless_loop(&mut self, each: &syn::ExprLoop) -> ExprKind {
        let id = self.scopes.enter_loop(each.label.as_ref(), false);
        let body = self.block(&each.body);
        self.scopes.leave_loop();
        ExprKind::Loop(id, body)
    }

    pub(super) fn break_expr(&mut self, leave: &syn::ExprBreak) -> ExprKind {
        let value = leave.expr.as_ref().map(|value| self.boxed(value));
        match self.scopes.loop_of(leave.label.as_ref()) {
            Some(id) => ExprKind::Break(id, value),
            None => self.invalid(leave, "there is no such loop here"),
        }
    }

    /// What a `for` loop runs over; `adapters` come out in the order of application.
    fn source(&mut self, expr: &syn::Expr, adapters: &mut Vec<Adapter>) -> Option<Source> {
        match expr {
            syn::Expr::Paren(inner) => self.source(&inner.expr, adapters),
            syn::Expr::Group(inner) => self.source(&inner.expr, adapters),
            syn::Expr::Range(range) => self.range(range).map(Source::Range),
            syn::Expr::MethodCall(call) => {
                let name = call.method.to_string();
                match (name.as_str(), call.args.len()) {
                    ("iter" | "into_iter" | "copied" | "cloned", 0) => self.source(&call.receiver, adapters),
                    ("rev", 0) => {
                        let source = self.source(&call.receiver, adapters);
                        adapters.push(Adapter::Rev);
                        source
                    }
                    ("enumerate", 0) => {
                        let source = self.source(&call.receiver, adapters);
                        adapters.push(Adapter::Enumerate);
                        source
                    }
                    ("step_by", 1) => {
                        let source = self.source(&call.receiver, adapters);
                        let step = call.args.first().map(|step| self.expr(step));
                        adapters.extend(step.map(Adapter::StepBy));
                        source
                    }
                    _ => Some(Source::List(self.expr(expr))),
                }
            }
            _ => Some(Source::List(self.expr(expr))),
        }
    }

    /// A range with both ends.
    pub(super) fn range(&mut self, range: &syn::ExprRange) -> Option<Range> {
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            self.error(range, "at build time a range needs both ends: write `start..end`, or use `loop`");
            return None;
        };
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        Some(Range { start: self.expr(start), end: self.expr(end), inclusive })
    }
}
