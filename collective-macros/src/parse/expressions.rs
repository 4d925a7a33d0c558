//! Expressions.

use std::sync::Arc;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Lit, Member, Pat, UnOp};

use super::conditions::has_let;
use super::scopes::{Item, Name};
use super::words::words;
use super::{KnownName, MAX_DEPTH, Parser, advice};
use crate::ast::{Arm, AssignBinary, Binary, BinaryOp, Expr, ExprKind, If, Literal, LiteralId, Match, Type};
use crate::infer::LiteralInt;
use crate::integer::{Int, IntKind};

impl Parser {
    pub(super) fn expr(&mut self, expr: &syn::Expr) -> Expr {
        let span = self.span(expr);
        // In the arguments of macros, which were not looked at before.
        if self.depth == MAX_DEPTH {
            self.too_deep(expr);
            return Expr { span, kind: ExprKind::Invalid };
        }
        self.depth += 1;
        let kind = self.expr_kind(expr);
        self.depth -= 1;
        Expr { span, kind }
    }

    pub(super) fn boxed(&mut self, expr: &syn::Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn expr_kind(&mut self, expr: &syn::Expr) -> ExprKind {
        use syn::Expr as E;
        match expr {
            E::Lit(literal) => self.literal(expr, &literal.lit),
            E::Path(path) if path.qself.is_none() => self.path(expr, &path.path),
            E::Paren(inner) => self.expr(&inner.expr).kind,
            E::Group(inner) => self.expr(&inner.expr).kind,
            // Values are never changed through a reference here, so a reference is as good as the value.
            E::Reference(inner) if inner.mutability.is_none() => self.expr(&inner.expr).kind,
            E::Reference(inner) => match self.place(&inner.expr) {
                Some(place) => ExprKind::BorrowMut(Box::new(place)),
                None => ExprKind::Invalid,
            },
            E::Unary(unary) => match unary.op {
                UnOp::Not(_) => ExprKind::Not(self.boxed(&unary.expr)),
                UnOp::Neg(_) => ExprKind::Negate(self.boxed(&unary.expr)),
                UnOp::Deref(_) => ExprKind::Deref(self.boxed(&unary.expr)),
                _ => self.invalid(expr, advice::for_expr(expr)),
            },
            E::Binary(binary) => self.binary(expr, binary),
            E::Cast(cast) => match self.ty(&cast.ty) {
                Type::Int(kind) => ExprKind::Cast(self.boxed(&cast.expr), kind),
                _ => self.invalid(expr, "only integer types can be cast to at build time"),
            },
            E::Assign(assign) => {
                let value = self.boxed(&assign.right);
                match self.target(&assign.left) {
                    Some(target) => ExprKind::Assign(Box::new(target), value),
                    None => ExprKind::Invalid,
                }
            }
            E::Tuple(tuple) if tuple.elems.is_empty() => ExprKind::Unit,
            E::Tuple(tuple) => ExprKind::Tuple(tuple.elems.iter().map(|item| self.expr(item)).collect()),
            E::Array(array) => ExprKind::List(array.elems.iter().map(|item| self.expr(item)).collect()),
            E::Repeat(repeat) => {
                ExprKind::Repeat(Box::new([self.expr(&repeat.expr), self.expr(&repeat.len)]))
            }
            E::Field(field) => match &field.member {
                Member::Unnamed(index) => ExprKind::Field(self.boxed(&field.base), index.index as usize),
                // Of a range.
                Member::Named(name) if name == "start" => ExprKind::Field(self.boxed(&field.base), 0),
                Member::Named(name) if name == "end" => ExprKind::Field(self.boxed(&field.base), 1),
                Member::Named(_) if !self.own_types.is_empty() => ExprKind::Invalid,
                Member::Named(_) => self.invalid(
                    expr,
                    "structs are not evaluated at build time: of fields only those of tuples are known, such as `.0`",
                ),
            },
            E::Index(index) => {
                ExprKind::Index(Box::new([self.expr(&index.expr), self.expr(&index.index)]))
            }
            E::Range(range) => self.range(range),
            // There is an error about the type already.
            E::Struct(_) if !self.own_types.is_empty() => ExprKind::Invalid,
            E::Closure(closure) => self.closure(closure),
            E::Try(inner) => ExprKind::Try(self.boxed(&inner.expr)),
            E::Block(block) => match &block.label {
                None => ExprKind::Block(self.block(&block.block)),
                Some(label) => {
                    let id = self.scopes.enter_loop(Some(label), true);
                    let body = self.block(&block.block);
                    self.scopes.leave_loop();
                    ExprKind::LabelledBlock(id, body)
                }
            },
            E::If(branch) if matches!(*branch.cond, E::Let(_)) => self.if_let(expr, branch),
            E::If(branch) if has_let(&branch.cond) => self.if_chain(expr, branch),
            E::If(branch) => ExprKind::If(Box::new(If {
                condition: self.expr(&branch.cond),
                then: self.block(&branch.then_branch),
                otherwise: branch.else_branch.as_ref().map(|(_, otherwise)| self.expr(otherwise)),
            })),
            E::Match(matching) => self.match_expr(matching),
            E::ForLoop(each) => self.for_loop(each),
            E::While(each) => self.while_loop(each),
            E::Loop(each) => self.endless_loop(each),
            E::Break(leave) => self.break_expr(leave),
            E::Continue(again) => match self.scopes.loop_of(again.label.as_ref()) {
                Some(id) => ExprKind::Continue(id),
                None => self.invalid(expr, "there is no such loop here"),
            },
            E::Return(back) => ExprKind::Return(back.expr.as_ref().map(|value| self.boxed(value))),
            E::Call(call) => self.call(expr, call),
            E::MethodCall(call) => self.method_call(expr, call),
            E::Macro(call) => self.macro_call(expr, &call.mac),
            _ => self.invalid(expr, advice::for_expr(expr)),
        }
    }

    fn literal(&mut self, at: &syn::Expr, literal: &Lit) -> ExprKind {
        match literal {
            Lit::Bool(literal) => ExprKind::Literal(Literal::Bool(literal.value)),
            Lit::Str(literal) => ExprKind::Literal(Literal::Text(Arc::from(literal.value()))),
            Lit::Int(_) => match self.int_literal(at, literal) {
                Some(int) => self.int_expr(at, int),
                None => ExprKind::Invalid,
            },
            Lit::Float(_) => {
                self.invalid(at, "floating-point numbers are not evaluated at build time: use integers")
            }
            _ => self.invalid(
                at,
                "of literals only integers, booleans and strings are evaluated at build time: write a number or a \
                 string such as \"a\"",
            ),
        }
    }

    pub(super) fn int_expr(&mut self, at: &syn::Expr, int: Int) -> ExprKind {
        let span = self.span(at);
        self.literals.push(LiteralInt { int, span });
        ExprKind::Literal(Literal::Int(LiteralId(self.literals.len() as u32 - 1)))
    }

    /// What a path that is a name, or `self::name`, means.
    pub(super) fn resolve(&mut self, path: &syn::Path, name: &str) -> Option<Name> {
        if is_of_module(path) { self.lookup_helper(name).map(Name::Item) } else { self.lookup(name) }
    }

    fn path(&mut self, at: &syn::Expr, path: &syn::Path) -> ExprKind {
        let Some(last) = path.segments.last() else { return self.invalid(at, advice::for_expr(at)) };
        let name = last.ident.unraw().to_string();
        if path.get_ident().is_some() || is_of_module(path) {
            match self.resolve(path, &name) {
                Some(Name::Local(slot)) => {
                    self.scopes.capture(slot);
                    return ExprKind::Local(slot);
                }
                Some(Name::Item(Item::Constant(id))) => return ExprKind::Constant(id),
                Some(Name::Item(Item::Function { id, .. })) => return ExprKind::Function(id),
                None => {}
            }
        }
        if let Some(int) = int_constant(path) {
            return self.int_expr(at, int);
        }
        match name.as_str() {
            "None" => match path.segments.last().and_then(|last| self.type_argument(last)) {
                Some(ty) => {
                    let none = Expr { span: self.span(at), kind: ExprKind::None };
                    ExprKind::Typed(Box::new(none), Type::Option(Box::new(ty)))
                }
                None => ExprKind::None,
            },
            "Some" => self.invalid(at, "`Some` is no value at build time: write `|x| Some(x)`"),
            "Input" => {
                self.known(path, KnownName::Input);
                ExprKind::Input
            }
            "Output" => {
                self.known(path, KnownName::Output);
                ExprKind::Output
            }
            "Scratch" => self.invalid(at, "a scratch buffer needs a name: `Scratch(\"name\")`"),
            _ => {
                let captured = self.scopes.is_captured(&name);
                let whole = path.to_token_stream().to_string().replace(' ', "");
                self.invalid(at, advice::for_unknown_name(&whole, captured))
            }
        }
    }

    fn binary(&mut self, at: &syn::Expr, binary: &syn::ExprBinary) -> ExprKind {
        match binary.op {
            BinOp::And(_) => {
                return ExprKind::And(Box::new([self.expr(&binary.left), self.expr(&binary.right)]));
            }
            BinOp::Or(_) => {
                return ExprKind::Or(Box::new([self.expr(&binary.left), self.expr(&binary.right)]));
            }
            _ => {}
        }
        let Some((op, assigns)) = binary_op(&binary.op) else {
            return self.invalid(at, advice::for_expr(at));
        };
        let words = words(at, &binary.left, &binary.right);
        if assigns {
            let value = self.expr(&binary.right);
            return match self.place(&binary.left) {
                Some(place) => ExprKind::AssignBinary(Box::new(AssignBinary { op, place, value, words })),
                None => ExprKind::Invalid,
            };
        }
        let (left, right) = (self.expr(&binary.left), self.expr(&binary.right));
        ExprKind::Binary(Box::new(Binary { op, left, right, words }))
    }

    fn match_expr(&mut self, matching: &syn::ExprMatch) -> ExprKind {
        let scrutinee = self.expr(&matching.expr);
        let arms =
            matching.arms.iter().map(|arm| self.arm(&arm.pat, |parser| parser.expr(&arm.body))).collect();
        ExprKind::Match(Box::new(Match { scrutinee, arms }))
    }

    /// An arm, in a scope of its own.
    pub(super) fn arm(&mut self, pattern: &Pat, body: impl FnOnce(&mut Self) -> Expr) -> Arm {
        self.scopes.enter();
        let (pattern, guard) = match pattern {
            Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
            _ => (pattern, None),
        };
        let (pattern, _) = self.pattern(pattern);
        let guard = guard.map(|guard| self.expr(guard));
        let body = body(self);
        self.scopes.leave();
        Arm { pattern, guard, body }
    }
}

/// `usize::MAX` and its like.
fn int_constant(path: &syn::Path) -> Option<Int> {
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let (name, kind) = (names.next()?, IntKind::from_name(&names.next()?)?);
    match name.as_str() {
        "MAX" => Some(Int::new(kind.max(), kind)),
        "MIN" => Some(Int::new(kind.min(), kind)),
        "BITS" => Some(Int::new(i128::from(kind.bits()), IntKind::U32)),
        _ => None,
    }
}

/// The operator, and whether it assigns.
fn binary_op(op: &BinOp) -> Option<(BinaryOp, bool)> {
    Some(match op {
        BinOp::Add(_) => (BinaryOp::Add, false),
        BinOp::Sub(_) => (BinaryOp::Sub, false),
        BinOp::Mul(_) => (BinaryOp::Mul, false),
        BinOp::Div(_) => (BinaryOp::Div, false),
        BinOp::Rem(_) => (BinaryOp::Rem, false),
        BinOp::BitAnd(_) => (BinaryOp::BitAnd, false),
        BinOp::BitOr(_) => (BinaryOp::BitOr, false),
        BinOp::BitXor(_) => (BinaryOp::BitXor, false),
        BinOp::Shl(_) => (BinaryOp::Shl, false),
        BinOp::Shr(_) => (BinaryOp::Shr, false),
        BinOp::Eq(_) => (BinaryOp::Eq, false),
        BinOp::Ne(_) => (BinaryOp::Ne, false),
        BinOp::Lt(_) => (BinaryOp::Lt, false),
        BinOp::Le(_) => (BinaryOp::Le, false),
        BinOp::Gt(_) => (BinaryOp::Gt, false),
        BinOp::Ge(_) => (BinaryOp::Ge, false),
        BinOp::AddAssign(_) => (BinaryOp::Add, true),
        BinOp::SubAssign(_) => (BinaryOp::Sub, true),
        BinOp::MulAssign(_) => (BinaryOp::Mul, true),
        BinOp::DivAssign(_) => (BinaryOp::Div, true),
        BinOp::RemAssign(_) => (BinaryOp::Rem, true),
        BinOp::BitAndAssign(_) => (BinaryOp::BitAnd, true),
        BinOp::BitOrAssign(_) => (BinaryOp::BitOr, true),
        BinOp::BitXorAssign(_) => (BinaryOp::BitXor, true),
        BinOp::ShlAssign(_) => (BinaryOp::Shl, true),
        BinOp::ShrAssign(_) => (BinaryOp::Shr, true),
        _ => return None,
    })
}

/// `self::name`.
fn is_of_module(path: &syn::Path) -> bool {
    path.leading_colon.is_none() && path.segments.len() == 2 && path.segments[0].ident == "self"
}
