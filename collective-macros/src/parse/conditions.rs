//! Conditions with a `let` in them.

use syn::BinOp;

use super::{Parser, advice};
use crate::ast::{Arm, Block, Expr, ExprKind, If, Match, Pattern, Statement};
use crate::span::SpanId;

/// What a chain of conditions leads to.
type Then<'a> = Box<dyn FnOnce(&mut Parser) -> Expr + 'a>;

impl Parser {
    /// `if let PATTERN = VALUE { … } else { … }` as a `match`.
    pub(super) fn if_let(&mut self, at: &syn::Expr, branch: &syn::ExprIf) -> ExprKind {
        let syn::Expr::Let(condition) = &*branch.cond else { return self.invalid(at, advice::for_expr(at)) };
        let scrutinee = self.expr(&condition.expr);
        let yes = self.arm(&condition.pat, |parser| parser.block_expr(&branch.then_branch));
        let body = match &branch.else_branch {
            Some((_, otherwise)) => self.expr(otherwise),
            None => Expr { span: self.span(at), kind: ExprKind::Unit },
        };
        let no = Arm { pattern: Pattern::Wild, guard: None, body };
        ExprKind::Match(Box::new(Match { scrutinee, arms: vec![yes, no] }))
    }

    /// `if let PATTERN = VALUE && CONDITION { … } else { … }`: a block that the conditions leave when all hold.
    pub(super) fn if_chain(&mut self, at: &syn::Expr, branch: &syn::ExprIf) -> ExprKind {
        let id = self.scopes.enter_loop(None, true);
        let span = self.span(at);
        let then = Box::new(|parser: &mut Self| {
            let then = Box::new(parser.block_expr(&branch.then_branch));
            Expr { span, kind: ExprKind::Break(id, Some(then)) }
        });
        let chain = self.chain(&links(&branch.cond), then, span);
        self.scopes.leave_loop();
        let tail = branch.else_branch.as_ref().map(|(_, otherwise)| self.boxed(otherwise));
        ExprKind::LabelledBlock(id, Block { statements: vec![Statement::Expr(chain)], tail })
    }

    /// Evaluates `then` where all conditions hold.
    pub(super) fn chain(&mut self, conditions: &[&syn::Expr], then: Then<'_>, span: SpanId) -> Expr {
        // One inside the other, of which only the innermost has a value.
        let Some((first, rest)) = conditions.split_first() else { return then(self) };
        let otherwise = Expr { span, kind: ExprKind::Unit };
        let kind = match first {
            syn::Expr::Let(condition) => {
                let scrutinee = self.expr(&condition.expr);
                let yes = self.arm(&condition.pat, |parser| parser.chain(rest, then, span));
                let no = Arm { pattern: Pattern::Wild, guard: None, body: otherwise };
                ExprKind::Match(Box::new(Match { scrutinee, arms: vec![yes, no] }))
            }
            condition => {
                let condition = self.expr(condition);
                let tail = Some(Box::new(self.chain(rest, then, span)));
                let then = Block { statements: Vec::new(), tail };
                ExprKind::If(Box::new(If { condition, then, otherwise: Some(otherwise) }))
            }
        };
        Expr { span, kind }
    }
}

/// Whether a condition is a chain with a `let` in it.
pub(super) fn has_let(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(syn::ExprBinary { left, op: BinOp::And(_), right, .. }) => {
            has_let(left) || has_let(right)
        }
        _ => false,
    }
}

/// The conditions of a chain.
pub(super) fn links(condition: &syn::Expr) -> Vec<&syn::Expr> {
    match condition {
        syn::Expr::Binary(syn::ExprBinary { left, op: BinOp::And(_), right, .. }) => {
            let mut links = links(left);
            links.extend(self::links(right));
            links
        }
        _ => vec![condition],
    }
}
