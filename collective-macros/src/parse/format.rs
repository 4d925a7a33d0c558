//! Format strings.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr as SynExpr, Lit, LitStr};

use super::Parser;
use crate::ast::{ExprKind, Format, Piece, Spec};

const WANTED: &str =
    "at build time a format is a text with `{}`, `{name}`, `{:?}` or a width such as `{:02}` in it";

impl Parser {
    /// The arguments of `format!` and its like.
    pub(super) fn format(&mut self, at: &impl ToTokens, args: &[SynExpr]) -> Option<Format> {
        let Some((SynExpr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }), rest)) = args.split_first() else {
            self.error(at, WANTED);
            return None;
        };
        let mut names = Vec::new();
        let mut format = Format::default();
        for arg in rest {
            let (name, value) = match arg {
                SynExpr::Assign(assign) => (assign.left.to_token_stream().to_string(), &*assign.right),
                _ => (String::new(), arg),
            };
            names.push(name);
            format.args.push(self.expr(value));
        }
        let mut next = 0;
        let content = text.value();
        let mut left = content.as_str();
        while let Some(at) = left.find(['{', '}']) {
            format.text(&left[..at]);
            let brace = &left[at..=at];
            left = &left[at + 1..];
            if let Some(after) = left.strip_prefix(brace) {
                format.text(brace);
                left = after;
                continue;
            }
            // Else the compiler reports it.
            let Some((inner, after)) = left.split_once('}') else { break };
            left = after;
            let (name, spec) = inner.split_once(':').unwrap_or((inner, ""));
            let Some(spec) = spec_of(spec) else {
                self.error(text, WANTED);
                return None;
            };
            let arg = match name.trim() {
                "" => {
                    next += 1;
                    next - 1
                }
                name => match name.parse() {
                    Ok(position) => position,
                    Err(_) => self.named(name, text, &mut names, &mut format),
                },
            };
            // Else the compiler reports it.
            if arg < format.args.len() {
                format.pieces.push(Piece::Arg(arg, spec));
            }
        }
        format.text(left);
        Some(format)
    }

    /// The position of an argument by its name, which may be that of a variable.
    fn named(&mut self, name: &str, text: &LitStr, names: &mut Vec<String>, format: &mut Format) -> usize {
        if let Some(known) = names.iter().position(|known| known == name) {
            return known;
        }
        if let Ok(mut ident) = syn::parse_str::<Ident>(name) {
            ident.set_span(text.span());
            let arg = self.expr(&syn::parse_quote!(#ident));
            if !matches!(arg.kind, ExprKind::Invalid) {
                names.push(name.to_owned());
                format.args.push(arg);
                return names.len() - 1;
            }
        }
        usize::MAX
    }
}

impl Format {
    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(known)) => known.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

fn spec_of(spec: &str) -> Option<Spec> {
    let (width, is_debug) = match spec.strip_suffix('?') {
        Some(width) => (width, true),
        None => (spec, false),
    };
    let is_zero_padded = width.len() > 1 && width.starts_with('0');
    let width = if width.is_empty() { 0 } else { width.parse().ok().filter(|width| *width < 1000)? };
    Some(Spec { is_debug, is_zero_padded, width })
}
