//! Calls of functions.

use syn::ext::IdentExt;

use super::expressions::is_of_module;
use super::scopes::{Item, Name};
use super::{BufferName, Parser, advice};
use crate::ast::{ExprKind, IntMethod};
use crate::integer::IntKind;

impl Parser {
    pub(super) fn call(&mut self, at: &syn::Expr, call: &syn::ExprCall) -> ExprKind {
        let syn::Expr::Path(syn::ExprPath { path, qself: None, .. }) = &*call.func else {
            return self.invalid(at, "only functions with a name can be called at build time");
        };
        let names: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match (names.as_slice(), call.args.len()) {
            (["Some"], 1) => return ExprKind::Some(self.boxed(&call.args[0])),
            ([name], given) | (["self", name], given) => match self.called(path, name) {
                Some(Name::Item(Item::Function { id, params })) if params == given => {
                    return ExprKind::Call(id, call.args.iter().map(|arg| self.expr(arg)).collect());
                }
                // A closure, about which there is an error already; else the compiler's to report.
                Some(_) => return ExprKind::Invalid,
                None => {}
            },
            ([.., "Vec", "new"], 0) => return ExprKind::List(Vec::new()),
            // Only room is asked for.
            ([.., "Vec", "with_capacity"], 1) => return ExprKind::List(Vec::new()),
            ([.., "cmp", "min"], 2) => return self.int_function(IntMethod::Min, call),
            ([.., "cmp", "max"], 2) => return self.int_function(IntMethod::Max, call),
            ([kind, "from"], 1) => {
                if let Some(kind) = IntKind::from_name(kind) {
                    return ExprKind::Cast(self.boxed(&call.args[0]), kind);
                }
            }
            _ => {}
        }
        match (names.as_slice(), call.args.len()) {
            ([.., "Scratch"], 1) => {
                self.buffer(path, BufferName::Scratch);
                ExprKind::Scratch(self.boxed(&call.args[0]))
            }
            _ => self.invalid(at, advice::for_unknown_function(&names.join("::"))),
        }
    }

    fn called(&mut self, path: &syn::Path, name: &str) -> Option<Name> {
        if is_of_module(path) { self.lookup_helper(name).map(Name::Item) } else { self.lookup(name) }
    }

    fn int_function(&mut self, method: IntMethod, call: &syn::ExprCall) -> ExprKind {
        let this = self.boxed(&call.args[0]);
        ExprKind::IntMethod(method, this, vec![self.expr(&call.args[1])])
    }
}
