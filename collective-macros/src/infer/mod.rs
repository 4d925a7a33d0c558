//! The types of integer literals, as the compiler infers them.
//!
//! A literal without a suffix has the type of what it is put together with, wherever that is written down: a
//! variable's annotation, the other items of a list, the other branch of an `if`. What nothing gives a type is an
//! `i32`. What depends on the type (where it overflows, what `saturating_add` gives) is right only with the same one.
//!
//! References are left out of types, as they are of values. The compiler checks the program too: what it would
//! refuse may have any type here.

mod expressions;
mod methods;
mod patterns;

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{Closure, Function, FunctionId, Type};
use crate::integer::{Int, IntKind};
use crate::span::SpanId;

/// An integer literal and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiteralInt {
    pub(crate) int: Int,
    pub(crate) span: SpanId,
}

/// Steps after which types are taken for too large: a tuple of tuples of tuples doubles each time.
const MAX_STEPS: u32 = 2_000_000;

/// Gives every literal its type. `entries` are the functions that give a `usize`.
pub(crate) fn infer(
    functions: &[Function],
    closures: &[Closure],
    entries: &[FunctionId],
    literals: &[LiteralInt],
) -> Result<Vec<Int>, Vec<(SpanId, String)>> {
    let mut inference = Inference::new(functions, closures, literals);
    for entry in entries {
        let result = inference.results[entry.0 as usize].clone();
        inference.want(&result, IntKind::Usize);
    }
    for (i, function) in functions.iter().enumerate() {
        inference.function(i, function);
    }
    inference.finish(functions, literals)
}

#[derive(Clone, Debug)]
enum Ty {
    /// Of what does not come back, such as `return`.
    Never,
    /// Without integers.
    Plain,
    Int(IntKind),
    Tuple(Rc<[Ty]>),
    List(Rc<Ty>),
    Option(Rc<Ty>),
    /// A range or an iterator, by what it gives.
    Iter(Rc<Ty>),
    Fn(Rc<[Ty]>, Rc<Ty>),
    Var(usize),
}

#[derive(Clone, Debug)]
enum Var {
    Free {
        is_int: bool,
        /// Whether something that could give it a type was not understood.
        is_vague: bool,
    },
    Bound(Ty),
}

/// A `collect()`.
#[derive(Clone, Debug)]
struct Collected {
    span: SpanId,
    into: Ty,
    item: Ty,
}

struct Inference<'a> {
    closures: &'a [Closure],
    params: Vec<Vec<Ty>>,
    results: Vec<Ty>,
    vars: Vec<Var>,
    literals: Vec<Ty>,
    /// Whether the literal stands behind a minus sign.
    negated: Vec<bool>,
    /// Of the function at hand.
    slots: Vec<Ty>,
    result: Ty,
    /// The value of each loop, and whether a `break` gives it.
    loops: HashMap<u32, (Ty, bool)>,
    /// Signed types whose unsigned ones are wanted, with what is to be them.
    unsigned: Vec<(Ty, Ty)>,
    /// What iterators are collected into, with what they give.
    collected: Vec<Collected>,
    steps: u32,
}

impl<'a> Inference<'a> {
    fn new(functions: &[Function], closures: &'a [Closure], literals: &[LiteralInt]) -> Self {
        let mut this = Self {
            closures,
            params: Vec::new(),
            results: Vec::new(),
            vars: Vec::new(),
            literals: Vec::new(),
            negated: vec![false; literals.len()],
            slots: Vec::new(),
            result: Ty::Plain,
            loops: HashMap::new(),
            unsigned: Vec::new(),
            collected: Vec::new(),
            steps: 0,
        };
        this.literals = literals.iter().map(|literal| this.int_type(literal.int.kind)).collect();
        this.params = functions
            .iter()
            .map(|function| function.params.iter().map(|(_, ty)| this.written(ty)).collect())
            .collect();
        this.results = functions.iter().map(|function| this.written(&function.result)).collect();
        this
    }

    fn finish(
        mut self,
        functions: &[Function],
        literals: &[LiteralInt],
    ) -> Result<Vec<Int>, Vec<(SpanId, String)>> {
        self.settle_collected();
        while self.settle_unsigned() {}
        for (_, unsigned) in std::mem::take(&mut self.unsigned) {
            self.want(&unsigned, IntKind::U32);
        }
        if let (true, Some(function)) = (self.steps >= MAX_STEPS, functions.first()) {
            let message = "the types in this are too large for build time: use fewer tuples in tuples";
            return Err(vec![(function.body.span, message.to_owned())]);
        }
        let mut errors = Vec::new();
        for collected in &self.collected {
            if let Ty::Option(_) = self.resolve(&collected.into) {
                let message = "at build time an iterator is collected into a Vec, not into an Option: collect the \
                               Options into a Vec, and look at them in a `for` loop";
                errors.push((collected.span, message.to_owned()));
            }
        }
        let mut typed = Vec::with_capacity(literals.len());
        for (i, literal) in literals.iter().enumerate() {
            let kind = match self.resolve(&self.literals[i]) {
                Ty::Int(kind) => kind,
                Ty::Var(var) if matches!(self.vars[var], Var::Free { is_vague: true, .. }) => {
                    let message =
                        "the type of this number is not known at build time: write it, such as `0usize`";
                    errors.push((literal.span, message.to_owned()));
                    continue;
                }
                _ => IntKind::I32,
            };
            let int = Int::new(literal.int.value, kind);
            // `-i32::MIN` is a constant behind a minus sign, and overflows where it is evaluated.
            let sign = if self.negated[i] && int.value >= 0 { -1 } else { 1 };
            if !kind.holds(sign * int.value) {
                let message = format!("this is {}, which {} cannot hold", sign * int.value, kind.name());
                errors.push((literal.span, message));
            }
            typed.push(int);
        }
        if errors.is_empty() { Ok(typed) } else { Err(errors) }
    }

    fn fresh(&mut self, is_int: bool, is_vague: bool) -> Ty {
        self.vars.push(Var::Free { is_int, is_vague });
        Ty::Var(self.vars.len() - 1)
    }

    fn any(&mut self) -> Ty {
        self.fresh(false, false)
    }

    /// Of something whose type the compiler knows, but not this.
    fn vague(&mut self) -> Ty {
        self.fresh(false, true)
    }

    fn int_type(&mut self, kind: IntKind) -> Ty {
        if kind == IntKind::Untyped { self.fresh(true, false) } else { Ty::Int(kind) }
    }

    fn written(&mut self, ty: &Type) -> Ty {
        match ty {
            Type::Int(kind) => Ty::Int(*kind),
            Type::Tuple(types) => Ty::Tuple(types.iter().map(|ty| self.written(ty)).collect()),
            Type::List(item) => Ty::List(Rc::new(self.written(item))),
            Type::Option(value) => Ty::Option(Rc::new(self.written(value))),
            Type::Iter(item) => Ty::Iter(Rc::new(self.written(item))),
            Type::Fn(params, result) => {
                let params = params.iter().map(|ty| self.written(ty)).collect();
                Ty::Fn(params, Rc::new(self.written(result)))
            }
            Type::Other => self.any(),
        }
    }

    /// The type behind a variable, as far as it is known.
    fn resolve(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Var(var) = ty {
            match &self.vars[var] {
                Var::Bound(bound) => ty = bound.clone(),
                Var::Free { .. } => break,
            }
        }
        ty
    }

    fn contains(&mut self, ty: &Ty, var: usize) -> bool {
        self.steps += 1;
        if self.steps >= MAX_STEPS {
            return true;
        }
        match self.resolve(ty) {
            Ty::Var(other) => other == var,
            Ty::Tuple(types) => types.iter().any(|ty| self.contains(ty, var)),
            Ty::List(inner) | Ty::Option(inner) | Ty::Iter(inner) => self.contains(&inner, var),
            Ty::Fn(params, result) => {
                params.iter().any(|ty| self.contains(ty, var)) || self.contains(&result, var)
            }
            Ty::Never | Ty::Plain | Ty::Int(_) => false,
        }
    }

    /// Makes two types the same. Where they cannot be, the compiler refuses the program.
    fn unify(&mut self, a: &Ty, b: &Ty) {
        self.steps += 1;
        if self.steps >= MAX_STEPS {
            return;
        }
        match (self.resolve(a), self.resolve(b)) {
            (Ty::Var(a), Ty::Var(b)) => {
                if let (
                    true,
                    Var::Free { is_int: int_a, is_vague: vague_a },
                    Var::Free { is_int, is_vague },
                ) = (a != b, self.vars[a].clone(), &mut self.vars[b])
                {
                    *is_int |= int_a;
                    *is_vague |= vague_a;
                    self.vars[a] = Var::Bound(Ty::Var(b));
                }
            }
            (Ty::Var(var), ty) | (ty, Ty::Var(var)) => {
                let Var::Free { is_int, .. } = self.vars[var] else { return };
                let fits = match ty {
                    Ty::Never => false,
                    Ty::Int(_) => true,
                    _ => !is_int && !self.contains(&ty, var),
                };
                if fits {
                    self.vars[var] = Var::Bound(ty);
                }
            }
            (Ty::Tuple(a), Ty::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b.iter()).for_each(|(a, b)| self.unify(a, b));
            }
            (Ty::Option(a), Ty::Option(b)) | (Ty::List(a) | Ty::Iter(a), Ty::List(b) | Ty::Iter(b)) => {
                self.unify(&a, &b);
            }
            (Ty::Fn(a, x), Ty::Fn(b, y)) => {
                a.iter().zip(b.iter()).for_each(|(a, b)| self.unify(a, b));
                self.unify(&x, &y);
            }
            _ => {}
        }
    }

    fn want(&mut self, ty: &Ty, kind: IntKind) {
        self.unify(ty, &Ty::Int(kind));
    }

    /// The type of what comes from either of two ways.
    fn join(&mut self, a: Ty, b: Ty) -> Ty {
        if let Ty::Never = a {
            return b;
        }
        self.unify(&a, &b);
        a
    }

    fn function(&mut self, index: usize, function: &Function) {
        self.slots = (0..function.slots.len()).map(|_| self.any()).collect();
        self.loops.clear();
        self.result = self.results[index].clone();
        for ((pattern, _), ty) in function.params.iter().zip(self.params[index].clone()) {
            self.pattern(pattern, &ty);
        }
        let body = self.expr(&function.body);
        let result = self.result.clone();
        self.unify(&body, &result);
    }

    /// Works out what is collected into a type that is known by now.
    fn settle_collected(&mut self) {
        for collected in std::mem::take(&mut self.collected) {
            match self.resolve(&collected.into) {
                Ty::List(item) => self.unify(&item, &collected.item),
                _ => self.collected.push(collected),
            }
        }
    }

    /// Works out the unsigned types of those that are known. Returns whether there were any.
    fn settle_unsigned(&mut self) -> bool {
        let before = self.unsigned.len();
        for (signed, unsigned) in std::mem::take(&mut self.unsigned) {
            match self.resolve(&signed) {
                Ty::Int(kind) => self.want(&unsigned, kind.unsigned()),
                _ => self.unsigned.push((signed, unsigned)),
            }
        }
        self.unsigned.len() < before
    }
}
