//! The names of the facade that generated code uses. All begin at the crate's root, so that nothing in scope
//! at the user's function can hide them.

use collective_dsl::{CollectiveKind, Options};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

macro_rules! path {
    ($($function:ident => $($path:ident)::+;)*) => {
        $(pub(crate) fn $function() -> TokenStream { quote!(::collective::$($path)::+) })*
    };
}

path! {
    algorithm_def => AlgorithmDef;
    checked => checked;
    compile => compile;
    diagnostics => Diagnostics;
    element_type => ElementType;
    embedded => Embedded;
    param => Param;
    malformed => Rule::Malformed;
    schedule => Schedule;
    setting => Setting;
    target => msccl::Target;
    trace => Trace;
    traces => embedded::Traces;
    unpacked => embedded::Unpacked;
}

/// The variant of a kind; so that a new kind needs no change here, by its name.
pub(crate) fn kind(kind: CollectiveKind) -> TokenStream {
    let variant = format_ident!("{kind:?}");
    quote!(::collective::CollectiveKind::#variant)
}

/// The expression for how a program is lowered.
pub(crate) fn options(options: Options) -> TokenStream {
    let Options { protocol, instances, replication, fusion } = options;
    let protocol = format_ident!("{protocol:?}");
    let replication = format_ident!("{replication:?}");
    quote! {
        ::collective::Options {
            protocol: ::collective::Protocol::#protocol,
            instances: #instances,
            replication: ::collective::Replication::#replication,
            fusion: #fusion,
        }
    }
}

pub(crate) fn option(value: Option<impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
