//! The arithmetic of an argument of the attribute, at run time: where it overflows there is an error, in a release
//! build too.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, parse_quote};

use crate::paths;

/// The expression with checked functions in place of its operators; `otherwise` is evaluated where one overflows, and
/// leaves the function.
pub(crate) fn checked(expr: &Expr, otherwise: &TokenStream) -> Expr {
    let mut expr = expr.clone();
    Checked { otherwise }.visit_expr_mut(&mut expr);
    expr
}

struct Checked<'a> {
    otherwise: &'a TokenStream,
}

impl Checked<'_> {
    fn call(&self, function: &str, left: &Expr, right: &Expr) -> Expr {
        let (checked, function) = (paths::checked(), format_ident!("{function}"));
        let (left, right) = (bare(left), bare(right));
        let otherwise = self.otherwise;
        // Of this macro's own hygiene: it hides nothing.
        let value = Ident::new("value", Span::mixed_site());
        parse_quote! {
            match #checked::#function(#left, #right) {
                ::core::option::Option::Some(#value) => #value,
                ::core::option::Option::None => #otherwise,
            }
        }
    }
}

impl VisitMut for Checked<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // What is left by `return`, or evaluated by the compiler, is not of the function's own flow.
        if matches!(expr, Expr::Closure(_) | Expr::Async(_) | Expr::Const(_)) {
            return;
        }
        if let Expr::Repeat(repeat) = expr {
            return self.visit_expr_mut(&mut repeat.expr);
        }
        visit_mut::visit_expr_mut(self, expr);
        let replaced = match &*expr {
            Expr::Binary(binary) => function(&binary.op).map(|(function, assigns)| {
                let left = &binary.left;
                let value = self.call(function, left, &binary.right);
                if assigns { parse_quote!(#left = #value) } else { value }
            }),
            Expr::MethodCall(call) if call.method == "pow" && call.args.len() == 1 => {
                Some(self.call("pow", &call.receiver, &call.args[0]))
            }
            _ => None,
        };
        if let Some(replaced) = replaced {
            *expr = replaced;
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_type_mut(&mut self, _: &mut syn::Type) {}

    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}
}

/// Parentheses around an argument are something that lints complain of.
fn bare(expr: &Expr) -> TokenStream {
    match expr {
        Expr::Paren(paren) if paren.attrs.is_empty() => bare(&paren.expr),
        _ => quote!(#expr),
    }
}

/// The function for an operator, and whether it assigns.
fn function(op: &BinOp) -> Option<(&'static str, bool)> {
    Some(match op {
        BinOp::Add(_) => ("add", false),
        BinOp::Sub(_) => ("sub", false),
        BinOp::Mul(_) => ("mul", false),
        BinOp::Shl(_) => ("shl", false),
        BinOp::Shr(_) => ("shr", false),
        BinOp::AddAssign(_) => ("add", true),
        BinOp::SubAssign(_) => ("sub", true),
        BinOp::MulAssign(_) => ("mul", true),
        BinOp::ShlAssign(_) => ("shl", true),
        BinOp::ShrAssign(_) => ("shr", true),
        _ => return None,
    })
}
