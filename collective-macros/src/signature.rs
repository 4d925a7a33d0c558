//! What the function's signature says, and whether it is that of an algorithm.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, Pat, ReturnType, Type, Visibility};

use crate::span::SpanRange;

/// The signature of an algorithm.
pub(crate) struct Signature {
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    /// The name of the `&Program`; `None` when it is `_`.
    pub(crate) program: Option<Ident>,
    pub(crate) params: Vec<Param>,
    /// The first line of documentation.
    pub(crate) summary: String,
    /// The whole documentation.
    pub(crate) docs: String,
    /// `#[cfg]`s, which must hold for what is generated too.
    pub(crate) cfgs: Vec<Attribute>,
}

/// A parameter after the program.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) name: String,
}

impl Signature {
    /// Reads as much as there is; what is wrong goes to `errors`.
    pub(crate) fn read(function: &ItemFn, errors: &mut Vec<syn::Error>) -> Self {
        let sig = &function.sig;
        check_modifiers(function, errors);
        let mut inputs = sig.inputs.iter();
        let program = read_program(inputs.next(), &sig.ident, errors);
        let mut params: Vec<Param> = Vec::new();
        let mut unread = false;
        for input in inputs {
            match read_param(input) {
                Some(ident) => params.push(Param { name: ident.unraw().to_string(), ident }),
                None => {
                    unread = true;
                    errors.push(SpanRange::of(input).error(
                        "the parameters of an algorithm after the program are plain numbers: write `name: usize`",
                    ));
                }
            }
        }
        if let Some(param) = params.iter().find(|param| sig.ident.unraw() == param.name) {
            errors.push(syn::Error::new(
                param.ident.span(),
                "a parameter cannot have the name of the algorithm: give it another",
            ));
        }
        if !unread && !params.iter().any(|param| param.name == "ranks") {
            errors.push(syn::Error::new(
                sig.ident.span(),
                "an algorithm needs the parameter `ranks: usize`, the number of ranks",
            ));
        }
        let docs = docs(&function.attrs);
        Self {
            ident: sig.ident.clone(),
            vis: function.vis.clone(),
            program,
            params,
            summary: docs.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned(),
            docs,
            cfgs: function
                .attrs
                .iter()
                .filter(|attribute| attribute.path().is_ident("cfg"))
                .cloned()
                .collect(),
        }
    }

    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }
}

/// `async fn`, `fn f<T>()`, `fn f() -> usize`.
fn check_modifiers(function: &ItemFn, errors: &mut Vec<syn::Error>) {
    let sig = &function.sig;
    let mut refuse = |at: SpanRange, message: &str| errors.push(at.error(message));
    if let Some(token) = &sig.asyncness {
        refuse(SpanRange::of(token), "an algorithm is not asynchronous: remove `async`");
    }
    if let Some(token) = &sig.constness {
        refuse(SpanRange::of(token), "an algorithm cannot be a `const fn`: remove `const`");
    }
    if let syn::Safety::Unsafe(token) = &sig.safety {
        refuse(SpanRange::of(token), "an algorithm is safe to call: remove `unsafe`");
    }
    if sig.generics.type_params().next().is_some() || sig.generics.const_params().next().is_some() {
        refuse(
            SpanRange::of(&sig.generics),
            "an algorithm has no generic parameters: use `usize` parameters instead",
        );
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        let is_unit = matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty());
        if !is_unit {
            refuse(
                SpanRange::of(ty),
                "an algorithm returns nothing: what it does is recorded in the program that it is given",
            );
        }
    }
}

/// `p: &Program`.
fn read_program(input: Option<&FnArg>, name: &Ident, errors: &mut Vec<syn::Error>) -> Option<Ident> {
    const WANTED: &str = "the first parameter of an algorithm is the program: write `p: &Program`";
    let at = match input {
        None => {
            errors.push(syn::Error::new(name.span(), WANTED));
            return None;
        }
        Some(FnArg::Receiver(receiver)) => SpanRange::of(receiver),
        Some(FnArg::Typed(typed)) if is_program(&typed.ty) => match &*typed.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => return Some(pattern.ident.clone()),
            Pat::Wild(_) => return None,
            other => SpanRange::of(other),
        },
        Some(FnArg::Typed(typed)) => SpanRange::of(typed),
    };
    errors.push(at.error(WANTED));
    None
}

fn is_program(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let Type::Path(path) = &*reference.elem else { return false };
    reference.mutability.is_none() && path.path.segments.last().is_some_and(|last| last.ident == "Program")
}

fn read_param(input: &FnArg) -> Option<Ident> {
    let FnArg::Typed(typed) = input else { return None };
    let Pat::Ident(pattern) = &*typed.pat else { return None };
    let is_usize = matches!(&*typed.ty, Type::Path(path) if path.path.is_ident("usize"));
    (is_usize && pattern.by_ref.is_none() && pattern.subpat.is_none()).then(|| pattern.ident.clone())
}

/// The text of the documentation, as rustdoc reads it: without the space that follows each `///`.
fn docs(attributes: &[Attribute]) -> String {
    let docs = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    // A block comment is one attribute of several lines.
    let lines: Vec<String> = docs
        .flat_map(|text| if text.is_empty() { vec![text] } else { text.lines().map(str::to_owned).collect() })
        .collect();
    let indent = |line: &String| line.len() - line.trim_start_matches(' ').len();
    let indent = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let lines: Vec<&str> =
        lines.iter().map(|line| line.get(indent..).unwrap_or_default().trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
