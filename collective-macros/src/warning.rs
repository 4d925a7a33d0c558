//! Warnings of the compiler. A macro on stable Rust cannot give any itself, so each is the use of a deprecated
//! constant, whose note is the warning: `#[allow(deprecated)]` on the function silences it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Attribute;

/// A warning, at a token.
#[derive(Clone, Debug)]
pub(crate) struct Warning {
    pub(crate) span: Span,
    pub(crate) message: String,
}

/// The items that make the compiler print the warnings, with the lint levels and conditions of the function.
pub(crate) fn items(warnings: &[Warning], attributes: &[Attribute]) -> TokenStream {
    const LEVELS: [&str; 6] = ["allow", "expect", "warn", "deny", "forbid", "cfg"];
    let levels: Vec<&Attribute> = attributes
        .iter()
        .filter(|attribute| LEVELS.iter().any(|level| attribute.path().is_ident(level)))
        .collect();
    let items = warnings.iter().map(|Warning { span, message }| {
        let name = Ident::new("warning", *span);
        let used = quote_spanned!(*span=> #name);
        quote! {
            #(#levels)*
            const _: () = {
                #[deprecated(note = #message)]
                #[allow(non_upper_case_globals)]
                const #name: () = ();
                #used
            };
        }
    });
    quote!(#(#items)*)
}
