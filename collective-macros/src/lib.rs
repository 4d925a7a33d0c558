//! `#[collective]`.

mod arguments;
mod ast;
mod builds;
mod emit;
mod eval;
mod expand;
mod instance;
mod integer;
mod parse;
mod paths;
mod report;
mod signature;
mod size;
mod source;
mod span;

use proc_macro::TokenStream;

/// Turns a function into a collective algorithm that is checked at build time.
#[proc_macro_attribute]
pub fn collective(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(arguments.into(), item.into()).into()
}
