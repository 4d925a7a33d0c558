//! Type annotations.

use super::{Parser, advice};
use crate::ast::Type;
use crate::integer::IntKind;

impl Parser {
    pub(super) fn ty(&mut self, ty: &syn::Type) -> Type {
        match ty {
            syn::Type::Path(path) if path.qself.is_none() => self.named_type(ty, &path.path),
            syn::Type::Reference(reference) => self.ty(&reference.elem),
            syn::Type::Paren(inner) => self.ty(&inner.elem),
            syn::Type::Group(inner) => self.ty(&inner.elem),
            syn::Type::Tuple(tuple) => Type::Tuple(tuple.elems.iter().map(|ty| self.ty(ty)).collect()),
            syn::Type::Array(array) => Type::List(Box::new(self.ty(&array.elem))),
            syn::Type::Slice(slice) => Type::List(Box::new(self.ty(&slice.elem))),
            syn::Type::Infer(_) => Type::Other,
            syn::Type::ImplTrait(bounds) => self.bounds(ty, &bounds.bounds),
            // An iterator of any type could be wrapped again and again.
            syn::Type::TraitObject(bounds) => match self.bounds(ty, &bounds.bounds) {
                Type::Iter(_) => self.unknown_type(ty),
                known => known,
            },
            _ => self.unknown_type(ty),
        }
    }

    fn named_type(&mut self, ty: &syn::Type, path: &syn::Path) -> Type {
        let Some(last) = path.segments.last() else { return self.unknown_type(ty) };
        let name = last.ident.to_string();
        if self.own_types.contains(&name) {
            return Type::Other;
        }
        if let Some((_, known)) = self.generics.iter().rev().find(|(known, _)| *known == name) {
            return known.clone();
        }
        if let Some(kind) = IntKind::from_name(&name) {
            return Type::Int(kind);
        }
        match (name.as_str(), &last.arguments) {
            ("bool" | "ChunkRef" | "Buffer" | "Cost" | "Compute" | "str" | "String" | "Program", _) => {
                Type::Other
            }
            ("Box" | "Rc", syn::PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
                Some(syn::GenericArgument::Type(inner)) => self.ty(inner),
                _ => self.unknown_type(ty),
            },
            ("Range" | "RangeInclusive", syn::PathArguments::AngleBracketed(arguments)) => {
                match arguments.args.first() {
                    Some(syn::GenericArgument::Type(item)) => Type::Iter(Box::new(self.ty(item))),
                    _ => self.unknown_type(ty),
                }
            }
            ("Vec", syn::PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
                Some(syn::GenericArgument::Type(item)) => Type::List(Box::new(self.ty(item))),
                _ => self.unknown_type(ty),
            },
            ("Option", syn::PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
                Some(syn::GenericArgument::Type(item)) => Type::Option(Box::new(self.ty(item))),
                _ => self.unknown_type(ty),
            },
            ("Vec", _) => Type::Other,
            _ => self.unknown_type(ty),
        }
    }

    /// What `impl Fn(usize) -> usize` and `impl Iterator<Item = usize>` are.
    pub(super) fn bounds(
        &mut self,
        at: &impl quote::ToTokens,
        bounds: &syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>,
    ) -> Type {
        for bound in bounds {
            let syn::TypeParamBound::Trait(bound) = bound else { continue };
            let Some(last) = bound.path.segments.last() else { continue };
            match (last.ident.to_string().as_str(), &last.arguments) {
                ("Fn" | "FnMut" | "FnOnce", syn::PathArguments::Parenthesized(signature)) => {
                    let params = signature.inputs.iter().map(|ty| self.ty(&ty.ty)).collect();
                    let result = match &signature.output {
                        syn::ReturnType::Default => Type::Other,
                        syn::ReturnType::Type(_, ty) => self.ty(ty),
                    };
                    return Type::Fn(params, Box::new(result));
                }
                (
                    "Iterator" | "IntoIterator" | "DoubleEndedIterator" | "ExactSizeIterator",
                    syn::PathArguments::AngleBracketed(arguments),
                ) => {
                    for argument in &arguments.args {
                        if let syn::GenericArgument::AssocType(item) = argument {
                            return Type::Iter(Box::new(self.ty(&item.ty)));
                        }
                    }
                }
                _ => {}
            }
        }
        self.error(at, advice::TYPE);
        Type::Other
    }

    fn unknown_type(&mut self, ty: &syn::Type) -> Type {
        self.error(ty, advice::for_type(ty));
        Type::Other
    }
}
