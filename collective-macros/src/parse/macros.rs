//! The macros that are understood.

use quote::ToTokens;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Expr as SynExpr, Lit, Pat, Token};

use super::expressions::text;
use super::{Parser, advice};
use crate::ast::{Assert, Binary, BinaryOp, Expr, ExprKind, Literal, Match, Words};

/// The arguments of `vec!`.
enum Elements {
    Repeated(Box<[SynExpr; 2]>),
    Listed(Punctuated<SynExpr, Token![,]>),
}

impl Parser {
    pub(super) fn macro_call(&mut self, at: &impl ToTokens, mac: &syn::Macro) -> ExprKind {
        let name = mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let name = name.strip_prefix("debug_").unwrap_or(&name);
        match name {
            "vec" => match elements.parse2(mac.tokens.clone()) {
                Ok(Elements::Repeated(parts)) => {
                    ExprKind::Repeat(Box::new([self.expr(&parts[0]), self.expr(&parts[1])]))
                }
                Ok(Elements::Listed(items)) => {
                    ExprKind::List(items.iter().map(|item| self.expr(item)).collect())
                }
                Err(error) => self.syntax(error),
            },
            "matches" => match matches_arguments.parse2(mac.tokens.clone()) {
                Ok((scrutinee, pattern)) => self.matches(at, &scrutinee, &pattern),
                Err(error) => self.syntax(error),
            },
            "assert" | "assert_eq" | "assert_ne" | "panic" | "unreachable" => {
                match Punctuated::<SynExpr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()) {
                    Ok(args) => self.assert(at, name, &args.into_iter().collect::<Vec<_>>()),
                    Err(error) => self.syntax(error),
                }
            }
            _ => {
                let expr = SynExpr::Macro(syn::ExprMacro { attrs: Vec::new(), mac: mac.clone() });
                self.invalid(at, advice::for_expr(&expr))
            }
        }
    }

    fn syntax(&mut self, error: syn::Error) -> ExprKind {
        self.errors.push(error);
        ExprKind::Invalid
    }

    fn matches(&mut self, at: &impl ToTokens, scrutinee: &SynExpr, pattern: &Pat) -> ExprKind {
        let span = self.span(at);
        let answer = |value| Expr { span, kind: ExprKind::Literal(Literal::Bool(value)) };
        let scrutinee = self.expr(scrutinee);
        let yes = self.arm(pattern, |_| answer(true));
        let no = crate::ast::Arm { pattern: crate::ast::Pattern::Wild, guard: None, body: answer(false) };
        ExprKind::Match(Box::new(Match { scrutinee, arms: vec![yes, no] }))
    }

    fn assert(&mut self, at: &impl ToTokens, name: &str, args: &[SynExpr]) -> ExprKind {
        let op = match name {
            "assert_eq" => Some(BinaryOp::Eq),
            "assert_ne" => Some(BinaryOp::Ne),
            _ => None,
        };
        let (condition, shown, rest) = match (name, op, args) {
            (_, Some(op), [left, right, rest @ ..]) => {
                let shown = format!(
                    "{} {} {}",
                    text(left),
                    if op == BinaryOp::Eq { "==" } else { "!=" },
                    text(right)
                );
                let span = self.span(at);
                let (left, right) = (self.expr(left), self.expr(right));
                let words = Words { text: String::new(), instead: None };
                let kind = ExprKind::Binary(Box::new(Binary { op, left, right, words }));
                (Some(Expr { span, kind }), shown, rest)
            }
            ("assert", _, [condition, rest @ ..]) => (Some(self.expr(condition)), text(condition), rest),
            ("panic" | "unreachable", _, rest) => (None, String::new(), rest),
            // The compiler reports it.
            _ => return ExprKind::Invalid,
        };
        let message = match rest.first() {
            Some(SynExpr::Lit(literal)) => match &literal.lit {
                Lit::Str(words) => words.value(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        let message = match (&condition, message.is_empty()) {
            (Some(_), true) => format!("`{shown}` does not hold"),
            (Some(_), false) => format!("`{shown}` does not hold: {message}"),
            (None, true) => "the algorithm panics here".to_owned(),
            (None, false) => format!("the algorithm panics here: {message}"),
        };
        ExprKind::Assert(Box::new(Assert { condition, message }))
    }
}

fn elements(input: ParseStream<'_>) -> syn::Result<Elements> {
    if input.is_empty() {
        return Ok(Elements::Listed(Punctuated::new()));
    }
    let first: SynExpr = input.parse()?;
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
        return Ok(Elements::Repeated(Box::new([first, input.parse()?])));
    }
    let mut items = Punctuated::new();
    items.push_value(first);
    while input.peek(Token![,]) {
        items.push_punct(input.parse()?);
        if input.is_empty() {
            break;
        }
        items.push_value(input.parse()?);
    }
    Ok(Elements::Listed(items))
}

fn matches_arguments(input: ParseStream<'_>) -> syn::Result<(SynExpr, Pat)> {
    let scrutinee = input.parse()?;
    input.parse::<Token![,]>()?;
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    let pattern = if input.peek(Token![if]) {
        Pat::Guard(syn::PatGuard {
            attrs: Vec::new(),
            pat: Box::new(pattern),
            if_token: input.parse()?,
            guard: Box::new(input.parse()?),
        })
    } else {
        pattern
    };
    input.parse::<Option<Token![,]>>()?;
    Ok((scrutinee, pattern))
}
