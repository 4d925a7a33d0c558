//! The way from the attribute to the generated code: read, parse, evaluate, emit. What one stage gives, the
//! next does not change.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ItemFn;

use crate::arguments::Arguments;
use crate::builds::{self, Build};
use crate::emit::Generated;
use crate::instance::{self, Algorithm, Finding};
use crate::names;
use crate::parse;
use crate::report;
use crate::signature::Signature;
use crate::source::Source;
use crate::warning::{self, Warning};

/// The function as it was, and what stands beside it. On an error, that is placeholders and the errors, so that
/// the compiler has nothing else to say.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Vec::new();
    let arguments = Arguments::read(arguments, &mut errors);
    let mut function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // What is no Rust yet may become a function.
            let is_other = syn::parse2::<syn::Item>(item.clone()).is_ok();
            let wanted =
                "`#[collective]` stands before a function: `fn name(p: &Program, ranks: usize) { … }`";
            let error = if is_other { syn::Error::new(Span::call_site(), wanted) } else { error };
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    let before = errors.len();
    let signature = Signature::read(&function, &mut errors);
    let is_signature_right = errors.len() == before;
    let mut wrong_builds = Vec::new();
    let builds = builds::resolve(&arguments, &signature, &mut wrong_builds);
    // With a wrong signature it is not known which parameters there should be.
    if is_signature_right {
        errors.extend(wrong_builds);
    }
    let source = Source::of(signature.ident.span());
    let (built, warnings) = if errors.is_empty() {
        evaluate(&arguments, &signature, &mut function, &source, &builds, &mut errors)
    } else {
        (Vec::new(), Vec::new())
    };
    let warnings = warning::items(&warnings, &function.attrs);
    let graphs = built.into_iter().map(|built| built.ok().map(|finished| finished.bytes));
    let graphs = graphs.chain(std::iter::repeat_with(|| None));
    let generated = Generated {
        signature: &signature,
        arguments: &arguments,
        source: &source,
        builds: builds.iter().zip(graphs).collect(),
        is_placeholder: !errors.is_empty(),
    };
    let generated = generated.tokens();
    if errors.is_empty() {
        return quote!(#function #generated #warnings);
    }
    // The compiler has enough to say about it: without the checks.
    let errors = errors.iter().map(syn::Error::to_compile_error);
    quote!(#item #generated #(#errors)*)
}

fn evaluate(
    arguments: &Arguments,
    signature: &Signature,
    function: &mut ItemFn,
    source: &Source,
    builds: &[Build],
    errors: &mut Vec<syn::Error>,
) -> (Vec<instance::Built>, Vec<Warning>) {
    // A function that is not evaluated may use all of Rust.
    if builds.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let parsed = match parse::parse(signature, &function.block, &arguments.details) {
        Ok(parsed) => parsed,
        Err(unsupported) => {
            errors.extend(unsupported);
            return (Vec::new(), Vec::new());
        }
    };
    names::add_checks(&mut function.block, &parsed.buffers);
    let name = signature.name();
    let algorithm = Algorithm {
        ast: &parsed.ast,
        name: &name,
        file: &source.file,
        kind: arguments.kind,
        in_place: arguments.in_place,
        ranks_param: signature.params.iter().position(|param| param.name == "ranks").unwrap_or_default(),
        options: arguments.options,
        size: arguments.size,
    };
    let params: Vec<Vec<usize>> = builds.iter().map(|build| build.values.clone()).collect();
    let built = instance::build_all(&algorithm, &params);
    let found: Vec<(&Build, Vec<Finding>)> = builds
        .iter()
        .zip(&built)
        .filter_map(|(build, built)| Some((build, built.as_ref().err()?.clone())))
        .collect();
    errors.extend(report::errors(&found, signature, builds.len(), &parsed.spans));
    let wasted: Vec<(&Build, &[Finding])> = builds
        .iter()
        .zip(&built)
        .filter_map(|(build, built)| Some((build, built.as_ref().ok()?.warnings.as_slice())))
        .collect();
    let warnings = report::warnings(&wasted, signature, builds.len(), &parsed.spans);
    (built, warnings)
}
