//! The names of the facade that generated code uses. All begin at the crate's root, so that nothing in scope
//! at the user's function can hide them.

use collective_dsl::CollectiveKind;
use proc_macro2::TokenStream;
use quote::quote;

macro_rules! path {
    ($($function:ident => $($path:ident)::+;)*) => {
        $(pub(crate) fn $function() -> TokenStream { quote!(::collective::$($path)::+) })*
    };
}

path! {
    algorithm_def => AlgorithmDef;
    compile => compile;
    diagnostics => Diagnostics;
    embedded => Embedded;
    param => Param;
    malformed => Rule::Malformed;
    schedule => Schedule;
    setting => Setting;
    trace => Trace;
}

pub(crate) fn kind(kind: CollectiveKind) -> TokenStream {
    match kind {
        CollectiveKind::AllGather => quote!(::collective::CollectiveKind::AllGather),
        CollectiveKind::ReduceScatter => quote!(::collective::CollectiveKind::ReduceScatter),
        // The attribute accepts no kind that is not listed here.
        _ => quote!(::collective::CollectiveKind::AllReduce),
    }
}

pub(crate) fn option(value: Option<impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
