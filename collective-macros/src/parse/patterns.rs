//! Patterns of `let`, `for`, `match` and parameters.

use std::collections::HashMap;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Pat, RangeLimits, UnOp};

use super::{Parser, advice};
use crate::ast::{Pattern, Rest, Slot, Type};
use crate::integer::{Int, IntKind};

/// The names that the pattern at hand has bound: the sides of `|` share their variables.
type Bound = HashMap<String, Slot>;

impl Parser {
    /// A pattern, and the type that it is annotated with.
    pub(super) fn pattern(&mut self, pattern: &Pat) -> (Pattern, Type) {
        let mut bound = Bound::new();
        match pattern {
            Pat::Type(typed) => {
                let inner = self.sub_pattern(&typed.pat, &mut bound);
                (inner, self.ty(&typed.ty))
            }
            _ => (self.sub_pattern(pattern, &mut bound), Type::Other),
        }
    }

    fn sub_pattern(&mut self, pattern: &Pat, bound: &mut Bound) -> Pattern {
        match pattern {
            Pat::Wild(_) => Pattern::Wild,
            Pat::Ident(ident) => self.name_pattern(ident, bound),
            Pat::Lit(literal) => self.literal_pattern(pattern, &literal.lit, false),
            Pat::Paren(inner) => self.sub_pattern(&inner.pat, bound),
            Pat::Reference(inner) if inner.mutability.is_none() => self.sub_pattern(&inner.pat, bound),
            Pat::Reference(inner) => Pattern::Deref(Box::new(self.sub_pattern(&inner.pat, bound))),
            Pat::Or(either) => {
                Pattern::Either(either.cases.iter().map(|case| self.sub_pattern(case, bound)).collect())
            }
            Pat::Tuple(tuple) => self.sequence_pattern(&tuple.elems, true, bound),
            Pat::Slice(slice) => self.sequence_pattern(&slice.elems, false, bound),
            Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => {
                Pattern::Some(Box::new(self.sub_pattern(&some.elems[0], bound)))
            }
            Pat::Range(range) => Pattern::Range {
                first: range.start.as_deref().and_then(|bound| self.pattern_bound(bound)),
                last: range.end.as_deref().and_then(|bound| self.pattern_bound(bound)),
                inclusive: matches!(range.limits, RangeLimits::Closed(_)),
            },
            // A negative literal.
            Pat::Verbatim(tokens) => match syn::parse2::<Expr>(tokens.clone()) {
                Ok(expr) => self.pattern_bound(&expr).map_or(Pattern::Wild, Pattern::Int),
                Err(_) => self.unknown_pattern(pattern),
            },
            _ => self.unknown_pattern(pattern),
        }
    }

    fn name_pattern(&mut self, pattern: &syn::PatIdent, bound: &mut Bound) -> Pattern {
        if pattern.by_ref.is_some() {
            self.error(pattern, "`ref` is not evaluated at build time: bind the value");
        }
        let name = pattern.ident.unraw().to_string();
        if name == "None" {
            return Pattern::None;
        }
        if let (None, None) = (&pattern.subpat, &pattern.mutability) {
            if let Some(id) = self.lookup_constant(&name) {
                return Pattern::Constant(id);
            }
            // A constant from elsewhere would be compared with at run time. Only its spelling tells.
            if name.starts_with(char::is_uppercase) {
                return self.unknown_pattern_name(pattern, &name);
            }
        }
        let slot = *bound.entry(name).or_insert_with(|| self.scopes.bind(&pattern.ident));
        match &pattern.subpat {
            Some((_, inner)) => Pattern::BindAt(slot, Box::new(self.sub_pattern(inner, bound))),
            None => Pattern::Bind(slot),
        }
    }

    fn sequence_pattern(
        &mut self,
        elems: &Punctuated<Pat, syn::Token![,]>,
        is_tuple: bool,
        bound: &mut Bound,
    ) -> Pattern {
        let mut rest = None;
        let mut items = Vec::new();
        for elem in elems {
            match elem {
                Pat::Rest(_) => rest = Some(Rest { at: items.len(), name: None }),
                Pat::Ident(syn::PatIdent { ident, subpat: Some((_, all)), .. })
                    if matches!(**all, Pat::Rest(_)) =>
                {
                    let name = ident.unraw().to_string();
                    let slot = *bound.entry(name).or_insert_with(|| self.scopes.bind(ident));
                    rest = Some(Rest { at: items.len(), name: Some(slot) });
                }
                _ => items.push(self.sub_pattern(elem, bound)),
            }
        }
        Pattern::Sequence { items, rest, is_tuple }
    }

    fn literal_pattern(&mut self, at: &impl ToTokens, literal: &Lit, negative: bool) -> Pattern {
        match literal {
            Lit::Bool(literal) => Pattern::Bool(literal.value),
            Lit::Int(_) => match self.int_literal(at, literal) {
                Some(int) if negative => Pattern::Int(Int::new(-int.value, int.kind)),
                Some(int) => Pattern::Int(int),
                None => Pattern::Wild,
            },
            _ => {
                self.error(at, "only integers and booleans are matched at build time");
                Pattern::Wild
            }
        }
    }

    /// An end of a range pattern, or a literal with a sign.
    fn pattern_bound(&mut self, expr: &Expr) -> Option<Int> {
        let (literal, negative) = match expr {
            Expr::Lit(literal) => (literal, false),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match &*unary.expr {
                Expr::Lit(literal) => (literal, true),
                _ => return self.unknown_bound(expr),
            },
            _ => return self.unknown_bound(expr),
        };
        match self.literal_pattern(expr, &literal.lit, negative) {
            Pattern::Int(int) => Some(int),
            _ => None,
        }
    }

    fn unknown_bound(&mut self, expr: &Expr) -> Option<Int> {
        self.error(expr, "the ends of a pattern's range must be integer literals at build time");
        None
    }

    fn unknown_pattern_name(&mut self, at: &impl ToTokens, name: &str) -> Pattern {
        self.error(at, advice::for_unknown_pattern_name(name));
        Pattern::Wild
    }

    fn unknown_pattern(&mut self, pattern: &Pat) -> Pattern {
        self.error(pattern, advice::for_pattern(pattern));
        Pattern::Wild
    }

    /// An integer literal; its error is recorded.
    pub(super) fn int_literal(&mut self, at: &impl ToTokens, literal: &Lit) -> Option<Int> {
        let Lit::Int(literal) = literal else { return None };
        let kind = match literal.suffix() {
            "" => IntKind::Untyped,
            suffix => match IntKind::from_name(suffix) {
                Some(kind) => kind,
                None => {
                    self.error(at, advice::TYPE);
                    return None;
                }
            },
        };
        // In a pattern the minus sign belongs to the literal.
        match literal.base10_parse::<i128>() {
            Ok(value) if value >= i128::from(i64::MIN) && value <= i128::from(u64::MAX) => {
                Some(Int::new(value, kind))
            }
            _ => {
                self.error(at, "this number does not fit 64 bits");
                None
            }
        }
    }
}
