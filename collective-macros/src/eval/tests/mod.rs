//! Evaluation against Rust itself: each expression is computed by both.

// Expressions are odd on purpose.
#![allow(clippy::all, unused_assignments, unused_variables, overflowing_literals, non_upper_case_globals)]

mod closures;
mod iterators;
mod random;
mod references;
mod rust;
mod std_methods;

use quote::format_ident;

use crate::detail::Detail;
use crate::eval;
use crate::parse;
use crate::signature::{Param, Signature};

/// Evaluates an expression with `ranks = 8`.
fn evaluate(source: &str) -> Result<usize, String> {
    let ident = format_ident!("test");
    let ranks = Param { ident: format_ident!("ranks"), name: "ranks".to_owned() };
    let signature = Signature {
        ident,
        vis: syn::Visibility::Inherited,
        program: None,
        params: vec![ranks],
        summary: String::new(),
        docs: String::new(),
        cfgs: Vec::new(),
    };
    let expr: syn::Expr = syn::parse_str(source).map_err(|error| error.to_string())?;
    let body = syn::parse_quote!({});
    let parsed = parse::parse(&signature, &body, &[(Detail::Chunks, expr)], &Default::default())
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let (_, chunks) = parsed.ast.details[0];
    eval::detail(&parsed.ast, chunks, &[8]).map_err(|failure| failure.message)
}

/// Computes each expression by Rust and by the interpreter.
macro_rules! same {
    ($ranks:ident: $($expr:expr),* $(,)?) => {
        $({
            #[allow(unused_variables)]
            let $ranks = 8usize;
            let expected: usize = $expr;
            assert_eq!(crate::eval::tests::evaluate(stringify!($expr)), Ok(expected), "{}", stringify!($expr));
        })*
    };
}

#[track_caller]
fn refused(source: &str, words: &str) {
    match evaluate(source) {
        Ok(value) => panic!("{source} gives {value}"),
        Err(message) => assert!(message.contains(words), "{source}: {message}"),
    }
}
pub(super) use same;
