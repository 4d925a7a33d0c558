//! `#[collective] mod name { … }`: algorithms with the helper functions and constants beside them.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Item, ItemFn, ItemMod, Meta};

use crate::expand::{Expanded, expand_function};
use crate::helpers::{HelperId, Helpers};
use crate::names;
use crate::parse::KnownName;
use crate::span::SpanRange;

/// The module with its algorithms expanded; everything else in it stays as it is.
pub(crate) fn expand(arguments: &TokenStream, module: ItemMod) -> TokenStream {
    let mut errors = Vec::new();
    if !arguments.is_empty() {
        errors.push(SpanRange::of(arguments).error(
            "a module takes no arguments: write `#[collective] mod`, and give each algorithm in it its own `#[collective(…)]`",
        ));
    }
    let Some((_, items)) = &module.content else {
        errors.push(
            SpanRange::of(&module).error(
                "`#[collective]` sees only what stands in the module: write it inline, `mod name { … }`",
            ),
        );
        return with_errors(module.to_token_stream(), &errors);
    };
    let mut is_algorithm: Vec<Option<Attribute>> = Vec::with_capacity(items.len());
    let mut plain = items.clone();
    for item in &mut plain {
        is_algorithm.push(match item {
            Item::Fn(function) => take_attribute(function),
            _ => None,
        });
    }
    let helpers = Rc::new(Helpers::of(&plain));
    let mut generated = TokenStream::new();
    let mut named: BTreeMap<HelperId, Vec<(syn::Path, KnownName)>> = BTreeMap::new();
    for (item, attribute) in plain.iter_mut().zip(is_algorithm) {
        let (Item::Fn(function), Some(attribute)) = (&mut *item, attribute) else { continue };
        let arguments = match attribute.meta {
            Meta::List(list) => list.tokens,
            Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
        };
        let Expanded { function: expanded, beside, errors: wrong, named: in_helpers } =
            expand_function(arguments, function.clone(), &helpers);
        *function = expanded;
        generated.extend(beside);
        errors.extend(wrong);
        for (helper, path, name) in in_helpers {
            named.entry(helper).or_default().push((path, name));
        }
    }
    for (helper, buffers) in named {
        if let Some(Item::Fn(function)) = plain.get_mut(helper.0) {
            names::add_checks(&mut function.block, &names::distinct(buffers));
        }
    }
    let ItemMod { attrs, vis, ident, mod_token, unsafety, .. } = &module;
    // Inner attributes stand among the items.
    let (inner, outer): (Vec<&Attribute>, Vec<&Attribute>) =
        attrs.iter().partition(|attribute| matches!(attribute.style, syn::AttrStyle::Inner(_)));
    let tokens = quote! {
        #(#outer)* #vis #unsafety #mod_token #ident {
            #(#inner)*
            #(#plain)*
            #generated
        }
    };
    with_errors(tokens, &errors)
}

/// The errors of several algorithms that use one helper are one.
fn with_errors(tokens: TokenStream, errors: &[syn::Error]) -> TokenStream {
    let mut known = HashSet::new();
    let distinct = errors.iter().filter(|error| {
        let at = error.span().start();
        known.insert((at.line, at.column, error.to_string()))
    });
    let errors = distinct.map(syn::Error::to_compile_error);
    quote!(#tokens #(#errors)*)
}

/// Removes `#[collective(…)]`, by whatever path.
fn take_attribute(function: &mut ItemFn) -> Option<Attribute> {
    let is_ours = |attribute: &Attribute| {
        attribute.path().segments.last().is_some_and(|last| last.ident == "collective")
    };
    let at = function.attrs.iter().position(is_ours)?;
    Some(function.attrs.remove(at))
}
