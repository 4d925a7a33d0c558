//! The way from the attribute to the generated code: read, parse, evaluate, emit. What one stage gives, the
//! next does not change.

use std::rc::Rc;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Item, ItemFn};

use crate::arguments::Arguments;
use crate::builds::{self, Build};
use crate::emit::Generated;
use crate::helpers::{HelperId, Helpers};
use crate::instance::{self, Algorithm, Built, Finding, Finished};
use crate::module;
use crate::names;
use crate::parse::{self, KnownName};
use crate::report;
use crate::show::Show;
use crate::shown;
use crate::signature::Signature;
use crate::source::Source;
use crate::warning::{self, Warning};

/// The function or module as it was, and what stands beside it.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(function)) => {
            let expanded = expand_function(arguments, function, &Rc::default());
            let Expanded { function, beside, errors, .. } = expanded;
            let errors = errors.iter().map(syn::Error::to_compile_error);
            quote!(#function #beside #(#errors)*)
        }
        Ok(Item::Mod(module)) => module::expand(&arguments, module),
        other => {
            // What is no Rust yet may become a function.
            let error = other.err().unwrap_or_else(|| {
                let wanted = "`#[collective]` stands before a function, `fn name(p: &Program, ranks: usize) { … }`, or \
                              before a module of them, `mod name { … }`";
                syn::Error::new(Span::call_site(), wanted)
            });
            let error = error.to_compile_error();
            quote!(#item #error)
        }
    }
}

/// An algorithm after expansion.
pub(crate) struct Expanded {
    pub(crate) function: ItemFn,
    /// What stands beside it. On an error, that is placeholders, so that the compiler has nothing else to say.
    pub(crate) beside: TokenStream,
    pub(crate) errors: Vec<syn::Error>,
    /// How the helpers of the module name buffers.
    pub(crate) named: Vec<(HelperId, syn::Path, KnownName)>,
}

/// Expands an algorithm, which may use the helpers of its module.
pub(crate) fn expand_function(arguments: TokenStream, original: ItemFn, helpers: &Rc<Helpers>) -> Expanded {
    let mut errors = Vec::new();
    let arguments = Arguments::read(arguments, &mut errors);
    let mut function = original.clone();
    let mut named = Vec::new();
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
    let show = arguments.show.with_variable().unwrap_or_else(|message| {
        errors.push(syn::Error::new(signature.ident.span(), message));
        Show::default()
    });
    let (built, warnings) = if errors.is_empty() {
        let evaluation = Evaluation {
            arguments: &arguments,
            signature: &signature,
            source: &source,
            builds: &builds,
            show,
            helpers,
        };
        evaluation.run(&mut function, &mut named, &mut errors)
    } else {
        (Vec::new(), Vec::new())
    };
    let finished: Vec<Option<&Finished>> = built
        .iter()
        .map(|built| built.outcome.as_ref().ok())
        .chain(builds.iter().skip(built.len()).map(|_| None))
        .collect();
    let mut generated = Generated {
        signature: &signature,
        arguments: &arguments,
        source: &source,
        builds: builds.iter().zip(finished).collect(),
        is_placeholder: !errors.is_empty(),
        is_shown: false,
    };
    let tokens = generated.tokens();
    if show.is_any() {
        generated.is_shown = true;
        let expansion = show.expansion.then(|| generated.tokens());
        let shown =
            shown::Instances { signature: &signature, source: &source, builds: &builds, built: &built };
        if let Err(message) = shown.write(show, expansion, &errors) {
            errors.push(syn::Error::new(signature.ident.span(), message));
        }
    }
    // The compiler has enough to say about a wrong one: without the checks.
    let function = if errors.is_empty() { function } else { original };
    if !errors.is_empty() {
        named.clear();
    }
    let warnings =
        if errors.is_empty() { warning::items(&warnings, &function.attrs) } else { TokenStream::new() };
    Expanded { function, beside: quote!(#tokens #warnings), errors, named }
}

/// What the evaluation of an algorithm depends on.
struct Evaluation<'a> {
    arguments: &'a Arguments,
    signature: &'a Signature,
    source: &'a Source,
    builds: &'a [Build],
    show: Show,
    helpers: &'a Rc<Helpers>,
}

impl Evaluation<'_> {
    fn run(
        &self,
        function: &mut ItemFn,
        named: &mut Vec<(HelperId, syn::Path, KnownName)>,
        errors: &mut Vec<syn::Error>,
    ) -> (Vec<Built>, Vec<Warning>) {
        let Self { arguments, signature, source, builds, show, helpers } = *self;
        // A function that is not evaluated may use all of Rust.
        if builds.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let parsed = match parse::parse(signature, &function.block, &arguments.details, helpers) {
            Ok(parsed) => parsed,
            Err(unsupported) => {
                errors.extend(report::first(unsupported));
                return (Vec::new(), Vec::new());
            }
        };
        names::add_checks(&mut function.block, &names::distinct(parsed.buffers));
        *named = parsed.named_in_helpers;
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
            target: arguments.target,
            budget: arguments.budget,
            show,
        };
        let params: Vec<Vec<usize>> = builds.iter().map(|build| build.values.clone()).collect();
        let built = instance::build_all(&algorithm, &params);
        let found: Vec<(&Build, Vec<Finding>)> = builds
            .iter()
            .zip(&built)
            .filter_map(|(build, built)| Some((build, built.outcome.as_ref().err()?.clone())))
            .collect();
        errors.extend(report::errors(&found, signature, builds.len(), &parsed.spans));
        let wasted: Vec<(&Build, &[Finding])> = builds
            .iter()
            .zip(&built)
            .filter_map(|(build, built)| Some((build, built.outcome.as_ref().ok()?.warnings.as_slice())))
            .collect();
        let warnings = report::warnings(&wasted, signature, builds.len(), &parsed.spans);
        (built, warnings)
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Group, TokenTree};

    use super::*;

    const ARGUMENTS: &str =
        "all_reduce, in_place, chunks = 2 * ranks, defaults(channels = 1), build(ranks = [2, 3])";

    const FUNCTION: &str = "
        fn ring(p: &Program, ranks: usize, channels: usize) {
            const FIRST: usize = 1;
            fn next(rank: usize, ranks: usize) -> usize {
                (rank + FIRST) % ranks
            }
            assert!(ranks > 1, \"too few\");
            let mut seen = vec![0; 2 * ranks];
            for (i, index) in (0..2 * ranks).rev().enumerate() {
                let mut rank = index % ranks;
                let mut c = p.chunk(rank, Input, index).on_channel(i % channels);
                for _ in 1..ranks {
                    rank = next(rank, ranks);
                    c = p.chunk(rank, Input, index).reduce(c);
                }
                if let Some(last) = ranks.checked_sub(1) {
                    seen[index] += match last { 0 => 1, n @ 1..=9 if n > 0 => 2, _ => 3 };
                }
                for _ in 0..ranks - 1 {
                    rank = next(rank, ranks);
                    c = c.copy_to(rank, Input, index);
                }
            }
        }";

    /// The first `left` tokens; the groups that they open are closed.
    fn first(tokens: TokenStream, left: &mut usize) -> TokenStream {
        let mut kept = Vec::new();
        for token in tokens {
            if *left == 0 {
                break;
            }
            *left -= 1;
            kept.push(match token {
                TokenTree::Group(group) => {
                    TokenTree::from(Group::new(group.delimiter(), first(group.stream(), left)))
                }
                other => other,
            });
        }
        kept.into_iter().collect()
    }

    /// All but one token.
    fn without(tokens: TokenStream, at: &mut usize) -> TokenStream {
        let mut kept = Vec::new();
        for token in tokens {
            let is_out = *at == 0;
            *at = at.wrapping_sub(1);
            match token {
                TokenTree::Group(group) if is_out => kept.extend(group.stream()),
                TokenTree::Group(group) => {
                    kept.push(TokenTree::from(Group::new(group.delimiter(), without(group.stream(), at))));
                }
                _ if is_out => {}
                other => kept.push(other),
            }
        }
        kept.into_iter().collect()
    }

    fn count(tokens: TokenStream) -> usize {
        let inner = |token| match token {
            TokenTree::Group(group) => 1 + count(group.stream()),
            _ => 1,
        };
        tokens.into_iter().map(inner).sum()
    }

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    /// Something comes back, with what was given in it.
    fn check(arguments: TokenStream, item: TokenStream) {
        let given = item.to_string();
        let expanded = expand(arguments, item).to_string();
        let name = if given.contains("ring") { "ring" } else { "" };
        assert!(expanded.contains(name) && !expanded.is_empty() | given.is_empty(), "{given}");
    }

    #[test]
    fn the_whole_function_is_right() {
        let expanded = expand(tokens(ARGUMENTS), tokens(FUNCTION)).to_string();
        assert!(!expanded.contains("compile_error"), "{expanded}");
        assert!(expanded.contains("RANKS_3"));
    }

    #[test]
    fn a_half_typed_function_is_expanded_all_the_same() {
        let function = tokens(FUNCTION);
        for kept in 0..count(function.clone()) {
            check(tokens(ARGUMENTS), first(function.clone(), &mut { kept }));
            check(tokens(ARGUMENTS), without(function.clone(), &mut { kept }));
        }
    }

    #[test]
    fn half_typed_arguments_are_errors() {
        let arguments = tokens(ARGUMENTS);
        for kept in 0..count(arguments.clone()) {
            check(first(arguments.clone(), &mut { kept }), tokens(FUNCTION));
            check(without(arguments.clone(), &mut { kept }), tokens(FUNCTION));
        }
    }

    #[test]
    fn a_half_typed_module_is_expanded_all_the_same() {
        let text = format!(
            "mod m {{ const K: usize = 2; #[collective({ARGUMENTS})] {FUNCTION} fn f() -> usize {{ K }} }}"
        );
        let module = tokens(&text);
        for kept in 0..count(module.clone()) {
            check(TokenStream::new(), first(module.clone(), &mut { kept }));
        }
    }
}
