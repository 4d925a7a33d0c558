//! The macros that are understood.

use quote::ToTokens;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Expr as SynExpr, Pat, Token};

use super::words::text;
use super::{Parser, advice};
use crate::ast::{Assert, Condition, Expr, ExprKind, Literal, Match};

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
            "assert" | "assert_eq" | "assert_ne" | "panic" | "unreachable" | "todo" | "unimplemented"
            | "format" | "println" | "print" | "eprintln" | "eprint" => {
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
        let (condition, shown, rest) = match (name, args) {
            ("assert_eq" | "assert_ne", [left, right, rest @ ..]) => {
                let is_equal = name == "assert_eq";
                let sign = if is_equal { "==" } else { "!=" };
                let shown = format!("{} {sign} {}", text(left), text(right));
                let sides = [self.expr(left), self.expr(right)];
                (Condition::Compare { is_equal, sides }, shown, rest)
            }
            ("assert", [condition, rest @ ..]) => {
                (Condition::Holds(self.expr(condition)), text(condition), rest)
            }
            ("format", args) => {
                return self.format(at, args).map_or(ExprKind::Invalid, ExprKind::Format);
            }
            ("println" | "print" | "eprintln" | "eprint", []) => return ExprKind::Unit,
            ("println" | "print" | "eprintln" | "eprint", args) => {
                return self.format(at, args).map_or(ExprKind::Invalid, ExprKind::Print);
            }
            // The compiler reports it.
            ("assert" | "assert_eq" | "assert_ne", _) => return ExprKind::Invalid,
            (_, rest) => (Condition::Never, String::new(), rest),
        };
        let message = if rest.is_empty() { None } else { self.format(at, rest) };
        ExprKind::Assert(Box::new(Assert { condition, shown, message }))
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
