//! The code that stands beside the user's function.

use collective_dsl::et::EtBytes;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

use crate::arguments::Arguments;
use crate::builds::{self, Build};
use crate::checked::checked;
use crate::paths;
use crate::signature::Signature;
use crate::source::Source;

/// What is generated for an algorithm.
pub(crate) struct Generated<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) arguments: &'a Arguments,
    pub(crate) source: &'a Source,
    /// Each build with its graph; without one where something is wrong.
    pub(crate) builds: Vec<(&'a Build, Option<EtBytes>)>,
    /// Whether something is wrong: then the items only have the right types.
    pub(crate) is_placeholder: bool,
}

impl Generated<'_> {
    /// The type that carries the function's name, and what belongs to it.
    pub(crate) fn tokens(&self) -> TokenStream {
        let Signature { ident, vis, cfgs, .. } = self.signature;
        let name = self.signature.name();
        let about = format!(
            "The algorithm [`{name}`](fn@{name}): its definition, and the instances that were checked and embedded at \
             build time."
        );
        let def = self.definition();
        let functions = self.functions();
        let constants = self.builds.iter().map(|(build, bytes)| self.constant(build, bytes.as_ref()));
        let names = self.builds.iter().map(|(build, _)| self.constant_name(build));
        let embedded = paths::embedded();
        quote! {
            #(#cfgs)*
            #[doc = #about]
            #[allow(non_camel_case_types, dead_code)]
            #vis enum #ident {}

            #(#cfgs)*
            #[allow(dead_code)]
            impl #ident {
                #def
                #functions
                #(#constants)*
                /// All instances that are embedded.
                #vis const BUILDS: &'static [&'static #embedded] = &[#(Self::#names),*];
            }
        }
    }

    fn definition(&self) -> TokenStream {
        let (def, param, diagnostics) = (paths::algorithm_def(), paths::param(), paths::diagnostics());
        let malformed = paths::malformed();
        let vis = &self.signature.vis;
        let name = self.signature.name();
        let summary = &self.signature.summary;
        let kind = paths::kind(self.arguments.kind);
        let in_place = self.arguments.in_place;
        let params = self.signature.params.iter().zip(builds::defaults(self.arguments, self.signature));
        let params = params.map(|(known, default)| {
            let name = &known.name;
            let default = paths::option(default);
            quote!(#param { name: #name, default: #default })
        });
        let idents = self.param_idents();
        let wrong_number = format!("wants {} values: {}", idents.len(), self.param_names());
        quote! {
            /// The algorithm as it is looked up by name.
            #vis const DEF: #def = #def {
                name: #name,
                summary: #summary,
                kind: #kind,
                in_place: #in_place,
                params: &[#(#params),*],
                trace: |values| match *values {
                    [#(#idents),*] => Self::trace(#(#idents),*),
                    _ => ::core::result::Result::Err(
                        #diagnostics::without_site(#name, #malformed, #wrong_number)
                    ),
                },
            };
        }
    }

    fn functions(&self) -> TokenStream {
        let (trace, schedule, diagnostics) = (paths::trace(), paths::schedule(), paths::diagnostics());
        let compile = paths::compile();
        let vis = &self.signature.vis;
        let idents = self.param_idents();
        let body = self.trace_body(&idents);
        quote! {
            /// Traces the algorithm for any parameters.
            ///
            /// # Errors
            /// There is no such collective, or the algorithm does something wrong.
            #[allow(unused_variables)]
            #vis fn trace(#(#idents: usize),*) -> ::core::result::Result<#trace, #diagnostics> {
                #body
            }

            /// Traces, lowers and verifies the algorithm for any parameters.
            ///
            /// # Errors
            /// There is no such collective, or something is wrong with the algorithm.
            #vis fn compile(#(#idents: usize),*) -> ::core::result::Result<#schedule, #diagnostics> {
                #compile(&Self::trace(#(#idents),*)?)
            }
        }
    }

    fn trace_body(&self, params: &[&Ident]) -> TokenStream {
        let name = self.signature.name();
        let ranks = self.signature.params.iter().find(|param| param.name == "ranks");
        let Some(ranks) = ranks.filter(|_| !self.is_placeholder).map(|param| &param.ident) else {
            let (diagnostics, malformed) = (paths::diagnostics(), paths::malformed());
            return quote! {
                ::core::result::Result::Err(#diagnostics::without_site(#name, #malformed, "did not compile"))
            };
        };
        let setting = paths::setting();
        let function = &self.signature.ident;
        let kind = paths::kind(self.arguments.kind);
        let in_place = self.arguments.in_place;
        let options = paths::options(self.arguments.options);
        let (diagnostics, malformed) = (paths::diagnostics(), paths::malformed());
        let details = self.arguments.details.iter().map(|(detail, expr)| {
            let message = format!("the value of `{}` overflows for these parameters", detail.name());
            let expr = checked(expr, &quote! {
                return ::core::result::Result::Err(#diagnostics::without_site(#name, #malformed, #message))
            });
            let (field, value) = (format_ident!("{}", detail.name()), paths::option(Some(expr)));
            quote!(#field: #value)
        });
        let root = &self.source.root;
        // Of this macro's own hygiene: no parameter can have the same name.
        let program = Ident::new("program", Span::mixed_site());
        quote! {
            #setting { in_place: #in_place, #(#details,)* options: #options, ..#setting::new(#name, #kind, #ranks) }
                .trace(#root, |#program| #function(#program, #(#params),*))
        }
    }

    fn constant(&self, build: &Build, bytes: Option<&EtBytes>) -> TokenStream {
        let embedded = paths::embedded();
        let vis = &self.signature.vis;
        let constant = self.constant_name(build);
        let name = self.signature.name();
        let pairs = self.signature.params.iter().zip(&build.values).map(|(param, value)| {
            let name = &param.name;
            quote!((#name, #value))
        });
        let ranks = bytes.into_iter().flat_map(|bytes| bytes.ranks()).map(|rank| Literal::byte_string(rank));
        let doc = format!("The instance `{}`.", build.words(self.signature));
        quote! {
            #[doc = #doc]
            #vis const #constant: &'static #embedded = {
                // A static, so that the bytes are in the binary once, however often the constant is used.
                static EMBEDDED: #embedded =
                    #embedded { name: #name, params: &[#(#pairs),*], ranks: &[#(#ranks),*] };
                &EMBEDDED
            };
        }
    }

    fn constant_name(&self, build: &Build) -> Ident {
        // The span of the function, so that tools lead there.
        format_ident!("{}", build.constant, span = self.signature.ident.span())
    }

    fn param_idents(&self) -> Vec<&Ident> {
        self.signature.params.iter().map(|param| &param.ident).collect()
    }

    fn param_names(&self) -> String {
        let names: Vec<&str> = self.signature.params.iter().map(|param| param.name.as_str()).collect();
        names.join(", ")
    }
}
