//! Calls of methods: the table of those that are known.

use syn::ext::IdentExt;

use super::{Parser, advice};
use crate::ast::{BinaryOp, DslMethod, Expr, ExprKind, Guard, IntMethod, Type};
use crate::integer::{Int, IntKind};
use crate::method::Method;

#[derive(Clone, Copy, Debug)]
enum Meaning {
    Int(IntMethod),
    Guarded(Guard, BinaryOp),
    Dsl(DslMethod),
    /// Gives its receiver.
    Same,
    /// Of the standard library's lists, options and iterators.
    Std(Method),
}

/// Name, number of arguments, meaning. A name may stand for several methods with different numbers of arguments.
/// Where the language has a name that the standard library has too, the receiver decides.
const METHODS: &[(&str, usize, Meaning)] = &[
    ("chunk", 3, Meaning::Dsl(DslMethod::Chunk)),
    ("chunks", 4, Meaning::Dsl(DslMethod::Chunks)),
    ("ranks", 0, Meaning::Dsl(DslMethod::Ranks)),
    ("input_chunks", 0, Meaning::Dsl(DslMethod::InputChunks)),
    ("output_chunks", 0, Meaning::Dsl(DslMethod::OutputChunks)),
    ("require", 2, Meaning::Dsl(DslMethod::Require)),
    ("scratch", 3, Meaning::Dsl(DslMethod::DeclareScratch)),
    ("expect", 4, Meaning::Dsl(DslMethod::Expect)),
    ("copy_to", 3, Meaning::Dsl(DslMethod::CopyTo)),
    ("reduce", 1, Meaning::Dsl(DslMethod::Reduce)),
    ("on_channel", 1, Meaning::Dsl(DslMethod::OnChannel)),
    ("split", 1, Meaning::Dsl(DslMethod::Split)),
    ("group", 1, Meaning::Dsl(DslMethod::Group)),
    ("on_send_block", 1, Meaning::Dsl(DslMethod::OnSendBlock)),
    ("on_recv_block", 1, Meaning::Dsl(DslMethod::OnRecvBlock)),
    ("rank", 0, Meaning::Dsl(DslMethod::Rank)),
    ("count", 0, Meaning::Dsl(DslMethod::Count)),
    ("compute", 2, Meaning::Dsl(DslMethod::Compute)),
    ("reads", 1, Meaning::Dsl(DslMethod::Reads)),
    ("writes", 3, Meaning::Dsl(DslMethod::Writes)),
    ("bytes", 1, Meaning::Dsl(DslMethod::Bytes)),
    ("pow", 1, Meaning::Int(IntMethod::Pow)),
    ("ilog2", 0, Meaning::Int(IntMethod::Ilog2)),
    ("ilog", 1, Meaning::Int(IntMethod::Ilog)),
    ("min", 1, Meaning::Int(IntMethod::Min)),
    ("max", 1, Meaning::Int(IntMethod::Max)),
    ("clamp", 2, Meaning::Int(IntMethod::Clamp)),
    ("abs_diff", 1, Meaning::Int(IntMethod::AbsDiff)),
    ("abs", 0, Meaning::Int(IntMethod::Abs)),
    ("div_ceil", 1, Meaning::Int(IntMethod::DivCeil)),
    ("div_euclid", 1, Meaning::Int(IntMethod::DivEuclid)),
    ("rem_euclid", 1, Meaning::Int(IntMethod::RemEuclid)),
    ("next_multiple_of", 1, Meaning::Int(IntMethod::NextMultipleOf)),
    ("trailing_zeros", 0, Meaning::Int(IntMethod::TrailingZeros)),
    ("leading_zeros", 0, Meaning::Int(IntMethod::LeadingZeros)),
    ("count_ones", 0, Meaning::Int(IntMethod::CountOnes)),
    ("is_power_of_two", 0, Meaning::Int(IntMethod::IsPowerOfTwo)),
    ("next_power_of_two", 0, Meaning::Int(IntMethod::NextPowerOfTwo)),
    ("is_multiple_of", 1, Meaning::Int(IntMethod::IsMultipleOf)),
    ("isqrt", 0, Meaning::Int(IntMethod::Isqrt)),
    ("ilog10", 0, Meaning::Int(IntMethod::Ilog10)),
    ("signum", 0, Meaning::Int(IntMethod::Signum)),
    ("is_positive", 0, Meaning::Int(IntMethod::IsPositive)),
    ("is_negative", 0, Meaning::Int(IntMethod::IsNegative)),
    ("unsigned_abs", 0, Meaning::Int(IntMethod::UnsignedAbs)),
    ("count_zeros", 0, Meaning::Int(IntMethod::CountZeros)),
    ("leading_ones", 0, Meaning::Int(IntMethod::LeadingOnes)),
    ("trailing_ones", 0, Meaning::Int(IntMethod::TrailingOnes)),
    ("reverse_bits", 0, Meaning::Int(IntMethod::ReverseBits)),
    ("midpoint", 1, Meaning::Int(IntMethod::Midpoint)),
    ("checked_add", 1, Meaning::Guarded(Guard::Checked, BinaryOp::Add)),
    ("checked_sub", 1, Meaning::Guarded(Guard::Checked, BinaryOp::Sub)),
    ("checked_mul", 1, Meaning::Guarded(Guard::Checked, BinaryOp::Mul)),
    ("checked_div", 1, Meaning::Guarded(Guard::Checked, BinaryOp::Div)),
    ("checked_rem", 1, Meaning::Guarded(Guard::Checked, BinaryOp::Rem)),
    ("checked_pow", 1, Meaning::Guarded(Guard::Checked, BinaryOp::Pow)),
    ("wrapping_add", 1, Meaning::Guarded(Guard::Wrapping, BinaryOp::Add)),
    ("wrapping_sub", 1, Meaning::Guarded(Guard::Wrapping, BinaryOp::Sub)),
    ("wrapping_mul", 1, Meaning::Guarded(Guard::Wrapping, BinaryOp::Mul)),
    ("wrapping_div", 1, Meaning::Guarded(Guard::Wrapping, BinaryOp::Div)),
    ("wrapping_rem", 1, Meaning::Guarded(Guard::Wrapping, BinaryOp::Rem)),
    ("wrapping_pow", 1, Meaning::Guarded(Guard::Wrapping, BinaryOp::Pow)),
    ("saturating_add", 1, Meaning::Guarded(Guard::Saturating, BinaryOp::Add)),
    ("saturating_sub", 1, Meaning::Guarded(Guard::Saturating, BinaryOp::Sub)),
    ("saturating_mul", 1, Meaning::Guarded(Guard::Saturating, BinaryOp::Mul)),
    ("saturating_div", 1, Meaning::Guarded(Guard::Saturating, BinaryOp::Div)),
    ("saturating_pow", 1, Meaning::Guarded(Guard::Saturating, BinaryOp::Pow)),
    ("overflowing_add", 1, Meaning::Guarded(Guard::Overflowing, BinaryOp::Add)),
    ("overflowing_sub", 1, Meaning::Guarded(Guard::Overflowing, BinaryOp::Sub)),
    ("overflowing_mul", 1, Meaning::Guarded(Guard::Overflowing, BinaryOp::Mul)),
    ("overflowing_div", 1, Meaning::Guarded(Guard::Overflowing, BinaryOp::Div)),
    ("overflowing_rem", 1, Meaning::Guarded(Guard::Overflowing, BinaryOp::Rem)),
    ("overflowing_pow", 1, Meaning::Guarded(Guard::Overflowing, BinaryOp::Pow)),
    ("checked_shl", 1, Meaning::Guarded(Guard::Checked, BinaryOp::Shl)),
    ("checked_shr", 1, Meaning::Guarded(Guard::Checked, BinaryOp::Shr)),
    ("copied", 0, Meaning::Same),
    ("cloned", 0, Meaning::Same),
    ("by_ref", 0, Meaning::Same),
    ("as_ref", 0, Meaning::Same),
    ("as_slice", 0, Meaning::Same),
    ("as_deref", 0, Meaning::Same),
    ("as_str", 0, Meaning::Same),
    ("to_owned", 0, Meaning::Same),
    ("into_boxed_slice", 0, Meaning::Same),
    ("into_vec", 0, Meaning::Same),
];

fn meaning(name: &str, args: usize) -> Option<Meaning> {
    let known = METHODS.iter().find(|(known, wanted, _)| *known == name && *wanted == args);
    let std = || Method::ALL.iter().find(|(known, wanted, _)| *known == name && *wanted == args);
    known.map(|(.., meaning)| *meaning).or_else(|| std().map(|(.., method)| Meaning::Std(*method)))
}

impl Parser {
    pub(super) fn method_call(&mut self, at: &syn::Expr, call: &syn::ExprMethodCall) -> ExprKind {
        let name = call.method.unraw().to_string();
        let Some(meaning) = meaning(&name, call.args.len()) else {
            // Also a method of a known name with other arguments, of another type perhaps.
            return self.invalid(&call.method, advice::for_unknown_method(&name));
        };
        if let Meaning::Std(method) = meaning
            && method.mutates()
        {
            let Some(place) = self.place(&call.receiver) else { return ExprKind::Invalid };
            let args = call.args.iter().map(|arg| self.expr(arg)).collect();
            return ExprKind::Mutate(method, Box::new(place), args);
        }
        let receiver = self.boxed(&call.receiver);
        let mut args: Vec<Expr> = call.args.iter().map(|arg| self.expr(arg)).collect();
        // Where they begin, in the type that the compiler infers.
        if let Meaning::Std(method @ (Method::Sum | Method::Product)) = meaning {
            let first = Int::new(i128::from(method == Method::Product), IntKind::Untyped);
            args.push(Expr { span: self.span(at), kind: self.int_expr(at, first) });
        }
        let kind = match meaning {
            Meaning::Dsl(method) => ExprKind::Dsl(method, self.call_site(&call.method, at), receiver, args),
            Meaning::Std(method) => ExprKind::Method(method, receiver, args),
            other => return numeric(other, receiver, args),
        };
        match &call.turbofish {
            Some(turbofish) => self.with_type(at, turbofish, kind),
            None => kind,
        }
    }

    /// A method in the form of a function, such as `usize::min(a, b)`.
    pub(super) fn int_function(&mut self, name: &str, call: &syn::ExprCall) -> Option<ExprKind> {
        let meaning = meaning(name, call.args.len().checked_sub(1)?)?;
        if let Meaning::Dsl(_) | Meaning::Std(_) | Meaning::Same = meaning {
            return None;
        }
        let mut args = call.args.iter().map(|arg| self.expr(arg)).collect::<Vec<_>>().into_iter();
        let receiver = Box::new(args.next()?);
        Some(numeric(meaning, receiver, args.collect()))
    }

    /// `collect::<Vec<_>>()`, `sum::<usize>()`.
    fn with_type(
        &mut self,
        at: &syn::Expr,
        turbofish: &syn::AngleBracketedGenericArguments,
        kind: ExprKind,
    ) -> ExprKind {
        let Some(syn::GenericArgument::Type(ty)) = turbofish.args.first() else { return kind };
        let ty = self.ty(ty);
        let is_collected = matches!(kind, ExprKind::Method(Method::Collect, ..));
        if is_collected && !matches!(ty, Type::List(_)) {
            return self.invalid(turbofish, advice::COLLECT);
        }
        if !is_collected && !matches!(kind, ExprKind::Method(Method::Sum | Method::Product, ..)) {
            return kind;
        }
        ExprKind::Typed(Box::new(Expr { span: self.span(at), kind }), ty)
    }
}

/// A method of numbers, or one that gives its receiver.
fn numeric(meaning: Meaning, receiver: Box<Expr>, mut args: Vec<Expr>) -> ExprKind {
    match (meaning, args.pop()) {
        (Meaning::Guarded(guard, op), Some(arg)) => ExprKind::Guarded(guard, op, Box::new([*receiver, arg])),
        (Meaning::Int(method), arg) => {
            args.extend(arg);
            ExprKind::IntMethod(method, receiver, args)
        }
        _ => receiver.kind,
    }
}
