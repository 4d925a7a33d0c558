//! Expressions.

use std::sync::Arc;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Lit, Member, Pat, UnOp};

use super::scopes::{Item, Name};
use super::{BufferName, MAX_DEPTH, Parser, advice};
use crate::ast::{
    Arm, AssignBinary, Binary, BinaryOp, Block, Expr, ExprKind, If, Literal, LiteralId, Match, Pattern,
    Place, Projection, Statement, Target, Type, Words,
};
use crate::infer::LiteralInt;
use crate::integer::{Int, IntKind};
use crate::span::SpanId;

/// What a chain of conditions leads to.
type Then<'a> = Box<dyn FnOnce(&mut Parser) -> Expr + 'a>;

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
            E::Reference(_) => self.invalid(expr, advice::REF_MUT),
            E::Unary(unary) => match unary.op {
                UnOp::Not(_) => ExprKind::Not(self.boxed(&unary.expr)),
                UnOp::Neg(_) => ExprKind::Negate(self.boxed(&unary.expr)),
                UnOp::Deref(_) => self.expr(&unary.expr).kind,
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
                Member::Named(_) => self.invalid(expr, "only the fields of tuples are known at build time"),
            },
            E::Index(index) => match &*index.index {
                E::Range(_) => self.invalid(
                    expr,
                    "slices are not evaluated at build time: pass the bounds and use an index",
                ),
                _ => ExprKind::Index(Box::new([self.expr(&index.expr), self.expr(&index.index)])),
            },
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
            _ => self
                .invalid(at, "of literals only integers, booleans and strings are evaluated at build time"),
        }
    }

    fn int_expr(&mut self, at: &syn::Expr, int: Int) -> ExprKind {
        let span = self.span(at);
        self.literals.push(LiteralInt { int, span });
        ExprKind::Literal(Literal::Int(LiteralId(self.literals.len() as u32 - 1)))
    }

    fn path(&mut self, at: &syn::Expr, path: &syn::Path) -> ExprKind {
        let Some(last) = path.segments.last() else { return self.invalid(at, advice::for_expr(at)) };
        let name = last.ident.unraw().to_string();
        let is_of_module = is_of_module(path);
        if path.get_ident().is_some() || is_of_module {
            let found =
                if is_of_module { self.lookup_helper(&name).map(Name::Item) } else { self.lookup(&name) };
            match found {
                Some(Name::Local(slot)) => return ExprKind::Local(slot),
                Some(Name::Item(Item::Constant(id))) => return ExprKind::Constant(id),
                Some(Name::Item(Item::Function { .. })) => {
                    return self.invalid(at, "functions can only be called at build time, not stored");
                }
                None => {}
            }
        }
        if let Some(int) = int_constant(path) {
            return self.int_expr(at, int);
        }
        match name.as_str() {
            "None" => ExprKind::None,
            "Input" => {
                self.buffer(path, BufferName::Input);
                ExprKind::Input
            }
            "Output" => {
                self.buffer(path, BufferName::Output);
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

    /// `if let PATTERN = VALUE { … } else { … }` as a `match`.
    fn if_let(&mut self, at: &syn::Expr, branch: &syn::ExprIf) -> ExprKind {
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
    fn if_chain(&mut self, at: &syn::Expr, branch: &syn::ExprIf) -> ExprKind {
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

    fn target(&mut self, left: &syn::Expr) -> Option<Target> {
        match left {
            syn::Expr::Infer(_) => Some(Target::Ignore),
            syn::Expr::Paren(inner) => self.target(&inner.expr),
            syn::Expr::Tuple(tuple) => {
                let targets: Vec<Option<Target>> = tuple.elems.iter().map(|item| self.target(item)).collect();
                targets.into_iter().collect::<Option<_>>().map(Target::Tuple)
            }
            _ => self.place(left).map(Target::Place),
        }
    }

    /// A variable, or an element or field of one.
    pub(super) fn place(&mut self, expr: &syn::Expr) -> Option<Place> {
        match expr {
            syn::Expr::Paren(inner) => self.place(&inner.expr),
            syn::Expr::Group(inner) => self.place(&inner.expr),
            syn::Expr::Path(path) => match self.path(expr, &path.path) {
                ExprKind::Local(slot) => Some(Place { slot, path: Vec::new() }),
                ExprKind::Invalid => None,
                _ => {
                    self.error(expr, "only local variables can be assigned to");
                    None
                }
            },
            syn::Expr::Index(index) => {
                let mut place = self.place(&index.expr)?;
                place.path.push(Projection::Index(self.expr(&index.index)));
                Some(place)
            }
            syn::Expr::Field(syn::ExprField { base, member: Member::Unnamed(index), .. }) => {
                let mut place = self.place(base)?;
                place.path.push(Projection::Field(index.index as usize));
                Some(place)
            }
            _ => {
                self.error(
                    expr,
                    "only local variables, their elements and fields can be changed at build time",
                );
                None
            }
        }
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

fn words(whole: &syn::Expr, left: &syn::Expr, right: &syn::Expr) -> Words {
    let is_short =
        |expr: &syn::Expr| matches!(expr, syn::Expr::Path(_) | syn::Expr::Lit(_) | syn::Expr::Paren(_));
    let (a, b) = (text(left), text(right));
    // The advice is for ranks and chunk numbers; what is made of the number of ranks is something else.
    let is_rank = is_short(left) && is_short(right) && !a.contains("ranks");
    Words { text: text(whole), instead: is_rank.then(|| format!("({a} + ranks - {b}) % ranks")) }
}

/// Source text as a person would write it.
pub(super) fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, tight) in [
        (" . ", "."),
        (" :: ", "::"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        (" [", "["),
        (" ]", "]"),
    ] {
        text = text.replace(spaced, tight);
    }
    // Only a call has its parenthesis right behind a name.
    for op in ["+", "-", "*", "/", "%", "=", "<", ">", "&", "|", "^"] {
        text = text.replace(&format!("{op}("), &format!("{op} ("));
    }
    text
}

/// `self::name`.
pub(super) fn is_of_module(path: &syn::Path) -> bool {
    path.leading_colon.is_none() && path.segments.len() == 2 && path.segments[0].ident == "self"
}
