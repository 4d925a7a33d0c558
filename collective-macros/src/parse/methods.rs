//! Calls of methods: the table of those that are known.

use syn::ext::IdentExt;

use super::{Parser, advice};
use crate::ast::{BinaryOp, DslMethod, ExprKind, IntMethod, ListMethod, Mutation, OptionMethod};

#[derive(Clone, Copy, Debug)]
enum Method {
    Int(IntMethod),
    List(ListMethod),
    Option(OptionMethod),
    Checked(BinaryOp),
    Mutate(Mutation),
    Dsl(DslMethod),
    /// Gives its receiver.
    Same,
}

/// Name, number of arguments, meaning.
const METHODS: &[(&str, usize, Method)] = &[
    ("chunk", 3, Method::Dsl(DslMethod::Chunk)),
    ("chunks", 4, Method::Dsl(DslMethod::Chunks)),
    ("ranks", 0, Method::Dsl(DslMethod::Ranks)),
    ("input_chunks", 0, Method::Dsl(DslMethod::InputChunks)),
    ("output_chunks", 0, Method::Dsl(DslMethod::OutputChunks)),
    ("require", 2, Method::Dsl(DslMethod::Require)),
    ("copy_to", 3, Method::Dsl(DslMethod::CopyTo)),
    ("reduce", 1, Method::Dsl(DslMethod::Reduce)),
    ("on_channel", 1, Method::Dsl(DslMethod::OnChannel)),
    ("split", 1, Method::Dsl(DslMethod::Split)),
    ("rank", 0, Method::Dsl(DslMethod::Rank)),
    ("count", 0, Method::Dsl(DslMethod::Count)),
    ("pow", 1, Method::Int(IntMethod::Pow)),
    ("ilog2", 0, Method::Int(IntMethod::Ilog2)),
    ("ilog", 1, Method::Int(IntMethod::Ilog)),
    ("min", 1, Method::Int(IntMethod::Min)),
    ("max", 1, Method::Int(IntMethod::Max)),
    ("clamp", 2, Method::Int(IntMethod::Clamp)),
    ("abs_diff", 1, Method::Int(IntMethod::AbsDiff)),
    ("abs", 0, Method::Int(IntMethod::Abs)),
    ("div_ceil", 1, Method::Int(IntMethod::DivCeil)),
    ("div_euclid", 1, Method::Int(IntMethod::DivEuclid)),
    ("rem_euclid", 1, Method::Int(IntMethod::RemEuclid)),
    ("next_multiple_of", 1, Method::Int(IntMethod::NextMultipleOf)),
    ("trailing_zeros", 0, Method::Int(IntMethod::TrailingZeros)),
    ("leading_zeros", 0, Method::Int(IntMethod::LeadingZeros)),
    ("count_ones", 0, Method::Int(IntMethod::CountOnes)),
    ("is_power_of_two", 0, Method::Int(IntMethod::IsPowerOfTwo)),
    ("next_power_of_two", 0, Method::Int(IntMethod::NextPowerOfTwo)),
    ("is_multiple_of", 1, Method::Int(IntMethod::IsMultipleOf)),
    ("isqrt", 0, Method::Int(IntMethod::Isqrt)),
    ("saturating_sub", 1, Method::Int(IntMethod::SaturatingSub)),
    ("saturating_add", 1, Method::Int(IntMethod::SaturatingAdd)),
    ("checked_add", 1, Method::Checked(BinaryOp::Add)),
    ("checked_sub", 1, Method::Checked(BinaryOp::Sub)),
    ("checked_mul", 1, Method::Checked(BinaryOp::Mul)),
    ("checked_div", 1, Method::Checked(BinaryOp::Div)),
    ("checked_rem", 1, Method::Checked(BinaryOp::Rem)),
    ("is_some", 0, Method::Option(OptionMethod::IsSome)),
    ("is_none", 0, Method::Option(OptionMethod::IsNone)),
    ("unwrap", 0, Method::Option(OptionMethod::Unwrap)),
    ("expect", 1, Method::Option(OptionMethod::Unwrap)),
    ("unwrap_or", 1, Method::Option(OptionMethod::UnwrapOr)),
    ("get", 1, Method::List(ListMethod::Get)),
    ("first", 0, Method::List(ListMethod::First)),
    ("last", 0, Method::List(ListMethod::Last)),
    ("len", 0, Method::List(ListMethod::Len)),
    ("is_empty", 0, Method::List(ListMethod::IsEmpty)),
    ("pop", 0, Method::Mutate(Mutation::Pop)),
    ("push", 1, Method::Mutate(Mutation::Push)),
    ("swap", 2, Method::Mutate(Mutation::Swap)),
    ("reverse", 0, Method::Mutate(Mutation::Reverse)),
    ("clear", 0, Method::Mutate(Mutation::Clear)),
    ("clone", 0, Method::Same),
    ("to_vec", 0, Method::Same),
    ("copied", 0, Method::Same),
    ("cloned", 0, Method::Same),
];

impl Parser {
    pub(super) fn method_call(&mut self, at: &syn::Expr, call: &syn::ExprMethodCall) -> ExprKind {
        let name = call.method.unraw().to_string();
        if let ("contains", 1) = (name.as_str(), call.args.len()) {
            return self.contains(&call.receiver, &call.args[0]);
        }
        let Some((_, arguments, method)) = METHODS.iter().find(|(known, ..)| *known == name) else {
            return self.invalid(&call.method, advice::for_unknown_method(&name));
        };
        if *arguments != call.args.len() {
            // A method of the same name on another type, such as `slice.chunks(2)`; else the compiler's to report.
            return self.invalid(at, advice::for_unknown_method(&name));
        }
        if let Method::Mutate(mutation) = method {
            let args = call.args.iter().map(|arg| self.expr(arg)).collect();
            return match self.place(&call.receiver) {
                Some(place) => ExprKind::Mutate(*mutation, Box::new(place), args),
                None => ExprKind::Invalid,
            };
        }
        let receiver = self.boxed(&call.receiver);
        if let Method::Checked(op) = method {
            return ExprKind::Checked(*op, Box::new([*receiver, self.expr(&call.args[0])]));
        }
        let args = call.args.iter().map(|arg| self.expr(arg)).collect();
        match method {
            Method::Int(method) => ExprKind::IntMethod(*method, receiver, args),
            Method::List(method) => ExprKind::ListMethod(*method, receiver, args),
            Method::Option(method) => ExprKind::OptionMethod(*method, receiver, args),
            Method::Dsl(method) => ExprKind::Dsl(*method, self.call_site(&call.method, at), receiver, args),
            Method::Same => receiver.kind,
            Method::Checked(_) | Method::Mutate(_) => ExprKind::Invalid,
        }
    }

    fn contains(&mut self, receiver: &syn::Expr, item: &syn::Expr) -> ExprKind {
        let mut inner = receiver;
        while let syn::Expr::Paren(paren) = inner {
            inner = &paren.expr;
        }
        if let syn::Expr::Range(range) = inner {
            let range = self.range(range);
            let item = self.expr(item);
            return range.map_or(ExprKind::Invalid, |range| ExprKind::InRange(Box::new((range, item))));
        }
        ExprKind::ListContains(Box::new([self.expr(receiver), self.expr(item)]))
    }
}
