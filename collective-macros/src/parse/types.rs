//! Type annotations.

use super::{Parser, advice};
use crate::ast::Type;
use crate::integer::IntKind;

impl Parser {
    pub(super) fn ty(&mut self, ty: &syn::Type) -> Type {
        match ty {
            syn::Type::Path(path) if path.qself.is_none() => self.named_type(ty, &path.path),
            syn::Type::Reference(reference) => {
                if reference.mutability.is_some() {
                    self.error(ty, advice::REF_MUT);
                }
                self.ty(&reference.elem)
            }
            syn::Type::Paren(inner) => self.ty(&inner.elem),
            syn::Type::Group(inner) => self.ty(&inner.elem),
            syn::Type::Tuple(tuple) => Type::Tuple(tuple.elems.iter().map(|ty| self.ty(ty)).collect()),
            syn::Type::Array(array) => Type::List(Box::new(self.ty(&array.elem))),
            syn::Type::Slice(slice) => Type::List(Box::new(self.ty(&slice.elem))),
            syn::Type::Infer(_) => Type::Other,
            _ => self.unknown_type(ty),
        }
    }

    fn named_type(&mut self, ty: &syn::Type, path: &syn::Path) -> Type {
        let Some(last) = path.segments.last() else { return self.unknown_type(ty) };
        let name = last.ident.to_string();
        if let Some(kind) = IntKind::from_name(&name) {
            return Type::Int(kind);
        }
        match (name.as_str(), &last.arguments) {
            ("bool" | "ChunkRef" | "Buffer" | "str" | "Program", _) => Type::Other,
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

    fn unknown_type(&mut self, ty: &syn::Type) -> Type {
        self.error(ty, advice::TYPE);
        Type::Other
    }
}
