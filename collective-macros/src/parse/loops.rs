//! Loops and what leaves them.

use syn::RangeLimits;

use super::Parser;
use super::conditions::{has_let, links};
use crate::ast::{Arm, Block, Expr, ExprKind, For, LoopId, Match, Pattern, Range, Statement, While};

impl Parser {
    pub(super) fn for_loop(&mut self, each: &syn::ExprForLoop) -> ExprKind {
        let items = self.expr(&each.expr);
        self.scopes.enter();
        let (pattern, _) = self.pattern(&each.pat);
        let id = self.scopes.enter_loop(each.label.as_ref(), false);
        let body = self.block(&each.body);
        self.scopes.leave_loop();
        self.scopes.leave();
        ExprKind::For(Box::new(For { id, pattern, items, body }))
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

    pub(super) fn range(&mut self, range: &syn::ExprRange) -> ExprKind {
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        let start = range.start.as_ref().map(|start| self.expr(start));
        let end = range.end.as_ref().map(|end| self.expr(end));
        ExprKind::Range(Box::new(Range { start, end, inclusive }))
    }
}
