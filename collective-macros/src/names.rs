//! Checks by the compiler that names mean what the evaluation at build time takes them for.

use proc_macro2::Span;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Block, Item, Stmt};

use crate::parse::KnownName;

/// Puts the checks into the body of the function, where its own `use`s are seen too.
pub(crate) fn add_checks(body: &mut Block, buffers: &[(syn::Path, KnownName)]) {
    // What an inner block brings into scope is not seen at the top.
    if has_inner_uses(body) {
        return;
    }
    let checks = buffers.iter().map(|(path, name)| {
        let span = Span::mixed_site().located_at(path.span());
        let whole = format!("collective::{}", name.name());
        let message = format!(
            "`{}` here means something other than `{whole}`: import that under its own name, without `as`",
            text(path)
        );
        let condition = match name {
            KnownName::Input => quote_spanned!(span=> ::core::matches!(#path, ::collective::Buffer::Input)),
            KnownName::Output => {
                quote_spanned!(span=> ::core::matches!(#path, ::collective::Buffer::Output))
            }
            KnownName::Scratch => {
                quote_spanned!(span=> ::core::matches!(#path(""), ::collective::Buffer::Scratch(_)))
            }
            KnownName::Flops => {
                quote_spanned!(span=> ::core::matches!(#path(1), ::collective::Cost { flops: 1, .. }))
            }
            KnownName::Micros => {
                quote_spanned!(span=> ::core::matches!(#path(1), ::collective::Cost { micros: 1, .. }))
            }
        };
        Stmt::Item(Item::Verbatim(
            quote_spanned!(span=> const _: () = ::core::assert!(#condition, #message);),
        ))
    });
    let checks: Vec<Stmt> = checks.collect();
    body.stmts.splice(0..0, checks);
}

/// Each way of naming something once.
pub(crate) fn distinct(buffers: Vec<(syn::Path, KnownName)>) -> Vec<(syn::Path, KnownName)> {
    let mut distinct: Vec<(syn::Path, KnownName)> = Vec::new();
    for (path, name) in buffers {
        if distinct.iter().all(|(known, _)| text(known) != text(&path)) {
            distinct.push((path, name));
        }
    }
    distinct
}

fn text(path: &syn::Path) -> String {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    names.join("::")
}

fn has_inner_uses(body: &Block) -> bool {
    let at_the_top = body.stmts.iter().filter(|statement| matches!(statement, Stmt::Item(Item::Use(_))));
    let mut uses = Uses(0);
    uses.visit_block(body);
    uses.0 > at_the_top.count()
}

struct Uses(usize);

impl Visit<'_> for Uses {
    fn visit_item_use(&mut self, _: &syn::ItemUse) {
        self.0 += 1;
    }
}
