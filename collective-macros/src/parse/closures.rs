//! Closures.

use super::Parser;
use crate::ast::{Closure, ClosureId, ExprKind, Type};

impl Parser {
    pub(super) fn closure(&mut self, closure: &syn::ExprClosure) -> ExprKind {
        if let Some(token) = &closure.asyncness {
            return self.invalid(token, "algorithms are not asynchronous: remove this");
        }
        self.scopes.enter_closure();
        let params = closure.inputs.iter().map(|param| self.pattern(param)).collect();
        let result = match &closure.output {
            syn::ReturnType::Default => Type::Other,
            syn::ReturnType::Type(_, ty) => self.ty(ty),
        };
        let body = self.expr(&closure.body);
        let used = self.scopes.leave_closure();
        self.closures.push(Some(Closure {
            function: self.function,
            params,
            result,
            body,
            owns: closure.capture.is_some() || used.captures.is_empty(),
            captures: used.captures,
            own: used.own,
        }));
        ExprKind::Closure(ClosureId(self.closures.len() as u32 - 1))
    }
}
