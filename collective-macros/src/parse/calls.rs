//! Calls of functions.

use syn::ext::IdentExt;

use super::scopes::{Item, Name};
use super::{KnownName, Parser, advice};
use crate::ast::{CostUnit, Expr, ExprKind, IntMethod, Literal, Type};
use crate::integer::IntKind;
use crate::method::Method;

impl Parser {
    pub(super) fn call(&mut self, at: &syn::Expr, call: &syn::ExprCall) -> ExprKind {
        let syn::Expr::Path(syn::ExprPath { path, qself: None, .. }) = &*call.func else {
            // A closure that is computed.
            return ExprKind::Apply(self.boxed(&call.func), self.args(call));
        };
        let names: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if let [name] | ["self", name] = names.as_slice() {
            match self.resolve(path, name) {
                Some(Name::Item(Item::Function { id, params })) if params == call.args.len() => {
                    return ExprKind::Call(id, self.args(call));
                }
                Some(Name::Local(_)) => return ExprKind::Apply(self.boxed(&call.func), self.args(call)),
                // The compiler's to report.
                Some(_) => return ExprKind::Invalid,
                None => {}
            }
        }
        if let Some(kind) = self.std_call(at, &names, path, call) {
            return kind;
        }
        if let (["Scratch"] | [.., "Buffer", "Scratch"], 1) = (names.as_slice(), call.args.len()) {
            self.known(path, KnownName::Scratch);
            return ExprKind::Scratch(self.boxed(&call.args[0]));
        }
        // There is an error about the type already.
        if self.own_types.iter().any(|own| names.first() == Some(&own.as_str())) {
            return ExprKind::Invalid;
        }
        if let ([.., "Cost", name @ ("flops" | "micros")], 1) = (names.as_slice(), call.args.len()) {
            let (known, unit) = match *name {
                "flops" => (KnownName::Flops, CostUnit::Flops),
                _ => (KnownName::Micros, CostUnit::Micros),
            };
            self.known(path, known);
            return ExprKind::Cost(unit, self.boxed(&call.args[0]));
        }
        self.invalid(at, advice::for_unknown_function(&names))
    }

    fn args(&mut self, call: &syn::ExprCall) -> Vec<Expr> {
        call.args.iter().map(|arg| self.expr(arg)).collect()
    }

    /// Functions of the standard library.
    fn std_call(
        &mut self,
        at: &syn::Expr,
        names: &[&str],
        path: &syn::Path,
        call: &syn::ExprCall,
    ) -> Option<ExprKind> {
        Some(match (names, call.args.len()) {
            (["Some"], 1) => ExprKind::Some(self.boxed(&call.args[0])),
            // Only room is asked for.
            ([.., "Vec", "new"], 0) | ([.., "Vec", "with_capacity"], 1) => {
                let list = ExprKind::List(Vec::new());
                match path.segments.iter().rev().nth(1).and_then(|vec| self.type_argument(vec)) {
                    Some(item) => {
                        let list = Expr { span: self.span(at), kind: list };
                        ExprKind::Typed(Box::new(list), Type::List(Box::new(item)))
                    }
                    None => list,
                }
            }
            ([.., "Vec" | "String" | "Box", "from"] | [.., "Box" | "Rc", "new"], 1) => {
                self.expr(&call.args[0]).kind
            }
            ([.., "String", "new"], 0) => ExprKind::Literal(Literal::Text("".into())),
            ([.., "cmp", "min"], 2) => self.extreme(IntMethod::Min, call),
            ([.., "cmp", "max"], 2) => self.extreme(IntMethod::Max, call),
            ([.., "mem", "swap"], 2) => {
                ExprKind::SwapPlaces(Box::new([self.expr(&call.args[0]), self.expr(&call.args[1])]))
            }
            ([.., "iter", "empty"], 0) | ([.., "iter", "once"], 1) => {
                let list = ExprKind::List(self.args(call));
                self.iterated(at, Method::IntoIter, list)
            }
            ([.., "iter", "repeat_n"], 2) => {
                let parts = [self.expr(&call.args[0]), self.expr(&call.args[1])];
                self.iterated(at, Method::IntoIter, ExprKind::Repeat(Box::new(parts)))
            }
            ([.., "iter", "repeat"], 1) => {
                let list = ExprKind::List(self.args(call));
                self.iterated(at, Method::Cycle, list)
            }
            ([.., "iter", "zip"], 2) => {
                let first = self.boxed(&call.args[0]);
                ExprKind::Method(Method::Zip, first, vec![self.expr(&call.args[1])])
            }
            ([.., "iter", "successors"], 2) => {
                ExprKind::Successors(Box::new([self.expr(&call.args[0]), self.expr(&call.args[1])]))
            }
            ([kind, "from"], 1) => ExprKind::Cast(self.boxed(&call.args[0]), IntKind::from_name(kind)?),
            ([kind, name], _) => {
                IntKind::from_name(kind)?;
                self.int_function(name, call)?
            }
            _ => return None,
        })
    }

    fn iterated(&mut self, at: &syn::Expr, method: Method, list: ExprKind) -> ExprKind {
        let list = Expr { span: self.span(at), kind: list };
        ExprKind::Method(method, Box::new(list), Vec::new())
    }

    fn extreme(&mut self, method: IntMethod, call: &syn::ExprCall) -> ExprKind {
        let this = self.boxed(&call.args[0]);
        ExprKind::IntMethod(method, this, vec![self.expr(&call.args[1])])
    }

    /// The type in `Vec::<usize>`.
    pub(super) fn type_argument(&mut self, segment: &syn::PathSegment) -> Option<Type> {
        match &segment.arguments {
            syn::PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Some(self.ty(ty)),
                _ => None,
            },
            _ => None,
        }
    }
}
