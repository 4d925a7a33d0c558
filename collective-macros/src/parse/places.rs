//! What can be assigned to.

use syn::{Member, UnOp};

use super::Parser;
use crate::ast::{ExprKind, Place, Projection, Root, Target};

impl Parser {
    pub(super) fn target(&mut self, left: &syn::Expr) -> Option<Target> {
        match left {
            syn::Expr::Infer(_) => Some(Target::Ignore),
            syn::Expr::Paren(inner) => self.target(&inner.expr),
            syn::Expr::Tuple(syn::ExprTuple { elems, .. })
            | syn::Expr::Array(syn::ExprArray { elems, .. }) => {
                let targets: Vec<Option<Target>> = elems.iter().map(|item| self.target(item)).collect();
                targets.into_iter().collect::<Option<_>>().map(Target::Sequence)
            }
            _ => self.place(left).map(Target::Place),
        }
    }

    /// A variable, what a `&mut` points to, or an element or field of one. What has no place gets one of its own.
    pub(super) fn place(&mut self, expr: &syn::Expr) -> Option<Place> {
        match expr {
            syn::Expr::Paren(inner) => self.place(&inner.expr),
            syn::Expr::Group(inner) => self.place(&inner.expr),
            syn::Expr::Index(index) => {
                let mut place = self.place(&index.expr)?;
                if let syn::Expr::Range(_) = &*index.index {
                    self.error(
                        expr,
                        "a part of a list cannot be changed as one at build time: change its elements in a `for` loop",
                    );
                    return None;
                }
                place.path.push(Projection::Index(self.expr(&index.index)));
                Some(place)
            }
            syn::Expr::Field(syn::ExprField { base, member: Member::Unnamed(index), .. }) => {
                let mut place = self.place(base)?;
                place.path.push(Projection::Field(index.index as usize));
                Some(place)
            }
            syn::Expr::Unary(syn::ExprUnary { op: UnOp::Deref(_), expr: inner, .. }) => {
                let mut place = self.place(inner)?;
                place.path.push(Projection::Deref);
                Some(place)
            }
            _ => {
                let root = self.expr(expr);
                let root = match root.kind {
                    ExprKind::Local(slot) => Root::Local(slot),
                    ExprKind::Invalid => return None,
                    _ => Root::Expr(root),
                };
                Some(Place { root, path: Vec::new() })
            }
        }
    }
}
