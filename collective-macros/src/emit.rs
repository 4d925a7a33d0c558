//! The code that stands beside the user's function.

use collective_dsl::embedded::Image;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

use crate::arguments::Arguments;
use crate::builds::{self, Build};
use crate::checked::checked;
use crate::instance::Finished;
use crate::paths;
use crate::show;
use crate::signature::Signature;
use crate::source::Source;

/// What is generated for an algorithm.
pub(crate) struct Generated<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) arguments: &'a Arguments,
    pub(crate) source: &'a Source,
    /// Each build with what is embedded of it; without that where something is wrong.
    pub(crate) builds: Vec<(&'a Build, Option<&'a Finished>)>,
    /// Whether something is wrong: then the items only have the right types.
    pub(crate) is_placeholder: bool,
    /// Whether bytes are left out, for people to read the rest.
    pub(crate) is_shown: bool,
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
        let constants = self.builds.iter().map(|(build, finished)| self.constant(build, *finished));
        let lookup = self.lookup();
        let tests = self.tests();
        // Makes Cargo expand this again when the variable changes.
        let variable = show::VARIABLE;
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
                #lookup
                #(#constants)*
                /// All instances that are embedded.
                #vis const BUILDS: &'static [&'static #embedded] = &[#(Self::#names),*];
            }

            #tests

            #(#cfgs)*
            const _: ::core::option::Option<&::core::primitive::str> = ::core::option_env!(#variable);
        }
    }

    /// The instance by the values of its parameters.
    fn lookup(&self) -> TokenStream {
        let (vis, embedded) = (&self.signature.vis, paths::embedded());
        let idents = self.param_idents();
        let arms = self.builds.iter().map(|(build, _)| {
            let (values, name) = (&build.values, self.constant_name(build));
            quote!((#(#values,)*) => ::core::option::Option::Some(Self::#name),)
        });
        quote! {
            /// The instance that is embedded for these parameters, if there is one.
            #[must_use]
            #vis const fn build(#(#idents: usize),*) -> ::core::option::Option<&'static #embedded> {
                match (#(#idents,)*) {
                    #(#arms)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    }

    /// One test an instance: what is embedded is what the function gives at run time.
    fn tests(&self) -> TokenStream {
        if self.is_placeholder || !self.arguments.tests {
            return TokenStream::new();
        }
        let Signature { ident, cfgs, .. } = self.signature;
        let tests = self.builds.iter().map(|(build, _)| {
            let constant = self.constant_name(build);
            let (name, words) = (self.signature.name(), build.constant.to_lowercase());
            let test = format_ident!("{name}_{words}_is_the_same_at_run_time");
            let values = &build.values;
            quote! {
                #(#cfgs)*
                #[cfg(test)]
                #[test]
                #[allow(unnameable_test_items, non_snake_case)]
                fn #test() -> ::core::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>> {
                    ::core::result::Result::Ok(#ident::#constant.check(&#ident::compile(#(#values),*)?)?)
                }
            }
        });
        quote!(#(#tests)*)
    }

    fn definition(&self) -> TokenStream {
        let (def, param, diagnostics) = (paths::algorithm_def(), paths::param(), paths::diagnostics());
        let malformed = paths::malformed();
        let vis = &self.signature.vis;
        let name = self.signature.name();
        let (summary, docs) = (&self.signature.summary, &self.signature.docs);
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
                docs: #docs,
                kind: #kind,
                in_place: #in_place,
                params: &[#(#params),*],
                trace: |in_place, values| match *values {
                    [#(#idents),*] => Self::trace_placed(in_place, #(#idents),*),
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
        let in_place = self.arguments.in_place;
        // Of this macro's own hygiene: no parameter can have the same name.
        let placed = Ident::new("in_place", Span::mixed_site());
        let body = self.trace_body(&placed, &idents);
        quote! {
            /// Traces the algorithm for any parameters.
            ///
            /// # Errors
            /// There is no such collective, or the algorithm does something wrong.
            #vis fn trace(#(#idents: usize),*) -> ::core::result::Result<#trace, #diagnostics> {
                Self::trace_placed(#in_place, #(#idents),*)
            }

            #[allow(unused_variables)]
            fn trace_placed(
                #placed: bool, #(#idents: usize),*
            ) -> ::core::result::Result<#trace, #diagnostics> {
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

    fn trace_body(&self, in_place: &Ident, params: &[&Ident]) -> TokenStream {
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

    fn constant(&self, build: &Build, finished: Option<&Finished>) -> TokenStream {
        let embedded = paths::embedded();
        let vis = &self.signature.vis;
        let constant = self.constant_name(build);
        let name = self.signature.name();
        let pairs = self.signature.params.iter().zip(&build.values).map(|(param, value)| {
            let name = &param.name;
            quote!((#name, #value))
        });
        let size = self.arguments.size;
        let (bytes, element) = (size.in_bytes(), size.element_type());
        let element = format_ident!("{element:?}");
        let element_type = paths::element_type();
        let target = paths::option(self.arguments.target.map(|target| {
            let (path, variant) = (paths::target(), format_ident!("{target:?}"));
            quote!(#path::#variant)
        }));
        let image = finished.map(|finished| &finished.image);
        let schedule = self.literal(image.map_or(&[], |image| &image.schedule));
        let traces = self.traces(image);
        let figures = finished.map(|finished| format!("\n\n{}.", finished.figures)).unwrap_or_default();
        let doc = format!("The instance `{}`.{}", build.words(self.signature), figures);
        quote! {
            #[doc = #doc]
            #vis const #constant: &'static #embedded = {
                // A static, so that the bytes are in the binary once, however often the constant is used.
                static EMBEDDED: #embedded = #embedded::new(
                    #name, &[#(#pairs),*], (#bytes, #element_type::#element), #target, #schedule, #traces
                );
                &EMBEDDED
            };
        }
    }

    fn traces(&self, image: Option<&Image>) -> TokenStream {
        let (traces, unpacked) = (paths::traces(), paths::unpacked());
        match image {
            Some(Image { traces: Some(bytes), .. }) => {
                let ranks = bytes.ranks().iter().map(|rank| self.literal(rank));
                quote!(#traces::Plain(&[#(#ranks),*]))
            }
            Some(Image { traces: None, .. }) => quote! {
                #traces::Packed(|| {
                    static UNPACKED: #unpacked = #unpacked::new();
                    &UNPACKED
                })
            },
            None => quote!(#traces::Plain(&[])),
        }
    }

    fn literal(&self, bytes: &[u8]) -> Literal {
        if self.is_shown {
            Literal::byte_string(format!("{} bytes", bytes.len()).as_bytes())
        } else {
            Literal::byte_string(bytes)
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
